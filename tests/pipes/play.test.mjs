// Two agents, each with an MCP address and nothing else, play on one inbox of the shipped server; anybody can check what
// they did, and a cheat is caught.

import assert from "node:assert/strict";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { mintAgent, pipesAgent, run, toolsAt } from "../lib/pipes.mjs";
import { startPlayerThree } from "../lib/playerthree.mjs";
import { rejection } from "../lib/rooms.mjs";

let server;
before(async () => (server = await startPlayerThree()));
after(() => server?.stop());

/** A signed inbox with a game and a page to watch it, and both players at it: X opened it, O came by the code that a
 * person carried over. */
async function pair() {
  const [x, o] = await Promise.all([pipesAgent(server), pipesAgent(server)]);
  const { inbox, game, pairingCode, watchUrl } = await x.tool("pipes_create_game");
  await o.tool("pipes_join", { code: pairingCode });
  return { x, o, inbox, watchUrl, game: game.gameId };
}

/** The read token in the address of the page. */
const tokenOf = (watchUrl) => new URLSearchParams(new URL(watchUrl, server.url).hash.slice(1)).get("token");

/** The log as a third party downloads it who was given the address of the page and nothing else. */
async function downloaded(watchUrl) {
  const token = tokenOf(watchUrl);
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${server.url}/pipes/v1/inboxes/${token.split(".")[0]}/export`, { headers });
  assert.equal(answer.status, 200);
  const file = join(await mkdtemp(join(tmpdir(), "pipes-")), "log.json");
  await writeFile(file, await answer.text());
  return file;
}

/** The whole log as an agent gets it: every row that it can list, one a line, in a file. */
async function exported(agent, inbox) {
  const rows = [];
  for (let after = 0; ; ) {
    const page = await agent.tool("pipes_list_captures", { inbox, after });
    rows.push(...page.captures);
    after = page.nextCursor;
    if (after >= page.total) break;
  }
  const file = join(await mkdtemp(join(tmpdir(), "pipes-")), "log.jsonl");
  await writeFile(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  return file;
}

async function verified(file, ...more) {
  const { code, out } = await run(["verify", file, "--json", ...more]);
  return { code, report: JSON.parse(out) };
}

/** Contract: chains are per game id, never per inbox; each player's agent verifies the whole history. */
test("two agents with nothing but the MCP URL play three games interleaved, and a third party verifies the exported log", async () => {
  const { x, o, inbox, watchUrl, game } = await pair();
  const games = [game, "second", "third"];
  for (const name of games.slice(1)) await x.tool("pipes_create_game", { inbox, game: name });
  // X wins the first by a row, the second is a draw, X resigns the third.
  const cells = {
    [game]: [[0, 0], [1, 0], [0, 1], [1, 1], [0, 2]],
    second: [[0, 0], [0, 1], [0, 2], [1, 1], [1, 0], [1, 2], [2, 1], [2, 0], [2, 2]],
    third: [[1, 1], [0, 0]],
  };
  for (let turn = 0; turn < 9; turn += 1) {
    for (const name of games) {
      const cell = cells[name][turn];
      if (!cell) continue;
      const answer = await (turn % 2 ? o : x).tool("pipes_move", { inbox, game: name, row: cell[0], col: cell[1] });
      assert.deepEqual([answer.posted, answer.accepted, answer.faults], [true, true, []]);
    }
  }
  await x.tool("pipes_resign", { inbox, game: "third" });

  for (const agent of [x, o]) {
    const { verdict, games: seen } = await agent.tool("pipes_verify", { inbox });
    assert.deepEqual(verdict, { ok: true });
    assert.deepEqual(seen.map(({ status, winner, endedBy }) => [status, winner, endedBy]), [
      ["win", "X", "line"], ["draw", null, "draw"], ["win", "O", "resign"],
    ]);
  }

  const file = await downloaded(watchUrl);
  const { code, report } = await verified(file);
  assert.equal(code, 0);
  // The log where it is, and the rows that the guest lists, say the same. Only the export says who the host is.
  assert.deepEqual(await verified(server.url + watchUrl), { code, report });
  const listed = await verified(await exported(o, inbox));
  assert.deepEqual([listed.code, listed.report.games], [code, report.games]);
  assert.deepEqual(report.verdict, { ok: true });
  assert.deepEqual(report.games.map(({ gameId, events }) => [gameId, events]), [[game, 6], ["second", 10], ["third", 4]]);
  // Games that began after the guest was seated declare both keys: each of their events carries a good signature.
  assert.deepEqual(report.games.map(({ verifiedSigs, events }) => verifiedSigs === events), [false, true, true]);
  assert.notEqual(report.games[1].signers.X, report.games[1].signers.O);
  const one = await verified(file, "--game", "second");
  assert.deepEqual(one.report.games.map(({ gameId }) => gameId), ["second"]);

  // Nothing that an agent was shown is a key, and no token but the one with which the host's person watches.
  for (const agent of [x, o]) assert.doesNotMatch(agent.received, /pk_|signingKey/);
  const tokens = ({ received }) => [...new Set(received.match(/[0-9a-f]{20}\.[\w-]{43}/g))];
  assert.deepEqual([tokens(x), tokens(o)], [[tokenOf(watchUrl)], []]);
  assert.ok(!server.lines.some((line) => line.includes(tokenOf(watchUrl))), "a read token was logged");
  await Promise.all([x.close(), o.close()]);
});

/** Whoever watches reads the page's rows, and neither posts, nor seats anybody, nor calls tools. */
test("the page's address reads its inbox, and the guest is given none", async () => {
  const { x, o, inbox, watchUrl } = await pair();
  assert.match(watchUrl, new RegExp(`^/pipes/#token=${inbox}\\.[A-Za-z0-9_-]{43}$`));
  assert.match(await (await fetch(server.url + watchUrl)).text(), /<html/);
  const authorization = `Bearer ${tokenOf(watchUrl)}`;
  const asked = async (path, more = {}) => {
    const headers = { authorization, "content-type": "application/json" };
    return (await fetch(`${server.url}/pipes/${path}`, { headers, ...more })).status;
  };
  const sent = { method: "POST", body: "{}" };
  assert.deepEqual(
    await Promise.all([
      asked(`v1/inboxes/${inbox}/captures/wait?timeoutSeconds=0`), asked(`v1/inboxes/${inbox}/seats`),
      asked(`v1/in/${tokenOf(watchUrl)}`, sent), asked(`v1/inboxes/${inbox}/seats`, sent), asked("mcp", sent),
    ]),
    [200, 200, 404, 404, 401],
  );
  const held = async (agent) => (await agent.tool("pipes_inboxes")).inboxes.map((one) => one.watchUrl);
  assert.deepEqual([await held(x), await held(o)], [[watchUrl], [undefined]]);
  await Promise.all([x.close(), o.close()]);
});

/** A waiting agent is told of the other's move at once, and a row is listed with who signed it. */
test("a wait ends with the other player's row", async () => {
  const { x, o, inbox, game } = await pair();
  const start = await o.tool("pipes_list_captures", { inbox });
  const waiting = o.tool("pipes_list_captures", { inbox, after: start.nextCursor, waitSeconds: 25 });
  await x.tool("pipes_move", { inbox, game, row: 1, col: 1 });
  const { captures } = await waiting;
  assert.deepEqual(JSON.parse(captures[0].Body).move, { row: 1, col: 1 });
  const { seats } = await o.tool("pipes_roster", { inbox });
  const host = seats.find(({ role }) => role === "host");
  assert.deepEqual([captures[0].MatchedSigningRef, captures[0].MatchedSignerLabel], [host.seatRef, host.label]);
  await Promise.all([x.close(), o.close()]);
});

/** Contract: readers reject what is illegal, and the platform stores it alike. */
test("every cheat is caught by the opponent's verifier at its event, and the inbox keeps serving", async () => {
  const { x, o, inbox, game } = await pair();
  const { game: seen } = await x.tool("pipes_move", { inbox, game, row: 0, col: 0 });
  const event = (seq, prevHash, player, row, more = {}) =>
    ({ game, seq, prevHash, player, action: "move", move: { row, col: 0 }, ...more });
  const rules = { rows: 3, cols: 3, winLength: 1 };
  const start = { game, seq: 0, prevHash: "", player: "X", action: "start", protocol: "flurryport:tic-tac-toe", rules };
  const tip = seen.tipHash;
  const cheats = [
    ["an illegal move", o, event(2, tip, "O", 0), "cell_occupied"],
    ["a move off the board", o, event(2, tip, "O", 3), "cell_out_of_range"],
    ["a forged hash", o, event(2, "0".repeat(64), "O", 1), "wrong_prev_hash"],
    ["a move out of turn", o, event(3, tip, "O", 1), "wrong_turn"],
    ["a move in the other's name, under the own key", o, event(3, tip, "X", 1), "wrong_signer"],
    ["the other's move, posted with the own key by the host", x, event(2, tip, "O", 1), "wrong_signer"],
    ["a second genesis by the guest", o, start, "wrong_signer"],
    ["a wrong status", o, event(2, tip, "O", 1, { status: "win" }), "wrong_status"],
  ];
  const faults = [];
  for (const [what, cheat, body, reason] of cheats) {
    const posted = await cheat.tool("pipes_post", { inbox, body: JSON.stringify(body) });
    faults.push({ captureId: posted.captureId, gameId: game, seq: body.seq, reason });
    const caught = await (cheat === o ? x : o).tool("pipes_board", { inbox, game });
    assert.deepEqual(caught.faults, faults, what);
  }
  // The wrong claim sat on a legal move, so the move counts and the game goes on.
  const answer = await x.tool("pipes_move", { inbox, game, row: 1, col: 1 });
  assert.deepEqual([answer.accepted, answer.game.board], [true, ["X..", "OX.", "..."]]);

  const { verdict } = await x.tool("pipes_verify", { inbox, game });
  const { code, report } = await verified(await exported(x, inbox));
  assert.equal(code, 1);
  assert.deepEqual(verdict, { ok: false, gameId: game, seq: 2, reason: "cell_occupied" });
  assert.deepEqual([report.verdict, report.faults], [verdict, faults]);
  await Promise.all([x.close(), o.close()]);
});

/** Contract: in signed play the host is X and the only one to open; a host may still cheat against itself. */
test("a second genesis by the host's own key is a dispute, and the first one stands", async () => {
  const { x, o, inbox, game } = await pair();
  await o.tool("pipes_board", { inbox, game });
  const rules = { rows: 1, cols: 1, winLength: 1 };
  // The game of the first start declares X's key, so a start that X's seat posts without a signature is not X's.
  const start = { game, seq: 0, prevHash: "", player: "X", action: "start", protocol: "flurryport:tic-tac-toe", rules };
  await x.tool("pipes_post", { inbox, body: JSON.stringify(start) });
  // A game that declares no key: here it is the second start that is at fault.
  const plain = (rows) => JSON.stringify({ ...start, game: "plain", rules: { ...rules, rows } });
  await x.tool("pipes_post", { inbox, body: plain(1) });
  await x.tool("pipes_post", { inbox, body: plain(2) });
  const { faults, games } = await o.tool("pipes_verify", { inbox });
  assert.deepEqual(faults.map(({ gameId, seq, reason }) => [gameId, seq, reason]), [
    [game, 0, "missing_signature"], ["plain", 0, "two_geneses"],
  ]);
  assert.deepEqual(games.map(({ rows }) => rows), [3, 1]);
  assert.equal((await x.tool("pipes_create_game", { inbox, game })).wouldFault, "two_geneses");
  await Promise.all([x.close(), o.close()]);
});

/** A credential opens its holder's seats alone, in either place, and only while it is good. */
test("a credential works as a bearer or in the path, and a stranger's sees nothing", async () => {
  const { token, mcpUrl } = await mintAgent(server);
  assert.equal(mcpUrl, `/pipes/mcp/${token}`);
  assert.match(token, /^[A-Za-z0-9_-]{32}$/);
  const bearer = await toolsAt(server, "/pipes/mcp", { authorization: `Bearer ${token}` });
  const path = await toolsAt(server, mcpUrl);
  assert.deepEqual(bearer.tools.map(({ name }) => name), path.tools.map(({ name }) => name));
  assert.equal(path.tools.length, 11);
  const { inbox, game } = await bearer.tool("pipes_create_game");
  const { inboxes } = await path.tool("pipes_inboxes");
  assert.deepEqual(inboxes.map((held) => [held.inbox, held.you]), [[inbox, "X"]]);

  const stranger = await pipesAgent(server);
  assert.deepEqual(await stranger.tool("pipes_inboxes"), { inboxes: [] });
  const refused = await rejection(stranger.tool("pipes_board", { inbox, game: game.gameId }));
  assert.equal(refused.message, "not_found");

  const authorization = `Bearer ${token}`;
  const revoked = await fetch(`${server.url}/pipes/v1/agents`, { method: "DELETE", headers: { authorization } });
  assert.equal(revoked.status, 204);
  for (const url of ["/pipes/mcp", mcpUrl]) {
    const headers = { authorization, "content-type": "application/json" };
    const answer = await fetch(server.url + url, { method: "POST", headers, body: "{}" });
    assert.equal(answer.status, 401);
    assert.ok(!(await answer.text()).includes(token));
  }
  assert.ok(!server.lines.some((line) => line.includes(token)), "a credential was logged");
  await Promise.all([bearer.close(), path.close(), stranger.close()]);
});
