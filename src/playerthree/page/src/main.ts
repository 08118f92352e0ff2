/** The page: one screen at a time, named by the address behind `#`. */

import type { As } from "playerthree-client";
import { showAccount } from "./account.js";
import { el, fill } from "./dom.js";
import { dotsScreen } from "./dots.js";
import { homeScreen } from "./home.js";
import { matchScreen } from "./match.js";

/** A screen that is shown. `close` ends whatever it started. */
export interface Screen {
  readonly element: HTMLElement;
  close(): void;
}

const PARTS: { readonly [verb: string]: As } = { play: "player", watch: "spectator", observe: "observer", guest: "human" };
/** What the third part of an address says, by the part that one takes. */
const MORE: { readonly [as in As]: "team" | "ticket" | "token" } = { player: "team", spectator: "team", observer: "ticket", human: "token" };

let current: Screen | undefined;

function show(): void {
  const main = document.getElementById("main");
  if (!main) return;
  current?.close();
  current = screenFor(location.hash.replace(/^#\/?/, "").split("/"));
  fill(main, current.element);
  main.focus({ preventScroll: true });
  scrollTo(0, 0);
}

/**
 * `#/`, `#/dots`, `#/play/ID`, `#/watch/ID/TEAM`, `#/observe/ID/TICKET`, `#/guest/ID/TOKEN`; the side and the ticket may be
 * left out.
 */
function screenFor([verb = "", id, more]: string[]): Screen {
  const as = PARTS[verb];
  if (as && id) return matchScreen(id, more === undefined ? { as } : { as, [MORE[as]]: more });
  if (verb === "") return homeScreen();
  if (verb === "dots") return dotsScreen();
  const home = el("a", { class: "button", href: "#/" }, "To all matches");
  return { element: el("section", { class: "empty" }, el("h1", {}, "There is nothing here"), home), close() {} };
}

addEventListener("hashchange", show);
showAccount();
show();
