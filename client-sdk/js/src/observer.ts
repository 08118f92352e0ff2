/**
 * The delayed stream of an observer (§20.9): frames by sequence, a new keyframe asked for after a gap, what follows the
 * newest frame after a lost connection, and two frames to interpolate between at any moment. It shows only what the
 * server released, so it never runs ahead of the delay.
 */

import { applyDelta, type Json } from "./delta.js";
import { Listeners, type Unsubscribe } from "./listeners.js";
import type { Grant } from "./protocol.js";

/** One moment of the match as an observer sees it. Times are milliseconds since 1970 on the server's clock. */
export interface ObserverFrame<World = Json> {
  readonly sequence: number;
  readonly tick: number;
  readonly recordedAt: number;
  readonly releaseAt: number;
  readonly perspective: string;
  readonly world: World;
  /** On the last frame only. */
  readonly outcomes?: { readonly [team: string]: Json };
}

/** Whether frames flow. `closed` is for good: the match keeps no history, or this client may not see what it asked for. */
export type ObserverState = "idle" | "buffering" | "ready" | "closed";

/** Two frames around the moment to draw: `to` has the share `alpha`, from 0 to 1. */
export interface Sample<World = Json> {
  readonly from: ObserverFrame<World>;
  readonly to: ObserverFrame<World>;
  readonly alpha: number;
}

/** Frames kept for interpolation. */
const MAX_FRAMES = 64;
/** How far behind the newest frame interpolation stays, so that the next one has usually arrived. */
const SMOOTHING_MS = 150;
/** Before a request is repeated that came too soon. */
const RETRY_MS = 1_000;

export class ObserverPlayer<World = Json> {
  #send: (message: object) => void;
  readonly #frames: ObserverFrame<World>[] = [];
  readonly #onFrame = new Listeners<[frame: ObserverFrame<World>]>();
  readonly #onState = new Listeners<[state: ObserverState, grant: Grant | undefined]>();
  #state: ObserverState = "idle";
  #grant: Grant | undefined;
  #perspective: string | undefined;
  /** The smallest lead of this clock over the release times seen so far: skew and latency together. */
  #lead = Infinity;
  #awaitsKeyframe = true;
  /** What the request under way said, until it is answered. */
  #asked: { readonly after: number | undefined } | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;

  constructor(send: (message: object) => void) {
    this.#send = send;
  }

  get state(): ObserverState {
    return this.#state;
  }

  /** What may be seen; known from the first answer on. */
  get grant(): Grant | undefined {
    return this.#grant;
  }

  /** How late everything is, in milliseconds, to be shown beside the picture. */
  get delayMs(): number | undefined {
    return this.#grant?.delayMs;
  }

  /** What of the stream is kept, oldest first. */
  get history(): readonly ObserverFrame<World>[] {
    return this.#frames;
  }

  /** The newest frame. */
  get frame(): ObserverFrame<World> | undefined {
    return this.#frames.at(-1);
  }

  onFrame(callback: (frame: ObserverFrame<World>) => void): Unsubscribe {
    return this.#onFrame.add(callback);
  }

  onState(callback: (state: ObserverState, grant: Grant | undefined) => void): Unsubscribe {
    return this.#onState.add(callback);
  }

  /** Takes what the server's welcome grants. */
  admit(grant: Grant): void {
    this.#grant = grant;
  }

  /** Starts to observe `"all"` or one side, or changes over to it; without a word, the most that is granted. */
  watch(perspective = this.#grant?.kind === "team" ? this.#grant.team : "all"): void {
    if (perspective !== this.#perspective) this.#frames.length = 0;
    this.#perspective = perspective;
    this.#ask();
  }

  /** Goes on after the connection came back: with what follows the newest frame, where there is one. */
  resume(): void {
    if (this.#perspective !== undefined && this.#state !== "closed") this.#ask(this.frame?.sequence);
  }

  /** Goes on over another connection, where the observer had to join anew. */
  moveTo(send: (message: object) => void): void {
    this.#send = send;
    this.resume();
  }

  /** Whether it asks this way, and not over another connection by now. */
  asksBy(send: (message: object) => void): boolean {
    return send === this.#send;
  }

  /** Asks for nothing any more, unless it moved to another connection. */
  stop(send = this.#send): void {
    if (this.asksBy(send)) clearTimeout(this.#retry);
  }

  /** The frames to draw between at `now` (milliseconds since 1970 on this machine). */
  sample(now: number = Date.now()): Sample<World> | undefined {
    const newest = this.frame;
    if (!newest) return undefined;
    const moment = now - this.#lead - (newest.releaseAt - newest.recordedAt) - SMOOTHING_MS;
    const after = this.#frames.findIndex((frame) => frame.recordedAt > moment);
    const to = this.#frames[after];
    const from = this.#frames[after - 1];
    if (!to) return { from: newest, to: newest, alpha: 1 };
    if (!from) return { from: to, to, alpha: 1 };
    return { from, to, alpha: (moment - from.recordedAt) / (to.recordedAt - from.recordedAt) };
  }

  /** Takes a `playerthree:observer`. */
  receive(message: unknown, now: number = Date.now()): void {
    const body = (message ?? {}) as { state?: unknown; grant?: Grant; frame?: Partial<RawFrame> };
    if (body.grant) {
      this.#grant = body.grant;
      this.#asked = undefined;
    }
    if (body.frame) this.#receiveFrame(body.frame, now);
    if (body.state === "buffering" || body.state === "ready" || body.state === "closed") this.#setState(body.state);
  }

  /** Takes the refusal of a request: a `playerthree:result` that bears no number. */
  refuse(code: unknown, send = this.#send): void {
    const asked = this.#asked;
    if (!asked || !this.asksBy(send)) return;
    if (code === "rate_limited") this.#retry = setTimeout(() => this.#ask(asked.after), RETRY_MS);
    // The frame it follows is retained no more: the server shows the newest one whole.
    else if (asked.after !== undefined) this.#ask();
    else this.#setState("closed");
  }

  #ask(after?: number): void {
    clearTimeout(this.#retry);
    this.#asked = { after };
    this.#awaitsKeyframe = after === undefined;
    this.#send(after === undefined ? { perspective: this.#perspective } : { perspective: this.#perspective, after });
  }

  #receiveFrame(frame: Partial<RawFrame>, now: number): void {
    if (!isFrame(frame)) return this.#lose();
    // One on its way when the perspective changed.
    if (frame.perspective !== this.#perspective) return;
    if (frame.world === undefined && this.#awaitsKeyframe) return;
    const world = this.#world(frame);
    if (world === undefined) return this.#lose();
    // A keyframe starts a new run: what came before may be of another perspective or behind a gap.
    if (frame.world !== undefined) this.#frames.length = 0;
    this.#awaitsKeyframe = false;
    const { delta: _, ...rest } = frame;
    this.#frames.push({ ...rest, world });
    if (this.#frames.length > MAX_FRAMES) this.#frames.shift();
    this.#lead = Math.min(this.#lead, now - frame.releaseAt);
    this.#onFrame.emit(this.frame as ObserverFrame<World>);
  }

  #world(frame: RawFrame): World | undefined {
    if (frame.world !== undefined) return frame.world as World;
    const before = this.frame;
    if (!before || frame.sequence !== before.sequence + 1) return undefined;
    try {
      return applyDelta(before.world as Json, frame.delta) as World;
    } catch {
      return undefined;
    }
  }

  /** A frame is missing or does not fit: asks for a keyframe, once until it comes. */
  #lose(): void {
    if (!this.#awaitsKeyframe) this.#ask();
  }

  #setState(state: ObserverState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#onState.emit(state, this.#grant);
  }
}

type RawFrame = Omit<ObserverFrame<unknown>, "world"> & { readonly world?: unknown; readonly delta?: unknown };

function isFrame(frame: Partial<RawFrame>): frame is RawFrame {
  return [frame.sequence, frame.tick, frame.recordedAt, frame.releaseAt].every(Number.isSafeInteger);
}
