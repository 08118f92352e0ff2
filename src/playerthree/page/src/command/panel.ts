/** The controls of a player: what is selected, what it is to do, what can be made, and which roles one commands. */

import type { Connection } from "playerthree-client";
import { el, fill, say } from "../dom.js";
import { isOwn, takeSeat } from "../seats.js";
import { capital } from "../words.js";
import type { Commander } from "./commander.js";
import { icon } from "./icon.js";
import { Makers } from "./makers.js";
import { siteProblem } from "./placement.js";
import { ECONOMY, kindOf, type Building, type Scene, type Unit } from "./scene.js";

export class Panel {
  readonly element = el("section", { class: "card panel", "aria-label": "Orders" });
  readonly #commander: Commander;
  readonly #connection: Connection;
  readonly #groups = el("div", { class: "row wrap", role: "group", "aria-label": "Select" });
  readonly #chosen = el("p", { class: "chosen", role: "status" });
  readonly #picked = el("ul", { class: "picked", "aria-label": "Selected" });
  readonly #advance = command("Attack-move", "a", "Go there and fight what is on the way");
  readonly #stop = command("Hold", "s", "Stand, and shoot what comes in range");
  readonly #rally = command("Rally point", "", "Where its new units go");
  readonly #none = command("Deselect", "", "Select nothing (Escape)");
  readonly #roles = el("div", { class: "roles", role: "group", "aria-label": "Roles" });
  readonly #makers: Makers;
  #scene: Scene | undefined;
  #shape = "";
  #pickedShape = "";
  #rolesShape = "";

  /** `minimap` stands in it; `look` is called with a building that somebody wants to see. */
  constructor(commander: Commander, connection: Connection, minimap: HTMLElement, look: (building: Building) => void) {
    this.#commander = commander;
    this.#connection = connection;
    this.#makers = new Makers(commander, look);
    this.#advance.addEventListener("click", () => commander.begin({ kind: "advance" }));
    this.#stop.addEventListener("click", () => commander.stop());
    this.#none.addEventListener("click", () => commander.cancel());
    this.#rally.addEventListener("click", () => {
      const building = commander.building();
      if (building) commander.begin({ kind: "rally", building: building.id });
    });
    const orders = el("div", { class: "row wrap", role: "group", "aria-label": "Commands" }, this.#advance, this.#stop, this.#rally, this.#none);
    const selected = el("div", { class: "selected" }, this.#chosen, this.#picked, orders);
    fill(this.element, el("div", { class: "deck" }, minimap, selected), this.#groups, this.#makers.element, this.#makers.queues, this.#roles);
  }

  draw(scene: Scene): void {
    this.#scene = scene;
    const { mode } = this.#commander;
    const units = this.#commander.units();
    const building = this.#commander.building();
    this.#drawGroups(scene);
    this.#drawPicked(scene, units);
    this.#makers.draw(scene);
    this.#drawRoles(scene);
    const armed = units.some((unit) => (kindOf(scene.map, unit.kind)?.damage ?? 0) > 0);
    this.#advance.disabled = !armed;
    this.#stop.disabled = units.length === 0;
    this.#rally.hidden = !building || !this.#commander.mayRally(scene, building);
    this.#none.disabled = this.#commander.selection.ids.size === 0 && !mode;
    this.#advance.setAttribute("aria-pressed", String(mode?.kind === "advance"));
    this.#rally.setAttribute("aria-pressed", String(mode?.kind === "rally"));
    say(this.#chosen, this.#text(scene, units));
  }

  #text(scene: Scene, units: readonly Unit[]): string {
    const { mode } = this.#commander;
    if (mode?.kind === "build" && mode.site) {
      return siteProblem(scene, mode.site.col, mode.site.row) ?? `Tap again to build the ${mode.building} here.`;
    }
    if (mode?.kind === "build") return `Choose a tile for the ${mode.building}.`;
    if (mode?.kind === "advance") return "Choose where to fight to.";
    if (mode?.kind === "rally") return "Choose where new units go.";
    if (units.length > 0) return `Selected: ${counted(units)}`;
    return inspect(scene, this.#commander) ?? "Nothing selected";
  }

  /** A button for each group. They change with the roles one holds alone, so that nothing moves under a click. */
  #drawGroups(scene: Scene): void {
    const roles = this.#commander.orders.roles();
    const kinds = scene.map.kinds.filter((kind) => kind.speed > 0 && roles.has(kind.role)).map(({ kind }) => kind);
    const groups = ["all", "idle", ...([...roles].some((role) => role !== ECONOMY) ? ["army"] : []), ...kinds];
    const shape = groups.join();
    if (shape !== this.#shape) fill(this.#groups, ...groups.map((group) => this.#group(group, scene)));
    this.#shape = shape;
    const mine = this.#commander.orders.mine(scene);
    for (const button of this.#groups.querySelectorAll("button")) {
      const group = button.dataset.group ?? "";
      const count = members(scene, mine, group).length;
      const text = button.lastElementChild;
      if (text) say(text, `${capital(group)} ${count}`);
      button.disabled = count === 0;
    }
  }

  #group(group: string, scene: Scene): HTMLElement {
    const picture = kindOf(scene.map, group) !== undefined && icon(group, scene.side ?? "");
    const button = el("button", { type: "button", class: "small", "data-group": group }, picture, el("span", {}));
    button.addEventListener("click", () => {
      if (this.#scene) this.#commander.select(members(this.#scene, this.#commander.orders.mine(this.#scene), group));
    });
    return button;
  }

  /** What is selected, kind by kind, in words. A kind can be picked out of it. */
  #drawPicked(scene: Scene, units: readonly Unit[]): void {
    const kinds = [...new Set(units.map(({ kind }) => kind))];
    const shape = kinds.join();
    if (shape !== this.#pickedShape) fill(this.#picked, ...kinds.map((kind) => el("li", {}, this.#picker(kind, scene))));
    this.#pickedShape = shape;
    for (const button of this.#picked.querySelectorAll("button")) {
      const some = units.filter(({ kind }) => kind === button.dataset.kind);
      const full = some.length * (kindOf(scene.map, button.dataset.kind ?? "")?.hp ?? 1);
      const health = Math.round((some.reduce((sum, { hp }) => sum + hp, 0) / Math.max(1, full)) * 100);
      const text = button.lastElementChild;
      if (text) say(text, `${some.length} ${button.dataset.kind}${some.length > 1 ? "s" : ""}, ${health}%`);
    }
  }

  #picker(kind: string, scene: Scene): HTMLElement {
    const props = { type: "button", class: "small", "data-kind": kind, title: `Only the ${kind}s` };
    const button = el("button", props, icon(kind, scene.side ?? ""), el("span", {}));
    button.addEventListener("click", () => this.#commander.select(this.#commander.units().filter((unit) => unit.kind === kind)));
    return button;
  }

  /** The roles one commands, and those one may take over from a bot. */
  #drawRoles(scene: Scene): void {
    const held = this.#commander.orders.roles();
    const free = this.#connection.seats.filter((seat) => seat.team === scene.side && seat.open && !isOwn(seat));
    const shape = JSON.stringify([[...held], free.map(({ role }) => role)]);
    if (shape === this.#rolesShape) return;
    this.#rolesShape = shape;
    const take = free.map((seat) => {
      const button = el("button", { type: "button", class: "small", "data-take": seat.role }, `Command ${seat.role} too`);
      button.addEventListener("click", () => void takeSeat(this.#connection, seat));
      return button;
    });
    fill(this.#roles, el("span", { class: "dim" }, `You command ${[...held].join(", ")}`), ...take);
  }
}

function command(text: string, key: string, title: string): HTMLButtonElement {
  return el("button", { type: "button", class: "small", title }, text, key !== "" && el("kbd", { "aria-hidden": "true" }, key));
}

/** The units of a group: all, the idle ones, those with weapons, or a kind. */
export function members(scene: Scene, units: readonly Unit[], group: string): Unit[] {
  if (group === "all") return [...units];
  if (group === "idle") return units.filter((unit) => unit.order === "idle");
  if (group === "army") return units.filter((unit) => (kindOf(scene.map, unit.kind)?.damage ?? 0) > 0);
  return units.filter((unit) => unit.kind === group);
}

/** What is selected that nobody here commands, in words. */
export function inspect(scene: Scene, commander: Commander): string | undefined {
  const { selection } = commander;
  const [one] = [...selection.buildings(scene), ...selection.units(scene)];
  if (!one) return undefined;
  const full = kindOf(scene.map, one.kind)?.hp ?? one.hp;
  const doing = "done" in one && one.done < 100 ? `, ${one.done}% built` : "order" in one && one.order !== undefined ? `, ${one.order}` : "";
  return `${capital(one.side)} ${one.kind}: ${one.hp} of ${full} hit points${doing}`;
}

function counted(units: readonly Unit[]): string {
  const counts = new Map<string, number>();
  for (const unit of units) counts.set(unit.kind, (counts.get(unit.kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => `${count} ${kind}${count > 1 ? "s" : ""}`).join(", ");
}
