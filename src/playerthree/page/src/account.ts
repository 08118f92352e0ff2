/** Who this tab is: a name and its login token, kept for as long as the tab lives, and the client that carries it. */

import { Client } from "@colyseus/sdk";
import { el, fill } from "./dom.js";

const KEY = "playerthree.account";
/** The server's own bound on names. */
const NAME_CHARACTERS = 24;

interface Account {
  readonly name: string;
  readonly token: string;
}

/** The client of every room of this tab. */
export const client = new Client(location.origin);

let account = remembered();
apply();

/** The name this tab plays under. */
export function accountName(): string | undefined {
  return account?.name;
}

/** Forgets a login that the server no longer knows. */
export function logOut(): void {
  account = undefined;
  sessionStorage.removeItem(KEY);
  apply();
  showAccount();
}

/** Draws the name in the page's head. */
export function showAccount(): void {
  const place = document.getElementById("account");
  if (!place) return;
  if (!account) return fill(place);
  const leave = el("button", { class: "quiet small", type: "button", click: () => logOut() }, "Change");
  fill(place, el("span", { class: "who" }, account.name), leave);
  dispatchEvent(new Event("account"));
}

/** The form that asks for a name. `done` is called once the server accepted it. */
export function loginForm(done: () => void): HTMLFormElement {
  const name = el("input", {
    name: "name",
    required: true,
    maxlength: NAME_CHARACTERS,
    autocomplete: "nickname",
    placeholder: "Your name",
    "aria-label": "Your name",
  });
  const problem = el("p", { class: "problem", role: "alert" });
  const button = el("button", { class: "primary", type: "submit" }, "Continue");
  const submit = async (event: Event) => {
    event.preventDefault();
    button.disabled = true;
    problem.textContent = (await logIn(name.value)) ?? "";
    button.disabled = false;
    if (account) done();
  };
  return el("form", { class: "login", submit }, el("div", { class: "joined" }, name, button), problem);
}

/** Logs in. Returns what is wrong, in words. */
async function logIn(name: string): Promise<string | undefined> {
  try {
    const response = await fetch("/demo/login", { method: "POST", body: JSON.stringify({ name: name.trim() }) });
    if (response.status === 400) return "Use 1 to 24 letters, digits, spaces and - _ . '";
    if (!response.ok) return "The server did not accept the name. Try again in a moment.";
    const { token, name: accepted } = (await response.json()) as Account;
    account = { token, name: accepted };
  } catch {
    return "The server cannot be reached.";
  }
  sessionStorage.setItem(KEY, JSON.stringify(account));
  apply();
  showAccount();
  return undefined;
}

function remembered(): Account | undefined {
  try {
    const { name, token } = JSON.parse(sessionStorage.getItem(KEY) ?? "null") as Account;
    return typeof name === "string" && typeof token === "string" ? { name, token } : undefined;
  } catch {
    return undefined;
  }
}

function apply(): void {
  client.auth.token = account?.token ?? "";
}
