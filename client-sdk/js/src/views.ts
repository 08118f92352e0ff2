/**
 * The stream of one side's view (§4): keyframes and deltas in, immutable versions out. A gap or a delta that does not
 * fit loses the stream until the next keyframe; a guess is never shown.
 */

import { applyDelta, type Json } from "./delta.js";
import { Listeners, type Unsubscribe } from "./listeners.js";

/** A place inside a view: member names and list indices from the top. */
export type Path = readonly (string | number)[];

/** The body of a `playerthree:view`, of which nothing is certain. */
export interface ViewMessage {
  readonly team?: unknown;
  readonly version?: unknown;
  readonly view?: unknown;
  readonly delta?: unknown;
}

/** A side's view, version by version. Unchanged parts are the same objects in consecutive versions. */
export class ViewStream<View = Json> {
  readonly team: string;
  #view: View | undefined;
  #version: number | undefined;
  readonly #changed = new Listeners<[view: View | undefined, before: View | undefined]>();

  constructor(team: string) {
    this.team = team;
  }

  /** The newest view; nothing before the first keyframe and after a loss. Treat it as immutable. */
  get view(): View | undefined {
    return this.#view;
  }

  /** The version of the newest view. */
  get version(): number | undefined {
    return this.#version;
  }

  /** Calls back after every version, and with nothing when the stream is lost. */
  onChange(callback: (view: View | undefined, before: View | undefined) => void): Unsubscribe {
    return this.#changed.add(callback);
  }

  /** Calls back when the value at `path` changes; nothing stands for a value that is not there. */
  onChangeAt(path: Path, callback: (value: Json | undefined, before: Json | undefined) => void): Unsubscribe {
    return this.#changed.add((view, before) => {
      const [value, old] = [valueAt(view, path), valueAt(before, path)];
      if (!Object.is(value, old)) callback(value, old);
    });
  }

  /** The value at `path` of the newest view. */
  at(path: Path): Json | undefined {
    return valueAt(this.#view, path);
  }

  /** Takes a `playerthree:view` of this team. Returns whether the stream is intact. */
  receive(message: ViewMessage): boolean {
    const next = this.#next(message);
    if (next === undefined) {
      this.lose();
      return false;
    }
    this.#set(next, message.version as number);
    return true;
  }

  /** Drops the state: nothing is shown until the next keyframe. */
  lose(): void {
    if (this.#version !== undefined) this.#set(undefined, undefined);
  }

  #next(message: ViewMessage): View | undefined {
    if (!Number.isSafeInteger(message.version)) return undefined;
    if (message.view !== undefined) return message.view as View;
    if (this.#version === undefined || message.version !== this.#version + 1) return undefined;
    try {
      return applyDelta(this.#view as Json, message.delta) as View;
    } catch {
      return undefined;
    }
  }

  #set(view: View | undefined, version: number | undefined): void {
    const before = this.#view;
    this.#view = view;
    this.#version = version;
    this.#changed.emit(view, before);
  }
}

function valueAt(view: unknown, path: Path): Json | undefined {
  let value = view;
  for (const step of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value as Json | undefined;
}
