/** What the hand is doing, drawn over the map: boxes, sites, crosshair, goals and marks. The pen's unit is a tile. */

import type { Actor } from "./actors.js";
import { sideColours } from "./palette.js";
import type { Place, Scene } from "./scene.js";
import { drawShape } from "./shapes.js";

/** A ring that spreads where an order went, or where something happened. */
export interface Mark {
  readonly at: Place;
  /** Milliseconds of the page's clock. */
  readonly since: number;
  readonly kind: "order" | "attack" | "look";
}

/** Places are in points. */
export interface Hand {
  /** Ids of units and buildings. */
  readonly selected: ReadonlySet<string>;
  /** Where units were sent, by id, as long as they are on their way. */
  readonly goals: ReadonlyMap<string, Place>;
  /** Where new units go, by the id of their building. */
  readonly rallies: ReadonlyMap<string, Place>;
  readonly marks: readonly Mark[];
  readonly box?: { readonly from: Place; readonly to: Place };
  /** A building that is being placed. */
  readonly ghost?: { readonly kind: string; readonly col: number; readonly row: number; readonly isLegal: boolean };
  /** The keyboard's crosshair. */
  readonly cursor?: Place;
}

/** How long marks last, in milliseconds. */
const MARK_MS = { order: 500, attack: 600, look: 1_600 };
const MARK_COLOURS = { order: "#7dffb5", attack: "#ff7a76", look: "#ffe08a" };

export function isOver(mark: Mark, now: number): boolean {
  return now - mark.since >= MARK_MS[mark.kind];
}

/** Draws it all; `thin` is the width of a fine line. */
export function drawHand(
  pen: CanvasRenderingContext2D,
  hand: Hand,
  scene: Scene,
  actors: readonly Actor[],
  { thin, now }: { readonly thin: number; readonly now: number },
): void {
  const { tile } = scene.map;
  pen.lineWidth = thin;
  drawWays(pen, hand, tile, actors);
  if (hand.ghost) drawSite(pen, hand.ghost, scene.side ?? "");
  if (hand.box) {
    const { from, to } = hand.box;
    pen.strokeStyle = "#fff";
    pen.fillStyle = "rgba(255, 255, 255, 0.14)";
    pen.fillRect(from.x / tile, from.y / tile, (to.x - from.x) / tile, (to.y - from.y) / tile);
    pen.strokeRect(from.x / tile, from.y / tile, (to.x - from.x) / tile, (to.y - from.y) / tile);
  }
  for (const mark of hand.marks) drawMark(pen, mark, tile, thin, now);
  if (hand.cursor) {
    pen.lineWidth = thin * 2.5;
    pen.strokeStyle = "#000";
    const [x, y] = [Math.floor(hand.cursor.x / tile), Math.floor(hand.cursor.y / tile)];
    pen.strokeRect(x, y, 1, 1);
    pen.lineWidth = thin * 1.3;
    pen.strokeStyle = "#fff";
    pen.strokeRect(x, y, 1, 1);
  }
}

/** From what is selected to where it goes, and from a building to where its units gather. */
function drawWays(pen: CanvasRenderingContext2D, hand: Hand, tile: number, actors: readonly Actor[]): void {
  pen.setLineDash([0.25, 0.2]);
  for (const actor of actors) {
    const { id } = actor.entity;
    const to = hand.selected.has(id) ? (hand.goals.get(id) ?? hand.rallies.get(id)) : undefined;
    if (!to) continue;
    const [x, y] = [to.x / tile, to.y / tile];
    pen.strokeStyle = pen.fillStyle = hand.rallies.has(id) ? "rgba(255, 224, 138, 0.8)" : "rgba(255, 255, 255, 0.5)";
    pen.beginPath();
    pen.moveTo(actor.x / tile, actor.y / tile);
    pen.lineTo(x, y);
    pen.stroke();
    pen.fillRect(x - 0.08, y - 0.08, 0.16, 0.16);
  }
  pen.setLineDash([]);
}

/** The building as it would stand, and the tiles around it that must be free of other buildings and alloy. */
function drawSite(pen: CanvasRenderingContext2D, { kind, col, row, isLegal }: NonNullable<Hand["ghost"]>, side: string): void {
  pen.fillStyle = isLegal ? "rgba(90, 220, 150, 0.22)" : "rgba(240, 80, 80, 0.28)";
  pen.fillRect(col - 1, row - 1, 3, 3);
  pen.strokeStyle = isLegal ? "#7dffb5" : "#ff8b86";
  pen.strokeRect(col, row, 1, 1);
  const [fill, light] = isLegal ? sideColours(side) : (["#a33b3b", "#ffb3b0"] as const);
  pen.save();
  pen.globalAlpha = 0.75;
  pen.translate(col + 0.5, row + 0.5);
  drawShape(pen, kind, fill, light, "#111");
  pen.restore();
}

function drawMark(pen: CanvasRenderingContext2D, mark: Mark, tile: number, thin: number, now: number): void {
  const age = (now - mark.since) / MARK_MS[mark.kind];
  if (age < 0 || age >= 1) return;
  const wide = mark.kind === "look" ? 2.2 : 0.5;
  pen.strokeStyle = MARK_COLOURS[mark.kind];
  pen.globalAlpha = 1 - age;
  pen.lineWidth = thin * 2;
  pen.beginPath();
  pen.arc(mark.at.x / tile, mark.at.y / tile, 0.2 + wide * (mark.kind === "look" ? 1 - age : age), 0, Math.PI * 2);
  pen.stroke();
  pen.globalAlpha = 1;
}
