/** Units and buildings as they are drawn between two versions: moving, turning, hurt, appearing and destroyed. */

import { BURST_TICKS, Effects, SHOT_TICKS } from "./effects.js";
import { areEnemies, isBuilding, kindOf, type Building, type Kind, type Scene, type Unit } from "./scene.js";

/** Farther than this in a tick is a jump and not a movement, in points. */
const JUMP = 130;
/** Versions of a unit's place that are kept. */
const KEPT = 12;
/** What is gone is kept for so many ticks until it is drawn. */
const LONG_GONE = 50;
/** How fast a unit turns, in radians a tick. */
const TURN = 0.9;

/** One unit or building at the moment that is drawn. Places are in points. */
export interface Actor {
  readonly entity: Unit | Building;
  readonly kind: Kind | undefined;
  readonly air: boolean;
  readonly x: number;
  readonly y: number;
  readonly hp: number;
  /** Radians, 0 to the right. */
  readonly heading: number;
  /** Ticks since it was last hurt. */
  readonly hurt: number;
}

interface Version {
  readonly tick: number;
  readonly x: number;
  readonly y: number;
  readonly hp: number;
}

class Track implements Actor {
  entity: Unit | Building;
  readonly kind: Kind | undefined;
  readonly air: boolean;
  readonly born: number;
  versions: Version[] = [];
  x: number;
  y: number;
  hp: number;
  heading: number;
  /** The heading that it turns to. */
  aim: number;
  hurt = Infinity;
  hurtAt = -Infinity;
  /** The tick from which on it is not there any more, and whether it ends in a burst. */
  gone: { readonly tick: number; readonly bursts: boolean } | undefined;

  constructor(scene: Scene, entity: Unit | Building) {
    this.entity = entity;
    this.kind = kindOf(scene.map, entity.kind);
    this.air = this.kind?.role === "air" && this.kind.speed > 0;
    this.born = scene.tick;
    [this.x, this.y, this.hp] = [entity.x, entity.y, entity.hp];
    const middle = (scene.map.size * scene.map.tile) / 2;
    this.heading = this.aim = isBuilding(entity) ? 0 : Math.atan2(middle - entity.y, middle - entity.x);
  }

  take(scene: Scene, entity: Unit | Building): void {
    const last = this.versions.at(-1);
    const version = { tick: scene.tick, x: entity.x, y: entity.y, hp: entity.hp };
    const isJump = last && Math.hypot(version.x - last.x, version.y - last.y) > JUMP * Math.max(1, version.tick - last.tick);
    if (isJump || (last && version.tick <= last.tick)) this.versions.length = 0;
    this.versions.push(version);
    if (this.versions.length > KEPT) this.versions.shift();
    this.entity = entity;
    this.gone = undefined;
  }

  /** Puts it where it is at a tick; `passed` ticks went by since the last time. */
  place(tick: number, passed: number): void {
    const after = this.versions.findIndex((version) => version.tick > tick);
    const [from, to] = after < 0 ? [undefined, this.versions.at(-1)] : [this.versions[after - 1], this.versions[after]];
    if (!to) return;
    const share = from ? (tick - from.tick) / (to.tick - from.tick) : 1;
    const { x, y, hp } = from ?? to;
    this.x = x + (to.x - x) * share;
    this.y = y + (to.y - y) * share;
    this.hp = hp + (to.hp - hp) * share;
    this.hurt = tick - this.hurtAt;
    if (from && (to.x !== x || to.y !== y)) this.aim = Math.atan2(to.y - y, to.x - x);
    const turn = ((this.aim - this.heading + Math.PI * 3) % (Math.PI * 2)) - Math.PI;
    this.heading += Math.sign(turn) * Math.min(Math.abs(turn), passed * TURN);
  }
}

export class Actors {
  readonly #tracks = new Map<string, Track>();
  readonly effects = new Effects();
  #drawn = 0;

  /** Takes a new version. */
  update(scene: Scene): void {
    const seen = new Set<string>();
    for (const entity of [...scene.buildings, ...scene.units]) {
      seen.add(entity.id);
      const known = this.#tracks.get(entity.id);
      const track = known ?? new Track(scene, entity);
      if (known && entity.hp < known.entity.hp) this.#hit(scene, known, entity);
      track.take(scene, entity);
      if (!known) this.#tracks.set(entity.id, track);
    }
    for (const [id, track] of this.#tracks) {
      // What went long ago was never drawn since: the page is hidden.
      if (track.gone && track.gone.tick < scene.tick - LONG_GONE) this.#tracks.delete(id);
      else if (!seen.has(id)) track.gone ??= { tick: scene.tick, bursts: isDestroyed(scene, track.entity) };
    }
  }

  /** Everything that is there at a tick, where it is then. */
  at(tick: number): Actor[] {
    const passed = Math.min(2, Math.max(0, tick - this.#drawn));
    this.#drawn = tick;
    const there: Actor[] = [];
    for (const [id, track] of this.#tracks) {
      if (track.gone && tick >= track.gone.tick) {
        if (track.gone.bursts) this.#burst(track, track.gone.tick);
        this.#tracks.delete(id);
      } else if (tick >= track.born - 1) {
        track.place(tick, passed);
        there.push(track);
      }
    }
    return there;
  }

  /** A hit is drawn as coming from the nearest enemy in sight that could have fired it, which is usually true. */
  #hit(scene: Scene, target: Track, { x, y, side }: Unit | Building): void {
    target.hurtAt = scene.tick + SHOT_TICKS / 3;
    let from: Track | undefined;
    let best = Infinity;
    for (const track of this.#tracks.values()) {
      if (!track.kind || track.kind.damage === 0 || !areEnemies(scene, track.entity.side, side)) continue;
      const distance = Math.hypot(track.entity.x - x, track.entity.y - y);
      if (distance < Math.min(best, track.kind.range + 160)) [from, best] = [track, distance];
    }
    if (!from) return;
    from.aim = Math.atan2(y - from.entity.y, x - from.entity.x);
    const places = { x: from.entity.x, y: from.entity.y, toX: x, toY: y };
    const size = (from.kind?.damage ?? 0) >= 20 ? 1.7 : 1;
    this.effects.add({ kind: "shot", ...places, side: from.entity.side, size, from: scene.tick - 1, lasts: SHOT_TICKS });
  }

  #burst({ entity, x, y }: Track, tick: number): void {
    const size = isBuilding(entity) ? 2.1 : 1;
    this.effects.add({ kind: "burst", x, y, toX: x, toY: y, side: entity.side, size, from: tick, lasts: BURST_TICKS * Math.sqrt(size) });
  }
}

/** What is gone was destroyed, unless it only left the sight of the watched side. */
function isDestroyed(scene: Scene, entity: Unit | Building): boolean {
  if (scene.side === undefined || scene.friends.has(entity.side)) return true;
  return scene.events?.some((event) => event.kind === "destroyed" && event.id === entity.id) ?? false;
}
