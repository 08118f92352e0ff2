// Shows a report: boards, chains, and a red mark where an event does not fit. Text of a log is only ever set as text.

/** Games shown at once; a log may hold many more. */
const SHOWN_GAMES = 100;
/** Rows of a chain, and faults of a game, shown at once. */
const SHOWN_ROWS = 500;

/** Replaces what the page shows by a report. */
export function show(report, page) {
  const { games, faults, chain, verdict, ignored } = report;
  page.status.textContent = statusText(report);
  page.status.className = verdict.ok ? "good" : "bad";
  const shown = [...games].sort((one, other) => rank(other) - rank(one)).slice(0, SHOWN_GAMES);
  const byGame = { chain: grouped(chain), faults: grouped(faults) };
  page.games.replaceChildren(...shown.map((game) => gameCard(game, byGame)));
  page.ignored.hidden = ignored.length === 0;
  page.ignored.querySelector("summary").textContent = `${ignored.length} captures ignored, without blame`;
  const notes = ignored.slice(0, SHOWN_ROWS).map((note) => element("li", {}, `${note.captureId}: ${note.reason}`));
  page.ignored.querySelector("ul").replaceChildren(...notes);
}

/** Games with a fault come first. */
function rank(game) {
  return game.fault ? 1 : 0;
}

function statusText({ games, faults, verdict }) {
  if (verdict.ok) return `Valid: ${count(games, "game")}, no faults.`;
  const seq = verdict.seq ?? "?";
  return `Broken: game ${verdict.gameId}, event ${seq}: ${verdict.reason} (${count(faults, "fault")} in all).`;
}

function count(rows, name) {
  return `${rows.length} ${name}${rows.length === 1 ? "" : "s"}`;
}

function grouped(rows) {
  const groups = new Map();
  for (const row of rows) {
    if (!groups.has(row.gameId)) groups.set(row.gameId, []);
    groups.get(row.gameId).push(row);
  }
  return groups;
}

function gameCard(game, byGame) {
  const chain = byGame.chain.get(game.gameId) ?? [];
  const faults = byGame.faults.get(game.gameId) ?? [];
  const card = element("article", { className: faults.length > 0 ? "game broken" : "game" });
  card.append(element("header", {}, element("h2", {}, game.gameId), element("p", { className: "soft" }, describe(game))));
  if (game.skipped) return card;
  card.append(game.board ? board(game, chain) : element("p", { className: "soft" }, "Too large to draw."));
  card.append(timeline(chain, faults));
  return card;
}

function describe(game) {
  if (game.skipped) return `Another protocol (${game.protocol ?? "not named"}): skipped.`;
  if (game.status === "unstarted") return "No start event was accepted.";
  const size = `${game.rows} × ${game.cols}, ${game.winLength} in a row`;
  if (game.winner) return `${size}. ${game.winner} won by ${game.endedBy}.`;
  if (game.endedBy) return `${size}. A draw.`;
  return `${size}. ${game.turn} is to move.`;
}

function board(game, chain) {
  const latest = chain.findLast((row) => row.action === "move")?.move;
  const table = element("table", { className: "board" });
  table.setAttribute("aria-label", `Board of ${game.gameId}`);
  for (const [row, line] of game.board.entries()) {
    const cells = [...line].map((mark, col) => {
      const isLatest = latest && latest[0] === row && latest[1] === col;
      const className = [mark.toLowerCase(), isLatest ? "latest" : ""].filter((name) => name && name !== ".").join(" ");
      return element("td", { className }, mark === "." ? "" : mark);
    });
    table.append(element("tr", {}, ...cells));
  }
  return table;
}

/** The accepted events with the faults between them, by the seq that each claims. */
function timeline(chain, faults) {
  const refused = new Map(faults.map((fault) => [fault.captureId, fault]));
  const accepted = chain.map((row) => ({ seq: row.seq, item: eventItem(row, refused.get(row.captureId)) }));
  const known = new Set(chain.map((row) => row.captureId));
  const broken = faults.filter((fault) => !known.has(fault.captureId));
  const items = [...accepted, ...broken.map((fault) => ({ seq: fault.seq ?? Infinity, item: faultItem(fault) }))];
  items.sort((one, other) => one.seq - other.seq);
  return element("ol", { className: "chain" }, ...items.slice(0, SHOWN_ROWS).map(({ item }) => item));
}

function eventItem(row, fault) {
  const what = row.move && row.action === "move" ? `${row.player} at ${row.move.join(", ")}` : `${row.player} ${row.action}`;
  const signer = row.signer === null ? "unsigned" : `signed by ${row.label ?? row.signer} (${row.signer})`;
  const item = element("li", { className: fault ? "break" : "" });
  item.append(element("span", {}, `#${row.seq}`), element("span", {}, what), element("span", { className: "soft" }, signer));
  item.append(element("span", { className: "hash" }, row.hash));
  if (fault) item.append(element("strong", { className: "bad" }, fault.reason));
  return item;
}

function faultItem(fault) {
  const item = element("li", { className: "break" });
  item.append(element("span", {}, `#${fault.seq ?? "?"}`));
  item.append(element("strong", { className: "bad" }, `✗ ${fault.reason}`), element("span", { className: "soft" }, fault.captureId));
  return item;
}

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}
