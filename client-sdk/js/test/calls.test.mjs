// Operations (§4): numbering, answers, closed errors, timeouts and the end of a connection.

import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { connect, PlayerThreeError } from "../dist/playerthree.js";
import { FakeRoom } from "./fake-room.mjs";

function joined() {
  const room = new FakeRoom();
  return { room, match: connect(room) };
}

/** The error with which a promise ends. */
async function failure(promise) {
  try {
    await promise;
  } catch (error) {
    assert.ok(error instanceof PlayerThreeError, String(error));
    return error;
  }
  return assert.fail("no error");
}

test("a call is answered by its number, whatever the order", async () => {
  const { room, match } = joined();
  const first = match.seat("ground").act([{ kind: "move" }]);
  const second = match.seat("air").observe({ since: 3 });
  const [one, two] = room.sent;
  assert.deepStrictEqual(one, {
    type: "playerthree:call",
    message: { op: "call", seq: one.message.seq, role: "ground", method: "act", args: { intents: [{ kind: "move" }] } },
  });
  room.push("result", { op: "result", seq: two.message.seq, ok: true, data: { observation: { tick: 4 } } });
  room.push("result", { op: "result", seq: one.message.seq, ok: true, data: { acks: [{ ok: true }] } });
  assert.deepStrictEqual(await first, [{ ok: true }]);
  assert.deepStrictEqual(await second, { tick: 4 });
});

test("every owner operation has its message", async () => {
  const { room, match } = joined();
  const mandate = { autonomy: "supervised", directive: {}, whenAbsent: "hold" };
  for (const [send, expected] of [
    [() => match.mandate({ role: "r" }, mandate), { op: "mandate", role: "r", mandate }],
    [() => match.scopes({ role: "r", team: "t" }, ["act"]), { op: "scopes", role: "r", team: "t", scopes: ["act"] }],
    [() => match.controller({ role: "r" }, "agent"), { op: "controller", role: "r", controller: "agent" }],
    [
      () => match.resolveApproval({ role: "r" }, { id: "a1", approve: true }),
      { op: "resolveApproval", role: "r", id: "a1", approve: true },
    ],
    [() => match.mint({ role: "r", team: "t" }), { op: "mint", role: "r", team: "t" }],
    [
      () => match.assign({ role: "r" }, { kind: "policy", policyId: "pol_1" }),
      { op: "assign", role: "r", kind: "policy", policyId: "pol_1" },
    ],
    [
      () => match.commanderApproval("cmd_1", { id: "a1", approve: false }),
      { op: "commanderApproval", commander: "cmd_1", id: "a1", approve: false },
    ],
    [() => match.pool({ role: "r", after: "pol_7" }), { op: "pool", role: "r", after: "pol_7" }],
    [() => match.unpublish("pol_7"), { op: "unpublish", policyId: "pol_7" }],
    [() => match.seat("r").publish(), { op: "call", role: "r", method: "publish", args: {} }],
    [() => match.mint({ role: "r", ttlSeconds: 600 }), { op: "mint", role: "r", ttlSeconds: 600 }],
    [() => match.inviteObserver(), { op: "inviteObserver" }],
    [() => match.inviteObserver({ ttlSeconds: 600 }), { op: "inviteObserver", ttlSeconds: 600 }],
    [() => match.revokeObserver("t1"), { op: "revokeObserver", ticket: "t1" }],
    [() => match.mintHuman({ role: "r", ttlSeconds: 60 }), { op: "mintHuman", role: "r", ttlSeconds: 60 }],
    [() => match.renewHuman({ role: "r" }), { op: "renewHuman", role: "r" }],
    [() => match.mintSpectator(), { op: "mintSpectator" }],
    [() => match.stream("r", { everyTicks: 5, detail: "all" }), { op: "stream", role: "r", everyTicks: 5, detail: "all" }],
    [() => match.report(), { op: "report" }],
    [() => match.freshView(), { op: "view" }],
  ]) {
    const answer = send();
    const { type, message } = room.sent.at(-1);
    assert.equal(type, `playerthree:${expected.op}`);
    assert.deepStrictEqual(message, { ...expected, seq: message.seq });
    room.answer({ ok: true, data: {} });
    await answer;
  }
});

test("a refusal becomes an error with its code", async () => {
  const { room, match } = joined();
  const refused = match.call("r", "act", { intents: [] });
  room.answer({ ok: false, code: "invalid", schemaCode: "range", path: ["intents"] });
  const error = await failure(refused);
  assert.deepStrictEqual([error.code, error.schemaCode, error.path], ["invalid", "range", ["intents"]]);
});

test("an unknown code is a protocol error", async () => {
  const { room, match } = joined();
  const refused = match.call("r", "act");
  room.answer({ ok: false, code: "of my own" });
  assert.equal((await failure(refused)).code, "protocol");
});

test("a call without an answer times out, a wait only after what it waits for", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const { room, match } = joined();
    const call = failure(match.call("r", "observe", {}, { timeoutMs: 500 }));
    let waited = false;
    const wait = match.seat("r").wait({ seconds: 30 }).then(() => (waited = true));
    mock.timers.tick(500);
    assert.equal((await call).code, "timeout");
    mock.timers.tick(35_000);
    room.answer({ ok: true, data: {} });
    await wait;
    assert.ok(waited);
    room.push("result", { op: "result", seq: room.sent[0].message.seq, ok: true, data: "too late" });
  } finally {
    mock.timers.reset();
  }
});

test("a practice may take as long as its ticks need", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const { room, match } = joined();
    const practice = match.seat("r").practice({ opponent: "recruit", ticks: 10_000 });
    const { seq, args } = room.sent[0].message;
    assert.deepStrictEqual(args, { opponent: "recruit", ticks: 10_000 });
    mock.timers.tick(200_000);
    room.push("result", { op: "result", seq, ok: true, data: { ok: true, ticks: 10_000 } });
    assert.equal((await practice).ticks, 10_000);
  } finally {
    mock.timers.reset();
  }
});

test("a lost stream is told once, until it goes on", () => {
  const { room, match } = joined();
  const lost = [];
  match.on("lost", (team) => lost.push(team));
  room.push("view", { team: "red", version: 1, view: { a: 1 } });
  for (const version of [3, 4, 5]) room.push("view", { team: "red", version, delta: { a: version } });
  assert.deepStrictEqual(lost, ["red"]);
  room.push("view", { team: "red", version: 6, view: { a: 6 } });
  room.push("view", { team: "red", version: 8, delta: { a: 8 } });
  assert.deepStrictEqual(lost, ["red", "red"]);
});

test("a dropped connection ends what waits, and later calls still go out", async () => {
  const { room, match } = joined();
  const dropped = [];
  match.on("dropped", () => dropped.push(true));
  const call = match.call("r", "observe");
  room.onDrop.invoke();
  assert.equal((await failure(call)).code, "closed");
  assert.deepStrictEqual(dropped, [true]);
  const later = match.call("r", "observe");
  room.answer({ ok: true, data: 1 });
  assert.equal(await later, 1);
});

test("streams that run are asked for again after a lost connection, until they are refused", async () => {
  const { room, match } = joined();
  const told = [];
  match.on("observation", (observed) => told.push(observed));
  const streams = () => room.sent.filter(({ type }) => type === "playerthree:stream").map(({ message }) => message);
  const asked = async (answer, data) => {
    room.answer(answer);
    assert.equal(await data, answer.data.everyTicks);
  };
  await asked({ ok: true, data: { everyTicks: 4 } }, match.stream("ground", { everyTicks: 2 }));
  await asked({ ok: true, data: { everyTicks: 4 } }, match.stream("air", { everyTicks: 4 }));
  await asked({ ok: true, data: { everyTicks: 0 } }, match.stream("air", { everyTicks: 0 }));
  const observed = { op: "observation", role: "ground", tick: 3, observation: { tick: 3 } };
  room.push("observation", observed);
  room.push("observation", { op: "observation", role: 5, tick: 3, observation: {} });
  assert.deepStrictEqual(told, [observed]);

  for (const answer of [{ ok: true, data: { everyTicks: 4 } }, { ok: false, code: "forbidden" }]) {
    const before = streams().length;
    room.onDrop.invoke();
    room.onReconnect.invoke();
    assert.deepStrictEqual(streams().slice(before).map(({ role, everyTicks }) => [role, everyTicks]), [["ground", 2]]);
    room.answer(answer);
    await new Promise(setImmediate);
  }
  const before = streams().length;
  room.onReconnect.invoke();
  assert.equal(streams().length, before, "what was refused is over");
});

test("after leaving, calls end at once and nothing listens any more", async () => {
  const { room, match } = joined();
  const closed = [];
  match.on("closed", (code) => closed.push(code));
  const call = match.call("r", "observe");
  room.onLeave.invoke(4000);
  assert.equal((await failure(call)).code, "closed");
  assert.equal((await failure(match.call("r", "observe"))).code, "closed");
  assert.deepStrictEqual(closed, [4000]);
  assert.deepStrictEqual([room.handlers.size, room.onLeave.size(), room.onDrop.size()], [0, 0, 0]);
});

test("a send that fails ends its call", async () => {
  const { room, match } = joined();
  room.send = () => {
    throw new Error("socket");
  };
  assert.equal((await failure(match.call("r", "observe"))).code, "closed");
});

test("waiting calls are bounded", async () => {
  const { room, match } = joined();
  const calls = Array.from({ length: 256 }, () => failure(match.call("r", "observe")));
  assert.equal((await failure(match.call("r", "observe"))).code, "busy");
  assert.equal(room.sent.length, 256);
  match.dispose();
  assert.deepStrictEqual(new Set((await Promise.all(calls)).map((error) => error.code)), new Set(["closed"]));
});

test("messages out of shape change nothing", () => {
  const { room, match } = joined();
  for (const op of ["result", "view", "observer", "welcome", "status", "seats"]) {
    for (const body of [undefined, null, 1, "text"]) room.push(op, body);
  }
  room.push("view", { team: 5, version: 1, view: {} });
  room.push("seats", { op: "seats", seats: 5 });
  room.push("welcome", { op: "welcome" });
  room.push("status", { op: "status", tick: "1" });
  assert.equal(match.welcome, undefined);
  assert.equal(match.status, undefined);
  assert.deepStrictEqual(match.seats, []);
});

test("pushes are kept and told", () => {
  const { room, match } = joined();
  const told = [];
  for (const event of ["welcome", "status", "seats"]) match.on(event, (value) => told.push([event, value]));
  const welcome = { op: "welcome", as: "spectator", match: "m1", team: "red", teams: ["red"] };
  const status = { op: "status", tick: 3, phase: "running", outcomes: {} };
  const seats = [{ team: "red", role: "ground", controller: "agent", aiPlayer: true }];
  room.push("welcome", welcome);
  room.push("status", status);
  room.push("seats", { op: "seats", seats });
  assert.deepStrictEqual(told, [["welcome", welcome], ["status", status], ["seats", seats]]);
  assert.deepStrictEqual([match.welcome, match.status, match.seats], [welcome, status, seats]);
  assert.equal(match.view().team, "red");
});
