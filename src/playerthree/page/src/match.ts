/** The screen of one match: the game in the middle, seats beside it, and how the connection fares above. */

import type { Connection, Seat, Status, Welcome } from "playerthree-client";
import { accountName, loginForm, logOut } from "./account.js";
import { ChatPanel } from "./chat.js";
import { commandBoard } from "./command/board.js";
import { el, fill, say, select, toast } from "./dom.js";
import { createdWith, create, enter, findOrCreate, type Creation, type Entry, type Link, type LiveMatch } from "./live.js";
import { copyLink, inviteObserver } from "./links.js";
import type { Screen } from "./main.js";
import { claimSeat, isOwn, SeatsPanel, type ActedSeat } from "./seats.js";
import { startCard } from "./start.js";
import { ticTacToeBoard } from "./tic-tac-toe.js";
import { capital, explain, gameTitle, isOpen, span } from "./words.js";

/** The part of a match screen that knows the game. */
export interface Board {
  readonly element: HTMLElement;
  /** Controls and news that stand beside the board. */
  readonly aside?: HTMLElement;
  close(): void;
}

/** What a board is made from. */
export interface BoardContext {
  readonly connection: Connection;
  readonly welcome: Welcome;
  /** The side whose view is shown; an observer sees all. */
  readonly side: string | undefined;
  /** Tells who acted for the seats in the frame that an observer sees. */
  readonly acted: (seats: readonly ActedSeat[]) => void;
}

const BOARDS: { readonly [game: string]: (context: BoardContext) => Board } = {
  "tic-tac-toe": ticTacToeBoard,
  "agent-command": commandBoard,
};

const LINKS: { readonly [link in Link]: string } = {
  up: "",
  dropped: "The connection dropped. Reconnecting…",
  left: "You are no longer in this match.",
  failed: "The connection to this match is lost.",
  revoked: "Your access to this match has ended.",
};

export function matchScreen(id: string, entry: Entry): Screen {
  const element = el("div", { class: "match" }, el("p", { class: "note", role: "status" }, "Joining…"));
  const shown: { match?: LiveMatch; board?: Board | undefined; closed: boolean } = { closed: false };
  const start = async () => {
    try {
      const match = await enter(id, entry);
      if (shown.closed) return match.stepOut();
      shown.match = match;
      const welcome = await welcomed(match.connection);
      if (!shown.closed) shown.board = showMatch(element, match, welcome);
    } catch (error) {
      if (!shown.closed) showRefusal(element, id, entry, error);
    }
  };
  const needsName = (entry.as === "player" || entry.as === "observer") && accountName() === undefined;
  if (needsName) fill(element, el("section", { class: "hero" }, el("h1", {}, "Who are you?"), loginForm(() => void start())));
  else void start();
  return {
    element,
    close() {
      shown.closed = true;
      shown.board?.close();
      shown.match?.stepOut();
    },
  };
}

/** The welcome comes after every join; a connection that ends first has none. */
function welcomed(connection: Connection): Promise<Welcome> {
  if (connection.welcome) return Promise.resolve(connection.welcome);
  return new Promise((resolve, reject) => {
    connection.on("welcome", resolve);
    connection.on("closed", reject);
  });
}

function showRefusal(element: HTMLElement, id: string, { token }: Entry, error: unknown): void {
  const isUnknown = (error as { code?: number }).code === 525;
  if (isUnknown && token === undefined) logOut();
  const why = isUnknown && token !== undefined ? "This link was used before, or its time is over." : explain(error);
  const watch = el("a", { class: "button", href: `#/watch/${id}` }, "Watch instead");
  const home = el("a", { class: "button", href: "#/" }, "To all matches");
  const text = el("p", { class: "lead", role: "alert" }, why);
  fill(element, el("section", { class: "empty" }, el("h1", {}, "You did not get in"), text, el("div", { class: "row" }, watch, home)));
}

function showMatch(element: HTMLElement, match: LiveMatch, welcome: Welcome): Board | undefined {
  const { connection } = match;
  const side = welcome.seat?.team ?? welcome.team;
  const make = BOARDS[welcome.game.id];
  if (!make) {
    fill(element, el("p", { class: "note" }, "This page cannot show that game."));
    return undefined;
  }
  const plays = welcome.seat !== undefined;
  const seats = new SeatsPanel(connection, plays);
  const board = make({ connection, welcome, side, acted: (acted) => seats.drawActed(acted) });
  const banner = el("div", { class: "banner", role: "status", "aria-live": "assertive", hidden: true });
  match.onLink((link) => showLink(banner, link));
  const chat = plays && new ChatPanel(connection).element;
  const column = el("div", { class: "column" }, startCard(connection), resultCard(match, welcome), board.aside, seats.element, chat);
  element.dataset.game = welcome.game.id;
  fill(element, matchHead(match, welcome, side), banner, el("div", { class: "stage" }, board.element, column));
  return board;
}

function showLink(banner: HTMLElement, link: Link): void {
  banner.hidden = link === "up";
  banner.dataset.link = link;
  const again = el("button", { type: "button", class: "small", click: () => location.reload() }, "Try again");
  fill(banner, el("span", {}, LINKS[link]), link === "failed" && again, (link === "left" || link === "revoked") && el("a", { href: "#/" }, "To all matches"));
}

function matchHead(match: LiveMatch, welcome: Welcome, side: string | undefined): HTMLElement {
  const share = el("button", { type: "button", class: "small", "data-key": "share" }, "Copy link");
  share.addEventListener("click", () => void copyLink(`/#/play/${match.id}`, "The link to this match is copied."));
  const invite = el("button", { type: "button", class: "small", "data-key": "invite-observer" }, "Invite observer");
  invite.addEventListener("click", () => void inviteObserver(match));
  const admitsObservers = welcome.as === "player" && createdWith(match.id)?.observerDelayMs !== undefined;
  const leave = el("button", { type: "button", class: "small", "data-key": "leave" }, "Leave");
  leave.addEventListener("click", () => {
    match.leave();
    location.hash = "#/";
  });
  return el(
    "header",
    { class: "matchhead" },
    el("h1", {}, gameTitle(welcome.game.id)),
    part(match, welcome, side),
    el("span", { class: "spacer" }),
    admitsObservers && invite,
    share,
    leave,
  );
}

/** As what one is here. A spectator sees one side for good; another side is another visit. */
function part(match: LiveMatch, welcome: Welcome, side: string | undefined): HTMLElement {
  if (welcome.seat) return ownPart(match.connection, welcome.seat);
  if (welcome.as === "observer") return el("span", { class: "row" }, delayBadge(match.connection), perspectives(match.connection, welcome));
  if (isOpen(welcome.game.id)) return el("span", { class: "tag", "data-part": "spectator" }, "Watching");
  const chosen = select(
    welcome.teams.map((team) => [team, `Watching ${capital(team)}`] as const),
    side ?? "",
    { "aria-label": "Side to watch", class: "small" },
  );
  chosen.addEventListener("change", () => (location.hash = `#/watch/${match.id}/${chosen.value}`));
  return chosen;
}

/** The seats that one plays in person, which may become more. */
function ownPart(connection: Connection, { team, role }: { readonly team: string; readonly role: string }): HTMLElement {
  const tag = el("span", { class: "tag you", "data-part": "player" });
  const draw = () => {
    const own = connection.seats.filter((seat) => isOwn(seat) && seat.team === team && seat.controller === "human");
    const roles = new Set([role, ...own.map((seat) => seat.role)]);
    say(tag, `You play ${capital(team)}${role === "player" ? "" : ` ${[...roles].join(", ")}`}`);
  };
  connection.on("seats", draw);
  draw();
  return tag;
}

/** How late an observer sees the match, always in sight (§20.9). */
function delayBadge({ observer }: Connection): HTMLElement {
  const badge = el("span", { class: "tag late", role: "status", "data-part": "observer" }, "Observing");
  const draw = () => {
    const delay = observer.grant?.delayMs;
    const late = delay === undefined ? "…" : delay === 0 ? "live" : `${span(delay)} late`;
    say(badge, observer.state === "buffering" ? `Observing, ${late} · waiting for the first frame` : `Observing, ${late}`);
  };
  observer.onState(draw);
  draw();
  return badge;
}

/** Whose eyes an observer sees through, where their grant and the game leave them a choice. */
function perspectives({ observer }: Connection, { game, teams, grant }: Welcome): HTMLElement | false {
  if (grant?.kind !== "omniscient" || isOpen(game.id)) return false;
  const sides = teams.map((team) => [team, `As ${capital(team)} sees it`] as const);
  const chosen = select([["all", "Everything"], ...sides], "all", { "aria-label": "Perspective", class: "small", "data-key": "perspective" });
  chosen.addEventListener("change", () => observer.watch(chosen.value));
  return chosen;
}

const OUTCOMES: { readonly [outcome: string]: string } = { win: "Victory", loss: "Defeat", draw: "Draw" };

/** Appears when one's side is final, with a way to play again. */
function resultCard(match: LiveMatch, welcome: Welcome): HTMLElement {
  const { connection } = match;
  const card = el("section", { class: "card result", hidden: true, "aria-live": "polite" });
  const draw = (status: Status | undefined) => {
    const side = welcome.seat?.team;
    const outcome = side === undefined ? undefined : status?.outcomes[side];
    if (typeof outcome !== "string" || outcome === "running" || !card.hidden) return;
    card.hidden = false;
    card.dataset.outcome = outcome;
    const again = el("button", { type: "button", class: "primary", "data-key": "again" }, "Play again");
    again.addEventListener("click", () => void playAgain(again, match, welcome.game.id));
    const others = el("a", { class: "button", href: "#/" }, "All matches");
    fill(card, el("h2", {}, OUTCOMES[outcome] ?? capital(outcome)), el("div", { class: "row" }, again, others));
  };
  connection.on("status", draw);
  draw(connection.status);
  return card;
}

/** Whoever played several seats of a side plays them again. A match that was held for that starts then. */
async function takeSame(before: LiveMatch, match: LiveMatch, { team, role, hold }: Creation): Promise<void> {
  const isWanted = (seat: Seat) => isOwn(seat) && seat.controller === "human" && seat.team === team && seat.role !== role;
  const wanted = before.connection.seats.filter(isWanted);
  await Promise.all(wanted.map((seat) => claimSeat(match.connection, seat)));
  if (hold && wanted.length > 0) await match.connection.start();
}

/** A private match or one against bots is made anew; others take the next open seat or open a match that has one. */
async function playAgain(button: HTMLButtonElement, before: LiveMatch, game: string): Promise<void> {
  button.disabled = true;
  const options = createdWith(before.id) ?? {};
  const alone = options.private === true || (options.bots !== undefined && options.bots !== "nobody");
  const { team: _, ...anySide } = options;
  try {
    const match = alone ? await create(game, options) : await findOrCreate(game, anySide);
    if (alone) takeSame(before, match, options).catch((error: unknown) => toast(explain(error), "error"));
    location.hash = `#/play/${match.id}`;
  } catch (error) {
    toast(explain(error), "error");
    button.disabled = false;
  }
}
