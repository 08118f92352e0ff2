/** The controls under the map: what is selected, what can be made, and for everybody the purse, the clock and the score. */

import { el, fill, say } from "../dom.js";
import { sideDot } from "../seats.js";
import { capital } from "../words.js";
import type { Orders } from "./orders.js";
import type { Kind, Scene, Unit } from "./scene.js";

/** What the panel asks of the board. */
export interface PanelActions {
  select(units: readonly Unit[]): void;
  stop(): void;
  place(kind: string | undefined): void;
}

const TICKS_A_SECOND = 10;

export class Panel {
  readonly element = el("section", { class: "card panel", "aria-label": "Orders" });
  readonly #orders: Orders;
  readonly #actions: PanelActions;
  readonly #groups = el("div", { class: "row wrap", role: "group", "aria-label": "Select" });
  readonly #making = el("div", { class: "makers", role: "group", "aria-label": "Make" });
  readonly #chosen = el("span", { class: "chosen", role: "status" });
  readonly #stop = el("button", { type: "button", class: "small" }, "Stop");
  readonly #none = el("button", { type: "button", class: "small" }, "Deselect");
  readonly #fight = el("input", { type: "checkbox" });
  #scene: Scene | undefined;
  #shape = "";

  constructor(orders: Orders, actions: PanelActions) {
    this.#orders = orders;
    this.#actions = actions;
    this.#stop.addEventListener("click", () => actions.stop());
    this.#none.addEventListener("click", () => actions.select([]));
    const fight = el("label", { class: "check" }, this.#fight, "Fight on the way");
    const row = el("div", { class: "row wrap" }, this.#stop, this.#none, fight);
    fill(this.element, this.#chosen, this.#groups, row, this.#making);
  }

  /** Whether moving units engage what they meet. */
  get fight(): boolean {
    return this.#fight.checked;
  }

  draw(scene: Scene, selected: readonly Unit[], placing: string | undefined): void {
    this.#scene = scene;
    this.#layOut(scene);
    const mine = this.#orders.mine(scene);
    for (const button of this.#groups.querySelectorAll("button")) this.#drawGroup(button, mine);
    for (const button of this.#making.querySelectorAll("button")) this.#drawMaker(button, scene, placing);
    this.#stop.disabled = this.#none.disabled = selected.length === 0;
    say(this.#chosen, placing ? `Choose a tile for the ${placing}.` : summary(selected));
  }

  /** The buttons change only with the roles one holds. */
  #layOut(scene: Scene): void {
    const roles = this.#orders.roles();
    const shape = [...roles].sort().join();
    if (shape === this.#shape) return;
    this.#shape = shape;
    const kinds = scene.map.kinds.filter((kind) => roles.has(kind.role));
    const units = kinds.filter((kind) => kind.speed > 0);
    fill(this.#groups, ...["all", "idle", ...units.map((kind) => kind.kind)].map((group) => this.#group(group)));
    const buildings = roles.has("economy") ? scene.map.kinds.filter((kind) => kind.speed === 0) : [];
    const makers = (title: string, some: readonly Kind[]) =>
      some.length > 0 && el("div", { class: "makerrow" }, el("span", { class: "dim" }, title), ...some.map((kind) => this.#maker(kind)));
    fill(this.#making, makers("Units", units), makers("Buildings", buildings));
  }

  #group(group: string): HTMLElement {
    const button = el("button", { type: "button", class: "small", "data-group": group });
    button.addEventListener("click", () => {
      if (this.#scene) this.#actions.select(this.#orders.mine(this.#scene).filter((unit) => belongs(unit, group)));
    });
    return button;
  }

  #drawGroup(button: HTMLButtonElement, mine: readonly Unit[]): void {
    const group = button.dataset.group ?? "";
    const count = mine.filter((unit) => belongs(unit, group)).length;
    say(button, `${group === "all" ? "All" : capital(group)} ${count}`);
    button.disabled = count === 0;
    button.hidden = count === 0 && group !== "all" && group !== "idle";
  }

  #maker(kind: Kind): HTMLElement {
    const price = [
      kind.alloy > 0 && el("span", { class: "price ore" }, String(kind.alloy)),
      kind.energy > 0 && el("span", { class: "price zap" }, String(kind.energy)),
    ];
    const button = el("button", { type: "button", class: "maker", "data-make": kind.kind }, el("span", {}, capital(kind.kind)), ...price);
    button.addEventListener("click", () => {
      if (button.getAttribute("aria-disabled") === "true" || !this.#scene) return;
      if (kind.speed > 0) this.#orders.produce(this.#scene, kind);
      else this.#actions.place(button.getAttribute("aria-pressed") === "true" ? undefined : kind.kind);
    });
    return button;
  }

  #drawMaker(button: HTMLButtonElement, scene: Scene, placing: string | undefined): void {
    const kind = scene.map.kinds.find((one) => one.kind === button.dataset.make);
    if (!kind) return;
    const why = this.#obstacle(scene, kind);
    button.setAttribute("aria-disabled", String(why !== undefined));
    button.title = why ?? (kind.speed > 0 ? `Made in the ${kind.maker}` : "Built by a worker");
    if (kind.speed === 0) button.setAttribute("aria-pressed", String(placing === kind.kind));
  }

  #obstacle(scene: Scene, kind: Kind): string | undefined {
    if (kind.speed > 0 && this.#orders.makers(scene, kind).length === 0) return `Needs a ${kind.maker}`;
    if ((scene.alloy ?? 0) < kind.alloy) return "Not enough alloy";
    if ((scene.energy ?? 0) < kind.energy) return "Not enough energy";
    return undefined;
  }
}

/** The strip over the map: purse and clock for a side, the score of all for an observer. */
export class Gauges {
  readonly element = el("div", { class: "gauges" });
  readonly #alloy = el("b", { "data-gauge": "alloy" });
  readonly #energy = el("b", { "data-gauge": "energy" });
  readonly #army = el("b");
  readonly #clock = el("b", { class: "clock" });
  readonly #standings = el("span", { class: "standings" });
  #shown = "";

  constructor(observes: boolean) {
    const gauge = (kind: string, label: string, value: HTMLElement) =>
      el("span", { class: `gauge ${kind}` }, el("span", { class: "dim" }, label), value);
    const purse = [gauge("ore", "Alloy", this.#alloy), gauge("zap", "Energy", this.#energy), gauge("army", "Units", this.#army)];
    const time = gauge("time", "Time left", this.#clock);
    fill(this.element, ...(observes ? [] : purse), time, el("span", { class: "spacer" }), this.#standings);
  }

  draw(scene: Scene): void {
    say(this.#alloy, String(scene.alloy ?? 0));
    say(this.#energy, String(scene.energy ?? 0));
    say(this.#army, String(scene.units.filter((unit) => unit.side === scene.side).length));
    const left = Math.max(0, Math.ceil((scene.map.maxTicks - scene.tick) / TICKS_A_SECOND));
    say(this.#clock, `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`);
    const next = JSON.stringify(scene.sides);
    if (next === this.#shown) return;
    this.#shown = next;
    fill(this.#standings, ...scene.sides.map(standing));
  }
}

function standing({ side, outcome, alloy, energy, destroyed, lost }: Scene["sides"][number]): HTMLElement {
  const figure = (kind: string, title: string, value: number | undefined) =>
    value !== undefined && el("span", { class: `price ${kind}`, title, "aria-label": `${value} ${title}` }, String(value));
  const figures = [figure("ore", "alloy", alloy), figure("zap", "energy", energy), figure("kills", "destroyed", destroyed), figure("losses", "lost", lost)];
  const text = outcome === "running" ? figures : [outcome];
  const props = { class: outcome === "running" ? "standing" : "standing out", role: "group", "aria-label": side };
  return el("span", props, sideDot(side), el("b", {}, capital(side)), ...text);
}

function belongs(unit: Unit, group: string): boolean {
  return group === "all" || (group === "idle" ? unit.order === "idle" : unit.kind === group);
}

function summary(units: readonly Unit[]): string {
  if (units.length === 0) return "Nothing selected";
  const counts = new Map<string, number>();
  for (const unit of units) counts.set(unit.kind, (counts.get(unit.kind) ?? 0) + 1);
  return `Selected: ${[...counts].map(([kind, count]) => `${count} ${kind}${count > 1 ? "s" : ""}`).join(", ")}`;
}
