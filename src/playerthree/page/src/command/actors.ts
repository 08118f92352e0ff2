/** Units and buildings as they are drawn: moving smoothly from version to version, flashing, and vanishing in a burst. */

import { kindOf, type Building, type Scene, type Unit } from "./scene.js";

/** Longest time that a step between two versions is drawn over, in milliseconds. */
const STEP_MS = 250;
const SPARK_MS = 260;
const BURST_MS = 620;
/** Farther than this in one step is a jump and not a movement, in points. */
const JUMP = 800;

/** One unit or building on its way. Places are in points. */
export interface Actor {
  readonly entity: Unit | Building;
  readonly air: boolean;
  readonly building: boolean;
  x: number;
  y: number;
  /** Radians, 0 to the right. */
  heading: number;
  /** When it was last hurt, in milliseconds of the page's clock. */
  hurtAt: number;
}

interface Moving extends Actor {
  fromX: number;
  fromY: number;
  since: number;
  entity: Unit | Building;
}

/** Something short-lived. `age` goes from 0 to 1. */
export interface Effect {
  readonly kind: "burst" | "shot";
  readonly x: number;
  readonly y: number;
  readonly toX: number;
  readonly toY: number;
  readonly side: string;
  readonly size: number;
  readonly from: number;
  readonly lasts: number;
}

export class Actors {
  readonly #actors = new Map<string, Moving>();
  #effects: Effect[] = [];
  #last = 0;
  #span = 100;

  /** Takes a new version. `all` says that whatever is gone was destroyed, not lost from sight. */
  update(scene: Scene, now: number, all: boolean): void {
    this.#span = Math.min(STEP_MS, Math.max(60, now - this.#last || 100));
    this.#last = now;
    const seen = new Set<string>();
    for (const entity of [...scene.buildings, ...scene.units]) {
      seen.add(entity.id);
      this.#place(scene, entity, now);
    }
    for (const [id, actor] of this.#actors) {
      if (seen.has(id)) continue;
      this.#actors.delete(id);
      if (all || actor.entity.side === scene.side || wasDestroyed(scene, id)) this.#burst(actor, now);
    }
    this.#effects = this.#effects.filter((effect) => now < effect.from + effect.lasts);
  }

  /** Everything where it is at this moment. */
  at(now: number): Actor[] {
    const actors = [...this.#actors.values()];
    for (const actor of actors) {
      const share = Math.min(1, (now - actor.since) / this.#span);
      actor.x = actor.fromX + (actor.entity.x - actor.fromX) * share;
      actor.y = actor.fromY + (actor.entity.y - actor.fromY) * share;
    }
    return actors;
  }

  effects(now: number): readonly Effect[] {
    return this.#effects.filter((effect) => now < effect.from + effect.lasts);
  }

  #place(scene: Scene, entity: Unit | Building, now: number): void {
    const known = this.#actors.get(entity.id);
    if (!known) {
      const kind = kindOf(scene.map, entity.kind);
      const { x, y } = entity;
      const flags = { air: kind?.role === "air" && kind.speed > 0, building: "done" in entity };
      this.#actors.set(entity.id, { entity, ...flags, x, y, fromX: x, fromY: y, since: now, heading: 0, hurtAt: -1e9 });
      return;
    }
    const [dx, dy] = [entity.x - known.entity.x, entity.y - known.entity.y];
    if (dx !== 0 || dy !== 0) known.heading = Math.atan2(dy, dx);
    const jump = Math.hypot(dx, dy) > JUMP;
    [known.fromX, known.fromY] = jump ? [entity.x, entity.y] : [known.x, known.y];
    known.since = now;
    if (entity.hp < known.entity.hp) {
      known.hurtAt = now;
      this.#shot(scene, entity, now);
    }
    known.entity = entity;
  }

  /** A hit is drawn as coming from the nearest armed enemy in sight, which is usually true. */
  #shot(scene: Scene, target: Unit | Building, now: number): void {
    let from: Moving | undefined;
    let best = Infinity;
    for (const actor of this.#actors.values()) {
      const kind = kindOf(scene.map, actor.entity.kind);
      if (!kind || kind.damage === 0 || actor.entity.side === target.side) continue;
      const distance = Math.hypot(actor.x - target.x, actor.y - target.y);
      if (distance < Math.min(best, kind.range * 1.4 + 100)) [from, best] = [actor, distance];
    }
    if (!from) return;
    if (!from.building) from.heading = Math.atan2(target.y - from.y, target.x - from.x);
    const places = { x: from.x, y: from.y, toX: target.x, toY: target.y };
    this.#add({ kind: "shot", ...places, side: from.entity.side, size: 1, from: now, lasts: SPARK_MS });
  }

  #burst(actor: Moving, now: number): void {
    const { x, y } = actor.entity;
    const size = actor.building ? 2 : 1;
    this.#add({ kind: "burst", x, y, toX: x, toY: y, side: actor.entity.side, size, from: now, lasts: BURST_MS });
  }

  #add(effect: Effect): void {
    this.#effects.push(effect);
    if (this.#effects.length > 200) this.#effects.shift();
  }
}

function wasDestroyed(scene: Scene, id: string): boolean {
  return scene.events?.some((event) => event.kind === "destroyed" && event.id === id) ?? false;
}
