// §15: every input from outside has a bound and a closed code, nothing is repeated, and the room plays on.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { InMatch, guest, person, startPlayerThree } from "../lib/playerthree.mjs";
import { left, rejection } from "../lib/rooms.mjs";

const CANARY = "kanarienvogel";
let server;
before(async () => (server = await startPlayerThree()));
after(() => server.stop());

async function playing() {
  return new InMatch(await (await person(server, "Ann")).create("tic-tac-toe"));
}

test("every malformed operation gets a closed code and no echo", async () => {
  const x = await playing();
  const act = (intents) => ["call", { role: "player", method: "act", args: { intents } }, "acks"];
  const table = [
    ["fly", {}, "bad_message"],
    [CANARY, {}, "bad_message"],
    ["call", {}, "bad_message"],
    ["call", { role: 1, method: "act", args: {} }, "bad_message"],
    ["call", { role: "player", method: CANARY, args: {} }, "bad_message"],
    ["call", { role: CANARY, method: "act", args: {} }, "forbidden"],
    ["call", { role: "player", method: "act", args: { intents: [], [CANARY]: 1 } }, "invalid"],
    ["call", { role: "player", method: "act", args: { intents: [] } }, "invalid"],
    ["call", { role: "player", method: "act", args: { intents: Array(65).fill({ kind: "resign" }) } }, "invalid"],
    ["call", { role: "player", method: "act", args: CANARY }, "invalid"],
    ["call", { role: "player", method: "observe", args: { since: -1 } }, "invalid"],
    ["call", { role: "player", method: "observe", args: { since: 2 ** 31 } }, "invalid"],
    ["call", { role: "player", method: "observe", args: { fields: [CANARY] } }, "invalid"],
    ["call", { role: "player", method: "observe", args: { fields: ["board", "board"] } }, "invalid"],
    ["call", { role: "player", method: "observe", args: { detail: "all" } }, "invalid"],
    ["call", { role: "player", method: "wait", args: { seconds: 61 } }, "invalid"],
    ["call", { role: "player", method: "wait", args: { seconds: "1" } }, "invalid"],
    ["call", { role: "player", method: "wait", args: { seconds: Number.NaN } }, "invalid"],
    ["call", { role: "player", method: "wait", args: { seconds: 1, until: [CANARY] } }, "invalid"],
    ["call", { role: "player", method: "briefing", args: { topic: CANARY } }, "invalid"],
    ["call", { role: "player", method: "briefing", args: { page: 1 } }, "invalid"],
    ["call", { role: "player", method: "skill", args: { name: CANARY, path: "SKILL.md" } }, "invalid"],
    ["call", { role: "player", method: "skill", args: { name: "x", path: "../../etc/passwd" } }, "invalid"],
    ["call", { role: "player", method: "policyDeploy", args: { runtime: "js", code: "" } }, "mode_unavailable"],
    ["mandate", { role: "player", mandate: { [CANARY]: 1 } }, "invalid"],
    ["mandate", { role: "player" }, "bad_message"],
    ["scopes", { role: "player", scopes: [CANARY] }, "invalid"],
    ["controller", { role: "player", controller: CANARY }, "invalid"],
    ["resolveApproval", { role: "player", id: CANARY, approve: true }, "approval_not_found"],
    ["resolveApproval", { role: "player", id: CANARY, approve: "yes" }, "bad_message"],
    ["mint", { role: CANARY }, "forbidden"],
    ["mint", { role: "player", [CANARY]: 1 }, "bad_message"],
    ["view", { [CANARY]: 1 }, "bad_message"],
    ["report", {}, "not_in_match"],
  ];
  for (const [op, fields, code] of table) {
    const answer = await x.ask(op, fields);
    assert.equal(answer.code, code, `${op} ${JSON.stringify(fields)}`);
    assert.ok(!JSON.stringify(answer).includes(CANARY), `${op} repeats its input`);
    // Stay under the rate that is tested below.
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  for (const intent of [{ kind: "move", row: 0.5, col: 0 }, { kind: "move", row: 1e9, col: 0 }, { kind: CANARY }, CANARY]) {
    const [op, fields] = act([intent]);
    const { acks } = await x.do(op, fields);
    assert.equal(acks[0].code, "invalid");
    assert.ok(!JSON.stringify(acks).includes(CANARY));
  }
  assert.ok(!x.received.includes(CANARY));
  assert.deepEqual(await x.act("player", { kind: "move", row: 0, col: 0 }), ["ok"]);
  await x.room.leave();
});

test("a message without a usable number is answered without one", async () => {
  const x = await playing();
  for (const body of [null, 7, CANARY, [], {}, { op: "call", seq: -1 }, { op: "call", seq: 2 ** 40 }]) {
    x.room.send("playerthree:call", body);
  }
  assert.deepEqual(await x.act("player", { kind: "move", row: 0, col: 0 }), ["ok"]);
  await x.room.leave();
});

test("a body has at most 1048576 bytes", async () => {
  const x = await playing();
  const results = [];
  x.room.onMessage("playerthree:result", (result) => results.push(result));
  const body = (seq, pad) => ({ op: "call", seq, role: "player", method: "act", args: { intents: ["x".repeat(pad)] } });
  const around = packedBytes(x.room, "playerthree:call", body(1000, 65_536)) - 65_536;
  for (const [seq, bytes] of [[1000, 1_048_576], [2000, 1_048_577]]) {
    x.room.send("playerthree:call", body(seq, bytes - around));
  }
  assert.deepEqual(await x.act("player", { kind: "move", row: 0, col: 0 }), ["ok"]);
  const [fits, tooLong] = results;
  assert.deepEqual([fits.seq, fits.data.acks[0].code], [1000, "invalid"], "read, and judged like any other");
  assert.deepEqual(tooLong, { op: "result", seq: null, ok: false, code: "bad_message" });
  await x.room.leave();
});

/** How many bytes the SDK makes of a message's body. Its envelope is a code and the name as a short string. */
function packedBytes(room, name, body) {
  const { ws } = room.connection.transport;
  let whole = 0;
  ws.send = (data) => (whole = data.byteLength);
  room.send(name, body);
  delete ws.send;
  return whole - 2 - name.length;
}

test("a flood of operations is refused past its burst and the match goes on", async () => {
  const x = await playing();
  const refusedOf = async (op) => {
    const answers = await Promise.all(Array.from({ length: 120 }, () => x.ask(op)));
    return answers.filter((answer) => answer.code === "rate_limited").length;
  };
  const refused = await refusedOf("report");
  assert.ok(refused >= 30 && refused <= 60, `${refused} of 120 refused`);
  const o = new InMatch(await (await person(server, "Bob")).joinById(x.room.roomId));
  assert.ok(await o.do("view"), "nobody else is slowed down");
  await Promise.all([x.room.leave(), o.room.leave()]);
});

test("fresh views have a smaller bound of their own", async () => {
  const x = await playing();
  const answers = await Promise.all(Array.from({ length: 55 }, () => x.ask("view")));
  const refused = answers.filter((answer) => answer.code === "rate_limited").length;
  assert.ok(refused >= 10 && refused <= 15, `${refused} of 55 refused`);
  await x.room.leave();
});

test("options out of their schema are refused before a room exists", async () => {
  const ann = await person(server, "Ann");
  for (const options of [
    { [CANARY]: 1 }, { as: CANARY }, { team: CANARY }, { seed: -1 }, { seed: 2 ** 32 }, { match: { rows: 0 } },
    { match: { rows: 21 } }, { match: { [CANARY]: 1 } }, { bots: CANARY }, { teams: ["x", "z"] }, { private: "yes" },
    { observerDelayMs: -1 },
  ]) {
    const error = await rejection(ann.create("tic-tac-toe", options));
    assert.ok(error.code >= 400, JSON.stringify(options));
    assert.ok(!String(error.message).includes(CANARY));
  }
  assert.match((await rejection(ann.create(CANARY))).message, /not|no /);
  const { rooms } = await (await fetch(`${server.url}/demo/rooms`)).json();
  assert.deepEqual(rooms, []);
});

test("a wrong login token is nobody's", async () => {
  const client = guest(server);
  client.auth.token = "x".repeat(32);
  assert.equal((await rejection(client.create("tic-tac-toe"))).code, 525);
});

test("logins out of bounds are refused", async () => {
  const login = (body) => fetch(`${server.url}/demo/login`, { method: "POST", body });
  for (const body of ["", "{", "[]", "null", '{"name":1}', '{"name":""}', `{"name":"${"a".repeat(25)}"}`, '{"name":"a","b":1}']) {
    const answer = await login(body);
    assert.deepEqual([answer.status, await answer.json()], [400, { error: "invalid" }], body);
  }
  assert.equal((await login(JSON.stringify({ name: "a".repeat(5000) }))).status, 413);
});

test("raw bytes and unknown types close only their sender", async () => {
  // With bots the seat of whoever is thrown out plays on.
  const x = new InMatch(await (await person(server, "Ann")).create("tic-tac-toe", { bots: "random", team: "x" }));
  const o = new InMatch(await (await person(server, "Bob")).joinById(x.room.roomId));
  o.room.reconnection.enabled = false;
  const gone = left(o.room);
  o.room.send("something else", 1);
  assert.equal(await gone, 4002);
  assert.deepEqual(await x.act("player", { kind: "move", row: 0, col: 0 }), ["ok"]);
  const watcher = new InMatch(await guest(server).joinById(x.room.roomId, { as: "spectator" }));
  watcher.room.reconnection.enabled = false;
  const closed = left(watcher.room);
  watcher.room.connection.transport.ws.send(Buffer.alloc(2 * 1_048_576, 0x0d));
  assert.ok([1009, 1006].includes(await closed));
  assert.ok(await x.do("view"));
  await x.room.leave();
});
