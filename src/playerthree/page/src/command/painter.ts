/** Draws one moment of the map: ground, ore, buildings, units, effects, fog, and what the hand is doing. */

import type { Actor, Actors, Effect } from "./actors.js";
import type { Camera, Place } from "./camera.js";
import { palette, sideColours, type Palette } from "./palette.js";
import { kindOf, type Building, type Scene, type Unit } from "./scene.js";
import { drawShape } from "./shapes.js";
import { drawTerrain } from "./terrain.js";

/** What the hand is doing, in points of the map. */
export interface Hand {
  readonly selected: ReadonlySet<string>;
  readonly box?: { readonly from: Place; readonly to: Place };
  readonly ghost?: { readonly col: number; readonly row: number };
  /** The keyboard's crosshair. */
  readonly cursor?: Place;
  /** Where an order went, and when. */
  readonly mark?: { readonly at: Place; readonly since: number; readonly hostile: boolean };
}

/** Pixels of a tile in the fog, which is soft anyway. */
const FOG_TILE = 10;
const ORE_FULL = 1_000;
const MARK_MS = 500;

export class Painter {
  readonly #canvas: HTMLCanvasElement;
  readonly #pen: CanvasRenderingContext2D;
  readonly #fog = document.createElement("canvas");
  #terrain: HTMLCanvasElement | undefined;
  #terrainOf: unknown[] = [];

  constructor(canvas: HTMLCanvasElement) {
    this.#canvas = canvas;
    const pen = canvas.getContext("2d");
    if (!pen) throw new Error("this browser draws no canvas");
    this.#pen = pen;
  }

  draw(scene: Scene, actors: Actors, camera: Camera, hand: Hand, now: number): void {
    const pen = this.#pen;
    const colours = palette();
    const ratio = this.#canvas.width / Math.max(1, this.#canvas.clientWidth);
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.#canvas.width, this.#canvas.height);
    const { corner } = camera;
    const scale = camera.scale * ratio * scene.map.tile;
    // From here on one unit is one tile.
    pen.setTransform(scale, 0, 0, scale, (-corner.x / scene.map.tile) * scale, (-corner.y / scene.map.tile) * scale);
    pen.drawImage(this.#ground(scene, colours), 0, 0, scene.map.size, scene.map.size);
    this.#ore(scene, colours);
    const all = actors.at(now);
    const tile = scene.map.tile;
    for (const actor of all) if (actor.building) this.#building(actor, scene, hand, colours, now);
    for (const actor of all) if (!actor.building && !actor.air) this.#unit(actor, scene, hand, colours, now);
    for (const actor of all) if (actor.air) this.#unit(actor, scene, hand, colours, now);
    for (const effect of actors.effects(now)) drawEffect(pen, effect, tile, now);
    if (scene.side !== undefined) this.#drawFog(scene, all, colours);
    this.#hand(hand, scene, now);
  }

  #ground(scene: Scene, colours: Palette): HTMLCanvasElement {
    if (!this.#terrain || this.#terrainOf[0] !== scene.map || this.#terrainOf[1] !== colours) {
      this.#terrain = drawTerrain(scene.map, colours);
      this.#terrainOf = [scene.map, colours];
    }
    return this.#terrain;
  }

  #ore(scene: Scene, colours: Palette): void {
    const pen = this.#pen;
    for (const [index, place] of scene.map.patchPlaces.entries()) {
      const left = scene.patches[index] ?? 0;
      if (left <= 0) continue;
      const size = 0.45 + 0.55 * Math.min(1, left / ORE_FULL);
      const [x, y] = [place.x / scene.map.tile, place.y / scene.map.tile];
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
  }

  #building(actor: Actor, scene: Scene, hand: Hand, colours: Palette, now: number): void {
    const building = actor.entity as Building;
    const pen = this.#pen;
    const [fill, light] = sideColours(building.side);
    this.#at(actor, scene, 1.05, 0, () => {
      shadow(pen, building.kind === "base" ? 0.66 : 0.5);
      if (building.done < 100) pen.globalAlpha = 0.35 + building.done / 250;
      drawShape(pen, building.kind, fill, light, colours.ink);
      flash(pen, actor, now, 0.5);
    });
    this.#bars(actor, scene, hand.selected.has(building.id), building.kind === "base" ? 0.62 : 0.5);
  }

  #unit(actor: Actor, scene: Scene, hand: Hand, colours: Palette, now: number): void {
    const unit = actor.entity as Unit;
    const pen = this.#pen;
    const [fill, light] = sideColours(unit.side);
    const lift = actor.air ? 0.16 + Math.sin(now / 420 + actor.entity.x) * 0.02 : 0;
    const size = Math.max(1, 15 / (pen.getTransform().a || 1));
    if (hand.selected.has(unit.id)) this.#ring(actor, scene, size);
    if (actor.air) this.#at(actor, scene, size, 0, () => shadow(pen, 0.26));
    this.#at({ ...actor, y: actor.y - lift * scene.map.tile }, scene, size, actor.heading, () => {
      drawShape(pen, unit.kind, fill, light, colours.ink);
      flash(pen, actor, now, 0.3);
      if ((unit.load ?? 0) > 0) {
        pen.fillStyle = colours.oreLight;
        pen.fillRect(-0.34, -0.08, 0.16, 0.16);
      }
    });
    this.#bars(actor, scene, hand.selected.has(unit.id), 0.34 * size + lift);
  }

  #at(actor: Actor, scene: Scene, size: number, turn: number, draw: () => void): void {
    const pen = this.#pen;
    pen.save();
    pen.translate(actor.x / scene.map.tile, actor.y / scene.map.tile);
    pen.scale(size, size);
    pen.rotate(turn);
    draw();
    pen.restore();
  }

  #ring(actor: Actor, scene: Scene, size: number): void {
    const pen = this.#pen;
    pen.strokeStyle = "#fff";
    pen.lineWidth = 0.07 * size;
    pen.beginPath();
    pen.arc(actor.x / scene.map.tile, actor.y / scene.map.tile, 0.44 * size, 0, Math.PI * 2);
    pen.stroke();
  }

  /** Hit points where they matter, and how far a building or its product is. */
  #bars(actor: Actor, scene: Scene, selected: boolean, above: number): void {
    const { entity } = actor;
    const full = kindOf(scene.map, entity.kind)?.hp ?? entity.hp;
    const [x, y] = [actor.x / scene.map.tile, actor.y / scene.map.tile - above - 0.16];
    const health = Math.min(1, entity.hp / full);
    if (selected || (health < 1 && !("done" in entity && entity.done < 100))) {
      this.#bar(x, y, health, health > 0.6 ? "#46d17f" : health > 0.3 ? "#f3b33d" : "#f2555a");
    }
    if (!("done" in entity)) return;
    if (entity.done < 100) this.#bar(x, y, entity.done / 100, "#dfe6f2");
    else if (entity.making !== undefined && entity.ready !== undefined) this.#bar(x, y + above * 2 + 0.3, entity.ready / 100, "#8ab4ff");
  }

  #bar(x: number, y: number, share: number, colour: string): void {
    const pen = this.#pen;
    pen.fillStyle = "rgba(0, 0, 0, 0.6)";
    pen.fillRect(x - 0.4, y - 0.06, 0.8, 0.13);
    pen.fillStyle = colour;
    pen.fillRect(x - 0.37, y - 0.035, 0.74 * share, 0.08);
  }

  /** Everything dark but the circles that the side's own units and buildings see. */
  #drawFog(scene: Scene, all: readonly Actor[], colours: Palette): void {
    const { size, tile } = scene.map;
    const edge = size * FOG_TILE;
    if (this.#fog.width !== edge) this.#fog.width = this.#fog.height = edge;
    const pen = this.#fog.getContext("2d");
    if (!pen) return;
    pen.globalCompositeOperation = "source-over";
    pen.clearRect(0, 0, edge, edge);
    pen.fillStyle = colours.fog;
    pen.fillRect(0, 0, edge, edge);
    pen.globalCompositeOperation = "destination-out";
    for (const { entity, x, y } of all) {
      if (entity.side !== scene.side) continue;
      const radius = ((kindOf(scene.map, entity.kind)?.sight ?? 5) + 0.5) * FOG_TILE;
      const [cx, cy] = [(x / tile) * FOG_TILE, (y / tile) * FOG_TILE];
      const soft = pen.createRadialGradient(cx, cy, radius * 0.84, cx, cy, radius);
      soft.addColorStop(0, "#000");
      soft.addColorStop(1, "transparent");
      pen.fillStyle = soft;
      pen.fillRect(cx - radius, cy - radius, radius * 2, radius * 2);
    }
    this.#pen.drawImage(this.#fog, 0, 0, size, size);
  }

  #hand(hand: Hand, scene: Scene, now: number): void {
    const pen = this.#pen;
    const tile = scene.map.tile;
    const thin = 1.5 / (pen.getTransform().a || 1);
    if (hand.ghost) {
      const free = scene.map.terrain[hand.ghost.row]?.[hand.ghost.col] === ".";
      pen.fillStyle = free ? "rgba(90, 220, 150, 0.4)" : "rgba(240, 80, 80, 0.45)";
      pen.fillRect(hand.ghost.col, hand.ghost.row, 1, 1);
    }
    if (hand.box) {
      const { from, to } = hand.box;
      pen.strokeStyle = "#fff";
      pen.fillStyle = "rgba(255, 255, 255, 0.12)";
      pen.lineWidth = thin;
      pen.beginPath();
      pen.rect(from.x / tile, from.y / tile, (to.x - from.x) / tile, (to.y - from.y) / tile);
      pen.fill();
      pen.stroke();
    }
    const age = hand.mark ? (now - hand.mark.since) / MARK_MS : 1;
    if (hand.mark && age < 1) {
      pen.strokeStyle = hand.mark.hostile ? "#ff7a76" : "#7dffb5";
      pen.globalAlpha = 1 - age;
      pen.lineWidth = thin * 1.5;
      pen.beginPath();
      pen.arc(hand.mark.at.x / tile, hand.mark.at.y / tile, 0.2 + 0.5 * age, 0, Math.PI * 2);
      pen.stroke();
      pen.globalAlpha = 1;
    }
    if (hand.cursor) {
      pen.strokeStyle = "#fff";
      pen.lineWidth = thin * 1.5;
      pen.strokeRect(Math.floor(hand.cursor.x / tile), Math.floor(hand.cursor.y / tile), 1, 1);
    }
  }
}

function shadow(pen: CanvasRenderingContext2D, radius: number): void {
  pen.fillStyle = "rgba(0, 0, 0, 0.28)";
  pen.beginPath();
  pen.ellipse(0.03, 0.1, radius, radius * 0.86, 0, 0, Math.PI * 2);
  pen.fill();
}

function flash(pen: CanvasRenderingContext2D, actor: Actor, now: number, radius: number): void {
  const share = 1 - (now - actor.hurtAt) / 160;
  if (share <= 0) return;
  pen.fillStyle = `rgba(255, 255, 255, ${0.6 * share})`;
  pen.beginPath();
  pen.arc(0, 0, radius, 0, Math.PI * 2);
  pen.fill();
}

function drawEffect(pen: CanvasRenderingContext2D, effect: Effect, tile: number, now: number): void {
  const age = (now - effect.from) / effect.lasts;
  const [fill, light] = sideColours(effect.side);
  const [x, y, toX, toY] = [effect.x / tile, effect.y / tile, effect.toX / tile, effect.toY / tile];
  pen.save();
  pen.globalAlpha = 1 - age;
  if (effect.kind === "shot") {
    pen.strokeStyle = light;
    pen.lineWidth = 0.08;
    pen.beginPath();
    pen.moveTo(x + (toX - x) * age, y + (toY - y) * age);
    pen.lineTo(x + (toX - x) * Math.min(1, age + 0.35), y + (toY - y) * Math.min(1, age + 0.35));
    pen.stroke();
  } else {
    const radius = effect.size * (0.2 + 0.7 * age);
    pen.fillStyle = light;
    pen.strokeStyle = fill;
    pen.lineWidth = 0.12 * (1 - age);
    pen.beginPath();
    pen.arc(x, y, radius, 0, Math.PI * 2);
    pen.stroke();
    for (let spark = 0; spark < 8; spark += 1) {
      const angle = (spark / 8) * Math.PI * 2 + effect.x;
      pen.fillRect(x + Math.cos(angle) * radius * 1.15 - 0.05, y + Math.sin(angle) * radius * 1.15 - 0.05, 0.1, 0.1);
    }
  }
  pen.restore();
}
