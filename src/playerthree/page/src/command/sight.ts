/**
 * What the watched side sees, has seen and remembers, computed from its own units as the game does. The server sends
 * nothing that is unseen; this only tells apart, for the eye, ground that is watched now from ground that was.
 */

import { kindOf, tileOf, type Building, type CommandMap, type Scene } from "./scene.js";

export const UNKNOWN = 0;
export const EXPLORED = 1;
export const VISIBLE = 2;

export class Sight {
  /** Of every tile, row by row: `UNKNOWN`, `EXPLORED` or `VISIBLE`. */
  tiles = new Uint8Array(0);
  readonly #remembered = new Map<string, Building>();
  /** Enemy buildings of the last version. */
  #seen: readonly Building[] = [];

  /** Enemy buildings where they were last seen, that may stand there still. */
  get remembered(): Iterable<Building> {
    return this.#remembered.values();
  }

  update(scene: Scene): void {
    const { map } = scene;
    if (this.tiles.length !== map.size ** 2) this.tiles = new Uint8Array(map.size ** 2);
    if (scene.side === undefined) {
      this.tiles.fill(VISIBLE);
      return;
    }
    for (let tile = 0; tile < this.tiles.length; tile += 1) if (this.tiles[tile] === VISIBLE) this.tiles[tile] = EXPLORED;
    for (const entity of [...scene.buildings, ...scene.units]) {
      if (!scene.friends.has(entity.side)) continue;
      const { col, row } = tileOf(map, entity);
      this.#look(map, col, row, kindOf(map, entity.kind)?.sight ?? 0);
    }
    this.#remember(scene);
  }

  /** A disc, row by row, as wide as the game makes it. */
  #look({ size }: CommandMap, col: number, row: number, radius: number): void {
    for (let y = Math.max(0, row - radius); y <= Math.min(size - 1, row + radius); y += 1) {
      const half = Math.floor(Math.sqrt(Math.floor((2 * radius + 1) ** 2 / 4) - (y - row) ** 2));
      const [left, right] = [Math.max(0, col - half), Math.min(size - 1, col + half)];
      this.tiles.fill(VISIBLE, y * size + left, y * size + right + 1);
    }
  }

  #remember(scene: Scene): void {
    for (const building of scene.buildings) this.#remembered.delete(building.id);
    const out = new Set(scene.sides.filter(({ outcome }) => outcome === "loss").map(({ side }) => side));
    for (const [id, building] of this.#remembered) {
      if (out.has(building.side) || this.#sees(scene.map, building)) this.#remembered.delete(id);
    }
    for (const building of this.#seen) if (!this.#sees(scene.map, building)) this.#remembered.set(building.id, building);
    this.#seen = scene.buildings.filter((building) => !scene.friends.has(building.side));
  }

  #sees(map: CommandMap, building: Building): boolean {
    const { col, row } = tileOf(map, building);
    return this.tiles[row * map.size + col] === VISIBLE;
  }
}
