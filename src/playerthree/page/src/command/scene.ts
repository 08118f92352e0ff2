/** What agent-command shows: a side's view and the observer's, read into one shape. */

import type { Controller } from "playerthree-client";

/** Ticks of the game in a second. */
export const TICKS_A_SECOND = 10;
/** The role that commands workers and builds. */
export const ECONOMY = "economy";
export const ROLES: readonly string[] = [ECONOMY, "ground", "air"];
export const WORKER = "worker";

export interface Kind {
  readonly kind: string;
  readonly role: string;
  readonly hp: number;
  readonly alloy: number;
  readonly energy: number;
  /** Points a tick; nothing for a building. */
  readonly speed: number;
  /** Tiles. */
  readonly sight: number;
  readonly damage: number;
  /** Points. */
  readonly range: number;
  /** What makes it. */
  readonly maker?: string;
  /** The building that must be in work to begin it. */
  readonly requires?: string;
}

export interface Place {
  readonly x: number;
  readonly y: number;
}

export interface CommandMap {
  /** Tiles along an edge. */
  readonly size: number;
  /** Points along a tile's edge. */
  readonly tile: number;
  readonly maxTicks: number;
  readonly terrain: readonly string[];
  readonly patchPlaces: readonly { readonly id: string; readonly x: number; readonly y: number }[];
  readonly kinds: readonly Kind[];
}

export interface Entity extends Place {
  readonly id: string;
  readonly kind: string;
  readonly side: string;
  readonly hp: number;
}

export interface Unit extends Entity {
  readonly order?: string;
  readonly load?: number;
}

export interface Building extends Entity {
  /** Percent. */
  readonly done: number;
  readonly queue?: number;
  readonly making?: string;
  /** Percent. */
  readonly ready?: number;
}

export interface GameEvent {
  readonly tick: number;
  readonly kind: string;
  readonly id?: string;
  readonly what?: string;
  readonly side?: string;
  readonly x?: number;
  readonly y?: number;
}

export interface Standing {
  readonly side: string;
  readonly outcome: string;
  readonly controllers: { readonly [role: string]: Controller };
  readonly alloy?: number;
  readonly energy?: number;
  readonly gathered?: number;
  readonly produced?: number;
  readonly built?: number;
  readonly lost?: number;
  readonly destroyed?: number;
}

/** A view as it comes: a snapshot carries the map, which never changes. */
export interface RawView {
  readonly tick: number;
  readonly side?: string;
  readonly alloy?: number;
  readonly energy?: number;
  readonly map?: CommandMap;
  readonly units: readonly Unit[];
  readonly buildings: readonly Building[];
  readonly patches: readonly number[];
  readonly sides: readonly Standing[];
  readonly events?: readonly GameEvent[];
}

export interface Scene extends RawView {
  readonly map: CommandMap;
  /** The watched side and its allies, who see together; nobody for an observer of everything. */
  readonly friends: ReadonlySet<string>;
  /** Who is allied. A side that is in none of these fights alone. */
  readonly alliances: readonly (readonly string[])[];
}

/** Joins views with the map that the first of them brought, and with who is allied. */
export class SceneReader {
  readonly #alliances: readonly (readonly string[])[];
  #map: CommandMap | undefined;

  constructor(alliances: readonly (readonly string[])[]) {
    this.#alliances = alliances;
  }

  read(view: RawView): Scene | undefined {
    this.#map = view.map ?? this.#map;
    const alliances = this.#alliances;
    const friends = new Set(view.side === undefined ? [] : party(alliances, view.side));
    return this.#map && { ...view, map: this.#map, friends, alliances };
  }
}

/** A side and its allies. */
function party(alliances: Scene["alliances"], side: string): readonly string[] {
  return alliances.find((members) => members.includes(side)) ?? [side];
}

/** Whether two sides fight each other. */
export function areEnemies(scene: Scene, one: string, other: string): boolean {
  return !party(scene.alliances, one).includes(other);
}

/** What is known of a kind of unit or building. */
export function kindOf(map: CommandMap, kind: string): Kind | undefined {
  return map.kinds.find((known) => known.kind === kind);
}

export function isBuilding(entity: Unit | Building): entity is Building {
  return "done" in entity;
}

/** The tile that a place is on. */
export function tileOf(map: CommandMap, at: Place): { readonly col: number; readonly row: number } {
  return { col: Math.floor(at.x / map.tile), row: Math.floor(at.y / map.tile) };
}

/** Minutes and seconds of the match. */
export function clock(ticks: number): string {
  const seconds = Math.max(0, Math.floor(ticks / TICKS_A_SECOND));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
