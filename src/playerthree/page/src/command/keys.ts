/** What keys mean on the map, as a closed list. */

/** What somebody wants who pressed a key. */
export type Wish =
  | { readonly kind: "step"; readonly dx: number; readonly dy: number }
  | { readonly kind: "use"; readonly add: boolean }
  | { readonly kind: "zoom"; readonly factor: number }
  | { readonly kind: "store" | "recall"; readonly digit: string }
  | { readonly kind: Plain };

/** Wishes that say everything by their name. */
type Plain = "cancel" | "all" | "advance" | "stop" | "idle" | "army" | "home" | "newest" | "tell";

const STEPS: { readonly [key: string]: readonly [number, number] } = {
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
};

const PLAIN: { readonly [key: string]: Plain } = {
  escape: "cancel",
  "0": "all",
  a: "advance",
  s: "stop",
  ".": "idle",
  f: "army",
  h: "home",
  n: "newest",
  i: "tell",
};

const ZOOM = 1.5;

/** The wish behind a key, if the map knows the key. Keys with Ctrl, Alt or Meta are the browser's. */
export function wish(event: KeyboardEvent): Wish | undefined {
  if (event.ctrlKey || event.altKey || event.metaKey) return undefined;
  const step = STEPS[event.key];
  if (step) return { kind: "step", dx: step[0], dy: step[1] };
  if (event.key === "Enter" || event.key === " ") return { kind: "use", add: event.shiftKey };
  if (event.key === "+" || event.key === "=") return { kind: "zoom", factor: ZOOM };
  if (event.key === "-") return { kind: "zoom", factor: 1 / ZOOM };
  const digit = /^Digit([1-9])$/.exec(event.code)?.[1];
  if (digit !== undefined) return { kind: event.shiftKey ? "store" : "recall", digit };
  const kind = PLAIN[event.key.toLowerCase()];
  return kind && { kind };
}
