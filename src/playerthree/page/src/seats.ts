/** Who holds the seats of a match, and what the owner of a seat may do with it. */

import type { Connection, Controller, Seat } from "playerthree-client";
import { chooseCommander } from "./commanders.js";
import { el, fill, toast } from "./dom.js";
import { ownerPanel } from "./owner.js";
import { inviteAgent } from "./mint.js";
import { capital, controllerName, explain, modeName } from "./words.js";

/** A dot in the colour of a side. */
export function sideDot(side: string): HTMLElement {
  return el("span", { class: "dot", "data-side": side, "aria-hidden": "true" });
}

/** The label that no setting removes (§20.2): this seat is played by an AI. */
export function aiLabel(seat: ActedSeat & { readonly aiPlayer?: boolean }): HTMLElement | undefined {
  const unlabelled = !seat.aiPlayer && seat.controller !== "agent" && seat.controller !== "policy";
  return unlabelled ? undefined : el("span", { class: "tag ai" }, "AI player");
}

/** A seat as lists of matches show it: without what acts there at this moment. */
export type ListedSeat = Omit<Seat, "mode" | "agentActive">;

/** Who holds a seat, in words. */
export function holder(seat: ListedSeat): string {
  if (seat.controller === "bot") return "bot";
  return seat.owner?.display ?? (seat.open ? "open" : controllerName(seat.controller));
}

/** Who acted for a seat, as an observer's frame tells it. */
export interface ActedSeat {
  readonly team: string;
  readonly role: string;
  readonly controller: Controller;
}

/** A seat in one line. */
export function seatChip(seat: ListedSeat): HTMLElement {
  const role = seat.role === "player" ? false : el("span", { class: "dim" }, seat.role);
  return el("span", { class: "chip" }, role, el("span", {}, holder(seat)), aiLabel(seat));
}

/** A seat is one's own when the server tells what only its owner hears. */
export function isOwn(seat: Seat): boolean {
  return seat.scopes !== undefined;
}

/** The panel of all seats. It is redrawn when a seat changed, but not under a control that is in use unless something waits. */
export class SeatsPanel {
  readonly element = el("section", { class: "card seats", "aria-labelledby": "seats" });
  readonly #list = el("ul", { class: "seatlist" });
  readonly #connection: Connection;
  readonly #plays: boolean;
  readonly #open = new Set<string>();
  #shown = "";

  constructor(connection: Connection, plays: boolean) {
    this.#connection = connection;
    this.#plays = plays;
    fill(this.element, el("h2", { id: "seats" }, "Seats"), this.#list);
    connection.on("seats", (seats) => this.#draw(seats));
    this.#draw(connection.seats);
    this.element.addEventListener("focusout", () => queueMicrotask(() => this.#draw(connection.seats)));
  }

  /** An observer is not told who sits where right now, only who acted in the frame that is shown. */
  drawActed(seats: readonly ActedSeat[]): void {
    const next = JSON.stringify(seats);
    if (next === this.#shown) return;
    this.#shown = next;
    fill(this.#list, ...seats.map(actedRow));
  }

  #draw(seats: readonly Seat[]): void {
    if (this.#connection.welcome?.as === "observer") return;
    const next = JSON.stringify(seats);
    const used = document.activeElement;
    const busy = used instanceof HTMLElement && this.#list.contains(used) && used.matches("select");
    const urgent = seats.some((seat) => seat.approval?.status === "pending");
    if (next === this.#shown || (busy && !urgent)) return;
    this.#shown = next;
    const focused = used instanceof HTMLElement && this.#list.contains(used) ? used.dataset.key : undefined;
    fill(this.#list, ...seats.map((seat) => this.#row(seat)));
    if (focused) this.#list.querySelector<HTMLElement>(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  }

  #row(seat: Seat): HTMLElement {
    const key = `${seat.team} ${seat.role}`;
    const head = seatHead(seat);
    if (isOwn(seat)) head.append(el("span", { class: "tag you" }, "yours"));
    const state = el("div", { class: "dim" }, sentence(seat));
    return el("li", { class: "seat", "data-seat": key }, head, state, ...this.#tools(seat, key));
  }

  #tools(seat: Seat, key: string): HTMLElement[] {
    if (!this.#plays) return [];
    if (isOwn(seat)) {
      const panel = ownerPanel(this.#connection, seat);
      const details = el("details", { class: "owner", open: this.#open.has(key) || seat.approval !== undefined });
      details.append(el("summary", { "data-key": `${key} manage` }, "Manage this seat"), panel);
      details.addEventListener("toggle", () => (details.open ? this.#open.add(key) : this.#open.delete(key)));
      return [details];
    }
    return seat.open ? [el("div", { class: "row wrap" }, ...this.#claims(seat, key))] : [];
  }

  #claims(seat: Seat, key: string): HTMLElement[] {
    const invite = el("button", { type: "button", class: "small", "data-key": `${key} invite` }, "Invite my agent");
    invite.addEventListener("click", () => void inviteAgent(this.#connection, seat));
    const commander = el("button", { type: "button", class: "small", "data-key": `${key} commander` }, "My commanders");
    commander.addEventListener("click", () => void chooseCommander(this.#connection, seat));
    if (seat.team !== this.#connection.welcome?.seat?.team) return [invite, commander];
    const take = el("button", { type: "button", class: "small", "data-key": `${key} take` }, "Play it myself");
    take.addEventListener("click", () => void takeSeat(this.#connection, seat));
    return [invite, commander, take];
  }
}

/** An open seat becomes one's own by minting for it; the token is thrown away and dies unclaimed. */
export async function claimSeat(connection: Connection, { team, role }: Pick<Seat, "team" | "role">): Promise<void> {
  await connection.mint({ team, role });
  await connection.controller({ team, role }, "human");
}

/** Takes a seat and tells how that went. */
export async function takeSeat(connection: Connection, seat: Pick<Seat, "team" | "role">): Promise<void> {
  const { team, role } = seat;
  try {
    await claimSeat(connection, seat);
    toast(`You play ${capital(team)} ${role} too now.`);
  } catch (error) {
    toast(explain(error), "error");
  }
}

function seatHead(seat: ActedSeat): HTMLElement {
  const role = seat.role !== "player" && el("span", { class: "dim" }, seat.role);
  return el("div", { class: "seathead" }, sideDot(seat.team), el("b", {}, capital(seat.team)), role, aiLabel(seat));
}

function actedRow(seat: ActedSeat): HTMLElement {
  const text = `Played by ${controllerName(seat.controller)}`;
  return el("li", { class: "seat", "data-seat": `${seat.team} ${seat.role}` }, seatHead(seat), el("div", { class: "dim" }, text));
}

const HOLDERS: { readonly [controller in Controller]: (owner: string) => string } = {
  human: (owner) => `${owner} plays`,
  agent: (owner) => `AI agent of ${owner}`,
  policy: (owner) => `AI policy of ${owner}`,
  bot: (owner) => `Bot for ${owner}`,
  none: (owner) => `Nobody for ${owner}`,
};

function sentence(seat: Seat): string {
  if (seat.open && seat.controller === "none") return "Open";
  if (seat.controller === "bot" && !seat.owner) return "Played by a bot, open for anyone";
  const who = seat.owner ? HOLDERS[seat.controller](seat.owner.display) : holder(seat);
  return `${who} · ${modeName(seat.mode)}`;
}
