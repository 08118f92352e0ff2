/** What the owner of a seat decides: who acts for it, its mandate (§7), and what waits for approval. */

import type { Connection, Controller, Mandate, Seat } from "playerthree-client";
import { chooseCommander } from "./commanders.js";
import { el, field, select, toast } from "./dom.js";
import { inviteDevice } from "./links.js";
import { inviteAgent } from "./mint.js";
import { capital, explain, objectivesOf, scopesOf } from "./words.js";

const CONTROLLERS: readonly (readonly [Controller, string])[] = [
  ["human", "Me"],
  ["agent", "My agent (AI player)"],
  ["policy", "My policy (AI player)"],
  ["bot", "A bot"],
  ["none", "Nobody"],
];
const ABSENT: readonly (readonly [Mandate["whenAbsent"], string])[] = [
  ["policy", "its policy plays"],
  ["bot", "a bot plays"],
  ["hold", "the seat waits"],
];
const AUTONOMY: readonly (readonly [Mandate["autonomy"], string])[] = [
  ["autonomous", "deploys on its own"],
  ["supervised", "asks me first"],
];

/** The controls of one own seat. */
export function ownerPanel(connection: Connection, seat: Seat): HTMLElement {
  const ref = { team: seat.team, role: seat.role };
  const key = `${seat.team} ${seat.role}`;
  const hasPolicies = scopesOf(connection.welcome?.game.id ?? "").some(([scope]) => scope === "policy");
  const controllers = CONTROLLERS.filter(([who]) => hasPolicies || who !== "policy");
  const controller = select(controllers, seat.controller, { "data-key": `${key} controller` });
  controller.addEventListener("change", () =>
    attempt(connection.controller(ref, controller.value as Controller), "The seat has a new controller.", controller),
  );
  const invite = el("button", { type: "button", "data-key": `${key} invite` }, "Invite my agent");
  invite.addEventListener("click", () => void inviteAgent(connection, seat));
  const commander = el("button", { type: "button", "data-key": `${key} commander` }, "My commanders");
  commander.addEventListener("click", () => void chooseCommander(connection, seat));
  const device = el("button", { type: "button", "data-key": `${key} device` }, "Play on another device");
  device.addEventListener("click", () => void inviteDevice(connection, ref));
  const revoke = el("button", { type: "button", "data-key": `${key} revoke` }, "Revoke access");
  revoke.addEventListener("click", () => attempt(connection.revoke(ref), "Every token and link of this seat has ended."));
  return el(
    "div",
    { class: "ownerpanel" },
    approval(connection, seat),
    field("Who acts", controller),
    ...(seat.mandate ? mandate(connection, seat, seat.mandate, hasPolicies) : []),
    scopes(connection, seat),
    el("div", { class: "row wrap" }, invite, commander, seat.controller === "human" && device, revoke),
  );
}

function mandate(connection: Connection, seat: Seat, now: Mandate, hasPolicies: boolean): HTMLElement[] {
  const ref = { team: seat.team, role: seat.role };
  const key = `${seat.team} ${seat.role}`;
  const autonomy = select(AUTONOMY, now.autonomy, { "data-key": `${key} autonomy` });
  const absent = select(ABSENT.filter(([then]) => hasPolicies || then !== "policy" || now.whenAbsent === then), now.whenAbsent, { "data-key": `${key} absent` });
  const objectives = objectivesOf(connection.welcome?.game.id ?? "");
  const objective = select(objectives, String(now.directive.objective ?? ""), { "data-key": `${key} objective` });
  const hasObjective = objectives.length > 0;
  for (const control of [autonomy, absent, objective]) {
    control.addEventListener("change", () => {
      const directive = hasObjective ? { ...now.directive, objective: objective.value } : now.directive;
      const next = { ...now, autonomy: autonomy.value, whenAbsent: absent.value, directive } as Mandate;
      attempt(connection.mandate(ref, next), "The mandate is set.", control);
    });
  }
  const away = field("When it is away", absent);
  const wanted = hasObjective ? [field("What I want", objective)] : [];
  return hasPolicies ? [...wanted, field("My agent", autonomy), away] : [...wanted, away];
}

/** What the agent may do (§6): a box for each scope that the game has. */
function scopes(connection: Connection, seat: Seat): HTMLElement {
  const ref = { team: seat.team, role: seat.role };
  const granted = new Set(seat.scopes);
  const boxes = scopesOf(connection.welcome?.game.id ?? "").map(([scope, label]) => {
    const box = el("input", { type: "checkbox", "data-key": `${seat.team} ${seat.role} scope ${scope}` });
    box.checked = granted.has(scope);
    box.addEventListener("change", () => {
      if (box.checked) granted.add(scope);
      else granted.delete(scope);
      attempt(connection.scopes(ref, [...granted]), "The agent's rights are set.");
    });
    return el("label", { class: "check" }, box, label);
  });
  return el("fieldset", { class: "scopes" }, el("legend", {}, "My agent may"), ...boxes);
}

function approval(connection: Connection, seat: Seat): HTMLElement | undefined {
  const pending = seat.approval;
  if (!pending || pending.status !== "pending") return undefined;
  const what = pending.version === undefined ? pending.kind : `${pending.kind}, version ${pending.version}`;
  const decide = (approve: boolean) => (event: Event) => {
    const buttons = (event.currentTarget as HTMLElement).parentElement?.querySelectorAll("button") ?? [];
    for (const button of buttons) button.disabled = true;
    const done = connection.resolveApproval({ team: seat.team, role: seat.role }, { id: pending.id, approve });
    attempt(done, approve ? "Approved." : "Rejected.");
  };
  const key = `${seat.team} ${seat.role}`;
  return el(
    "div",
    { class: "approval", role: "alert" },
    el("p", {}, `${capital(what)} waits for your approval.`),
    el(
      "div",
      { class: "row" },
      el("button", { type: "button", class: "primary small", "data-key": `${key} yes`, click: decide(true) }, "Approve"),
      el("button", { type: "button", class: "small", "data-key": `${key} no`, click: decide(false) }, "Reject"),
    ),
  );
}

/** Tells how an operation went. A control lets go of the focus, so that the panel shows what the server says. */
function attempt(operation: Promise<unknown>, done: string, control?: HTMLElement): void {
  operation
    .then(() => toast(done))
    .catch((error: unknown) => toast(explain(error), "error"))
    .finally(() => control?.blur());
}
