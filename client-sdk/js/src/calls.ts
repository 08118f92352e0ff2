/**
 * Numbered operations and their answers. Every operation ends exactly once: by its answer, by its timeout, or because
 * the connection ended.
 */

import { isServerCode, PlayerThreeError, type ErrorDetail } from "./errors.js";

/** How long an operation may take. */
export interface CallOptions {
  /** Milliseconds to wait for the answer, 10,000 by default. */
  readonly timeoutMs?: number;
}

/** Operations that may wait for an answer at once; one more is `busy`. */
export const MAX_PENDING = 256;

const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_SEQ = 4_294_967_295;

interface Pending {
  readonly resolve: (data: unknown) => void;
  readonly reject: (error: PlayerThreeError) => void;
  readonly timer: ReturnType<typeof setTimeout>;
}

export class Calls {
  readonly #send: (type: string, message: unknown) => void;
  readonly #pending = new Map<number, Pending>();
  #seq = 0;
  #closed = false;

  constructor(send: (type: string, message: unknown) => void) {
    this.#send = send;
  }

  /** Sends an operation and waits for its answer. */
  request<T>(op: string, fields: object, options: CallOptions = {}): Promise<T> {
    if (this.#closed) return Promise.reject(new PlayerThreeError("closed"));
    if (this.#pending.size >= MAX_PENDING) return Promise.reject(new PlayerThreeError("busy"));
    const seq = this.#nextSeq();
    return new Promise<T>((resolve, reject) => {
      const late = () => this.#settle(seq)?.reject(new PlayerThreeError("timeout"));
      const timer = setTimeout(late, options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
      this.#pending.set(seq, { resolve: resolve as (data: unknown) => void, reject, timer });
      try {
        this.#send(`playerthree:${op}`, { ...fields, op, seq });
      } catch {
        this.#settle(seq)?.reject(new PlayerThreeError("closed"));
      }
    });
  }

  /** Takes a `playerthree:result`. Answers that nobody waits for any more are ignored. */
  answer(message: unknown): void {
    const result = (message ?? {}) as { seq?: unknown; ok?: unknown; data?: unknown; code?: unknown } & ErrorDetail;
    const pending = typeof result.seq === "number" ? this.#settle(result.seq) : undefined;
    if (!pending) return;
    if (result.ok === true) pending.resolve(result.data);
    else pending.reject(isServerCode(result.code) ? new PlayerThreeError(result.code, result) : new PlayerThreeError("protocol"));
  }

  /** Ends every waiting operation: its answer may have been lost with the connection. */
  interrupt(): void {
    for (const seq of [...this.#pending.keys()]) this.#settle(seq)?.reject(new PlayerThreeError("closed"));
  }

  /** Ends every waiting operation and refuses new ones. */
  close(): void {
    this.#closed = true;
    this.interrupt();
  }

  #settle(seq: number): Pending | undefined {
    const pending = this.#pending.get(seq);
    if (pending) {
      this.#pending.delete(seq);
      clearTimeout(pending.timer);
    }
    return pending;
  }

  #nextSeq(): number {
    do this.#seq = this.#seq === MAX_SEQ ? 0 : this.#seq + 1;
    while (this.#pending.has(this.#seq));
    return this.#seq;
  }
}
