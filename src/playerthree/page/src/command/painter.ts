/** Draws one moment of the map: ground, buildings, units, effects, fog, and what the hand is doing. */

import type { Actor } from "./actors.js";
import type { Camera } from "./camera.js";
import { drawEffect } from "./blasts.js";
import type { Fog } from "./fog.js";
import { Ground } from "./ground.js";
import { drawHand, type Hand } from "./hand.js";
import { palette, traceEmblem, type Palette } from "./palette.js";
import type { Effect } from "./effects.js";
import { isBuilding, type Building, type Place, type Scene, type Unit } from "./scene.js";
import { Sprites, SPRITE_TILES } from "./sprites.js";

/** Units are drawn no smaller than this, in pixels of the page. */
const SMALLEST = 19;
/** Units are drawn larger than their shapes, so that they stand out from their plates. */
const UNIT = 1.25;
/** Tiles that a flying unit is above its plate. */
const LIFT = 0.2;
/** Ticks that a hit flashes. */
const FLASH_TICKS = 1.6;

/** What there is to draw. Places are in points. */
export interface Moment {
  readonly scene: Scene;
  readonly actors: readonly Actor[];
  readonly effects: readonly Effect[];
  /** Enemy buildings that were seen and may stand there still. */
  readonly remembered: Iterable<Building>;
  /** None where nothing is hidden. */
  readonly fog: Fog | undefined;
  readonly hand: Hand;
  readonly tick: number;
  /** Milliseconds of the page's clock. */
  readonly now: number;
}

export class Painter {
  readonly #canvas: HTMLCanvasElement;
  readonly #pen: CanvasRenderingContext2D;
  readonly #ground = new Ground();
  readonly #sprites = new Sprites();
  /** Pixels of the canvas of a tile, and where the map begins. */
  #tile = 20;
  #left = 0;
  #top = 0;
  #ratio = 1;
  #points = 100;

  constructor(canvas: HTMLCanvasElement) {
    this.#canvas = canvas;
    const pen = canvas.getContext("2d", { alpha: false });
    if (!pen) throw new Error("this browser draws no canvas");
    this.#pen = pen;
  }

  draw(moment: Moment, camera: Camera): void {
    const { scene, actors, hand } = moment;
    const pen = this.#pen;
    const colours = palette();
    const { width, height } = this.#canvas;
    this.#ratio = width / camera.pixels;
    this.#points = scene.map.tile;
    this.#tile = camera.scale * this.#ratio * scene.map.tile;
    this.#left = -camera.corner.x * camera.scale * this.#ratio;
    this.#top = -camera.corner.y * camera.scale * this.#ratio;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.drawImage(this.#ground.at(scene, camera, colours, width, height, this.#ratio), 0, 0);
    for (const building of moment.remembered) this.#memory(building);
    for (const actor of actors) if (isBuilding(actor.entity)) this.#building(actor, actor.entity, moment, colours);
    for (const actor of actors) if (!isBuilding(actor.entity) && !actor.air) this.#unit(actor, actor.entity, moment, colours);
    for (const actor of actors) if (!isBuilding(actor.entity) && actor.air) this.#unit(actor, actor.entity, moment, colours);
    this.#useTiles();
    for (const effect of moment.effects) drawEffect(pen, effect, this.#points, (moment.tick - effect.from) / effect.lasts);
    if (moment.fog) this.#hide(moment.fog.at(moment.now, colours), scene.map.size);
    drawHand(pen, hand, scene, actors, { thin: (1.5 * this.#ratio) / this.#tile, now: moment.now });
  }

  /** From here on one unit of the pen is one tile of the map. */
  #useTiles(): void {
    this.#pen.setTransform(this.#tile, 0, 0, this.#tile, this.#left, this.#top);
  }

  /** Where a place is on the canvas, if it is on it or just beside it. */
  #onCanvas(at: Place): readonly [number, number] | undefined {
    const x = this.#left + (at.x / this.#points) * this.#tile;
    const y = this.#top + (at.y / this.#points) * this.#tile;
    const { width, height } = this.#canvas;
    const beside = this.#tile * 1.5;
    return x < -beside || y < -beside || x > width + beside || y > height + beside ? undefined : [x, y];
  }

  #picture(picture: HTMLCanvasElement, x: number, y: number, size: number, turn = 0): void {
    const pen = this.#pen;
    const [cos, sin] = turn === 0 ? [1, 0] : [Math.cos(turn), Math.sin(turn)];
    pen.setTransform(cos, sin, -sin, cos, x, y);
    const width = this.#tile * SPRITE_TILES * size;
    pen.drawImage(picture, -width / 2, -width / 2, width, width);
  }

  #memory(building: Building): void {
    const at = this.#onCanvas(building);
    if (!at) return;
    this.#pen.globalAlpha = 0.6;
    this.#picture(this.#sprites.plate(building.side, plateOf(building.kind), this.#tile), ...at, 1);
    this.#picture(this.#sprites.thing(building.kind, building.side, this.#tile), ...at, 1);
    this.#pen.globalAlpha = 1;
  }

  #building(actor: Actor, building: Building, { hand }: Moment, colours: Palette): void {
    const at = this.#onCanvas(actor);
    if (!at) return;
    const [x, y] = at;
    const pen = this.#pen;
    const radius = plateOf(building.kind);
    this.#picture(this.#sprites.plate(building.side, radius, this.#tile), x, y, 1);
    const picture = this.#sprites.thing(building.kind, building.side, this.#tile);
    if (building.done < 100) this.#rise(picture, x, y, building.done / 100);
    else this.#picture(picture, x, y, 1);
    this.#flash(actor, picture, x, y, 1, 0);
    const isSelected = hand.selected.has(building.id);
    if (isSelected) this.#ring(building.side, x, y, radius * 1.12);
    pen.setTransform(1, 0, 0, 1, 0, 0);
    this.#health(actor, x, y - this.#tile * (radius + 0.02), isSelected, building.done >= 100);
    if (building.done < 100) this.#bar(x, y + this.#tile * radius, building.done / 100, "#dfe6f2");
    else if (building.making !== undefined) this.#production(x, y + this.#tile * (radius + 0.04), building, colours);
  }

  /** What is built comes up from the ground. */
  #rise(picture: HTMLCanvasElement, x: number, y: number, done: number): void {
    const pen = this.#pen;
    pen.globalAlpha = 0.3;
    this.#picture(picture, x, y, 1);
    pen.globalAlpha = 1;
    const width = this.#tile * SPRITE_TILES;
    // The shape itself is in the middle half of its picture.
    const hidden = picture.height * (0.22 + 0.56 * (1 - done));
    const top = (hidden / picture.height) * width;
    pen.drawImage(picture, 0, hidden, picture.width, picture.height - hidden, -width / 2, top - width / 2, width, width - top);
  }

  #unit(actor: Actor, unit: Unit, { hand, tick }: Moment, colours: Palette): void {
    const at = this.#onCanvas(actor);
    if (!at) return;
    const [x, y] = at;
    const size = Math.max(1, (SMALLEST * this.#ratio) / this.#tile);
    const high = actor.air ? y - this.#tile * size * (LIFT + Math.sin(tick * 0.35 + x) * 0.02) : y;
    this.#picture(this.#sprites.plate(unit.side, actor.air ? 0.28 : plateOf(unit.kind), this.#tile * size), x, y, size);
    const isSelected = hand.selected.has(unit.id);
    if (isSelected) this.#ring(unit.side, x, y, (plateOf(unit.kind) + 0.08) * size);
    const picture = this.#sprites.thing(unit.kind, unit.side, this.#tile * size, UNIT);
    this.#picture(picture, x, high, size, actor.heading);
    this.#flash(actor, picture, x, high, size, actor.heading);
    const pen = this.#pen;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    if ((unit.load ?? 0) > 0) {
      const width = this.#tile * size * 0.2;
      pen.fillStyle = colours.oreLight;
      pen.fillRect(x - width / 2, high - this.#tile * size * 0.36, width, width);
    }
    this.#health(actor, x, high - this.#tile * size * 0.42, isSelected, true);
  }

  #flash(actor: Actor, picture: HTMLCanvasElement, x: number, y: number, size: number, turn: number): void {
    if (actor.hurt < 0 || actor.hurt > FLASH_TICKS) return;
    const pen = this.#pen;
    pen.globalCompositeOperation = "lighter";
    pen.globalAlpha = 1 - actor.hurt / FLASH_TICKS;
    this.#picture(picture, x, y, size, turn);
    pen.globalAlpha = 1;
    pen.globalCompositeOperation = "source-over";
  }

  /** What is selected has a white outline of its side's shape. */
  #ring(side: string, x: number, y: number, radius: number): void {
    const pen = this.#pen;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.beginPath();
    traceEmblem(pen, side, x, y, radius * this.#tile);
    pen.lineWidth = 4 * this.#ratio;
    pen.strokeStyle = "rgba(0, 0, 0, 0.55)";
    pen.stroke();
    pen.lineWidth = 2 * this.#ratio;
    pen.strokeStyle = "#fff";
    pen.stroke();
  }

  /** Hit points are shown where they matter. */
  #health(actor: Actor, x: number, y: number, isSelected: boolean, isFinished: boolean): void {
    const health = Math.min(1, Math.max(0, actor.hp / (actor.kind?.hp ?? actor.hp)));
    if (!isSelected && (health >= 1 || !isFinished)) return;
    this.#bar(x, y - this.#tile * 0.12, health, health > 0.6 ? "#46d17f" : health > 0.3 ? "#f3b33d" : "#f2555a");
  }

  /** How far the unit in work is, and how many wait. */
  #production(x: number, y: number, building: Building, { ink }: Palette): void {
    this.#bar(x, y, (building.ready ?? 0) / 100, "#8ab4ff");
    const pen = this.#pen;
    const width = Math.max(2, this.#tile * 0.12);
    for (let waiting = 1; waiting < (building.queue ?? 0); waiting += 1) {
      const left = x - this.#tile * 0.4 + (waiting - 1) * width * 1.5;
      pen.fillStyle = ink;
      pen.fillRect(left - 1, y + this.#tile * 0.13 - 1, width + 2, width + 2);
      pen.fillStyle = "#8ab4ff";
      pen.fillRect(left, y + this.#tile * 0.13, width, width);
    }
  }

  #bar(x: number, y: number, share: number, colour: string): void {
    const pen = this.#pen;
    const [width, height] = [Math.max(14 * this.#ratio, this.#tile * 0.8), Math.max(3 * this.#ratio, this.#tile * 0.1)];
    pen.fillStyle = "rgba(0, 0, 0, 0.65)";
    pen.fillRect(x - width / 2 - 1, y - 1, width + 2, height + 2);
    pen.fillStyle = colour;
    pen.fillRect(x - width / 2, y, width * share, height);
  }

  #hide(fog: HTMLCanvasElement, size: number): void {
    this.#pen.imageSmoothingEnabled = true;
    this.#pen.drawImage(fog, 0, 0, size, size);
  }
}

/** How wide the plate under a unit or building is, in tiles from its middle. */
const PLATES: { readonly [kind: string]: number } = { base: 0.76, worker: 0.38, soldier: 0.38, scout: 0.38, gunship: 0.44, tank: 0.52 };

function plateOf(kind: string): number {
  return PLATES[kind] ?? 0.6;
}
