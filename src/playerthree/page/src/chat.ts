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

  #agents(): Seat[] {
    return this.#connection.seats.filter((seat) => isOwn(seat) && seat.controller === "agent" && seat.scopes?.includes("say"));
  }

  #submit(event: Event): void {
    event.preventDefault();
    void this.#tell(this.#text.value);
  }

  /** One message for each side on which one has agents; that is one side in all but a practice against oneself. */
  async #tell(text: string): Promise<void> {
    const agents = this.#agents();
    try {
      for (const team of new Set(agents.map((seat) => seat.team))) {
        const roles = agents.filter((seat) => seat.team === team).map((seat) => seat.role);
        await this.#connection.tell({ team, roles }, { text });
      }
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
  return role === "player" ? capital(team) : `${capital(team)} ${role}`;
}
