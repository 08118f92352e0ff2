/** The colours of the map, for light and dark. */

export interface Palette {
  readonly ground: readonly [string, string, string];
  readonly rock: string;
  readonly rockTop: string;
  readonly rockEdge: string;
  readonly ore: string;
  readonly oreLight: string;
  /** Red, green and blue of what is not in sight. */
  readonly fog: readonly [number, number, number];
  /** Around the map. */
  readonly outside: string;
  readonly ink: string;
  readonly shadow: string;
  /** Which of a side's two colours stands out from the ground. */
  readonly plateEdge: "light" | "fill";
  readonly grid: string;
}

const DARK: Palette = {
  ground: ["#1d2733", "#1f2a37", "#1b2530"],
  rock: "#3b4758",
  rockTop: "#4b596d",
  rockEdge: "#10161e",
  ore: "#2bb8a3",
  oreLight: "#8ff0df",
  fog: [6, 9, 15],
  outside: "#0b0f15",
  ink: "#0a0f16",
  shadow: "rgba(0, 0, 0, 0.45)",
  plateEdge: "light",
  grid: "rgba(255, 255, 255, 0.022)",
};

const LIGHT: Palette = {
  ground: ["#e4e0cf", "#e7e3d4", "#e0dcc9"],
  rock: "#a39b86",
  rockTop: "#b9b19b",
  rockEdge: "#7d755f",
  ore: "#12907c",
  oreLight: "#57d6c1",
  fog: [62, 60, 74],
  outside: "#d4d0c2",
  ink: "#2b2a33",
  shadow: "rgba(40, 35, 20, 0.30)",
  plateEdge: "fill",
  grid: "rgba(60, 50, 20, 0.045)",
};

const SIDES: { readonly [side: string]: readonly [fill: string, light: string] } = {
  red: ["#e5484d", "#ffb3b0"],
  blue: ["#3d7eff", "#b5d0ff"],
  green: ["#2fa866", "#aff0cb"],
  gold: ["#eda100", "#ffe3a1"],
};
const OTHER = ["#8b8fa3", "#dfe1ea"] as const;

/** The shape of each side's mark, as corners of a ring; none for a circle. Colours alone do not tell sides apart. */
const EMBLEMS: { readonly [side: string]: { readonly corners: number; readonly turn: number } } = {
  blue: { corners: 4, turn: Math.PI / 4 },
  green: { corners: 3, turn: -Math.PI / 2 },
  gold: { corners: 4, turn: 0 },
};

const darkScheme = matchMedia("(prefers-color-scheme: dark)");

export function palette(): Palette {
  return darkScheme.matches ? DARK : LIGHT;
}

/** Calls back when light turns to dark or back, until the returned function is called. */
export function onPaletteChange(callback: () => void): () => void {
  darkScheme.addEventListener("change", callback);
  return () => darkScheme.removeEventListener("change", callback);
}

/** Red, green and blue of a colour that is written as `#rrggbb`. */
export function channels(colour: string): readonly [number, number, number] {
  const value = Number.parseInt(colour.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

/** A side's colour and a light tint of it. */
export function sideColours(side: string): readonly [fill: string, light: string] {
  return SIDES[side] ?? OTHER;
}

/** Adds the outline of a side's mark to a path: red a circle, blue a square, green a triangle, gold a diamond. */
export function traceEmblem(path: CanvasPath, side: string, x: number, y: number, radius: number): void {
  const emblem = EMBLEMS[side];
  if (!emblem) return path.arc(x, y, radius * 0.9, 0, Math.PI * 2);
  const reach = radius * (emblem.corners === 3 ? 1.25 : 1.1);
  for (let corner = 0; corner < emblem.corners; corner += 1) {
    const angle = emblem.turn + (corner / emblem.corners) * Math.PI * 2;
    const [cx, cy] = [x + Math.cos(angle) * reach, y + Math.sin(angle) * reach];
    if (corner === 0) path.moveTo(cx, cy);
    else path.lineTo(cx, cy);
  }
  path.closePath();
}
