/** Where the new units of a building go. The game knows no such order: the page gives it as each unit comes out. */

import type { Orders } from "./orders.js";
import { nearest } from "./orders.js";
import { kindOf, type Place, type Scene } from "./scene.js";

/** How far from its building a new unit appears at most, in points. */
const BESIDE = 220;

export class Rallies {
  readonly #places = new Map<string, Place>();
  #seen = -1;

  /** The places by the id of the building. */
  get places(): ReadonlyMap<string, Place> {
    return this.#places;
  }

  set(building: string, at: Place): void {
    this.#places.set(building, at);
  }

  /** Sends on what came out since the last version. */
  take(scene: Scene, orders: Orders): void {
    const fresh = (scene.events ?? []).filter((event) => event.kind === "produced" && event.tick > this.#seen);
    this.#seen = scene.tick;
    for (const id of this.#places.keys()) if (!scene.buildings.some((building) => building.id === id)) this.#places.delete(id);
    if (this.#places.size === 0) return;
    const mine = orders.mine(scene);
    for (const event of fresh) {
      const unit = mine.find((one) => one.id === event.id);
      if (!unit) continue;
      const maker = kindOf(scene.map, unit.kind)?.maker;
      const building = nearest(scene.buildings.filter((one) => one.kind === maker && one.side === scene.side), unit, BESIDE);
      const place = building && this.#places.get(building.id);
      if (place) orders.point(scene, [unit], place, true);
    }
  }
}
