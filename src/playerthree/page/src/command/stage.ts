/** The large map as it is drawn, picture after picture: the moment to draw, the camera, the fog. It takes no orders. */

import { el } from "../dom.js";
import { Actors } from "./actors.js";
import { Camera } from "./camera.js";
import { Fog } from "./fog.js";
import type { Hand } from "./hand.js";
import { Painter } from "./painter.js";
import { onPaletteChange } from "./palette.js";
import { Playhead } from "./playhead.js";
import type { Place, Scene } from "./scene.js";
import { Sight } from "./sight.js";

/** Sixty pictures a second are enough, whatever the screen can do. */
const PICTURE_MS = 1000 / 60 - 4;
/** Fog goes on fading for so long after a version, in milliseconds. */
const FADING_MS = 800;
/** A tile is about so many pixels wide in the first look at home, on a wide screen and on a narrow one. */
const HOME_TILE = 32;
const HOME_TILE_NARROW = 25;
const NARROW = 480;

export class Stage {
  readonly canvas: HTMLCanvasElement;
  readonly camera = new Camera();
  readonly #painter: Painter;
  #sight = new Sight();
  #actors = new Actors();
  #playhead = new Playhead();
  #fog = new Fog();
  readonly #resizing = new ResizeObserver(() => this.#resize());
  readonly #stopPalette = onPaletteChange(() => this.redraw());
  readonly #hand: () => Hand;
  readonly #drew: (now: number) => void;
  #scene: Scene | undefined;
  #takenAt = 0;
  #frame = 0;
  #drawnAt = 0;

  /** `hand` tells what the hand is doing, `drew` is called after each picture. */
  constructor(label: { readonly [attribute: string]: string | number }, hand: () => Hand, drew: (now: number) => void) {
    this.canvas = el("canvas", { class: "map", tabindex: 0, ...label });
    this.#painter = new Painter(this.canvas);
    this.#hand = hand;
    this.#drew = drew;
    this.#resizing.observe(this.canvas);
  }

  /** What the watched side sees and has seen. */
  get sight(): Sight {
    return this.#sight;
  }

  close(): void {
    cancelAnimationFrame(this.#frame);
    this.#resizing.disconnect();
    this.#stopPalette();
  }

  take(scene: Scene): void {
    const isFirst = this.#scene === undefined;
    // Other eyes have seen other things.
    if (!isFirst && this.#scene?.side !== scene.side) this.#forget();
    this.#scene = scene;
    this.#takenAt = performance.now();
    this.#playhead.take(scene.tick);
    this.#actors.update(scene);
    this.#sight.update(scene);
    this.#fog.update(this.#sight.tiles);
    this.canvas.dataset.tick = String(scene.tick);
    if (isFirst) this.#resize();
    this.redraw();
  }

  #forget(): void {
    this.#sight = new Sight();
    this.#actors = new Actors();
    this.#playhead = new Playhead();
    this.#fog = new Fog();
  }

  /** Starts with a closer look at a place. */
  begin(at: Place): void {
    const map = this.#scene?.map;
    if (!map) return;
    const width = this.canvas.clientWidth;
    this.camera.centre(at, (width < NARROW ? HOME_TILE_NARROW : HOME_TILE) / (width / map.size));
    this.redraw();
  }

  /** Shows a place, by and by unless somebody wants less motion. */
  look(at: Place): void {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) this.camera.centre(at);
    else this.camera.glideTo(at, performance.now());
    this.redraw();
  }

  /** Draws on the next picture, and again as long as anything moves. */
  redraw(): void {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame((now) => {
      this.#frame = 0;
      if (now - this.#drawnAt >= PICTURE_MS) this.#draw(now);
      if (this.#isMoving(now) && !document.hidden && this.canvas.isConnected) this.redraw();
    });
  }

  #isMoving(now: number): boolean {
    const { camera } = this;
    const hand = this.#hand();
    return (
      this.#playhead.isMoving || camera.isGliding || !this.#actors.effects.isEmpty || hand.marks.length > 0 || now < this.#takenAt + FADING_MS
    );
  }

  #draw(now: number): void {
    const scene = this.#scene;
    if (!scene) return;
    this.#drawnAt = now;
    this.camera.advance(now);
    const tick = this.#playhead.advance(now);
    const actors = this.#actors.at(tick);
    const effects = this.#actors.effects.at(tick);
    const fog = scene.side === undefined ? undefined : this.#fog;
    const { remembered } = this.#sight;
    this.#painter.draw({ scene, actors, effects, remembered, fog, hand: this.#hand(), tick, now }, this.camera);
    this.#drew(now);
  }

  #resize(): void {
    const pixels = this.canvas.clientWidth;
    this.canvas.width = this.canvas.height = Math.round(pixels * Math.min(2, devicePixelRatio));
    this.camera.fit((this.#scene?.map.size ?? 32) * (this.#scene?.map.tile ?? 100), pixels);
    this.#drawnAt = 0;
    this.redraw();
  }
}
