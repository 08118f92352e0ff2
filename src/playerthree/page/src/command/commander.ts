/** What a player's hand means: what gets selected, which order a click gives, what is being placed. It draws nothing. */

import { toast } from "../dom.js";
import { nearest, type Meaning, type Orders } from "./orders.js";
import { siteProblem } from "./placement.js";
import { Rallies } from "./rallies.js";
import { areEnemies, kindOf, tileOf, type Building, type Place, type Scene, type Unit } from "./scene.js";
import { Selection } from "./selection.js";

/** A tile that was proposed and waits for a second tap. */
interface Site {
  readonly col: number;
  readonly row: number;
}

/** What the next click is for, where it is for something else than selecting. */
export type Mode =
  | { readonly kind: "build"; readonly building: string; readonly site?: Site }
  | { readonly kind: "advance" }
  | { readonly kind: "rally"; readonly building: string };

/** How a place was pointed at. */
export interface Pointing {
  readonly touch: boolean;
  readonly add: boolean;
  /** A finger hides what it points at: the first tap proposes a site, the second takes it. */
  readonly proposes: boolean;
  /** Twice in a row, or long. */
  readonly allOfKind: boolean;
  /** How near a thing has to be, in points. */
  readonly reach: number;
  /** Whether a place is on the screen. */
  readonly shows: (at: Place) => boolean;
}

/** What the commander tells of. */
export interface Notices {
  /** The selection or the mode changed. */
  changed(): void;
  /** An order went to a place. */
  ordered(at: Place, meaning: Meaning): void;
}

export class Commander {
  readonly selection = new Selection();
  readonly rallies = new Rallies();
  readonly orders: Orders;
  readonly #plays: boolean;
  readonly #notices: Notices;
  #scene: Scene | undefined;
  #mode: Mode | undefined;

  constructor(orders: Orders, plays: boolean, notices: Notices) {
    this.orders = orders;
    this.#plays = plays;
    this.#notices = notices;
  }

  get mode(): Mode | undefined {
    return this.#mode;
  }

  take(scene: Scene): void {
    this.#scene = scene;
    this.selection.prune(scene);
    if (this.#plays) this.rallies.take(scene, this.orders);
  }

  /** The selected units that this person commands. */
  units(): Unit[] {
    const scene = this.#scene;
    return scene && this.#plays ? this.orders.mine(scene).filter((unit) => this.selection.ids.has(unit.id)) : [];
  }

  /** The selected building of the own side, if it is the only thing selected. */
  building(): Building | undefined {
    const scene = this.#scene;
    const [one, ...others] = scene ? this.selection.buildings(scene) : [];
    return this.#plays && others.length === 0 && one?.side === scene?.side && this.selection.ids.size === 1 ? one : undefined;
  }

  /** Begins or, where it is on already, ends a mode. */
  begin(mode: Mode | undefined): void {
    const same = JSON.stringify(mode) === JSON.stringify(this.#mode);
    this.#mode = same || !this.#plays ? undefined : mode;
    this.#notices.changed();
  }

  select(things: Iterable<{ readonly id: string }>): void {
    this.selection.set(things);
    this.#mode = undefined;
    this.#notices.changed();
  }

  /** Ends the mode, or else lets go of the selection. */
  cancel(): void {
    if (this.#mode) this.begin(undefined);
    else this.select([]);
  }

  /** A click selects; a tap with a selection orders, as there is no second button. */
  point(at: Place, how: Pointing): void {
    const scene = this.#scene;
    if (!scene) return;
    if (this.#mode) return this.#carryOut(scene, this.#mode, at, how);
    const unit = nearest(this.#plays ? this.orders.mine(scene) : scene.units, at, how.reach);
    const own = this.#plays ? scene.buildings.filter((one) => one.side === scene.side) : scene.buildings;
    const building = unit ? undefined : nearest(own, at, Math.max(how.reach, scene.map.tile * 0.7));
    const isCommanding = this.units().length > 0;
    if (unit && how.allOfKind) return this.select(this.#alike(scene, unit, how.shows));
    if (unit && how.add) return this.#toggle([unit]);
    if (unit) return this.select([unit]);
    if (how.touch && isCommanding) return this.order(at);
    if (building && !how.add) return this.select([building]);
    const stranger = nearest([...scene.units, ...scene.buildings], at, how.reach);
    if (!how.add) this.select(stranger ? [stranger] : []);
  }

  /** The second button, or a tap: what the selection is to do there. */
  order(at: Place, fight = false): void {
    const scene = this.#scene;
    if (!scene || !this.#plays) return;
    if (this.#mode) return this.begin(undefined);
    const units = this.units();
    const building = this.building();
    if (units.length > 0) this.#notices.ordered(at, this.orders.point(scene, units, at, fight));
    else if (building && this.mayRally(scene, building)) this.#rally(building.id, at);
  }

  /** Everything own in a box. Units come before buildings. */
  box(from: Place, to: Place, add: boolean): void {
    const scene = this.#scene;
    if (!scene || !this.#plays) return;
    const isInside = ({ x, y }: Place) => (x - from.x) * (x - to.x) <= 0 && (y - from.y) * (y - to.y) <= 0;
    const units = this.orders.mine(scene).filter(isInside);
    const buildings = scene.buildings.filter((one) => one.side === scene.side && isInside(one));
    const caught = units.length > 0 ? units : buildings.slice(0, 1);
    if (add) this.#add(units);
    else this.select(caught);
  }

  stop(): void {
    if (this.#scene && this.#plays) this.orders.stop(this.#scene, this.units());
  }

  /** Selects the next unit that does nothing, and tells where it is. */
  nextIdle(): Unit | undefined {
    const scene = this.#scene;
    if (!scene) return undefined;
    const idle = this.orders.mine(scene).filter((unit) => unit.order === "idle");
    const current = idle.findIndex((unit) => this.selection.ids.has(unit.id));
    const next = idle[(current + 1) % Math.max(1, idle.length)];
    if (next) this.select([next]);
    return next;
  }

  /** Whether a building makes units that this person commands. */
  mayRally(scene: Scene, building: Building): boolean {
    const roles = this.orders.roles();
    return scene.map.kinds.some((kind) => kind.maker === building.kind && roles.has(kind.role));
  }

  #carryOut(scene: Scene, mode: Mode, at: Place, { add, proposes }: Pointing): void {
    if (mode.kind === "rally") this.#rally(mode.building, at);
    else if (mode.kind === "advance") this.#notices.ordered(at, this.orders.point(scene, this.units(), at, true));
    else {
      const { col, row } = tileOf(scene.map, at);
      if (proposes && (mode.site?.col !== col || mode.site.row !== row)) return this.#propose({ ...mode, site: { col, row } });
      const problem = siteProblem(scene, col, row);
      // The mode stays on, so that another tile can be chosen.
      if (problem !== undefined) return toast(problem, "error");
      this.orders.build(scene, this.units(), mode.building, col, row);
      this.#notices.ordered({ x: (col + 0.5) * scene.map.tile, y: (row + 0.5) * scene.map.tile }, "order");
    }
    if (!add) this.#mode = undefined;
    this.#notices.changed();
  }

  #propose(mode: Mode): void {
    this.#mode = mode;
    this.#notices.changed();
  }

  #rally(building: string, at: Place): void {
    this.rallies.set(building, at);
    this.#notices.ordered(at, "order");
    this.#notices.changed();
  }

  #toggle(units: readonly Unit[]): void {
    this.selection.toggle(units);
    this.#notices.changed();
  }

  #add(units: readonly Unit[]): void {
    this.select([...this.units(), ...units]);
  }

  /** All own units of a kind on the screen. */
  #alike(scene: Scene, unit: Unit, shows: (at: Place) => boolean): Unit[] {
    const some = this.#plays ? this.orders.mine(scene) : scene.units.filter((one) => one.side === unit.side);
    return some.filter((one) => one.kind === unit.kind && shows(one));
  }
}

/** What stands at a place, in words, for those who do not see the map. */
export function describe(scene: Scene, at: Place): string {
  const { col, row } = tileOf(scene.map, at);
  const isHere = (place: Place) => {
    const other = tileOf(scene.map, place);
    return other.col === col && other.row === row;
  };
  const names = [...scene.buildings, ...scene.units].filter(isHere).map((entity) => {
    const full = kindOf(scene.map, entity.kind)?.hp ?? entity.hp;
    const hurt = entity.hp < full ? `, ${Math.round((entity.hp / full) * 100)} percent` : "";
    const enemy = scene.side !== undefined && areEnemies(scene, scene.side, entity.side) ? "enemy " : "";
    return `${enemy}${entity.side} ${entity.kind}${hurt}`;
  });
  const left = scene.patches[scene.map.patchPlaces.findIndex(isHere)] ?? 0;
  if (left > 0) names.push(`alloy, ${left} left`);
  if (scene.map.terrain[row]?.[col] === "#") names.push("rock");
  return `Column ${col + 1}, row ${row + 1}: ${names.length > 0 ? names.slice(0, 4).join("; ") : "nothing"}`;
}
