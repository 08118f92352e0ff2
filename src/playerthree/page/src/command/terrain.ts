/** The ground, drawn once for a map and a palette: what never changes. */

import type { Palette } from "./palette.js";
import type { CommandMap } from "./scene.js";

/** Pixels of a tile in the picture, enough for a large screen. */
const TILE = 40;

export function drawTerrain(map: CommandMap, colours: Palette): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = map.size * TILE;
  const pen = canvas.getContext("2d");
  if (!pen) return canvas;
  for (let row = 0; row < map.size; row += 1) {
    for (let col = 0; col < map.size; col += 1) drawGround(pen, col, row, colours);
  }
  const rock = (col: number, row: number) => map.terrain[row]?.[col] === "#";
  for (let row = 0; row < map.size; row += 1) {
    for (let col = 0; col < map.size; col += 1) if (rock(col, row)) drawRock(pen, col, row, rock, colours);
  }
  return canvas;
}

/** A number from 0 to 1 that belongs to a tile. */
function grain(col: number, row: number, salt: number): number {
  const mixed = Math.sin(col * 127.1 + row * 311.7 + salt * 74.7) * 43_758.5453;
  return mixed - Math.floor(mixed);
}

function drawGround(pen: CanvasRenderingContext2D, col: number, row: number, colours: Palette): void {
  const [x, y] = [col * TILE, row * TILE];
  pen.fillStyle = colours.ground[Math.floor(grain(col, row, 1) * 3)] ?? colours.ground[0];
  pen.fillRect(x, y, TILE, TILE);
  pen.fillStyle = colours.grid;
  pen.fillRect(x, y, TILE, 1);
  pen.fillRect(x, y, 1, TILE);
  for (let speck = 0; speck < 3; speck += 1) {
    const size = 1 + grain(col, row, speck + 20) * 2;
    pen.fillRect(x + grain(col, row, speck + 2) * TILE, y + grain(col, row, speck + 9) * TILE, size * 1.6, size);
  }
}

/** Neighbouring rocks grow together: a corner is round only where nothing joins it. */
function drawRock(
  pen: CanvasRenderingContext2D,
  col: number,
  row: number,
  rock: (col: number, row: number) => boolean,
  colours: Palette,
): void {
  const [x, y] = [col * TILE, row * TILE];
  const joins = (dx: number, dy: number) => rock(col + dx, row) || rock(col, row + dy) || rock(col + dx, row + dy);
  const corners = [joins(-1, -1), joins(1, -1), joins(1, 1), joins(-1, 1)].map((joined) => (joined ? 0 : TILE * 0.38));
  pen.fillStyle = colours.rockEdge;
  pen.beginPath();
  pen.roundRect(x, y + 3, TILE, TILE, corners);
  pen.fill();
  pen.fillStyle = colours.rock;
  pen.beginPath();
  pen.roundRect(x, y, TILE, TILE, corners);
  pen.fill();
  pen.fillStyle = colours.rockTop;
  pen.beginPath();
  const [w, h] = [TILE * (0.35 + grain(col, row, 5) * 0.3), TILE * (0.25 + grain(col, row, 6) * 0.25)];
  pen.ellipse(x + TILE * 0.45, y + TILE * 0.38, w / 2, h / 2, grain(col, row, 7) * 3, 0, Math.PI * 2);
  pen.fill();
}
