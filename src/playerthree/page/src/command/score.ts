/** Every side in a line: who plays it, how it fares, and for an observer what it owns; at the end, what it came to. */

import type { Controller } from "playerthree-client";
import { el, fill } from "../dom.js";
import { sideDot } from "../seats.js";
import { capital, controllerName } from "../words.js";
import type { Scene, Standing } from "./scene.js";

export class Score {
  readonly element = el("div", { class: "standings", role: "group", "aria-label": "Score" });
  #shown = "";

  draw(scene: Scene): void {
    const next = JSON.stringify([scene.sides, counts(scene)]);
    if (next === this.#shown) return;
    this.#shown = next;
    const lines = scene.sides.map((standing) => line(standing, scene));
    fill(this.element, ...lines);
  }
}

/** Units of each side, which only an observer sees all of. */
function counts(scene: Scene): number[] {
  return scene.side === undefined ? scene.sides.map(({ side }) => scene.units.filter((unit) => unit.side === side).length) : [];
}

function line(standing: Standing, scene: Scene): HTMLElement {
  const { side, outcome, alloy, energy, destroyed, lost } = standing;
  const figure = (kind: string, title: string, value: number | undefined) =>
    value !== undefined && el("span", { class: `price ${kind}`, title: capital(title) }, String(value), el("span", { class: "unseen" }, ` ${title}`));
  const units = scene.side === undefined ? scene.units.filter((unit) => unit.side === side).length : undefined;
  const figures = [
    figure("ore", "alloy", alloy),
    figure("zap", "energy", energy),
    figure("force", "units", units),
    figure("kills", "destroyed", destroyed),
    figure("losses", "lost", lost),
  ];
  const isOut = outcome === "loss";
  const result = outcome !== "running" && el("span", { class: "tag" }, OUTCOMES[outcome] ?? outcome);
  const ally = scene.friends.has(side) && side !== scene.side && el("span", { class: "dim" }, "ally");
  const props = { class: isOut ? "standing out" : "standing", role: "group", "aria-label": side };
  return el("span", props, sideDot(side), el("b", {}, capital(side)), ally, ...players(standing), result, ...figures);
}

const OUTCOMES: { readonly [outcome: string]: string } = { win: "wins", loss: "out", draw: "draw" };

/** Who plays a side: everybody is told of AI players and bots. */
function players({ controllers }: Standing): HTMLElement[] {
  const all = Object.entries(controllers);
  const roles = (some: readonly Controller[]) => all.filter(([, controller]) => some.includes(controller)).map(([role]) => role);
  const tag = (kind: string, text: string, some: readonly Controller[]) => {
    const held = roles(some);
    const title = held.map((role) => `${capital(role)}: ${controllerName(controllers[role] ?? "none")}`).join(", ");
    return held.length > 0 && el("span", { class: `tag ${kind}`, title }, text);
  };
  return [tag("ai", "AI player", ["agent", "policy"]), tag("", "bot", ["bot"])].filter((label) => label !== false);
}

const FIGURES: readonly (readonly [keyof Report, string])[] = [
  ["gathered", "alloy"],
  ["produced", "units"],
  ["built", "built"],
  ["destroyed", "destroyed"],
  ["lost", "lost"],
];

/** What a side came to. */
export interface Report {
  readonly side: string;
  readonly outcome: string;
  readonly gathered?: number;
  readonly produced?: number;
  readonly built?: number;
  readonly destroyed?: number;
  readonly lost?: number;
}

/** The summary of a match that is over, a row for each side that one may know of. */
export function summary(reports: readonly Report[]): HTMLElement {
  const head = el("tr", {}, el("th", { scope: "col" }, "Side"), ...FIGURES.map(([, title]) => el("th", { scope: "col" }, capital(title))));
  const row = (report: Report) => {
    const name = el("th", { scope: "row" }, sideDot(report.side), ` ${capital(report.side)} · ${OUTCOMES[report.outcome] ?? report.outcome}`);
    return el("tr", {}, name, ...FIGURES.map(([figure]) => el("td", {}, String(report[figure] ?? 0))));
  };
  const table = el("table", {}, el("thead", {}, head), el("tbody", {}, ...reports.map(row)));
  return el("section", { class: "card summary", "aria-label": "Summary" }, el("h2", {}, "How it went"), table);
}
