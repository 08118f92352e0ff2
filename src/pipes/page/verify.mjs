// The verifier of the page: replays a log to a verdict per game, by the same rules and vectors as the Rust verifier.
//
// It never asks the server for an opinion: what it shows was recomputed here from the captures alone.

import { MAX_DEPTH, deepest, parseStrict, sha256, signedBytes } from "./json.mjs";

export const PROTOCOL = "flurryport:tic-tac-toe";
const DRAWN_CELLS = 1024;
const AXES = [[0, 1], [1, 0], [1, 1], [1, -1]];
const CLAIMS = ["in_progress", "win", "draw"];
const SIDES = ["rows", "cols", "winLength"];

/** The log as plain objects, from a document with `inboxes`, a listing with `Requests`, captures or events a line. */
export function readInput(text) {
  const trimmed = text.trim();
  if (trimmed === "") return { options: {}, inboxes: [] };
  const whole = tryParse(trimmed);
  if (whole && Array.isArray(whole.inboxes)) return { options: whole.options ?? {}, inboxes: whole.inboxes };
  if (whole && Array.isArray(whole.Requests)) return { options: {}, inboxes: [{ captures: whole.Requests }] };
  const lines = trimmed.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  const first = tryParse(lines[0]);
  if (first && typeof first.Body === "string") return { options: {}, inboxes: [{ captures: lines.map(asCapture) }] };
  if (first && typeof first.game === "string") {
    return { options: {}, inboxes: [{ captures: lines.map((Body, at) => ({ Id: `line-${at + 1}`, Body })) }] };
  }
  throw new SyntaxError("the input is not a log");
}

function tryParse(text) {
  try {
    const value = JSON.parse(text);
    return value !== null && typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

function asCapture(line) {
  const row = tryParse(line);
  if (!row) throw new SyntaxError("a line is not a capture");
  return row;
}

/** Reads whole inboxes; the report has the members of `pipes-log/1`, and `chain` has signer and claim of each event. */
export async function verifyLog(inboxes, options = {}) {
  const facts = { ...options, assumeProtocol: "assumeProtocol" in options ? options.assumeProtocol : PROTOCOL };
  const { games, notes } = await gather(inboxes);
  const read = [];
  for (const [gameId, queues] of games) {
    const game = new Game(gameId, facts);
    for (let row = nextHead(queues); row; row = nextHead(queues)) await game.take(row);
    read.push(game);
  }
  return report(read, notes);
}

async function gather(inboxes) {
  const games = new Map();
  const notes = [];
  let place = 0;
  for (const [number, inbox] of inboxes.entries()) {
    for (const capture of oldestFirst(inbox.captures)) {
      place += 1;
      const row = await readRow(capture, place);
      if (row.note) {
        notes.push(row);
        continue;
      }
      if (!games.has(row.game)) games.set(row.game, inboxes.map(() => ({ rows: [], at: 0 })));
      games.get(row.game)[number].rows.push(row);
    }
  }
  return { games, notes };
}

/** A listing whose `Seq` falls strictly over all rows is newest first and read backwards; nothing is ever sorted. */
function oldestFirst(captures) {
  const falls = (row, at) => Number.isSafeInteger(row.Seq) && (at === 0 || row.Seq < captures[at - 1].Seq);
  return captures.length > 1 && captures.every(falls) ? [...captures].reverse() : captures;
}

/** The head with the lowest claimed seq; no integer counts as lowest, and the first inbox wins a tie. */
function nextHead(queues) {
  const rank = (queue) => queue.rows[queue.at].seq ?? -Infinity;
  const waiting = queues.filter((queue) => queue.at < queue.rows.length);
  if (waiting.length === 0) return null;
  const best = waiting.reduce((one, other) => (rank(other) < rank(one) ? other : one));
  best.at += 1;
  return best.rows[best.at - 1];
}

async function readRow(capture, place) {
  const row = { place, captureId: capture.Id, signer: capture.MatchedSigningRef ?? null, label: capture.MatchedSignerLabel ?? null };
  if ((capture.RejectionReason ?? null) !== null) return { ...row, note: "rejected_capture" };
  const body = bodyText(capture);
  if (body === null || deepest(body) > MAX_DEPTH) return { ...row, note: "not_an_event" };
  const event = strictEvent(body) ?? looseEvent(body);
  if (!event) return { ...row, note: "not_an_event" };
  const members = event.members;
  const seq = integer(members.get("seq"));
  const bytes = event.strict ? signedBytes(members) : null;
  const hash = bytes ? await sha256(bytes) : null;
  return { ...row, game: members.get("game"), members, strict: event.strict, seq, bytes, hash };
}

function bodyText(capture) {
  if (typeof capture.Body !== "string") throw new SyntaxError("a capture has no body");
  if (capture.BodyEncoding !== "base64") return capture.Body.isWellFormed() ? capture.Body : null;
  try {
    const bytes = Uint8Array.from(atob(capture.Body), (symbol) => symbol.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function isEvent(members) {
  return typeof members.get("game") === "string" && ["seq", "prevHash", "action"].some((name) => members.has(name));
}

function strictEvent(body) {
  try {
    const members = parseStrict(body);
    return members instanceof Map && isEvent(members) ? { strict: true, members } : null;
  } catch {
    return null;
  }
}

/** What a careless reader sees: the last of repeated members wins. It only says whose game is at fault. */
function looseEvent(body) {
  const value = tryParse(body);
  if (!value || Array.isArray(value)) return null;
  const members = new Map(Object.entries(value));
  return isEvent(members) ? { strict: false, members } : null;
}

function integer(value) {
  return typeof value === "number" && Number.isSafeInteger(value) ? value + 0 : null;
}

function isSide(value) {
  return integer(value) >= 1;
}

function isOurs(protocol) {
  return protocol.replace(/@[0-9]+$/, "") === PROTOCOL;
}

/** Whether every member of an event has the type and the range that the contract asks for. */
function isWellFormed(members) {
  const has = (name) => members.has(name);
  const get = (name) => members.get(name);
  const isText = (name) => !has(name) || typeof get(name) === "string";
  return (
    integer(get("seq")) >= 0 && integer(get("seq")) !== null &&
    typeof get("prevHash") === "string" &&
    ["X", "O"].includes(get("player")) &&
    ["start", "move", "resign"].includes(get("action")) &&
    (!has("status") || CLAIMS.includes(get("status"))) &&
    isText("sig") && isText("protocol") &&
    (!has("move") || isCell(get("move"))) &&
    (get("action") !== "start" || !has("rules") || areRules(get("rules")))
  );
}

function isCell(cell) {
  return cell instanceof Map && integer(cell.get("row")) !== null && integer(cell.get("col")) !== null;
}

function areRules(rules) {
  if (!(rules instanceof Map)) return false;
  if (SIDES.some((side) => rules.has(side) && !isSide(rules.get(side)))) return false;
  if (!rules.has("keys")) return true;
  const keys = rules.get("keys");
  return keys instanceof Map && ["X", "O"].every((player) => !keys.has(player) || untag(keys.get(player), 32) !== null);
}

/** Decodes `ed25519:` and unpadded base64url; null unless encoding again gives the same text. */
function untag(text, length) {
  const encoded = typeof text === "string" && /^ed25519:([A-Za-z0-9_-]+)$/.exec(text)?.[1];
  if (!encoded) return null;
  try {
    const binary = atob(encoded.replaceAll("-", "+").replaceAll("_", "/"));
    const again = btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
    if (binary.length !== length || again !== encoded) return null;
    return Uint8Array.from(binary, (symbol) => symbol.charCodeAt(0));
  } catch {
    return null;
  }
}

async function isSignedBy(key, sig, bytes) {
  const raw = untag(key, 32);
  const signature = untag(sig, 64);
  if (!raw || !signature || isSmallOrder(raw) || isSmallOrder(signature.subarray(0, 32))) return false;
  try {
    const imported = await crypto.subtle.importKey("raw", raw, "Ed25519", false, ["verify"]);
    return await crypto.subtle.verify("Ed25519", imported, signature, bytes);
  } catch {
    return false;
  }
}

/** The y coordinates of the curve's points of small order, little endian, sign bit cleared. */
const SMALL_ORDER = new Set([
  "0000000000000000000000000000000000000000000000000000000000000000",
  "0100000000000000000000000000000000000000000000000000000000000000",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
]);

function isSmallOrder(point) {
  const hex = Array.from(point, (byte, at) => (at === 31 ? byte & 0x7f : byte).toString(16).padStart(2, "0"));
  return SMALL_ORDER.has(hex.join(""));
}

/** The marks of one game; per axis each run of marks knows its length at its two ends. */
class Board {
  constructor([rows, cols, winLength]) {
    Object.assign(this, { rows, cols, winLength, cells: new Map() });
  }

  refuses(row, col) {
    if (row < 0 || col < 0 || row >= this.rows || col >= this.cols) return "cell_out_of_range";
    return this.cells.has(`${row},${col}`) ? "cell_occupied" : null;
  }

  /** `line`, `draw` or null. A line counts before a full board. */
  place(row, col, mark) {
    const beside = (r, c, axis) => {
      const cell = this.cells.get(`${r},${c}`);
      return cell?.mark === mark ? cell.runs[axis] : 0;
    };
    const runs = AXES.map(([dr, dc], axis) => [beside(row - dr, col - dc, axis), beside(row + dr, col + dc, axis)]);
    const totals = runs.map(([before, after]) => before + 1 + after);
    this.cells.set(`${row},${col}`, { mark, runs: [...totals] });
    for (const [axis, [dr, dc]] of AXES.entries()) {
      for (const steps of [-runs[axis][0], runs[axis][1]]) {
        this.cells.get(`${row + dr * steps},${col + dc * steps}`).runs[axis] = totals[axis];
      }
    }
    if (totals.some((total) => total >= this.winLength)) return "line";
    return BigInt(this.cells.size) === this.size() ? "draw" : null;
  }

  size() {
    return BigInt(this.rows) * BigInt(this.cols);
  }

  draw() {
    if (this.size() > BigInt(DRAWN_CELLS)) return null;
    const line = (row) => Array.from({ length: this.cols }, (_, col) => this.cells.get(`${row},${col}`)?.mark ?? ".").join("");
    return Array.from({ length: this.rows }, (_, row) => line(row));
  }
}

/** One game: its chain, its board, and the rule that decides about each next event. */
class Game {
  constructor(gameId, facts) {
    Object.assign(this, { gameId, facts, faults: [], notes: [], chain: [], foreign: null });
    Object.assign(this, { seats: facts.seats ? { ...facts.seats } : null, keys: { ...facts.keys } });
    Object.assign(this, { status: "in_progress", winner: null, endedBy: null, verifiedSigs: 0 });
  }

  async take(row) {
    if (this.foreign) return;
    const outcome = await this.judge(row);
    if (!outcome) return;
    if (outcome.note) this.notes.push({ ...row, note: outcome.note });
    else this.faults.push({ ...row, reason: outcome.fault });
  }

  /** Null for an accepted event, else its fault or its note; a wrong claim is the fault of an accepted event. */
  async judge(row) {
    const isOpening = this.chain.length === 0;
    if (isOpening) {
      if (row.members.get("action") !== "start" || row.seq !== 0) return { fault: "missing_genesis" };
      if (this.isForeign(row.members)) return null;
    }
    const alone = row.strict ? faultAlone(row.members, row.seq) : "malformed_event";
    if (alone) return { fault: alone };
    const keys = isOpening ? this.keysWith(row.members.get("rules")?.get("keys")) : this.keys;
    if (this.isStranger(row)) return { fault: "wrong_signer" };
    const unsigned = await faultOfSig(row, keys);
    if (unsigned) return { fault: unsigned };
    if (row.seq === 0) return this.judgeStart(row, keys);
    return row.members.get("prevHash") === this.tip().hash ? this.judgeNext(row) : this.judgeStale(row);
  }

  isForeign(members) {
    const named = members.has("protocol") ? members.get("protocol") : this.facts.assumeProtocol ?? null;
    if (named !== null && (typeof named !== "string" || isOurs(named))) return false;
    this.foreign = { protocol: members.get("protocol") ?? null };
    this.faults = [];
    this.notes = [];
    return true;
  }

  keysWith(declared) {
    const key = (player) => this.keys[player] ?? declared?.get(player) ?? null;
    return { X: key("X"), O: key("O") };
  }

  isStranger(row) {
    if (!this.seats) return false;
    if (row.signer === null) return true;
    const bound = this.seats[row.members.get("player")] ?? null;
    return bound === null ? row.signer === (this.seats.X ?? null) : row.signer !== bound;
  }

  judgeStart(row, keys) {
    if (row.members.get("prevHash") !== "") return { fault: "wrong_prev_hash" };
    if (this.chain.length > 0) {
      return row.hash === this.chain[0].hash ? { note: "duplicate_event" } : { fault: "two_geneses" };
    }
    const rules = row.members.get("rules");
    const sides = [];
    for (const side of SIDES) {
      const installed = this.facts.params?.[side] ?? null;
      const read = integer(rules?.get(side)) ?? installed;
      if (read === null) return { fault: "missing_rules" };
      if (installed !== null && installed !== read) return { fault: "rules_mismatch" };
      sides.push(read);
    }
    this.board = new Board(sides);
    this.keys = keys;
    if (!this.seats && row.signer !== null) this.seats = { X: row.signer, O: null };
    return this.join(row);
  }

  judgeNext(row) {
    if (row.seq !== this.tip().seq + 1) return { fault: "wrong_seq" };
    if (this.status !== "in_progress") return { fault: "after_terminal" };
    if (row.members.get("action") === "move") {
      const refused = this.board.refuses(...cellOf(row.members));
      if (refused) return { fault: refused };
    }
    return this.join(row);
  }

  judgeStale(row) {
    const taken = this.chain[row.seq];
    if (!taken || this.chain[row.seq - 1].hash !== row.members.get("prevHash")) return { fault: "wrong_prev_hash" };
    return { note: taken.hash === row.hash ? "duplicate_event" : "race_lost" };
  }

  join(row) {
    const player = row.members.get("player");
    const action = row.members.get("action");
    this.chain.push(row);
    if ((this.keys[player] ?? null) !== null) this.verifiedSigs += 1;
    if (this.seats && player === "O") this.seats.O ??= row.signer;
    if (action === "resign") {
      this.end("win", player === "X" ? "O" : "X", "resign");
      return null;
    }
    if (action === "move") {
      const ended = this.board.place(...cellOf(row.members), player);
      if (ended === "line") this.end("win", player, "line");
      if (ended === "draw") this.end("draw", null, "draw");
    }
    const claim = row.members.get("status");
    return claim !== undefined && claim !== this.status ? { fault: "wrong_status" } : null;
  }

  end(status, winner, endedBy) {
    Object.assign(this, { status, winner, endedBy });
  }

  tip() {
    return this.chain.at(-1);
  }

  summary() {
    const { gameId } = this;
    if (this.foreign) return { gameId, skipped: true, protocol: this.foreign.protocol };
    const first = this.faults[0];
    const fault = first ? { captureId: first.captureId, seq: first.seq, reason: first.reason } : null;
    if (this.chain.length === 0) return { gameId, skipped: false, fault, status: "unstarted" };
    const events = this.chain.length;
    const isOver = this.status !== "in_progress";
    return {
      gameId, skipped: false, fault, status: this.status, winner: this.winner, endedBy: this.endedBy,
      turn: isOver ? null : events % 2 === 1 ? "X" : "O",
      events, nextSeq: isOver ? null : events, tipHash: this.tip().hash,
      protocol: this.chain[0].members.get("protocol") ?? null,
      rows: this.board.rows, cols: this.board.cols, winLength: this.board.winLength,
      board: this.board.draw(), signers: this.seats, verifiedSigs: this.verifiedSigs,
    };
  }
}

function cellOf(members) {
  const cell = members.get("move");
  return [integer(cell.get("row")), integer(cell.get("col"))];
}

/** The checks that need no other event, in their order. */
function faultAlone(members, seq) {
  if (!isWellFormed(members)) return "malformed_event";
  const action = members.get("action");
  if ((action === "start") !== (seq === 0)) return "misplaced_start";
  if (members.get("player") !== (seq > 0 && seq % 2 === 0 ? "O" : "X")) return "wrong_turn";
  if (seq === 0 && members.has("move")) return "start_carries_move";
  if (seq !== 0 && members.has("rules")) return "rules_after_start";
  return action === "move" && !members.has("move") ? "missing_move" : null;
}

async function faultOfSig(row, keys) {
  const key = keys[row.members.get("player")] ?? null;
  if (key === null) return null;
  if (!row.members.has("sig")) return "missing_signature";
  return (await isSignedBy(key, row.members.get("sig"), row.bytes)) ? null : "bad_signature";
}

function report(games, notes) {
  const byPlace = (one, other) => one.place - other.place;
  const faulty = games.filter((game) => game.faults.length > 0).map((game) => ({ game, fault: game.faults[0] }));
  const [first] = faulty.sort((one, other) => byPlace(one.fault, other.fault));
  const faults = games.flatMap((game) => game.faults.map((fault) => ({ ...fault, gameId: game.gameId })));
  const ignored = [...notes, ...games.flatMap((game) => game.notes)];
  const verdict = first
    ? { ok: false, gameId: first.game.gameId, seq: first.fault.seq, reason: first.fault.reason }
    : { ok: true };
  return {
    verdict,
    games: games.map((game) => game.summary()),
    faults: faults.sort(byPlace).map(({ captureId, gameId, seq, reason }) => ({ captureId, gameId, seq, reason })),
    ignored: ignored.sort(byPlace).map(({ captureId, note }) => ({ captureId, reason: note })),
    chain: games.flatMap((game) => game.chain.map((row) => chainRow(game.gameId, row))),
  };
}

function chainRow(gameId, row) {
  const { captureId, seq, hash, signer, label, members } = row;
  const move = members.has("move") ? cellOf(members) : null;
  return { captureId, gameId, seq, hash, signer, label, action: members.get("action"), player: members.get("player"), move };
}
