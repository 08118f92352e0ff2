/** Which part of the map is seen: points of the map to pixels of the canvas and back. */

import type { Place } from "./scene.js";

const MAX_ZOOM = 5;
/** Whoever sees nearly the whole map and looks at a place looks closer. */
const WIDE = 1.3;
const CLOSE = 1.9;
/** How long a glide takes, in milliseconds. */
const GLIDE_MS = 260;

export class Camera {
  /** Points along the map's edge. */
  #extent = 3200;
  /** Pixels along the canvas's edge; it is a square. */
  #pixels = 640;
  #zoom = 1;
  /** The point at the top left. */
  #x = 0;
  #y = 0;
  #glide: { readonly from: Place; readonly to: Place; readonly zooms: readonly [number, number]; readonly since: number } | undefined;

  fit(extent: number, pixels: number): void {
    this.#extent = extent;
    this.#pixels = Math.max(1, pixels);
    this.#clamp();
  }

  /** Pixels of the page along an edge of the canvas. */
  get pixels(): number {
    return this.#pixels;
  }

  /** Pixels of one point. */
  get scale(): number {
    return (this.#pixels / this.#extent) * this.#zoom;
  }

  /** What is at the canvas's top left, in points. */
  get corner(): Place {
    return { x: this.#x, y: this.#y };
  }

  /** Points of the map along an edge of the canvas. */
  get width(): number {
    return this.#extent / this.#zoom;
  }

  get isGliding(): boolean {
    return this.#glide !== undefined;
  }

  toScreen(point: Place): Place {
    return { x: (point.x - this.#x) * this.scale, y: (point.y - this.#y) * this.scale };
  }

  toMap(pixel: Place): Place {
    return { x: pixel.x / this.scale + this.#x, y: pixel.y / this.scale + this.#y };
  }

  /** Whether the canvas shows the place. */
  shows(point: Place): boolean {
    const [dx, dy] = [point.x - this.#x, point.y - this.#y];
    return dx >= 0 && dy >= 0 && dx <= this.width && dy <= this.width;
  }

  /** Zooms so that what is under the pixel stays there. */
  zoomAt(pixel: Place, factor: number): void {
    this.#glide = undefined;
    const before = this.toMap(pixel);
    this.#zoom = Math.min(MAX_ZOOM, Math.max(1, this.#zoom * factor));
    const after = this.toMap(pixel);
    this.#x += before.x - after.x;
    this.#y += before.y - after.y;
    this.#clamp();
  }

  /** Shows the whole map. */
  showAll(): void {
    this.#glide = undefined;
    this.#zoom = 1;
    this.#clamp();
  }

  /** Moves by pixels. */
  pan(dx: number, dy: number): void {
    this.#glide = undefined;
    this.#x -= dx / this.scale;
    this.#y -= dy / this.scale;
    this.#clamp();
  }

  /** Moves as little as shows the point. */
  reveal(point: Place): void {
    this.#glide = undefined;
    const margin = this.width / 10;
    this.#x = Math.min(point.x - margin, Math.max(this.#x, point.x + margin - this.width));
    this.#y = Math.min(point.y - margin, Math.max(this.#y, point.y + margin - this.width));
    this.#clamp();
  }

  /** Puts the point into the middle at once. */
  centre(point: Place, zoom = this.#closely()): void {
    this.#glide = undefined;
    this.#zoom = Math.min(MAX_ZOOM, Math.max(1, zoom));
    this.#x = point.x - this.width / 2;
    this.#y = point.y - this.width / 2;
    this.#clamp();
  }

  /** Puts the point into the middle by and by. */
  glideTo(point: Place, now: number): void {
    const from = { x: this.#x + this.width / 2, y: this.#y + this.width / 2 };
    this.#glide = { from, to: point, zooms: [this.#zoom, this.#closely()], since: now };
  }

  /** Goes on with a glide. */
  advance(now: number): void {
    const glide = this.#glide;
    if (!glide) return;
    const share = Math.min(1, Math.max(0, now - glide.since) / GLIDE_MS);
    const eased = share * share * (3 - 2 * share);
    this.#zoom = glide.zooms[0] + (glide.zooms[1] - glide.zooms[0]) * eased;
    this.#x = glide.from.x + (glide.to.x - glide.from.x) * eased - this.width / 2;
    this.#y = glide.from.y + (glide.to.y - glide.from.y) * eased - this.width / 2;
    this.#clamp();
    if (share === 1) this.#glide = undefined;
  }

  #closely(): number {
    return this.#zoom < WIDE ? CLOSE : this.#zoom;
  }

  #clamp(): void {
    const room = this.#extent - this.width;
    this.#x = Math.min(room, Math.max(0, this.#x));
    this.#y = Math.min(room, Math.max(0, this.#y));
  }
}
