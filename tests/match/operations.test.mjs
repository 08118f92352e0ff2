// Every operation of the binding, as PROTOCOL.md lists them (§4, §20): what it answers to whom it is for, and how it
// refuses everybody else, another shape, an argument out of its schema, a body too long and one operation too many. Through
// the official SDK. What else each can be refused with is in refusals.test.mjs.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { CANARY, documented, fieldsOf, nothingKnown, options, rows } from "../lib/operations.mjs";
import { InMatch, agent, guest, person, startPlayerThree } from "../lib/playerthree.mjs";
import { eventually, within } from "../lib/rooms.mjs";

let server;
before(async () => (server = await startPlayerThree()));
after(() => server.stop());

/** A held match: its host, a player of the other side, and what is known of it. */
async function held() {
  const host = new InMatch(await (await person(server, "Ann")).create("agent-command", { ...options, team: "red", role: "ground" }));
  const { roomId } = host.room;
  const join = async (client, wish) => new InMatch(await client.joinById(roomId, wish));
  const other = await join(await person(server, "Bob"), { team: "blue", role: "ground" });
  return { host, other, join };
}

test("the operations that are tested are those that are documented", async () => {
  const text = await readFile(new URL("../../PROTOCOL.md", import.meta.url), "utf8");
  assert.deepEqual(rows.map(({ op }) => op).sort(), [...documented(text, "Operations").keys()].sort());
});

test("every operation answers whom it is for with what is documented", async () => {
  const { host, other, join } = await held();
  const known = {};
  for (const row of rows) {
    const { op, data, code } = row;
    if (op === "resolveApproval") {
      const air = await agent(server, known.token);
      const deployed = await air.tool("policy_deploy", { runtime: "js", code: "function think() { return []; }" });
      known.approval = deployed.approval.id;
      await air.close();
    }
    const answer = await host.ask(op, fieldsOf(row.fields, known));
    if (code) assert.equal(answer.code, code, op);
    else assert.deepEqual([answer.ok, Object.keys(answer.data ?? {}).sort()], [true, data], `${op}: ${JSON.stringify(answer)}`);
    if (op === "mint") known.token = answer.data.token;
    if (op === "mintHuman") known.human = await join(guest(server), { token: answer.data.token });
    if (op === "inviteObserver") known.ticket = answer.data.ticket;
    if (op === "addCommander") known.commander = answer.data.id;
  }
  assert.equal((await host.ask("start")).code, "invalid", "it runs already");
  assert.equal((await other.ask("start")).code, "forbidden", "the other player is not the host");
  // The other side's only person leaves for good, which ends a match without bots.
  await other.room.leave();
  for (let report = await host.ask("report"); ; report = await host.ask("report")) {
    if (report.ok) {
      assert.deepEqual(Object.keys(report.data).sort(), ["report", "team"]);
      break;
    }
    assert.equal(report.code, "not_in_match");
    await host.inbox.next("playerthree:status");
  }
  for (const { room } of [known.human, host]) await room.leave();
});

test("spectators and observers do nothing of it, and a spectator may look", async () => {
  const { host, other, join } = await held();
  const spectator = await join(guest(server), { as: "spectator", team: "red" });
  const { ticket } = await host.do("inviteObserver");
  const observer = await join(await person(server, "Eve"), { as: "observer", ticket });
  for (const row of rows) {
    const fields = fieldsOf(row.fields, nothingKnown);
    const looked = await spectator.ask(row.op, fields);
    if (row.op === "view") assert.equal(looked.ok, true);
    else assert.equal(looked.code, "forbidden", `spectator ${row.op}`);
    assert.equal((await observer.ask(row.op, fields)).code, "forbidden", `observer ${row.op}`);
  }
  await Promise.all([host, other, spectator, observer].map(({ room }) => room.leave()));
});

test("what is somebody else's is refused like what is not there", async () => {
  const { host, other } = await held();
  await other.do("mint", { role: "air" });
  for (const { op, foreign } of rows) {
    if (!foreign) continue;
    const answer = await host.ask(op, foreign);
    assert.equal(answer.code, "forbidden", `${op} ${JSON.stringify(foreign)}: ${JSON.stringify(answer)}`);
    assert.ok(!JSON.stringify(answer).includes(CANARY), `${op} repeats its input`);
  }
  await Promise.all([host, other].map(({ room }) => room.leave()));
});

test("another shape is bad_message and an argument out of its schema invalid, and neither is repeated", async () => {
  const { host, other } = await held();
  for (const row of rows) {
    const answer = await other.ask(row.op, { ...fieldsOf(row.fields, nothingKnown), [CANARY]: 1 });
    assert.equal(answer.code, row.unread ?? "bad_message", `${row.op}: ${JSON.stringify(answer)}`);
    assert.ok(!JSON.stringify(answer).includes(CANARY), `${row.op} repeats its input`);
  }
  for (const { op, invalid } of rows) {
    if (!invalid) continue;
    const answer = await host.ask(op, invalid);
    assert.equal(answer.code, "invalid", `${op}: ${JSON.stringify(answer)}`);
    assert.ok(!JSON.stringify(answer).includes(CANARY), `${op} repeats its input`);
  }
  await Promise.all([host, other].map(({ room }) => room.leave()));
});

test("a body of more than 1048576 bytes is refused unread, whatever its operation", async () => {
  const { host, other, join } = await held();
  const tooLong = "x".repeat(1_048_576);
  // A connection may send two such bodies in a second, so each operation has a client of its own.
  const refusalOf = async ({ op }) => {
    const { room } = await join(guest(server), { as: "spectator", team: "red" });
    const answer = within(new Promise((resolve) => room.onMessage("playerthree:result", resolve)), `the answer to ${op}`);
    room.send(`playerthree:${op}`, { op, seq: 1, tooLong });
    const refusal = await answer;
    await room.leave();
    return [op, refusal];
  };
  const unread = { op: "result", seq: null, ok: false, code: "bad_message" };
  for (const [op, refusal] of await Promise.all(rows.map(refusalOf))) assert.deepEqual(refusal, unread, op);
  await Promise.all([host, other].map(({ room }) => room.leave()));
});

test("past the budget of its sender every operation is rate_limited", async () => {
  const { host, other } = await held();
  const spend = (count) => Array.from({ length: count }, () => host.ask("readiness"));
  await Promise.all(spend(60));
  for (const { op, fields, foreign, invalid } of rows) {
    await eventually(async () => {
      // The budget fills all the time, so what came back is spent first.
      const spent = spend(4);
      const answer = await host.ask(op, foreign ?? invalid ?? fieldsOf(fields, nothingKnown));
      await Promise.all(spent);
      return answer.code === "rate_limited";
    }, `${op} is refused`);
  }
  await Promise.all([host, other].map(({ room }) => room.leave()));
});
