/** The forms that start a match, one for each game. */

import { accountName } from "./account.js";
import { el, field, select, toast } from "./dom.js";
import { create, type Creation, type LiveMatch } from "./live.js";
import { claimSeat } from "./seats.js";
import { explain } from "./words.js";

type Choice = readonly (readonly [value: string, label: string])[];

const BOARDS: Choice = [
  ["3,3,3", "3 × 3, 3 in a row"],
  ["5,5,4", "5 × 5, 4 in a row"],
  ["9,9,5", "9 × 9, 5 in a row"],
  ["15,15,5", "15 × 15, 5 in a row"],
];
const OPPONENTS: Choice = [
  ["nobody", "A person or an agent"],
  ["random", "Bot: random"],
  ["perfect", "Bot: perfect"],
];
const SIDES: Choice = [
  ["red,blue", "2: red, blue"],
  ["red,blue,green", "3: red, blue, green"],
  ["red,blue,green,gold", "4: red, blue, green, gold"],
  ["red,green/blue,gold", "2 against 2, allied"],
];
/** The seat of one who wants to command a whole side, and the others of it. */
const ECONOMY = "economy";
const OTHERS: readonly string[] = ["ground", "air"];
const TIERS: Choice = [
  ["recruit", "Recruit"],
  ["veteran", "Veteran"],
  ["commander", "Commander"],
];
const SIZES: Choice = [
  ["24", "Small (24 × 24)"],
  ["32", "Medium (32 × 32)"],
  ["40", "Large (40 × 40)"],
];
const VISIBILITY: Choice = [
  ["public", "Public, in the list"],
  ["private", "Private, by link"],
  ["live", "Private, live observers"],
];
const STARTS: Choice = [
  ["now", "At once"],
  ["ready", "When all are ready"],
  ["host", "When I start it"],
];
/** How long absent agents are waited for. */
const READY_SECONDS = 300;

/** Both forms, side by side where there is room. */
export function createForms(): HTMLElement {
  return el(
    "section",
    { "aria-labelledby": "new" },
    el("h2", { id: "new" }, "Start a match"),
    el("div", { class: "games" }, ticTacToe(), agentCommand()),
  );
}

function ticTacToe(): HTMLElement {
  const board = select(BOARDS, "3,3,3");
  const side = select([["x", "X, moves first"], ["o", "O"]], "x");
  const opponent = select(OPPONENTS, "nobody");
  const seen = select(VISIBILITY, "public");
  const options = (): Creation => {
    const [rows, cols, winLength] = board.value.split(",").map(Number);
    return { match: { rows, cols, winLength }, team: side.value, bots: opponent.value, ...visibility(seen.value) };
  };
  return form("tic-tac-toe", "Tic-tac-toe", "Three, four or five in a row, one move at a time.", options, [
    field("Board", board),
    field("Your side", side),
    field("Against", opponent),
    field("Who may join", seen),
  ]);
}

function agentCommand(): HTMLElement {
  const sides = select(SIDES, "red,blue");
  const role = select([["economy", "Economy"], ["ground", "Ground"], ["air", "Air"], ["all", "The whole side"]], "ground");
  const size = select(SIZES, "32");
  const tier = select(TIERS, "recruit");
  const begins = select(STARTS, "now", { "data-key": "starts" });
  const seen = select(VISIBILITY, "public");
  const options = (): Creation => {
    const match = { size: Number(size.value) };
    const who = { ...parties(sides.value), team: "red", role: role.value === "all" ? ECONOMY : role.value, bots: tier.value };
    // Whoever takes a whole side does so before its bots have done anything.
    const begin = role.value === "all" && begins.value === "now" ? { hold: true } : start(begins.value);
    return { match, ...who, ...begin, ...visibility(seen.value) };
  };
  const takeAll = async ({ connection }: LiveMatch) => {
    if (role.value !== "all") return;
    await Promise.all(OTHERS.map((other) => claimSeat(connection, { team: "red", role: other })));
    if (begins.value === "now") await connection.start();
  };
  return form("agent-command", "Agent Command", "Gather, build and fight in real time, under fog of war.", options, [
    field("Sides", sides),
    field("Your seat", role),
    field("Map", size),
    field("Bots on open seats", tier),
    field("Who may join", seen),
    field("Starts", begins),
  ], takeAll);
}

/** The sides of a match, and which of them are allied: parties stand between slashes. */
function parties(chosen: string): Pick<Creation, "teams" | "alliances"> {
  const alliances = chosen.split("/").map((party) => party.split(","));
  return alliances.length > 1 ? { teams: alliances.flat(), alliances } : { teams: alliances.flat() };
}

function start(chosen: string): Creation {
  if (chosen === "host") return { hold: true };
  return chosen === "ready" ? { readySeconds: READY_SECONDS } : {};
}

function visibility(chosen: string): Creation {
  if (chosen === "live") return { private: true, observerDelayMs: 0 };
  return chosen === "private" ? { private: true } : {};
}

/** `then` is done with the match that was created. */
function form(
  game: string,
  title: string,
  text: string,
  options: () => Creation,
  fields: HTMLElement[],
  then: (match: LiveMatch) => Promise<void> = async () => {},
): HTMLElement {
  const button = el("button", { class: "primary", type: "submit", "data-create": game }, "Create");
  const submit = async (event: Event) => {
    event.preventDefault();
    if (accountName() === undefined) return askForName();
    button.disabled = true;
    try {
      const match = await create(game, options());
      then(match).catch((error: unknown) => toast(explain(error), "error"));
      location.hash = `#/play/${match.id}`;
    } catch (error) {
      toast(explain(error), "error");
    }
    button.disabled = false;
  };
  return el(
    "form",
    { class: `card game ${game}`, submit },
    el("div", { class: "art", "aria-hidden": "true" }, ...Array.from({ length: 9 }, () => el("i"))),
    el("h3", {}, title),
    el("p", { class: "dim" }, text),
    el("div", { class: "fields" }, ...fields),
    button,
  );
}

function askForName(): void {
  toast("Enter your name first.");
  document.querySelector<HTMLInputElement>(".login input")?.focus();
}
