/** Orders of the side's own units: which seat sends what, and what the game answers. */

import { isOwn } from "../seats.js";
import { toast } from "../dom.js";
import { explain, refusal } from "../words.js";
import type { BoardContext } from "../match.js";
import {
  areEnemies,
  ECONOMY,
  kindOf,
  ROLES,
  WORKER,
  type Building,
  type Entity,
  type Kind,
  type Place,
  type Scene,
  type Unit,
} from "./scene.js";

/** Units of one intent. */
const UNITS_MAX = 32;
/** How near a click has to be to mean a thing, in points. */
const REACH = 75;
/** Ticks that an order may take until the view shows it. */
const ON_ITS_WAY = 8;

/** What pointing at a place came to. */
export type Meaning = "attack" | "order";

export class Orders {
  readonly #context: BoardContext;
  readonly #goals = new Map<string, Place & { readonly since: number }>();

  constructor(context: BoardContext) {
    this.#context = context;
  }

  /** The roles that this person holds on the side, and may command. */
  roles(): ReadonlySet<string> {
    const { connection, welcome, side } = this.#context;
    if (!welcome.seat) return new Set();
    const own = connection.seats.filter((seat) => seat.team === side && isOwn(seat)).map((seat) => seat.role);
    return new Set([welcome.seat.role, ...own]);
  }

  /** The side's own units that this person may command. */
  mine(scene: Scene): Unit[] {
    const roles = this.roles();
    return scene.units.filter((unit) => unit.side === scene.side && roles.has(kindOf(scene.map, unit.kind)?.role ?? ""));
  }

  /** Where units were sent that are still on their way. */
  goals(scene: Scene): ReadonlyMap<string, Place> {
    const units = new Map(scene.units.map((unit) => [unit.id, unit]));
    for (const [id, goal] of this.#goals) {
      const unit = units.get(id);
      if (!unit || (unit.order === "idle" && scene.tick > goal.since + ON_ITS_WAY)) this.#goals.delete(id);
    }
    return this.#goals;
  }

  /** What pointing at a place means for units: attack, gather, or go there, fighting on the way or not. */
  point(scene: Scene, units: readonly Unit[], at: Place, fight: boolean): Meaning {
    const enemy = nearest(enemiesIn(scene), at);
    const armed = units.filter((unit) => (kindOf(scene.map, unit.kind)?.damage ?? 0) > 0);
    if (enemy && armed.length > 0) {
      this.#each(scene, armed, at, (ids) => ({ kind: "attack", units: ids, target: enemy.id }));
      return "attack";
    }
    const patch = nearest(
      scene.map.patchPlaces.filter((_, index) => (scene.patches[index] ?? 0) > 0),
      at,
    );
    const diggers = patch ? units.filter((unit) => unit.kind === WORKER) : [];
    if (patch && diggers.length > 0) this.#each(scene, diggers, patch, (ids) => ({ kind: "gather", units: ids, patch: patch.id }));
    const others = units.filter((unit) => !diggers.includes(unit));
    const extent = scene.map.size * scene.map.tile - 1;
    const [x, y] = [at.x, at.y].map((value) => Math.min(extent, Math.max(0, Math.round(value))));
    // Workers do not fight, and their role knows no advance.
    const kind = (role: string) => (fight && role !== ECONOMY ? "advance" : "move");
    this.#each(scene, others, at, (ids, role) => ({ kind: kind(role), units: ids, x, y }));
    return fight ? "attack" : "order";
  }

  stop(scene: Scene, units: readonly Unit[]): void {
    this.#each(scene, units, undefined, (ids) => ({ kind: "stop", units: ids }));
  }

  /** Sends the nearest worker of the selection, or else of the side, to build. */
  build(scene: Scene, selected: readonly Unit[], building: string, col: number, row: number): void {
    const centre = { x: (col + 0.5) * scene.map.tile, y: (row + 0.5) * scene.map.tile };
    const isWorker = (unit: Unit) => unit.kind === WORKER;
    const chosen = selected.filter(isWorker);
    // A worker that already builds would leave its site.
    const free = this.mine(scene).filter((unit) => isWorker(unit) && unit.order !== "build");
    const worker = nearest(chosen.length > 0 ? chosen : free, centre, Infinity);
    if (!worker) return toast("There is no worker free to build it.", "error");
    this.#goals.set(worker.id, { ...centre, since: scene.tick });
    void this.#send(ECONOMY, [{ kind: "build", unit: worker.id, building, col, row }]);
  }

  /** Makes a unit in this building, or where the queue is shortest. */
  produce(scene: Scene, kind: Kind, preferred: Building | undefined): void {
    const makers = this.makers(scene, kind).sort((one, other) => (one.queue ?? 0) - (other.queue ?? 0));
    const maker = makers.find((one) => one.id === preferred?.id) ?? makers[0];
    if (maker) void this.#send(kind.role, [{ kind: "produce", building: maker.id, unit: kind.kind }]);
  }

  /** The finished buildings that make a kind. */
  makers(scene: Scene, kind: Kind): Building[] {
    return scene.buildings.filter((one) => one.side === scene.side && one.kind === kind.maker && one.done >= 100);
  }

  /** One intent for each role and each handful of units. */
  #each(
    scene: Scene,
    units: readonly Unit[],
    goal: Place | undefined,
    intent: (ids: string[], role: string) => object,
  ): void {
    for (const unit of units) {
      if (goal) this.#goals.set(unit.id, { x: goal.x, y: goal.y, since: scene.tick });
      else this.#goals.delete(unit.id);
    }
    for (const role of ROLES) {
      const ids = units.filter((unit) => kindOf(scene.map, unit.kind)?.role === role).map((unit) => unit.id);
      const intents: object[] = [];
      for (let from = 0; from < ids.length; from += UNITS_MAX) intents.push(intent(ids.slice(from, from + UNITS_MAX), role));
      if (intents.length > 0) void this.#send(role, intents);
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

/** Everything in sight that the watched side fights. */
function enemiesIn(scene: Scene): Entity[] {
  const { side } = scene;
  return side === undefined ? [] : [...scene.units, ...scene.buildings].filter((entity) => areEnemies(scene, side, entity.side));
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
