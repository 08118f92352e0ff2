/** Shots, hits and explosions: short-lived and timed in ticks, so that they happen when what causes them is drawn. */

/** A shot flies from a place to another; a burst is where something was destroyed. */
export interface Effect {
  readonly kind: "shot" | "burst";
  readonly x: number;
  readonly y: number;
  readonly toX: number;
  readonly toY: number;
  readonly side: string;
  /** Times the usual size. */
  readonly size: number;
  /** The tick in which it begins, and how many it lasts. */
  readonly from: number;
  readonly lasts: number;
}

/** More at once would hide each other. */
const MOST = 160;
export const SHOT_TICKS = 2.4;
export const BURST_TICKS = 8;

export class Effects {
  #all: Effect[] = [];

  add(effect: Effect): void {
    this.#all.push(effect);
    if (this.#all.length > MOST) this.#all.shift();
  }

  /** Those that are going on. */
  at(tick: number): readonly Effect[] {
    this.#all = this.#all.filter((effect) => tick < effect.from + effect.lasts);
    return this.#all.filter((effect) => tick >= effect.from);
  }

  get isEmpty(): boolean {
    return this.#all.length === 0;
  }
}
