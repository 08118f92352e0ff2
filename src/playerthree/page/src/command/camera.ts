/** Which part of the map is seen: points of the map to pixels of the canvas and back. */

const MAX_ZOOM = 5;

export interface Place {
  readonly x: number;
  readonly y: number;
}

export class Camera {
  /** Points along the map's edge. */
  #extent = 3200;
  /** Pixels along the canvas's edge; it is a square. */
  #pixels = 640;
  #zoom = 1;
  /** The point at the top left. */
  #x = 0;
  #y = 0;

  fit(extent: number, pixels: number): void {
    this.#extent = extent;
    this.#pixels = Math.max(1, pixels);
    this.#clamp();
  }

  /** Pixels of one point. */
  get scale(): number {
    return (this.#pixels / this.#extent) * this.#zoom;
  }

  /** What is at the canvas's top left, in points. */
  get corner(): Place {
    return { x: this.#x, y: this.#y };
  }

  toScreen(point: Place): Place {
    return { x: (point.x - this.#x) * this.scale, y: (point.y - this.#y) * this.scale };
  }

  toMap(pixel: Place): Place {
    return { x: pixel.x / this.scale + this.#x, y: pixel.y / this.scale + this.#y };
  }

  /** Zooms so that what is under the pixel stays there. */
  zoomAt(pixel: Place, factor: number): void {
    const before = this.toMap(pixel);
    this.#zoom = Math.min(MAX_ZOOM, Math.max(1, this.#zoom * factor));
    const after = this.toMap(pixel);
    this.#x += before.x - after.x;
    this.#y += before.y - after.y;
    this.#clamp();
  }

  /** Moves by pixels. */
  pan(dx: number, dy: number): void {
    this.#x -= dx / this.scale;
    this.#y -= dy / this.scale;
    this.#clamp();
  }

  /** Moves as little as shows the point. */
  reveal(point: Place): void {
    const margin = this.#extent / this.#zoom / 10;
    const width = this.#extent / this.#zoom;
    this.#x = Math.min(point.x - margin, Math.max(this.#x, point.x + margin - width));
    this.#y = Math.min(point.y - margin, Math.max(this.#y, point.y + margin - width));
    this.#clamp();
  }

  #clamp(): void {
    const room = this.#extent * (1 - 1 / this.#zoom);
    this.#x = Math.min(room, Math.max(0, this.#x));
    this.#y = Math.min(room, Math.max(0, this.#y));
  }
}
