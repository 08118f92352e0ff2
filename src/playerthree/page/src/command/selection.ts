/** What is selected, and the groups that a player keeps under a digit. Ids only: what they are changes with each view. */

import type { Building, Scene, Unit } from "./scene.js";

export class Selection {
  #ids: ReadonlySet<string> = new Set();
  readonly #groups = new Map<string, ReadonlySet<string>>();

  get ids(): ReadonlySet<string> {
    return this.#ids;
  }

  set(things: Iterable<{ readonly id: string }>): void {
    this.#ids = new Set([...things].map(({ id }) => id));
  }

  /** Adds things, or takes them out where all of them are selected already. */
  toggle(things: readonly { readonly id: string }[]): void {
    const next = new Set(this.#ids);
    const all = things.every(({ id }) => next.has(id));
    for (const { id } of things) all ? next.delete(id) : next.add(id);
    this.#ids = next;
  }

  /** Lets go of what is not in sight any more. */
  prune(scene: Scene): void {
    const there = new Set([...scene.units, ...scene.buildings].map(({ id }) => id));
    if ([...this.#ids].some((id) => !there.has(id))) this.#ids = new Set([...this.#ids].filter((id) => there.has(id)));
  }

  units(scene: Scene): Unit[] {
    return scene.units.filter((unit) => this.#ids.has(unit.id));
  }

  buildings(scene: Scene): Building[] {
    return scene.buildings.filter((building) => this.#ids.has(building.id));
  }

  /** Keeps the selection under a digit. */
  store(digit: string): void {
    this.#groups.set(digit, this.#ids);
  }

  /** Selects what is left of a group. Returns whether anything is. */
  recall(digit: string, scene: Scene): boolean {
    const group = this.#groups.get(digit);
    if (!group) return false;
    this.#ids = group;
    this.prune(scene);
    return this.#ids.size > 0;
  }
}
