/** The colours of the map, for light and dark. */

export interface Palette {
  readonly ground: readonly [string, string, string];
  readonly rock: string;
  readonly rockTop: string;
  readonly rockEdge: string;
  readonly ore: string;
  readonly oreLight: string;
  readonly fog: string;
  readonly ink: string;
  readonly grid: string;
}

const DARK: Palette = {
  ground: ["#1d2733", "#1f2a37", "#1b2530"],
  rock: "#3b4758",
  rockTop: "#4b596d",
  rockEdge: "#10161e",
  ore: "#2bb8a3",
  oreLight: "#8ff0df",
  fog: "rgba(5, 8, 14, 0.66)",
  ink: "#0a0f16",
  grid: "rgba(255, 255, 255, 0.022)",
};

const LIGHT: Palette = {
  ground: ["#e4e0cf", "#e7e3d4", "#e0dcc9"],
  rock: "#a39b86",
  rockTop: "#b9b19b",
  rockEdge: "#7d755f",
  ore: "#12907c",
  oreLight: "#57d6c1",
  fog: "rgba(70, 68, 84, 0.50)",
  ink: "#2b2a33",
  grid: "rgba(60, 50, 20, 0.045)",
};

const SIDES: { readonly [side: string]: readonly [fill: string, light: string] } = {
  red: ["#e5484d", "#ffb3b0"],
  blue: ["#3d7eff", "#b5d0ff"],
  green: ["#2fa866", "#aff0cb"],
  gold: ["#eda100", "#ffe3a1"],
};
const OTHER = ["#8b8fa3", "#dfe1ea"] as const;

const darkScheme = matchMedia("(prefers-color-scheme: dark)");

export function palette(): Palette {
  return darkScheme.matches ? DARK : LIGHT;
}

/** Calls back when light turns to dark or back, until the returned function is called. */
export function onPaletteChange(callback: () => void): () => void {
  darkScheme.addEventListener("change", callback);
  return () => darkScheme.removeEventListener("change", callback);
}

/** A side's colour and a light tint of it. */
export function sideColours(side: string): readonly [fill: string, light: string] {
  return SIDES[side] ?? OTHER;
}
