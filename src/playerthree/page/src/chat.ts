/** Words between the owner of a seat and the agents on it (§12). Everything is shown as plain text and kept nowhere. */

import type { Connection, Said, Seat } from "playerthree-client";
import { el, fill, toast } from "./dom.js";
import { isOwn } from "./seats.js";
import { capital, explain } from "./words.js";

/** The longest message that any game takes, in UTF-16 units. */
const LONGEST = 500;
/** Lines that stay in sight. */
const LINES = 20;

/** A box for one's own agents; hidden while one has none that may answer. */
export class ChatPanel {
  readonly element = el("section", { class: "card chat", "aria-labelledby": "chat", hidden: true });
  readonly #connection: Connection;
  readonly #lines = el("ol", { class: "chatlines", "aria-live": "polite" });
  readonly #text = el("input", { type: "text", maxlength: LONGEST, required: true, "aria-label": "Message to your agents" });

  constructor(connection: Connection) {
    this.#connection = connection;
    const form = el("form", { class: "row", submit: (event: Event) => this.#submit(event) }, this.#text, el("button", { class: "small" }, "Tell"));
    fill(this.element, el("h2", { id: "chat" }, "Your agents"), this.#lines, form);
    connection.on("seats", () => this.#show());
    connection.on("said", (said) => this.#add(speaker(said), said.text));
    this.#show();
  }

  #show(): void {
    this.element.hidden = this.#agents().length === 0;
  }

  /** None while one has seats of two sides, as in a practice against oneself: then one coaches neither (§20). */
  #agents(): Seat[] {
    const own = this.#connection.seats.filter(isOwn);
    if (new Set(own.map((seat) => seat.team)).size > 1) return [];
    return own.filter((seat) => seat.controller === "agent" && seat.scopes?.includes("say"));
  }

  #submit(event: Event): void {
    event.preventDefault();
    void this.#tell(this.#text.value);
  }

  async #tell(text: string): Promise<void> {
    const agents = this.#agents();
    const [first] = agents;
    if (!first) return;
    try {
      await this.#connection.tell({ team: first.team, roles: agents.map((seat) => seat.role) }, { text });
      this.#text.value = "";
      this.#add("You", text);
    } catch (error) {
      toast(explain(error), "error");
    }
  }

  #add(who: string, text: string): void {
    this.#lines.append(el("li", {}, el("b", {}, `${who}: `), text));
    while (this.#lines.childElementCount > LINES) this.#lines.firstElementChild?.remove();
  }
}

function speaker({ team, role }: Said): string {
  if (!team) return capital(role);
  return role === "player" ? capital(team) : `${capital(team)} ${role}`;
}
