/** One's own named commanders (§20.3): adding one, seating it, and a new token. A token is shown once and never kept. */

import type { Commander, CommanderToken, Connection, Seat } from "playerthree-client";
import { el, field, toast } from "./dom.js";
import { showSecret } from "./mint.js";
import { capital, explain } from "./words.js";

/** The server's own bound on names. */
const NAME_CHARACTERS = 24;

/** Opens the choice of a commander for a seat. */
export async function chooseCommander(connection: Connection, seat: Seat): Promise<void> {
  try {
    const { commanders } = await connection.commanders();
    show(connection, seat, commanders.filter(({ roles }) => roles.includes(seat.role)));
  } catch (error) {
    toast(explain(error), "error");
  }
}

function show(connection: Connection, seat: Seat, commanders: readonly Commander[]): void {
  const close = el("button", { type: "button", class: "quiet" }, "Close");
  const dialog = el(
    "dialog",
    { class: "mint", "aria-labelledby": "commanders-title" },
    el("h2", { id: "commanders-title" }, `A commander for ${capital(seat.team)} ${seat.role}`),
    el("p", {}, "A commander keeps its token from match to match. It needs no session header, so any up-to-date MCP client can use it."),
    ...commanders.map((commander) => row(connection, seat, commander, () => dialog.close())),
    newcomer(connection, seat, () => dialog.close()),
    close,
  );
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

function row(connection: Connection, seat: Seat, { id, name }: Commander, done: () => void): HTMLElement {
  const take = el("button", { type: "button", class: "small", "data-key": "seat-commander" }, "Give it the seat");
  take.addEventListener("click", () => attempt(take, done, () => put(connection, seat, id, name)));
  const rotate = el("button", { type: "button", class: "small", "data-key": "rotate-commander" }, "New token");
  rotate.addEventListener("click", () =>
    attempt(rotate, done, async () => secret(name, await connection.rotate(id))),
  );
  return el("div", { class: "row" }, el("b", {}, name), take, rotate);
}

function newcomer(connection: Connection, seat: Seat, done: () => void): HTMLElement {
  const name = el("input", { required: true, maxlength: NAME_CHARACTERS, autocomplete: "off", "data-key": "commander-name" });
  const add = el("button", { type: "submit", class: "primary", "data-key": "add-commander" }, "Add and give it the seat");
  const submit = (event: Event) => {
    event.preventDefault();
    attempt(add, done, async () => {
      const added = await connection.addCommander({ name: name.value.trim(), roles: [seat.role] });
      // The token comes first: it is shown this once, whatever becomes of the seat.
      secret(name.value.trim(), added);
      await put(connection, seat, added.id, name.value.trim());
    });
  };
  return el("form", { submit }, field("A new one, by the name of", name), add);
}

async function put(connection: Connection, { team, role }: Seat, commander: string, name: string): Promise<void> {
  await connection.assign({ team, role }, { kind: "agent", commander });
  toast(`${name} has ${capital(team)} ${role}.`);
}

function secret(name: string, token: CommanderToken): void {
  showSecret({
    title: `The token of ${name}`,
    text: "Give these to an MCP client. Its seats are shown to everybody as AI players.",
    warning:
      "The token is shown this once and is a secret. It is good until you ask for a new one, which ends it at once.",
    ...token,
  });
}

function attempt(button: HTMLButtonElement, done: () => void, operation: () => Promise<void>): void {
  button.disabled = true;
  operation()
    .then(done)
    .catch((error: unknown) => toast(explain(error), "error"))
    .finally(() => (button.disabled = false));
}
