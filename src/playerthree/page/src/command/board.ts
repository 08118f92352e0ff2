/** The map of agent-command with its controls: views in, drawings and orders out. */

import { el, say } from "../dom.js";
import type { Board, BoardContext } from "../match.js";
import { Actors } from "./actors.js";
import { Camera, type Place } from "./camera.js";
import { followHands } from "./gestures.js";
import { describe, nearest, Orders } from "./orders.js";
import { Painter, type Hand } from "./painter.js";
import { onPaletteChange } from "./palette.js";
import { Gauges, Panel } from "./panel.js";
import { SceneReader, type RawView, type Scene, type Unit } from "./scene.js";
import { Ticker } from "./ticker.js";

/** Narrower tiles are hard to hit with a finger, in pixels. */
const SMALL_TILE = 14;
/** Thirty pictures a second are smooth for ten versions a second, and spare a phone's battery. */
const FRAME_MS = 1000 / 30;

export function commandBoard(context: BoardContext): Board {
  const board = new CommandBoard(context);
  return { element: board.element, aside: board.aside, close: () => board.close() };
}

/** Selecting and ordering belong to players; everybody else looks. */
class CommandBoard {
  readonly #canvas = el("canvas", { class: "map", tabindex: 0, role: "application", "aria-label": "Map", "aria-describedby": "map-help" });
  readonly #waiting = el("p", { class: "overlay", role: "status" }, "Waiting for the first picture…");
  readonly #spoken = el("p", { class: "spoken", role: "status", "aria-live": "polite" });
  readonly #gauges: Gauges;
  readonly #ticker = new Ticker();
  readonly #orders: Orders;
  readonly #panel: Panel;
  readonly #painter = new Painter(this.#canvas);
  readonly #camera = new Camera();
  readonly #actors = new Actors();
  readonly #reader = new SceneReader();
  readonly #resizing = new ResizeObserver(() => this.#resize());
  readonly #stopPalette = onPaletteChange(() => this.#redraw());
  readonly #plays: boolean;
  readonly element: HTMLElement;
  readonly aside: HTMLElement;
  #scene: Scene | undefined;
  #selected = new Set<string>();
  #placing: string | undefined;
  #hover: Place | undefined;
  #box: Hand["box"];
  #cursor: Place | undefined;
  #mark: Hand["mark"];
  #frame = 0;
  #drawn = 0;

  constructor(context: BoardContext) {
    this.#plays = context.welcome.as === "player";
    this.#gauges = new Gauges(context.side === undefined);
    this.#orders = new Orders(context);
    this.#panel = new Panel(this.#orders, {
      select: (units) => this.#select(units),
      stop: () => this.#scene && this.#orders.stop(this.#scene, this.#chosen()),
      place: (kind) => this.#place(kind),
    });
    this.element = this.#layOut();
    this.aside = el("div", { class: "column" }, this.#plays && this.#panel.element, context.side !== undefined && this.#ticker.element);
    this.#listen();
    this.#follow(context);
    this.#resizing.observe(this.#canvas);
  }

  close(): void {
    cancelAnimationFrame(this.#frame);
    this.#resizing.disconnect();
    this.#stopPalette();
  }

  #layOut(): HTMLElement {
    const zoom = (text: string, label: string, factor: number) =>
      el("button", { type: "button", class: "small", "aria-label": label, click: () => this.#zoom(factor) }, text);
    const zooms = el("div", { class: "zooms" }, zoom("+", "Zoom in", 1.5), zoom("−", "Zoom out", 1 / 1.5));
    return el(
      "section",
      { class: "board command" },
      this.#gauges.element,
      el("div", { class: "mapframe" }, this.#canvas, this.#waiting, zooms),
      el("p", { id: "map-help", class: "dim help" }, ...help(this.#plays)),
      this.#spoken,
    );
  }

  #follow({ connection, side, acted }: BoardContext): void {
    if (side === undefined) {
      connection.observer.onFrame((frame) => {
        const view = frame.world as unknown as RawView;
        this.#take(view);
        acted(view.sides.flatMap(({ side: team, controllers }) => Object.entries(controllers).map(([role, controller]) => ({ team, role, controller }))));
      });
      connection.observer.watch("all");
      return;
    }
    const stream = connection.view<RawView>(side);
    if (stream?.view) this.#take(stream.view);
    stream?.onChange((view) => view && this.#take(view));
    connection.on("seats", () => this.#scene && this.#show(this.#scene));
  }

  #take(view: RawView): void {
    const scene = this.#reader.read(view);
    if (!scene) return;
    const first = this.#scene === undefined;
    this.#scene = scene;
    this.#actors.update(scene, performance.now(), scene.side === undefined);
    const alive = new Set(scene.units.map((unit) => unit.id));
    for (const id of this.#selected) if (!alive.has(id)) this.#selected.delete(id);
    this.#waiting.hidden = true;
    if (first) this.#resize();
    if (first) this.#lookClosely(scene);
    this.#show(scene);
    this.#redraw();
  }

  #show(scene: Scene): void {
    this.#gauges.draw(scene);
    this.#ticker.draw(scene);
    if (this.#plays) this.#panel.draw(scene, this.#chosen(), this.#placing);
    this.#canvas.dataset.tick = String(scene.tick);
  }

  #chosen(): Unit[] {
    return this.#scene?.units.filter((unit) => this.#selected.has(unit.id)) ?? [];
  }

  #select(units: readonly Unit[]): void {
    this.#selected = new Set(units.map((unit) => unit.id));
    this.#placing = undefined;
    if (this.#scene) this.#show(this.#scene);
    this.#redraw();
  }

  #place(kind: string | undefined): void {
    this.#placing = kind;
    if (this.#scene) this.#show(this.#scene);
    this.#redraw();
  }

  #listen(): void {
    followHands(this.#canvas, {
      point: (at, how) => this.#point(this.#camera.toMap(at), how),
      order: (at) => this.#order(this.#camera.toMap(at)),
      box: (from, to, how) => this.#drag(this.#camera.toMap(from), this.#camera.toMap(to), how),
      pan: (dx, dy) => (this.#camera.pan(dx, dy), this.#redraw()),
      zoom: (at, factor) => (this.#camera.zoomAt(at, factor), this.#redraw()),
      hover: (at) => {
        this.#hover = at && this.#camera.toMap(at);
        if (this.#placing) this.#redraw();
      },
    });
    this.#canvas.addEventListener("keydown", (event) => this.#key(event));
    this.#canvas.addEventListener("blur", () => ((this.#cursor = undefined), this.#redraw()));
  }

  /** A click selects; a tap with a selection orders, as there is no second button. */
  #point(at: Place, how: { touch: boolean; add: boolean }): void {
    const scene = this.#scene;
    if (!scene || !this.#plays) return;
    if (this.#placing !== undefined) return this.#build(scene, at);
    const mine = this.#orders.mine(scene);
    const reach = Math.max(60, 14 / this.#camera.scale);
    const unit = nearest(mine, at, reach);
    if (unit && how.add) return this.#select([...this.#chosen(), unit]);
    if (unit) return this.#select([unit]);
    if (how.touch && this.#selected.size > 0) return this.#order(at);
    if (!how.add) this.#select([]);
  }

  #build(scene: Scene, at: Place): void {
    const [col, row] = [Math.floor(at.x / scene.map.tile), Math.floor(at.y / scene.map.tile)];
    this.#orders.build(scene, this.#chosen(), this.#placing ?? "", col, row);
    this.#place(undefined);
  }

  #order(at: Place): void {
    const scene = this.#scene;
    if (!scene || !this.#plays) return;
    if (this.#placing !== undefined) return this.#place(undefined);
    const units = this.#chosen();
    if (units.length === 0) return;
    const hostile = this.#orders.point(scene, units, at, this.#panel.fight);
    this.#mark = { at, since: performance.now(), hostile };
    this.#redraw();
  }

  #drag(from: Place, to: Place, { done, add }: { done: boolean; add: boolean }): void {
    if (!this.#scene || !this.#plays) return;
    this.#box = done || (from.x === to.x && from.y === to.y) ? undefined : { from, to };
    if (done) {
      const inside = (unit: Unit) =>
        (unit.x - from.x) * (unit.x - to.x) <= 0 && (unit.y - from.y) * (unit.y - to.y) <= 0;
      const caught = this.#orders.mine(this.#scene).filter(inside);
      this.#select(add ? [...this.#chosen(), ...caught] : caught);
    }
    this.#redraw();
  }

  #key(event: KeyboardEvent): void {
    const scene = this.#scene;
    if (!scene) return;
    const steps: { [key: string]: readonly [number, number] } = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
    const step = steps[event.key];
    const { tile, size } = scene.map;
    const middle = { x: (Math.floor(size / 2) + 0.5) * tile, y: (Math.floor(size / 2) + 0.5) * tile };
    const at = this.#cursor ?? this.#chosen()[0] ?? middle;
    if (step) {
      const to = (value: number, by: number) => (Math.min(size - 1, Math.max(0, Math.floor(value / tile) + by)) + 0.5) * tile;
      this.#cursor = { x: to(at.x, step[0]), y: to(at.y, step[1]) };
      this.#camera.reveal(this.#cursor);
      say(this.#spoken, describe(scene, this.#cursor));
    } else if (event.key === "Enter" || event.key === " ") this.#point(at, { touch: true, add: event.shiftKey });
    else if (event.key === "Escape") this.#select([]);
    else if (event.key === "+" || event.key === "-") this.#zoom(event.key === "+" ? 1.5 : 1 / 1.5);
    else return;
    event.preventDefault();
    this.#redraw();
  }

  #zoom(factor: number): void {
    const middle = this.#canvas.clientWidth / 2;
    this.#camera.zoomAt(this.#cursor ? this.#camera.toScreen(this.#cursor) : { x: middle, y: middle }, factor);
    this.#redraw();
  }

  /** On a small screen a player starts with a closer look at home. */
  #lookClosely(scene: Scene): void {
    const home = scene.buildings.find((building) => building.side === scene.side);
    if (!this.#plays || !home || this.#canvas.clientWidth / scene.map.size >= SMALL_TILE) return;
    this.#camera.zoomAt(this.#camera.toScreen(home), 1.7);
  }

  #resize(): void {
    const pixels = this.#canvas.clientWidth;
    this.#canvas.width = this.#canvas.height = Math.round(pixels * Math.min(2, devicePixelRatio));
    this.#camera.fit((this.#scene?.map.size ?? 32) * (this.#scene?.map.tile ?? 100), pixels);
    this.#redraw();
  }

  /** Draws on the next frame, and again as long as there is a scene: things move between versions. */
  #redraw(): void {
    if (this.#frame !== 0) return;
    const draw = (now: number) => {
      this.#frame = 0;
      if (!this.#scene) return;
      // A timestamp jitters by a little, which must not turn every second frame into every third.
      if (now - this.#drawn < FRAME_MS - 4) return this.#redraw();
      this.#drawn = now;
      this.#painter.draw(this.#scene, this.#actors, this.#camera, this.#hand(this.#scene), now);
      if (!document.hidden && this.element.isConnected) this.#redraw();
    };
    this.#frame = requestAnimationFrame(draw);
  }

  #hand(scene: Scene): Hand {
    const ghostAt = this.#placing === undefined ? undefined : (this.#hover ?? this.#cursor);
    const tile = scene.map.tile;
    return {
      selected: this.#selected,
      ...(this.#box && { box: this.#box }),
      ...(this.#cursor && { cursor: this.#cursor }),
      ...(this.#mark && { mark: this.#mark }),
      ...(ghostAt && { ghost: { col: Math.floor(ghostAt.x / tile), row: Math.floor(ghostAt.y / tile) } }),
    };
  }
}

/** How to use the map: with a mouse and a keyboard, and by touch. The style shows what fits the device. */
function help(plays: boolean): HTMLElement[] {
  const [mouse, touch] = plays
    ? [
        "Click or drag to select, right-click to move, attack or gather. Arrow keys move a crosshair, Enter selects or orders, Escape lets go.",
        "Tap a unit, then tap where it should go, what to attack or which alloy to gather. Drag to select several; two fingers move the map.",
      ]
    : ["Scroll to look closer. Arrow keys move a crosshair, which says what it is on.", "Two fingers move the map and look closer."];
  return [el("span", { class: "bymouse" }, mouse), el("span", { class: "bytouch" }, touch)];
}
