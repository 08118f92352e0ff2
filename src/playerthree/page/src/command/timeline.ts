/** The timeline: a strip with the strength of each side and marks to click, and the same moments as a list. */

import { el, fill, say } from "../dom.js";
import { sideDot } from "../seats.js";
import { mood, tell, type Chronicle, type Moment } from "./chronicle.js";
import { sideColours } from "./palette.js";
import { clock, kindOf, type Scene } from "./scene.js";

/** Moments in the list. */
const LISTED = 40;
/** Ticks between two samples of strength, and how many are kept before every second is let go. */
const SAMPLE_TICKS = 10;
const SAMPLES = 720;
/** The strip is drawn anew every so many ticks. */
const STRIP_TICKS = 5;
/** A shorter match does not fill the strip. */
const SHORTEST = 600;
/** How near to a mark a click has to be, in pixels. */
const REACH = 14;
/** What is no great event by itself. */
const SMALL: readonly string[] = ["produced", "attacked"];
const COLOURS = { good: "--good", bad: "--bad", plain: "--dim" } as const;

interface Sample {
  readonly tick: number;
  readonly strength: ReadonlyMap<string, number>;
}

export class Timeline {
  readonly strip = el("canvas", { class: "strip", "aria-hidden": "true" });
  readonly element = el("section", { class: "card ticker", "aria-label": "Timeline" });
  readonly #list = el("ol", { "aria-label": "What happened, newest first" });
  readonly #look: (moment: Moment) => void;
  readonly #rows = new WeakMap<Moment, HTMLElement>();
  readonly #empty = el("p", { class: "dim" }, "Nothing yet");
  #samples: Sample[] = [];
  #moments: readonly Moment[] = [];
  #stripAt = -STRIP_TICKS;
  #from = 0;
  #to = SHORTEST;

  /** `look` is called with a moment that was clicked. */
  constructor(look: (moment: Moment) => void) {
    this.#look = look;
    fill(this.element, el("h2", {}, "Timeline"), this.#empty, this.#list);
    this.strip.addEventListener("click", (event) => this.#pick(event));
    this.#list.addEventListener("keydown", (event) => this.#walk(event));
  }

  draw(scene: Scene, chronicle: Chronicle): void {
    this.#moments = chronicle.moments;
    this.#sample(scene);
    this.#drawList();
    if (scene.tick >= this.#stripAt + STRIP_TICKS) this.#drawStrip(scene);
  }

  #sample(scene: Scene): void {
    const last = this.#samples.at(-1);
    if (last && scene.tick < last.tick + SAMPLE_TICKS) return;
    const strength = new Map<string, number>();
    for (const { kind, side } of [...scene.units, ...scene.buildings]) {
      if (scene.side !== undefined && !scene.friends.has(side)) continue;
      const price = kindOf(scene.map, kind);
      strength.set(side, (strength.get(side) ?? 0) + (price ? price.alloy + price.energy : 0));
    }
    if (!last) this.#from = scene.tick;
    this.#samples.push({ tick: scene.tick, strength });
    if (this.#samples.length > SAMPLES) this.#samples = this.#samples.filter((_, index) => index % 2 === 0);
  }

  /** Rows stay the same elements, so that the keyboard's focus stays where it is. */
  #drawList(): void {
    const shown = this.#moments.slice(-LISTED).reverse();
    this.#empty.hidden = shown.length > 0;
    const rows = shown.map((moment) => this.#row(moment));
    const isSame = rows.length === this.#list.childElementCount && rows.every((row, index) => row === this.#list.children[index]);
    if (!isSame) {
      const focused = document.activeElement;
      fill(this.#list, ...rows);
      if (focused instanceof HTMLElement && this.#list.contains(focused)) focused.focus();
    }
    const buttons = [...this.#list.querySelectorAll("button")];
    const stop = buttons.find((button) => button === document.activeElement) ?? buttons[0];
    // The whole list is one stop of the Tab key; arrows go through it.
    for (const button of buttons) if (button.tabIndex !== (button === stop ? 0 : -1)) button.tabIndex = button === stop ? 0 : -1;
  }

  #row(moment: Moment): HTMLElement {
    const known = this.#rows.get(moment);
    const row = known ?? this.#newRow(moment);
    const text = row.querySelector("span:last-child");
    if (text) say(text, tell(moment));
    this.#rows.set(moment, row);
    return row;
  }

  #newRow(moment: Moment): HTMLElement {
    const dot = moment.side !== undefined && sideDot(moment.side);
    const button = el("button", { type: "button", class: "moment" }, el("time", {}, clock(moment.tick)), dot, el("span", {}, tell(moment)));
    button.addEventListener("click", () => this.#look(moment));
    return el("li", { "data-kind": moment.kind, "data-mood": mood(moment.kind) }, button);
  }

  #walk(event: KeyboardEvent): void {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const buttons = [...this.#list.querySelectorAll("button")];
    const next = buttons[buttons.indexOf(document.activeElement as HTMLButtonElement) + by];
    if (by === 0 || !next) return;
    event.preventDefault();
    next.focus();
  }

  #pick(event: MouseEvent): void {
    const box = this.strip.getBoundingClientRect();
    const x = event.clientX - box.left;
    const place = (moment: Moment) => ((moment.tick - this.#from) / (this.#to - this.#from)) * box.width;
    const [nearest] = [...this.#moments].sort((one, other) => Math.abs(place(one) - x) - Math.abs(place(other) - x));
    if (nearest && Math.abs(place(nearest) - x) <= REACH) this.#look(nearest);
  }

  #drawStrip(scene: Scene): void {
    this.#stripAt = scene.tick;
    const ratio = Math.min(2, devicePixelRatio);
    const [width, height] = [Math.round(this.strip.clientWidth * ratio), Math.round(this.strip.clientHeight * ratio)];
    if (width === 0 || height === 0) return;
    if (this.strip.width !== width || this.strip.height !== height) [this.strip.width, this.strip.height] = [width, height];
    const pen = this.strip.getContext("2d");
    if (!pen) return;
    this.#to = Math.max(this.#from + SHORTEST, scene.tick);
    const across = (tick: number) => ((tick - this.#from) / (this.#to - this.#from)) * width;
    pen.clearRect(0, 0, width, height);
    this.#drawStrengths(pen, across, height, ratio);
    const style = getComputedStyle(this.strip);
    for (const moment of this.#moments) {
      pen.fillStyle = style.getPropertyValue(COLOURS[mood(moment.kind)]);
      const tall = SMALL.includes(moment.kind) ? 0.16 : 0.42;
      const wide = Math.max(3 * ratio, across(moment.last) - across(moment.tick));
      pen.fillRect(across(moment.tick), height * (1 - tall), wide, height * tall);
    }
  }

  #drawStrengths(pen: CanvasRenderingContext2D, across: (tick: number) => number, height: number, ratio: number): void {
    const most = Math.max(1, ...this.#samples.flatMap(({ strength }) => [...strength.values()]));
    pen.lineWidth = 1.5 * ratio;
    for (const side of new Set(this.#samples.flatMap(({ strength }) => [...strength.keys()]))) {
      pen.strokeStyle = sideColours(side)[0];
      pen.beginPath();
      for (const { tick, strength } of this.#samples) {
        pen.lineTo(across(tick), height * 0.96 - ((strength.get(side) ?? 0) / most) * height * 0.86);
      }
      pen.stroke();
    }
  }
}
