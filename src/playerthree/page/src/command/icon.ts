/** A small picture of a kind, for buttons and lists. It says nothing to a screen reader: its name stands beside it. */

import { el } from "../dom.js";
import { sideColours } from "./palette.js";
import { drawShape } from "./shapes.js";

/** Pixels of the picture, twice as many as it takes on the page. */
const SIZE = 44;

export function icon(kind: string, side: string): HTMLElement {
  const picture = el("canvas", { class: "icon", width: SIZE, height: SIZE, "aria-hidden": "true" });
  const pen = picture.getContext("2d");
  if (!pen) return picture;
  const [fill, light] = sideColours(side);
  const scale = kind === "base" ? 0.62 : 0.86;
  pen.translate(SIZE / 2, SIZE / 2);
  pen.scale(SIZE * scale, SIZE * scale);
  drawShape(pen, kind, fill, light, "#12161d");
  return picture;
}
