/** The strip over the map: purse with income, units and the clock. */

import { el, fill, say } from "../dom.js";
import { clock, TICKS_A_SECOND, type Scene } from "./scene.js";

/** Income is what came in within so many ticks. */
const WINDOW = 200;

/** How fast a stock is filled, whatever is spent meanwhile. */
export class Meter {
  #gains: { readonly tick: number; readonly gain: number }[] = [];
  #side: string | undefined;
  #first: number | undefined;
  #stock: number | undefined;

  /** Takes the stock of a side at a tick. Another side's income has another past. */
  take(side: string | undefined, tick: number, stock: number): void {
    if (side !== this.#side) [this.#side, this.#gains, this.#first, this.#stock] = [side, [], undefined, undefined];
    this.#first ??= tick;
    if (this.#stock !== undefined && stock > this.#stock) this.#gains.push({ tick, gain: stock - this.#stock });
    this.#stock = stock;
    this.#gains = this.#gains.filter((gain) => gain.tick > tick - WINDOW);
  }

  /** A minute's income at the pace of the last seconds. */
  perMinute(tick: number): number {
    const passed = Math.max(5 * TICKS_A_SECOND, Math.min(WINDOW, tick - (this.#first ?? tick)));
    const sum = this.#gains.reduce((total, { gain }) => total + gain, 0);
    return Math.round((sum / passed) * 60 * TICKS_A_SECOND);
  }
}

interface Purse {
  readonly stock: "alloy" | "energy";
  readonly value: HTMLElement;
  readonly rate: HTMLElement;
  readonly meter: Meter;
}

export class Gauges {
  readonly element = el("div", { class: "gauges" });
  readonly #purse: readonly Purse[];
  /** What only the side knows that is watched. */
  readonly #own: readonly HTMLElement[];
  readonly #army = el("b");
  readonly #clock = el("b", { class: "clock" });

  /** `beside` stands at the end. */
  constructor(beside: HTMLElement | false) {
    const gauge = (kind: string, label: string, ...values: HTMLElement[]) =>
      el("span", { class: `gauge ${kind}` }, el("span", { class: "dim" }, label), ...values);
    this.#purse = (["alloy", "energy"] as const).map((stock) => ({
      stock,
      value: el("b", { "data-gauge": stock }),
      rate: el("span", { class: "rate", title: `${stock} a minute` }),
      meter: new Meter(),
    }));
    const [ore, zap] = this.#purse;
    this.#own = [
      ...(ore ? [gauge("ore", "Alloy", ore.value, ore.rate)] : []),
      ...(zap ? [gauge("zap", "Energy", zap.value, zap.rate)] : []),
      gauge("army", "Units", this.#army),
    ];
    fill(this.element, ...this.#own, gauge("time", "Time left", this.#clock), el("span", { class: "spacer" }), beside);
  }

  draw(scene: Scene): void {
    for (const gauge of this.#own) gauge.hidden = scene.side === undefined;
    for (const { stock, value, rate, meter } of this.#purse) {
      const amount = scene[stock] ?? 0;
      meter.take(scene.side, scene.tick, amount);
      say(value, String(amount));
      // Once a second is enough to read.
      if (scene.tick % TICKS_A_SECOND === 0) say(rate, `+${meter.perMinute(scene.tick)}/min`);
    }
    say(this.#army, String(scene.units.filter((unit) => unit.side === scene.side).length));
    say(this.#clock, clock(scene.map.maxTicks - scene.tick + TICKS_A_SECOND - 1));
  }
}
