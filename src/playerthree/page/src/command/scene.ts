/** What agent-command shows: a side's view and the observer's, read into one shape. */

import type { Controller } from "playerthree-client";

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

export interface Entity {
  readonly id: string;
  readonly kind: string;
  readonly side: string;
  readonly x: number;
  readonly y: number;
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
}

/** Joins views with the map that the first of them brought. */
export class SceneReader {
  #map: CommandMap | undefined;

  read(view: RawView): Scene | undefined {
    this.#map = view.map ?? this.#map;
    return this.#map && { ...view, map: this.#map };
  }
}

/** What is known of a kind of unit or building. */
export function kindOf(map: CommandMap, kind: string): Kind | undefined {
  return map.kinds.find((known) => known.kind === kind);
}
