/** The first screen: who am I, which matches are on, and new ones. */

import type { As } from "playerthree-client";
import { accountName, loginForm } from "./account.js";
import { createForms } from "./create.js";
import { el, fill, say, select } from "./dom.js";
import { mayReturn } from "./live.js";
import type { Screen } from "./main.js";
import { type ListedSeat, seatChip, sideDot } from "./seats.js";
import { capital, gameTitle, isOpen } from "./words.js";

/** One match of `GET /demo/rooms`. */
interface Listed {
  readonly roomId: string;
  readonly game: string;
  readonly title: string;
  readonly clients: number;
  readonly openSeats: number;
  readonly over: boolean;
  readonly createdAt: number;
  readonly seats: readonly ListedSeat[];
}

const REFRESH_MS = 2_000;

export function homeScreen(): Screen {
  const you = el("section", { class: "hero" });
  const list = el("div", { class: "rooms", role: "list" });
  const news = el("p", { class: "note", role: "status" }, "Looking for matches…");
  const element = el(
    "div",
    { class: "home" },
    you,
    createForms(),
    el("section", { "aria-labelledby": "live" }, el("h2", { id: "live" }, "Live matches"), news, list),
    el("p", { class: "note" }, el("a", { href: "#/dots" }, "Dots"), ": a room of nothing but state, drawn as it comes."),
  );
  const drawYou = () => fill(you, ...hero());
  addEventListener("account", drawYou);
  drawYou();
  const stop = refreshed(list, news);
  return {
    element,
    close() {
      stop();
      removeEventListener("account", drawYou);
    },
  };
}

function hero(): HTMLElement[] {
  const name = accountName();
  const title = el("h1", {}, name ? `Ready, ${name}?` : "People and AI agents, one live match");
  const text = name
    ? "Start a match, join one that is on, or watch. On any seat of yours an AI agent can play for you."
    : "Play in the browser, send your own agent, or just watch. A name is all it takes.";
  return [title, el("p", { class: "lead" }, text), ...(name ? [] : [loginForm(() => {})])];
}

/** Keeps the list fresh until the returned function is called. The list is redrawn only where it changed. */
function refreshed(list: HTMLElement, news: HTMLElement): () => void {
  let shown = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;
  const refresh = async () => {
    const rooms = await fetchRooms();
    if (stopped) return;
    timer = setTimeout(refresh, REFRESH_MS);
    if (!rooms) return say(news, "The server cannot be reached. Trying again…");
    say(news, rooms.length === 0 ? "No match is on. Start the first one." : "");
    const next = JSON.stringify(rooms) + accountName();
    // A control in use keeps the list as it is, so that nothing moves under a finger or the keyboard.
    if (next === shown || (list.contains(document.activeElement) && document.activeElement instanceof HTMLSelectElement)) return;
    shown = next;
    redraw(list, rooms);
  };
  void refresh();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

async function fetchRooms(): Promise<readonly Listed[] | undefined> {
  try {
    const response = await fetch("/demo/rooms");
    return response.ok ? ((await response.json()) as { rooms: Listed[] }).rooms : undefined;
  } catch {
    return undefined;
  }
}

/** Draws the list and gives the keyboard's focus back to the control that had it. */
function redraw(list: HTMLElement, rooms: readonly Listed[]): void {
  const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.key : undefined;
  const sides = new Map([...list.querySelectorAll("select")].map((control) => [control.dataset.key, control.value]));
  fill(list, ...rooms.map(card));
  for (const control of list.querySelectorAll("select")) control.value = sides.get(control.dataset.key) ?? control.value;
  if (focused) list.querySelector<HTMLElement>(`[data-key="${CSS.escape(focused)}"]`)?.focus();
}

function card(room: Listed): HTMLElement {
  const open = room.openSeats === 1 ? "1 open seat" : `${room.openSeats} open seats`;
  const state = room.over ? "finished" : room.openSeats > 0 ? open : "all seats taken";
  return el(
    "article",
    { class: "card room", role: "listitem", "data-room": room.roomId },
    el(
      "header",
      {},
      el("h3", {}, gameTitle(room.game)),
      el("span", { class: room.over || room.openSeats === 0 ? "tag" : "tag good" }, state),
      el("span", { class: "dim" }, room.clients === 1 ? "1 here" : `${room.clients} here`),
    ),
    el("div", { class: "sides" }, ...sides(room).map((side) => sideRow(side, room))),
    el("footer", {}, ...ways(room)),
  );
}

function sideRow(side: string, room: Listed): HTMLElement {
  const seats = room.seats.filter((seat) => seat.team === side);
  return el("div", { class: "side" }, sideDot(side), el("b", {}, capital(side)), ...seats.map((seat) => seatChip(seat)));
}

function sides(room: Listed): string[] {
  return [...new Set(room.seats.map((seat) => seat.team))];
}

function ways(room: Listed): HTMLElement[] {
  const go = (as: As, path: () => string, text: string, hint: string) =>
    el(
      "button",
      {
        type: "button",
        class: as === "player" ? "primary" : "",
        "data-key": `${room.roomId} ${as}`,
        title: hint,
        click: () => (location.hash = path()),
      },
      text,
    );
  const side = select(
    sides(room).map((team) => [team, capital(team)] as const),
    sides(room)[0] ?? "",
    { "aria-label": "Side to watch", "data-key": `${room.roomId} side` },
  );
  const chosen = () => `#/watch/${room.roomId}/${side.value}`;
  const watch = go("spectator", chosen, "Watch", "See the match as this side sees it");
  const buttons: HTMLElement[] = [isOpen(room.game) ? watch : el("span", { class: "joined" }, watch, side)];
  const to = (verb: string) => () => `#/${verb}/${room.roomId}`;
  if (mayReturn(room.roomId)) buttons.unshift(go("player", to("play"), "Return", "Take your seat again"));
  else if (!room.over && room.openSeats > 0) buttons.unshift(go("player", to("play"), "Play", "Take an open seat"));
  buttons.push(go("observer", to("observe"), "Observe (delayed)", "See everything, some minutes late"));
  return buttons;
}
