/**
 * What happened, moment by moment. A side is told by the game; for an observer of everything it is read off the frames.
 * Happenings of a kind that follow each other closely are one moment.
 */

import { capital } from "../words.js";
import { isBuilding, type Building, type GameEvent, type Place, type Scene, type Unit } from "./scene.js";

export interface Moment {
  readonly kind: string;
  /** When it began, and when it last went on. */
  readonly tick: number;
  last: number;
  /** Where it is now; some moments are nowhere. */
  at: Place | undefined;
  /** Whose it is, where it is not the watched side's. */
  readonly side: string | undefined;
  /** How many of what. */
  readonly what: Map<string, number>;
}

/** Moments that are kept. */
const MOST = 150;
/** Ticks within which happenings of a kind are one moment. */
const MERGES: { readonly [kind: string]: number } = { produced: 80, attacked: 120, lost: 70, destroyed: 70, fell: 70, contact: 60 };
/** A moment is no longer than this, in ticks. */
const LONGEST = 200;
/** Farther apart than this, they are two, in points. */
const APART = 900;

export class Chronicle {
  readonly #moments: Moment[] = [];
  #before: Scene | undefined;
  #seen = -1;

  /** Oldest first. */
  get moments(): readonly Moment[] {
    return this.#moments;
  }

  /** Takes a version and returns the moments that began with it. */
  take(scene: Scene): readonly Moment[] {
    const events = scene.side === undefined ? derive(this.#before, scene) : (scene.events ?? []);
    const fresh = events.filter((event) => event.tick > this.#seen).map((event) => this.#add(event));
    this.#before = scene;
    this.#seen = scene.tick;
    return fresh.filter((moment) => moment !== undefined);
  }

  #add(event: GameEvent): Moment | undefined {
    const at = event.x !== undefined && event.y !== undefined ? { x: event.x, y: event.y } : undefined;
    const known = [...this.#moments].reverse().find((moment) => belongsTo(moment, event, at));
    const moment = known ?? { kind: event.kind, tick: event.tick, last: event.tick, at, side: event.side, what: new Map() };
    moment.last = event.tick;
    moment.at = at ?? moment.at;
    if (event.what !== undefined) {
      const name = event.side !== undefined && event.kind !== "built" ? `${event.side} ${event.what}` : event.what;
      moment.what.set(name, (moment.what.get(name) ?? 0) + 1);
    }
    if (known) return undefined;
    this.#moments.push(moment);
    if (this.#moments.length > MOST) this.#moments.shift();
    return moment;
  }
}

function belongsTo(moment: Moment, event: GameEvent, at: Place | undefined): boolean {
  const within = MERGES[event.kind];
  if (within === undefined || moment.kind !== event.kind || event.tick - moment.last > within) return false;
  if (event.tick - moment.tick > LONGEST) return false;
  if (event.kind !== "fell" && moment.side !== event.side) return false;
  return !moment.at || !at || Math.hypot(moment.at.x - at.x, moment.at.y - at.y) <= APART;
}

/** What the difference of two frames tells. */
function derive(before: Scene | undefined, now: Scene): GameEvent[] {
  if (!before) return [];
  const { tick } = now;
  const there = new Set([...now.units, ...now.buildings].map(({ id }) => id));
  const about = (kind: string, { kind: what, side, x, y }: Unit | Building): GameEvent => ({ tick, kind, what, side, x, y });
  const lasting = new Set(now.sides.filter(({ outcome }) => outcome === "running").map(({ side }) => side));
  const fell = [...before.units, ...before.buildings].filter(({ id, side }) => !there.has(id) && lasting.has(side));
  const was = new Map(before.buildings.map((building) => [building.id, building]));
  const built = now.buildings.filter(({ id, done }) => done >= 100 && (was.get(id)?.done ?? 100) < 100);
  const ended = now.sides.filter(({ side, outcome }) => outcome === "loss" && outcomeOf(before, side) === "running");
  const isOver = now.sides.every(({ outcome }) => outcome !== "running") && before.sides.some(({ outcome }) => outcome === "running");
  return [
    ...fell.map((entity) => about(isBuilding(entity) ? "razed" : "fell", entity)),
    ...built.map((building) => about("built", building)),
    ...ended.map(({ side }): GameEvent => ({ tick, kind: "eliminated", side })),
    ...(isOver ? [{ tick, kind: "ended" }] : []),
  ];
}

function outcomeOf(scene: Scene, side: string): string | undefined {
  return scene.sides.find((standing) => standing.side === side)?.outcome;
}

const TITLES: { readonly [kind: string]: string } = {
  produced: "Ready",
  built: "Finished",
  blocked: "Could not build",
  attacked: "Under attack",
  contact: "Enemy in sight",
  lost: "Lost",
  destroyed: "Destroyed",
  fell: "Fallen",
  razed: "Razed",
};

/** A moment in words. */
export function tell({ kind, side, what }: Moment): string {
  if (kind === "depleted") return "An alloy patch is empty";
  if (kind === "ended") return "The match is over";
  if (kind === "eliminated") return `${capital(side ?? "a side")} is out`;
  const names = [...what].map(([name, count]) => (count > 1 && kind !== "attacked" && kind !== "contact" ? `${count} ${name}s` : name));
  const owner = kind === "built" && side !== undefined ? `${side} ` : "";
  return `${TITLES[kind] ?? capital(kind)}: ${owner}${names.join(", ") || "something"}`;
}

/** How a moment looks: good for the watched side, bad, or neither. */
export function mood(kind: string): "good" | "bad" | "plain" {
  if (kind === "destroyed" || kind === "built") return "good";
  return ["lost", "attacked", "blocked", "fell", "razed"].includes(kind) ? "bad" : "plain";
}
