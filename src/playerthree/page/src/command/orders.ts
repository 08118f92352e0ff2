/** Orders of the side's own units: which seat sends what, and what the game answers. */

import { isOwn } from "../seats.js";
import { toast } from "../dom.js";
import { explain, refusal } from "../words.js";
import type { BoardContext } from "../match.js";
import type { Place } from "./camera.js";
import { kindOf, type Building, type Entity, type Kind, type Scene, type Unit } from "./scene.js";

/** Units of one intent. */
const UNITS_MAX = 32;
const WORKER = "worker";
/** The role of the workers. */
const ECONOMY = "economy";
/** How near a click has to be to mean a thing, in points. */
const REACH = 75;

export class Orders {
  readonly #context: BoardContext;

  constructor(context: BoardContext) {
    this.#context = context;
  }

  /** The roles that this person holds on the side, and may command. */
  roles(): ReadonlySet<string> {
    const { connection, welcome, side } = this.#context;
    if (welcome.as !== "player") return new Set();
    const own = connection.seats.filter((seat) => seat.team === side && isOwn(seat)).map((seat) => seat.role);
    return new Set(welcome.seat ? [welcome.seat.role, ...own] : own);
  }

  /** The side's own units that this person may command. */
  mine(scene: Scene): Unit[] {
    const roles = this.roles();
    return scene.units.filter((unit) => unit.side === scene.side && roles.has(kindOf(scene.map, unit.kind)?.role ?? ""));
  }

  /** What pointing at a place means for the selected units: attack, gather or move. Returns whether it is hostile. */
  point(scene: Scene, units: readonly Unit[], at: Place, fight: boolean): boolean {
    const enemy = nearest([...scene.units, ...scene.buildings].filter((entity) => entity.side !== scene.side), at);
    const armed = units.filter((unit) => (kindOf(scene.map, unit.kind)?.damage ?? 0) > 0);
    if (enemy && armed.length > 0) {
      this.#each(scene, armed, (ids) => ({ kind: "attack", units: ids, target: enemy.id }));
      return true;
    }
    const patch = nearest(
      scene.map.patchPlaces.filter((_, index) => (scene.patches[index] ?? 0) > 0),
      at,
    );
    const diggers = patch ? units.filter((unit) => unit.kind === WORKER) : [];
    if (patch && diggers.length > 0) this.#each(scene, diggers, (ids) => ({ kind: "gather", units: ids, patch: patch.id }));
    const others = units.filter((unit) => !diggers.includes(unit));
    const extent = scene.map.size * scene.map.tile - 1;
    const [x, y] = [at.x, at.y].map((value) => Math.min(extent, Math.max(0, Math.round(value))));
    // Workers do not fight, and their role knows no advance.
    const kind = (role: string) => (fight && role !== ECONOMY ? "advance" : "move");
    this.#each(scene, others, (ids, role) => ({ kind: kind(role), units: ids, x, y }));
    return false;
  }

  stop(scene: Scene, units: readonly Unit[]): void {
    this.#each(scene, units, (ids) => ({ kind: "stop", units: ids }));
  }

  /** Sends the nearest worker of the selection, or else of the side, to build. */
  build(scene: Scene, selected: readonly Unit[], building: string, col: number, row: number): void {
    const centre = { x: (col + 0.5) * scene.map.tile, y: (row + 0.5) * scene.map.tile };
    const isWorker = (unit: Unit) => unit.kind === WORKER;
    const chosen = selected.filter(isWorker);
    const worker = nearest(chosen.length > 0 ? chosen : this.mine(scene).filter(isWorker), centre, Infinity);
    if (!worker) return toast("There is no worker to build it.", "error");
    this.#send(ECONOMY, [{ kind: "build", unit: worker.id, building, col, row }]);
  }

  /** Makes a unit where the queue is shortest. */
  produce(scene: Scene, kind: Kind): void {
    const makers = this.makers(scene, kind).sort((one, other) => (one.queue ?? 0) - (other.queue ?? 0));
    if (makers[0]) this.#send(kind.role, [{ kind: "produce", building: makers[0].id, unit: kind.kind }]);
  }

  /** The finished buildings that make a kind. */
  makers(scene: Scene, kind: Kind): Building[] {
    return scene.buildings.filter((one) => one.side === scene.side && one.kind === kind.maker && one.done >= 100);
  }

  /** One intent for each role and each handful of units. */
  #each(scene: Scene, units: readonly Unit[], intent: (ids: string[], role: string) => object): void {
    for (const role of [ECONOMY, "ground", "air"]) {
      const ids = units.filter((unit) => kindOf(scene.map, unit.kind)?.role === role).map((unit) => unit.id);
      const intents: object[] = [];
      for (let from = 0; from < ids.length; from += UNITS_MAX) intents.push(intent(ids.slice(from, from + UNITS_MAX), role));
      if (intents.length > 0) this.#send(role, intents);
    }
  }

  async #send(role: string, intents: readonly object[]): Promise<void> {
    try {
      const acks = await this.#context.connection.seat(role).act(intents);
      const refused = acks.find((ack) => !ack.ok);
      if (refused && !refused.ok) toast(refusal(refused.gameCode ?? refused.code), "error");
    } catch (error) {
      toast(explain(error), "error");
    }
  }
}

/** The nearest of some things that is within reach. */
export function nearest<Thing extends Place>(things: readonly Thing[], at: Place, reach = REACH): Thing | undefined {
  let best: Thing | undefined;
  let bestDistance = reach;
  for (const thing of things) {
    const distance = Math.hypot(thing.x - at.x, thing.y - at.y);
    if (distance <= bestDistance) [best, bestDistance] = [thing, distance];
  }
  return best;
}

/** What stands at a place, in words, for those who do not see the map. */
export function describe(scene: Scene, at: Place): string {
  const { tile } = scene.map;
  const [col, row] = [Math.floor(at.x / tile), Math.floor(at.y / tile)];
  const here = (entity: Entity) => Math.floor(entity.x / tile) === col && Math.floor(entity.y / tile) === row;
  const names = [...scene.buildings, ...scene.units].filter(here).map((entity) => `${entity.side} ${entity.kind}`);
  const patch = scene.map.patchPlaces.findIndex((place) => Math.floor(place.x / tile) === col && Math.floor(place.y / tile) === row);
  const left = scene.patches[patch] ?? 0;
  if (left > 0) names.push(`alloy, ${left} left`);
  if (scene.map.terrain[row]?.[col] === "#") names.push("rock");
  return `Column ${col + 1}, row ${row + 1}: ${names.length > 0 ? names.slice(0, 4).join(", ") : "nothing"}`;
}
