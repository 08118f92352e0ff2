/** The whole map in small: ground, fog, everybody as dots, the part that the large map shows, and alarms. */

import { el } from "../dom.js";
import type { Camera } from "./camera.js";
import { channels, palette, sideColours, traceEmblem } from "./palette.js";
import { isBuilding, tileOf, type Place, type Scene } from "./scene.js";
import { EXPLORED, VISIBLE, type Sight } from "./sight.js";

/** Pixels of its picture. */
const SIZE = 288;
/** How long an alarm is shown, in milliseconds. */
const ALARM_MS = 4_000;
/** How dark ground is that is not in sight. */
const SEEN_ONCE = 0.45;
const NEVER_SEEN = 0.72;

/** What somebody does with it. */
export interface MinimapActions {
  /** The large map is to show this place. */
  look(at: Place): void;
  /** The second button: the selection is to go there. */
  order(at: Place): void;
}

export class Minimap {
  readonly element = el("canvas", { class: "minimap", width: SIZE, height: SIZE, role: "img", "aria-label": "Overview of the map" });
  readonly #ground = document.createElement("canvas");
  #groundOf = "";
  #scene: Scene | undefined;
  #sight: Sight | undefined;
  #alarms: { readonly at: Place; readonly since: number }[] = [];
  #camera = "";

  constructor(actions: MinimapActions) {
    const { element } = this;
    const place = (event: PointerEvent): Place | undefined => {
      const map = this.#scene?.map;
      if (!map) return undefined;
      const box = element.getBoundingClientRect();
      const inside = (share: number) => Math.min(0.999, Math.max(0, share)) * map.size * map.tile;
      return { x: inside((event.clientX - box.left) / box.width), y: inside((event.clientY - box.top) / box.height) };
    };
    element.addEventListener("contextmenu", (event) => event.preventDefault());
    element.addEventListener("pointerdown", (event) => {
      const at = place(event);
      if (!at) return;
      if (event.button === 2) return actions.order(at);
      element.setPointerCapture(event.pointerId);
      actions.look(at);
    });
    element.addEventListener("pointermove", (event) => {
      const at = element.hasPointerCapture(event.pointerId) ? place(event) : undefined;
      if (at) actions.look(at);
    });
  }

  alarm(at: Place, now: number): void {
    this.#alarms.push({ at, since: now });
  }

  /** Draws a version. */
  draw(scene: Scene, sight: Sight, camera: Camera, now: number): void {
    [this.#scene, this.#sight] = [scene, sight];
    this.#alarms = this.#alarms.filter(({ since }) => now < since + ALARM_MS);
    this.#paint(scene, camera, now);
  }

  /** Draws again if the camera moved since. */
  follow(camera: Camera, now: number): void {
    const next = `${camera.corner.x} ${camera.corner.y} ${camera.width}`;
    if (next !== this.#camera && this.#scene) this.#paint(this.#scene, camera, now);
  }

  #paint(scene: Scene, camera: Camera, now: number): void {
    const pen = this.element.getContext("2d", { alpha: false });
    if (!pen || !this.#sight) return;
    const { size, tile } = scene.map;
    const scale = SIZE / (size * tile);
    this.#camera = `${camera.corner.x} ${camera.corner.y} ${camera.width}`;
    pen.imageSmoothingEnabled = false;
    pen.drawImage(this.#groundFor(scene, this.#sight), 0, 0, SIZE, SIZE);
    for (const entity of [...this.#sight.remembered, ...scene.buildings, ...scene.units]) {
      const [fill, light] = sideColours(entity.side);
      const [x, y] = [entity.x * scale, entity.y * scale];
      pen.fillStyle = fill;
      if (isBuilding(entity)) {
        pen.beginPath();
        traceEmblem(pen, entity.side, x, y, entity.kind === "base" ? 10 : 7);
        pen.fill();
        pen.lineWidth = 1.5;
        pen.strokeStyle = light;
        pen.stroke();
      } else {
        pen.fillRect(x - 3, y - 3, 6, 6);
      }
    }
    for (const { at, since } of this.#alarms) {
      pen.strokeStyle = "#ff5d58";
      pen.lineWidth = 3;
      pen.beginPath();
      pen.arc(at.x * scale, at.y * scale, 8 + ((now - since) % 800) / 40, 0, Math.PI * 2);
      pen.stroke();
    }
    const { corner, width } = camera;
    const [x, y, edge] = [corner.x * scale, corner.y * scale, width * scale];
    pen.lineWidth = 4;
    pen.strokeStyle = "rgba(0, 0, 0, 0.7)";
    pen.strokeRect(x + 1, y + 1, edge - 2, edge - 2);
    pen.lineWidth = 2;
    pen.strokeStyle = "#fff";
    pen.strokeRect(x + 1, y + 1, edge - 2, edge - 2);
  }

  /** Ground, alloy and fog, a pixel a tile; drawn again with each version. */
  #groundFor({ map, patches, tick }: Scene, { tiles }: Sight): HTMLCanvasElement {
    const colours = palette();
    const key = `${tick} ${colours.rock}`;
    if (key === this.#groundOf) return this.#ground;
    this.#groundOf = key;
    if (this.#ground.width !== map.size) this.#ground.width = this.#ground.height = map.size;
    const pen = this.#ground.getContext("2d");
    const picture = pen?.createImageData(map.size, map.size);
    if (!pen || !picture) return this.#ground;
    const [rock, free, ore] = [channels(colours.rock), channels(colours.ground[0]), channels(colours.ore)];
    const left = map.patchPlaces.filter((_, index) => (patches[index] ?? 0) > 0).map((place) => tileOf(map, place));
    const alloy = new Set(left.map(({ col, row }) => row * map.size + col));
    for (let tile = 0; tile < tiles.length; tile += 1) {
      const isRock = map.terrain[Math.floor(tile / map.size)]?.[tile % map.size] === "#";
      const colour = alloy.has(tile) ? ore : isRock ? rock : free;
      const dark = tiles[tile] === VISIBLE ? 0 : tiles[tile] === EXPLORED ? SEEN_ONCE : NEVER_SEEN;
      for (const channel of [0, 1, 2] as const) {
        picture.data[tile * 4 + channel] = colour[channel] * (1 - dark) + colours.fog[channel] * dark;
      }
      picture.data[tile * 4 + 3] = 255;
    }
    pen.putImageData(picture, 0, 0);
    return this.#ground;
  }
}
