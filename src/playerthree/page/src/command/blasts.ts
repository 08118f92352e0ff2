/** How shots and explosions look. The pen's unit is a tile. */

import type { Effect } from "./effects.js";
import { sideColours } from "./palette.js";

const SPARKS = 9;

/** Draws an effect at an age from 0 to 1; `points` make a tile. */
export function drawEffect(pen: CanvasRenderingContext2D, effect: Effect, points: number, age: number): void {
  const from = { x: effect.x / points, y: effect.y / points };
  if (effect.kind === "shot") drawShot(pen, effect, from, { x: effect.toX / points, y: effect.toY / points }, age);
  else drawBurst(pen, effect, from, age);
  pen.globalAlpha = 1;
}

interface Spot {
  readonly x: number;
  readonly y: number;
}

/** A tracer that flies, with a flash where it comes from and one where it hits. */
function drawShot(pen: CanvasRenderingContext2D, { side, size }: Effect, from: Spot, to: Spot, age: number): void {
  const [, light] = sideColours(side);
  const flown = Math.min(1, age * 1.7);
  const tail = Math.max(0, flown - 0.4);
  const between = (share: number) => [from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share] as const;
  pen.strokeStyle = light;
  pen.lineCap = "round";
  if (flown < 1) {
    pen.lineWidth = 0.09 * size;
    pen.beginPath();
    pen.moveTo(...between(tail));
    pen.lineTo(...between(flown));
    pen.stroke();
  }
  if (age < 0.35) glow(pen, from, 0.16 * size, "#fff6d8", 1 - age / 0.35);
  if (age > 0.5) glow(pen, to, (0.14 + 0.2 * (age - 0.5)) * size, "#ffd98a", (1 - age) * 2);
}

/** A flash, a ring that runs outwards, sparks and smoke. */
function drawBurst(pen: CanvasRenderingContext2D, { side, size, x }: Effect, at: Spot, age: number): void {
  const [fill, light] = sideColours(side);
  const radius = size * (0.15 + 0.75 * Math.sqrt(age));
  glow(pen, at, radius * 0.8, "#3a3632", (1 - age) * 0.55);
  if (age < 0.4) glow(pen, at, size * (0.25 + age), "#ffdf9a", 1 - age / 0.4);
  pen.globalAlpha = 1 - age;
  pen.strokeStyle = light;
  pen.lineWidth = 0.14 * (1 - age);
  pen.beginPath();
  pen.arc(at.x, at.y, radius, 0, Math.PI * 2);
  pen.stroke();
  for (let spark = 0; spark < SPARKS; spark += 1) {
    const angle = (spark / SPARKS) * Math.PI * 2 + x;
    const reach = radius * (0.8 + 0.5 * ((spark * 7) % 3)) * 0.9;
    const width = 0.13 * (1 - age) * Math.sqrt(size);
    pen.fillStyle = spark % 2 === 0 ? fill : "#ffc966";
    pen.fillRect(at.x + Math.cos(angle) * reach - width / 2, at.y + Math.sin(angle) * reach - width / 2, width, width);
  }
}

function glow(pen: CanvasRenderingContext2D, at: Spot, radius: number, colour: string, alpha: number): void {
  pen.globalAlpha = Math.min(1, Math.max(0, alpha));
  pen.fillStyle = colour;
  pen.beginPath();
  pen.arc(at.x, at.y, radius, 0, Math.PI * 2);
  pen.fill();
}
