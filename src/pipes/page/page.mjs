// The page's wiring: a pasted log, a file, or a live inbox goes to the verifier, and its report to the view.
//
// A read token is kept in this page's memory alone. It may be given in the fragment, which no server sees.

import { readInput, verifyLog } from "./verify.mjs";
import { show } from "./view.mjs";

/** Bytes of a pasted log or a file. */
const MAX_LOG = 64 * 1024 * 1024;
/** Rows of an inbox that the page follows. */
const MAX_ROWS = 100_000;
const RETRY_MS = 3000;
/** How long a call waits for the next row. */
const WAIT_SECONDS = 25;

const page = {
  status: document.querySelector("#status"),
  games: document.querySelector("#games"),
  ignored: document.querySelector("#ignored"),
};
const token = document.querySelector("#token");
const log = document.querySelector("#log");

/** Stops the inbox that is being followed. */
let following = new AbortController();

function say(text, className = "") {
  page.status.textContent = text;
  page.status.className = className;
}

async function verifyText(text) {
  following.abort();
  if (text.length > MAX_LOG) return say("The log is too large for this page.", "bad");
  say("Verifying…");
  try {
    const { inboxes, options } = readInput(text);
    show(await verifyLog(inboxes, options), page);
  } catch {
    say("This is not a log that can be read.", "bad");
  }
}

/** Follows an inbox until another is followed, it ends, or it grows past what a page should hold. */
async function follow(readToken) {
  following.abort();
  following = new AbortController();
  const { signal } = following;
  const inbox = encodeURIComponent(readToken.split(".")[0]);
  const captures = [];
  let after = "0";
  let seats = null;
  let waitSeconds = 0;
  say("Reading the inbox…");
  while (!signal.aborted && captures.length < MAX_ROWS) {
    const query = new URLSearchParams({ after, timeoutSeconds: waitSeconds });
    const answer = await ask(`${inbox}/captures/wait?${query}`, readToken, signal);
    if (signal.aborted) return;
    if (answer === "gone") return say("There is no such inbox, or the token does not read it.", "bad");
    if (answer === "failed") {
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      continue;
    }
    captures.push(...answer.Requests);
    seats ??= seatsOf(await ask(`${inbox}/seats`, readToken, signal));
    const isWhole = Number(answer.NextCursor) >= answer.TotalCount;
    const isNews = answer.Requests.length > 0 || waitSeconds === 0;
    after = answer.NextCursor;
    if (isWhole) waitSeconds = WAIT_SECONDS;
    if (isWhole && isNews) {
      const report = await verifyLog([{ captures }], { seats });
      if (!signal.aborted) show(report, page);
    }
  }
}

/** In signed play the host is X, whoever opened a game. */
function seatsOf(roster) {
  const host = roster.kind === "signed" && roster.seats.find((seat) => seat.role === "host");
  return host ? { X: host.seatRef, O: null } : null;
}

async function ask(path, readToken, signal) {
  try {
    const response = await fetch(`v1/inboxes/${path}`, { headers: { authorization: `Bearer ${readToken}` }, signal });
    if (response.status === 404) return "gone";
    return response.ok ? await response.json() : "failed";
  } catch {
    return "failed";
  }
}

document.querySelector("#inbox-form").addEventListener("submit", (event) => {
  event.preventDefault();
  follow(token.value.trim());
});

document.querySelector("#log-form").addEventListener("submit", (event) => {
  event.preventDefault();
  verifyText(log.value);
});

document.querySelector("#file").addEventListener("change", async (event) => {
  const [file] = event.target.files;
  if (!file) return;
  if (file.size > MAX_LOG) say("The log is too large for this page.", "bad");
  else await verifyText(await file.text());
});

const given = new URLSearchParams(location.hash.slice(1)).get("token");
if (given) {
  history.replaceState(null, "", location.pathname);
  token.value = given;
  follow(given);
}
