/**
 * The moment of the match that is drawn: a little behind the newest version, so that there is always one to move towards.
 * It never runs ahead of what was received, and it plays a stream that comes unevenly at an even pace.
 */

import { TICKS_A_SECOND } from "./scene.js";

const TICK_MS = 1000 / TICKS_A_SECOND;
/** Ticks behind the newest version. */
const BEHIND = 1.5;
/** From so many ticks behind it jumps instead of hurrying: the page slept, or the stream started over. */
const LOST = 8;
/** A longer pause between two pictures is not played, in milliseconds. */
const LONGEST_PICTURE_MS = 200;

export class Playhead {
  #tick: number | undefined;
  #newest = 0;
  #drawnAt = 0;
  /** How far behind it is on average. */
  #behind = BEHIND;

  /** A version of this tick came. */
  take(tick: number): void {
    this.#newest = tick;
    this.#tick ??= tick - BEHIND;
  }

  /** Whether it is still on its way to the newest version. */
  get isMoving(): boolean {
    return this.#tick !== undefined && this.#tick < this.#newest;
  }

  /** Moves on to a moment of the page's clock, in milliseconds, and tells the tick to draw, with a fraction. */
  advance(now: number): number {
    const passed = Math.min(LONGEST_PICTURE_MS, Math.max(0, now - this.#drawnAt)) / TICK_MS;
    this.#drawnAt = now;
    const tick = this.#tick ?? this.#newest;
    const behind = this.#newest - tick;
    if (behind > LOST || behind < 0) {
      this.#behind = BEHIND;
      return (this.#tick = this.#newest - BEHIND);
    }
    this.#behind += (behind - this.#behind) * Math.min(1, passed * 0.3);
    const pace = Math.min(1.5, Math.max(0.7, 1 + (this.#behind - BEHIND) * 0.25));
    this.#tick = Math.min(this.#newest, tick + passed * pace);
    return this.#tick;
  }
}
