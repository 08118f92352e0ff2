/** The buttons that make units and place buildings, what is in work, and why something cannot be made. */

import { el, fill, say } from "../dom.js";
import { capital } from "../words.js";
import type { Commander } from "./commander.js";
import { icon } from "./icon.js";
import { obstacle, purpose } from "./placement.js";
import { ECONOMY, kindOf, type Building, type Kind, type Scene } from "./scene.js";

/** How many of a kind one press with the shift key orders: as many as wait in a building. */
const MANY = 5;

export class Makers {
  readonly element = el("div", { class: "makers", role: "group", "aria-label": "Make" });
  readonly queues = el("ul", { class: "queues", "aria-label": "In production" });
  readonly #commander: Commander;
  readonly #look: (building: Building) => void;
  readonly #rows = new Map<string, HTMLElement>();
  #scene: Scene | undefined;
  #shape = "";

  /** `look` is called with a building whose queue was clicked. */
  constructor(commander: Commander, look: (building: Building) => void) {
    this.#commander = commander;
    this.#look = look;
  }

  draw(scene: Scene): void {
    this.#scene = scene;
    this.#layOut(scene);
    for (const button of this.element.querySelectorAll("button")) this.#drawButton(button, scene);
    this.#drawQueues(scene);
  }

  /** The buttons change only with the roles one holds. */
  #layOut(scene: Scene): void {
    const roles = this.#commander.orders.roles();
    const shape = [...roles].sort().join();
    if (shape === this.#shape) return;
    this.#shape = shape;
    const { kinds } = scene.map;
    const units = kinds.filter((kind) => kind.speed > 0 && roles.has(kind.role));
    const buildings = roles.has(ECONOMY) ? kinds.filter((kind) => kind.speed === 0) : [];
    const row = (title: string, some: readonly Kind[]) =>
      some.length > 0 && el("div", { class: "makerrow" }, el("span", { class: "dim" }, title), ...some.map((kind) => this.#button(scene, kind)));
    fill(this.element, row("Make", units), row("Build", buildings));
  }

  #button(scene: Scene, kind: Kind): HTMLElement {
    const price = [
      kind.alloy > 0 && el("span", { class: "price ore" }, String(kind.alloy)),
      kind.energy > 0 && el("span", { class: "price zap" }, String(kind.energy)),
    ];
    const props = { type: "button", class: "maker", "data-make": kind.kind };
    const button = el("button", props, icon(kind.kind, scene.side ?? ""), el("span", {}, capital(kind.kind)), ...price);
    button.addEventListener("click", (event) => this.#press(button, kind, event.shiftKey));
    return button;
  }

  #press(button: HTMLButtonElement, kind: Kind, many: boolean): void {
    if (button.getAttribute("aria-disabled") === "true" || !this.#scene) return;
    if (kind.speed === 0) return this.#commander.begin({ kind: "build", building: kind.kind });
    const { alloy = 0, energy = 0 } = this.#scene;
    const payable = Math.min(alloy / Math.max(1, kind.alloy), energy / Math.max(1, kind.energy));
    const count = many ? Math.max(1, Math.min(MANY, Math.floor(payable))) : 1;
    for (let made = 0; made < count; made += 1) this.#commander.orders.produce(this.#scene, kind, this.#commander.building());
  }

  #drawButton(button: HTMLButtonElement, scene: Scene): void {
    const kind = kindOf(scene.map, button.dataset.make ?? "");
    if (!kind) return;
    const why = obstacle(scene, kind);
    const mode = this.#commander.mode;
    set(button, "aria-disabled", String(why !== undefined));
    const title = why === undefined ? purpose(scene, kind) : `${why}. ${purpose(scene, kind)}`;
    if (button.title !== title) button.title = title;
    if (kind.speed === 0) set(button, "aria-pressed", String(mode?.kind === "build" && mode.building === kind.kind));
  }

  /** One line for each own building at work. Lines stay the same elements as long as their building is at work. */
  #drawQueues(scene: Scene): void {
    const busy = scene.buildings.filter((one) => one.side === scene.side && (one.done < 100 || one.making !== undefined));
    for (const id of this.#rows.keys()) if (!busy.some((building) => building.id === id)) this.#rows.delete(id);
    const rows = busy.map((building) => {
      const row = this.#rows.get(building.id) ?? this.#row(building);
      this.#rows.set(building.id, row);
      drawQueue(row, building);
      return row;
    });
    const isSame = rows.length === this.queues.childElementCount && rows.every((row, index) => row === this.queues.children[index]);
    if (!isSame) fill(this.queues, ...rows);
  }

  #row({ id, kind }: Building): HTMLElement {
    const button = el("button", { type: "button", class: "queue", title: `Show the ${kind}` }, el("span", {}), el("progress", { max: 100 }));
    button.addEventListener("click", () => {
      const building = this.#scene?.buildings.find((one) => one.id === id);
      if (building) this.#look(building);
    });
    return el("li", {}, button);
  }
}

function drawQueue(row: HTMLElement, { kind, done, making, ready, queue = 0 }: Building): void {
  const waiting = queue > 1 ? ` + ${queue - 1} waiting` : "";
  const text = done < 100 ? `${capital(kind)} rises` : `${capital(making ?? "")}${waiting}`;
  const [label, progress] = [row.querySelector("span"), row.querySelector("progress")];
  if (label) say(label, text);
  if (!progress) return;
  progress.value = done < 100 ? done : (ready ?? 0);
  if (progress.getAttribute("aria-label") !== text) progress.setAttribute("aria-label", text);
}

function set(element: Element, name: string, value: string): void {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}
