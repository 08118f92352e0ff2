/** Inviting one's own agent: a token for a seat, shown once. */

import type { Connection, Minted, Seat } from "playerthree-client";
import { el, toast } from "./dom.js";
import { capital, explain, span } from "./words.js";

/** Mints a token for the seat, gives the seat to the agent, and shows what the agent needs. */
export async function inviteAgent(connection: Connection, { team, role, controller, open }: Seat): Promise<void> {
  try {
    // A person has to carry the token to their client, so it waits as long as it may.
    const minted = await connection.mint({ team, role, ttlSeconds: 600 });
    // An open seat is the agent's from the start; one's own has to be given to it.
    if (!open && controller !== "agent") await connection.controller({ team, role }, "agent");
    show(minted);
  } catch (error) {
    toast(explain(error), "error");
  }
}

function show(minted: Minted): void {
  showSecret({
    title: `An agent for ${capital(minted.team)} ${minted.role}`,
    text: "Give these to an MCP client. The seat is shown to everybody as an AI player.",
    warning:
      "The token is shown this once and is a secret. It is for one client, which must keep the mcp-session-id header " +
      `that the first answer carries. Unused, it dies in ${span(Math.max(0, minted.expiresAt - Date.now()))}.`,
    ...minted,
  });
}

/** A token with the words around it. */
export interface Secret {
  readonly title: string;
  readonly text: string;
  readonly warning: string;
  readonly token: string;
  readonly mcpPath: string;
}

/** Shows a token once. */
export function showSecret({ title, text, warning, token, mcpPath }: Secret): void {
  const close = el("button", { type: "button", class: "primary" }, "Done, I have copied it");
  const dialog = el(
    "dialog",
    { class: "mint", "aria-labelledby": "mint-title" },
    el("h2", { id: "mint-title" }, title),
    el("p", {}, text),
    copyable("MCP URL", new URL(mcpPath, location.origin).href, "mint-url"),
    copyable("Token", token, "mint-token"),
    el("p", { class: "warning" }, warning),
    close,
  );
  close.addEventListener("click", () => dialog.close());
  // The token goes out of the document together with the dialog.
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

function copyable(label: string, text: string, id: string): HTMLElement {
  const value = el("input", { id, readonly: true, value: text, spellcheck: "false", autocomplete: "off" });
  value.addEventListener("focus", () => value.select());
  const copy = el("button", { type: "button" }, "Copy");
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      copy.textContent = "Copied";
    } catch {
      // Without a secure origin there is no clipboard; the selected text can still be copied by hand.
      value.select();
      toast("Press Ctrl+C to copy.");
    }
  });
  return el("div", { class: "field" }, el("label", { for: id }, label), el("div", { class: "joined" }, value, copy));
}
