/** Pictures of units, buildings and their plates, drawn once for a size and a palette and copied from then on. */

import { palette, sideColours, traceEmblem, type Palette } from "./palette.js";
import { drawShape } from "./shapes.js";

/** A picture is so many tiles wide, so that every shape and its outline fit. */
export const SPRITE_TILES = 1.8;
/** Sizes are rounded up to this many pixels, so that zooming does not make a picture for each step. */
const STEP = 6;
/** More than this many pictures are of sizes that are not seen any more. */
const MOST = 400;

export class Sprites {
  readonly #pictures = new Map<string, HTMLCanvasElement>();
  #palette: Palette | undefined;

  /** A unit or building that looks to the right, `size` times as large as its shape. `tile` is the width of a tile in pixels. */
  thing(kind: string, side: string, tile: number, size = 1): HTMLCanvasElement {
    return this.#picture(`${kind} ${side} ${size}`, tile, (pen, colours) => {
      const [fill, light] = sideColours(side);
      pen.scale(size, size);
      drawShape(pen, kind, fill, light, colours.ink);
    });
  }

  /** The plate of a side, which lies under its units and buildings; `radius` is in tiles. */
  plate(side: string, radius: number, tile: number): HTMLCanvasElement {
    return this.#picture(`plate ${side} ${radius}`, tile, (pen, colours) => {
      const [fill, light] = sideColours(side);
      pen.beginPath();
      traceEmblem(pen, side, 0.02, 0.08, radius);
      pen.fillStyle = colours.shadow;
      pen.fill();
      pen.beginPath();
      traceEmblem(pen, side, 0, 0, radius);
      pen.lineWidth = 0.045;
      pen.globalAlpha = 0.3;
      pen.fillStyle = fill;
      pen.fill();
      pen.globalAlpha = 0.8;
      pen.strokeStyle = colours.plateEdge === "light" ? light : fill;
      pen.stroke();
    });
  }

  #picture(name: string, tile: number, draw: (pen: CanvasRenderingContext2D, colours: Palette) => void): HTMLCanvasElement {
    const colours = palette();
    if (this.#palette !== colours || this.#pictures.size > MOST) this.#pictures.clear();
    this.#palette = colours;
    const size = Math.max(STEP, Math.ceil(tile / STEP) * STEP);
    const key = `${name} ${size}`;
    const known = this.#pictures.get(key);
    if (known) return known;
    const picture = document.createElement("canvas");
    picture.width = picture.height = Math.ceil(size * SPRITE_TILES);
    const pen = picture.getContext("2d");
    if (pen) {
      pen.translate(picture.width / 2, picture.height / 2);
      pen.scale(size, size);
      draw(pen, colours);
    }
    this.#pictures.set(key, picture);
    return picture;
  }
}
