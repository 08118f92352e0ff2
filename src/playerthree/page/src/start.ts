/** Before the first tick of a held match: who is waited for, one's own "ready", and the host's "start". */

import type { Connection, Readiness, Status } from "playerthree-client";
import { accountName } from "./account.js";
import { el, fill, toast } from "./dom.js";
import { sideDot } from "./seats.js";
import { capital, explain } from "./words.js";

type WaitedFor = Readiness["seats"][number];

const STATES: { readonly [state in WaitedFor["state"]]: string } = {
  ready: "ready",
  online: "here, not ready",
  waiting: "preparing",
  absent: "not here yet",
  stale_policy: "its policy was made for another version of the game",
  policy_failed: "its policy failed its trial",
};

/** The card that stands while the match is held. */
export function startCard(connection: Connection): HTMLElement {
  const card = el("section", { class: "card start", hidden: true, "aria-labelledby": "start-title" });
  const draw = (status: Status | undefined) => {
    const readiness = status?.readiness;
    card.hidden = readiness?.pending !== true;
    if (card.hidden || !readiness) return fill(card);
    const own = readiness.seats.filter((seat) => isHeldByMe(connection, seat));
    fill(
      card,
      el("h2", { id: "start-title" }, "Before the start"),
      el("ul", { class: "seatlist" }, ...readiness.seats.map(row)),
      el("div", { class: "row wrap" }, ...own.map((seat) => readyButton(connection, seat)), startButton(connection, status)),
    );
  };
  connection.on("status", draw);
  connection.on("seats", () => draw(connection.status));
  draw(connection.status);
  return card;
}

/** Whether it is a person's seat and that person is oneself. */
function isHeldByMe({ seats }: Connection, { team, role, kind }: WaitedFor): boolean {
  const isIt = (seat: { team: string; role: string }) => seat.team === team && seat.role === role;
  return kind === "human" && seats.find(isIt)?.scopes !== undefined;
}

function row({ team, role, state }: WaitedFor): HTMLElement {
  const name = role === "player" ? capital(team) : `${capital(team)} ${role}`;
  return el("li", { class: "seathead" }, sideDot(team), el("b", {}, name), el("span", { class: "dim" }, STATES[state]));
}

function readyButton(connection: Connection, { team, role, state }: WaitedFor): HTMLElement {
  const isReady = state === "ready";
  const button = el("button", { type: "button", class: isReady ? "" : "primary", "data-key": `${team} ${role} ready` });
  button.textContent = isReady ? "Not ready after all" : "I am ready";
  button.addEventListener("click", () => attempt(connection.ready({ team, role }, !isReady)));
  return button;
}

/** The server tells the host by name; it alone decides whose word starts the match. */
function startButton(connection: Connection, { host }: Status): HTMLElement | undefined {
  if (connection.welcome?.as !== "player" || host !== accountName()) return undefined;
  const button = el("button", { type: "button", "data-key": "start" }, "Start now");
  button.addEventListener("click", () => attempt(connection.start()));
  return button;
}

function attempt(operation: Promise<void>): void {
  operation.catch((error: unknown) => toast(explain(error), "error"));
}
