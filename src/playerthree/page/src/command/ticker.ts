/** The newest happenings of a side, in words. */

import { el, fill } from "../dom.js";
import { sideDot } from "../seats.js";
import { capital } from "../words.js";
import type { GameEvent, Scene } from "./scene.js";

/** Lines kept. */
const LINES = 30;
const TICKS_A_SECOND = 10;

const SENTENCES: { readonly [kind: string]: (event: GameEvent) => string } = {
  produced: ({ what }) => `${capital(what ?? "unit")} ready`,
  built: ({ what }) => `${capital(what ?? "building")} finished`,
  blocked: ({ what }) => `The ${what ?? "building"} site is blocked`,
  depleted: () => "An alloy patch is empty",
  attacked: ({ what }) => `Our ${what ?? "unit"} is under attack`,
  contact: ({ what, side }) => `Contact: ${side ?? "unknown"} ${what ?? ""}`,
  lost: ({ what }) => `We lost a ${what ?? "unit"}`,
  destroyed: ({ what, side }) => `Destroyed: ${side ?? "enemy"} ${what ?? ""}`,
  eliminated: ({ side }) => `${capital(side ?? "a side")} is out`,
  ended: () => "The match is over",
};

export class Ticker {
  readonly element = el("section", { class: "card ticker", "aria-label": "Events" });
  readonly #list = el("ol", { tabindex: 0, "aria-label": "Events" });
  #lines: { readonly event: GameEvent; readonly key: string }[] = [];

  constructor() {
    fill(this.#list, el("li", { class: "dim" }, "Nothing yet"));
    fill(this.element, el("h2", {}, "Events"), this.#list);
  }

  draw(scene: Scene): void {
    const known = new Set(this.#lines.map((line) => line.key));
    const fresh = (scene.events ?? []).map((event) => ({ event, key: JSON.stringify(event) })).filter((line) => !known.has(line.key));
    if (fresh.length === 0) return;
    this.#lines = [...this.#lines, ...fresh].slice(-LINES);
    fill(this.#list, ...[...this.#lines].reverse().map(({ event }) => line(event)));
  }
}

function line(event: GameEvent): HTMLElement {
  const seconds = Math.floor(event.tick / TICKS_A_SECOND);
  const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  const text = SENTENCES[event.kind]?.(event) ?? event.kind;
  return el("li", { "data-kind": event.kind }, el("time", {}, time), event.side !== undefined && sideDot(event.side), el("span", {}, text));
}
