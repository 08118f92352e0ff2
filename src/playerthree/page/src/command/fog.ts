/** The fog as a picture of one pixel a tile, which fades from version to version and is stretched softly over the map. */

import type { Palette } from "./palette.js";
import { EXPLORED, VISIBLE } from "./sight.js";

/** How dark a tile is that was seen once, and one that never was, of 255. */
const SEEN_ONCE = 112;
const NEVER_SEEN = 205;
/** How long a tile takes to clear or to darken, about, in milliseconds. */
const FADE_MS = 160;

export class Fog {
  readonly picture = document.createElement("canvas");
  readonly #pen = this.picture.getContext("2d");
  #size = 0;
  #level = new Float32Array(0);
  #goal = new Float32Array(0);
  #image: ImageData | undefined;
  #drawnAt = 0;

  /** Takes what is in sight now. Edges are softened by their neighbours. */
  update(tiles: Uint8Array): void {
    const size = Math.sqrt(tiles.length);
    const isNew = size !== this.#size;
    if (isNew) this.#resize(size);
    const dark = (col: number, row: number) => {
      const tile = tiles[Math.min(size - 1, Math.max(0, row)) * size + Math.min(size - 1, Math.max(0, col))];
      return tile === VISIBLE ? 0 : tile === EXPLORED ? SEEN_ONCE : NEVER_SEEN;
    };
    for (let row = 0; row < size; row += 1) {
      for (let col = 0; col < size; col += 1) {
        const beside = dark(col - 1, row) + dark(col + 1, row) + dark(col, row - 1) + dark(col, row + 1);
        this.#goal[row * size + col] = (dark(col, row) * 4 + beside) / 8;
      }
    }
    if (isNew) this.#level.set(this.#goal);
  }

  /** The picture at a moment of the page's clock. */
  at(now: number, { fog }: Palette): HTMLCanvasElement {
    const share = 1 - Math.exp(-Math.max(0, now - this.#drawnAt) / FADE_MS);
    this.#drawnAt = now;
    const image = this.#image;
    if (!image) return this.picture;
    for (let tile = 0; tile < this.#level.length; tile += 1) {
      const level = this.#level[tile] ?? 0;
      const next = level + ((this.#goal[tile] ?? 0) - level) * share;
      this.#level[tile] = next;
      image.data[tile * 4] = fog[0];
      image.data[tile * 4 + 1] = fog[1];
      image.data[tile * 4 + 2] = fog[2];
      image.data[tile * 4 + 3] = next;
    }
    this.#pen?.putImageData(image, 0, 0);
    return this.picture;
  }

  #resize(size: number): void {
    this.#size = size;
    this.picture.width = this.picture.height = size;
    this.#level = new Float32Array(size * size);
    this.#goal = new Float32Array(size * size);
    this.#image = this.#pen?.createImageData(size, size);
  }
}
