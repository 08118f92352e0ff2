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

const PARTS: { readonly [verb: string]: As } = { play: "player", watch: "spectator", observe: "observer" };

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

/** `#/`, `#/dots`, `#/play/ID`, `#/watch/ID/TEAM`, `#/observe/ID/TICKET`; the side and the ticket may be left out. */
function screenFor([verb = "", id, more]: string[]): Screen {
  const as = PARTS[verb];
  if (as && id) return matchScreen(id, more === undefined ? { as } : { as, [as === "observer" ? "ticket" : "team"]: more });
  if (verb === "") return homeScreen();
  if (verb === "dots") return dotsScreen();
  const home = el("a", { class: "button", href: "#/" }, "To all matches");
  return { element: el("section", { class: "empty" }, el("h1", {}, "There is nothing here"), home), close() {} };
}

addEventListener("hashchange", show);
showAccount();
show();
