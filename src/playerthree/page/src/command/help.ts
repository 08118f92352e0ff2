/** How to use the map, by mouse, by touch and by keyboard. The style shows what fits the device. */

import { el } from "../dom.js";

const PLAYER_KEYS: readonly (readonly [string, string])[] = [
  ["Arrows", "move the crosshair"],
  ["Enter", "select or order there"],
  ["Shift Enter", "add to the selection"],
  ["A", "attack-move"],
  ["S", "hold"],
  [".", "next idle unit"],
  ["F", "all that fight"],
  ["Shift 1-9", "keep a group"],
  ["1-9", "select it"],
  ["H", "home"],
  ["N", "newest event"],
  ["I", "how things stand, in words"],
  ["+ - 0", "zoom, whole map"],
  ["Esc", "let go"],
];
const WATCHER_KEYS = PLAYER_KEYS.filter(([key]) => ["Arrows", "N", "I", "+ - 0"].includes(key));

export function help(plays: boolean): HTMLElement {
  const goal = plays ? "Destroy every enemy base. " : "";
  const [mouse, touch] = plays
    ? [
        "Click or drag to select, double-click for all of a kind. Right-click to move, attack or gather. Scroll to zoom.",
        "Tap a unit, then tap where it should go, what to attack or which alloy to gather. Drag to select several, hold for " +
          "all of a kind. Two fingers move the map.",
      ]
    : [
        "Drag to move the map, scroll to look closer, click to see what something is.",
        "Drag to move the map, pinch to look closer, tap to see what something is.",
      ];
  const keys = (plays ? PLAYER_KEYS : WATCHER_KEYS).map(([key, text]) => el("li", {}, el("kbd", {}, key), ` ${text}`));
  return el(
    "div",
    { class: "dim help" },
    el("p", { id: "map-help" }, goal, el("span", { class: "bymouse" }, mouse), el("span", { class: "bytouch" }, touch)),
    el("details", { class: "bymouse" }, el("summary", {}, "Keys"), el("ul", { class: "keys" }, ...keys)),
  );
}
