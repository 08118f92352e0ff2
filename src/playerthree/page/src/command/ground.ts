/** The ground as the camera sees it: terrain and alloy, kept as a picture that changes only when one of them does. */

import type { Camera } from "./camera.js";
import type { Palette } from "./palette.js";
import type { CommandMap, Scene } from "./scene.js";
import { drawTerrain } from "./terrain.js";

const ORE_FULL = 1_000;
/** An alloy patch is drawn in so many sizes. */
const ORE_SIZES = 12;

export class Ground {
  readonly #picture = document.createElement("canvas");
  #terrain: HTMLCanvasElement | undefined;
  #terrainOf: readonly [CommandMap, Palette] | undefined;
  #shown = "";

  /** The picture for a canvas of this size in pixels, of which `ratio` make one of the page. */
  at(scene: Scene, camera: Camera, colours: Palette, width: number, height: number, ratio: number): HTMLCanvasElement {
    const terrain = this.#terrainFor(scene.map, colours);
    const ore = scene.patches.map((left) => Math.ceil((Math.min(left, ORE_FULL) / ORE_FULL) * ORE_SIZES));
    const { corner, scale } = camera;
    const next = `${width} ${height} ${corner.x} ${corner.y} ${scale} ${ore.join()}`;
    if (next !== this.#shown) this.#draw(scene, camera, colours, terrain, ore, [width, height, ratio]);
    this.#shown = next;
    return this.#picture;
  }

  #terrainFor(map: CommandMap, colours: Palette): HTMLCanvasElement {
    if (!this.#terrain || this.#terrainOf?.[0] !== map || this.#terrainOf[1] !== colours) {
      this.#terrain = drawTerrain(map, colours);
      this.#terrainOf = [map, colours];
      this.#shown = "";
    }
    return this.#terrain;
  }

  #draw(
    { map }: Scene,
    { corner, scale }: Camera,
    colours: Palette,
    terrain: HTMLCanvasElement,
    ore: readonly number[],
    [width, height, ratio]: readonly [number, number, number],
  ): void {
    [this.#picture.width, this.#picture.height] = [width, height];
    const pen = this.#picture.getContext("2d", { alpha: false });
    if (!pen) return;
    pen.fillStyle = colours.outside;
    pen.fillRect(0, 0, width, height);
    const tile = scale * ratio * map.tile;
    // From here on one unit is one tile.
    pen.setTransform(tile, 0, 0, tile, -corner.x * scale * ratio, -corner.y * scale * ratio);
    pen.drawImage(terrain, 0, 0, map.size, map.size);
    for (const [index, place] of map.patchPlaces.entries()) {
      const size = ore[index] ?? 0;
      if (size > 0) drawOre(pen, place.x / map.tile, place.y / map.tile, 0.45 + (0.55 * size) / ORE_SIZES, colours);
    }
  }
}

/** Three crystals. */
function drawOre(pen: CanvasRenderingContext2D, x: number, y: number, size: number, colours: Palette): void {
  for (const [dx, dy, tall] of [[-0.2, 0.12, 0.42], [0.18, 0.16, 0.36], [0, -0.04, 0.62]] as const) {
    const [cx, cy, h] = [x + dx * size, y + dy * size, tall * size];
    pen.fillStyle = colours.ore;
    pen.beginPath();
    pen.moveTo(cx, cy - h / 2);
    pen.lineTo(cx + h * 0.3, cy);
    pen.lineTo(cx, cy + h / 2);
    pen.lineTo(cx - h * 0.3, cy);
    pen.fill();
    pen.fillStyle = colours.oreLight;
    pen.beginPath();
    pen.moveTo(cx, cy - h / 2);
    pen.lineTo(cx + h * 0.06, cy);
    pen.lineTo(cx - h * 0.3, cy);
    pen.fill();
  }
}
