// Every operation of the binding, as PROTOCOL.md lists them (§4, §20): what it answers to whom it is for, and how it
// refuses everybody else, another shape, an argument out of its schema and the wrong moment. Through the official SDK.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { InMatch, agent, guest, person, startPlayerThree } from "../lib/playerthree.mjs";

const CANARY = "kanarienvogel";
const options = { teams: ["red", "blue"], bots: "nobody", seed: 11, private: true, observerDelayMs: 0, hold: true };
const mandate = { autonomy: "supervised", directive: { objective: "attack" }, whenAbsent: "hold" };

/**
 * A row for each operation, in an order in which the host of a held match can do them all: its fields, which may come
 * from what was answered before, and
 * - `data`: the members of its answer, or `code`: that it is refused as long as nobody asked for what it answers;
 * - `unread`: the code for a member that it does not have, where that is not `bad_message`;
 * - `invalid`: fields that are out of their schema;
 * - `foreign`: the same operation on what is somebody else's.
 */
const rows = [
  { op: "view", fields: {}, data: ["version", "view"] },
  {
    op: "call",
    fields: { role: "ground", method: "observe", args: {} },
    data: ["observation"],
    invalid: { role: "ground", method: "observe", args: { since: -1 } },
    foreign: { role: "air", method: "observe", args: {} },
  },
  { op: "readiness", fields: {}, data: ["mode", "pending", "seats"] },
  { op: "cards", fields: {}, data: ["cards"] },
  { op: "report", fields: {}, code: "not_in_match" },
  {
    op: "mint",
    fields: { role: "air" },
    data: ["expiresAt", "mcpPath", "role", "team", "token"],
    invalid: { role: "ground", ttlSeconds: 4 },
    foreign: { team: "blue", role: "ground" },
  },
  {
    op: "mandate",
    fields: { role: "air", mandate },
    data: [],
    invalid: { role: "ground", mandate: { [CANARY]: 1 } },
    foreign: { team: "blue", role: "ground", mandate },
  },
  {
    op: "resolveApproval",
    fields: ({ approval }) => ({ role: "air", id: approval, approve: true }),
    data: ["id", "status", "version"],
    foreign: { team: "blue", role: "ground", id: "ap_1", approve: true },
  },
  {
    op: "scopes",
    fields: { role: "air", scopes: ["act"] },
    data: [],
    invalid: { role: "ground", scopes: [CANARY] },
    foreign: { team: "blue", role: "ground", scopes: [] },
  },
  {
    op: "controller",
    fields: { role: "ground", controller: "human" },
    data: [],
    invalid: { role: "ground", controller: CANARY },
    foreign: { team: "blue", role: "ground", controller: "none" },
  },
  {
    op: "stream",
    fields: { role: "ground", everyTicks: 0 },
    data: ["everyTicks"],
    unread: "invalid",
    invalid: { role: "ground", everyTicks: -1 },
    foreign: { role: "air", everyTicks: 1 },
  },
  {
    op: "tell",
    fields: { roles: ["air"], text: "Hold." },
    data: [],
    unread: "invalid",
    invalid: { roles: "all", text: "" },
    foreign: { team: "blue", roles: ["ground"], text: "Hold." },
  },
  {
    op: "mintHuman",
    fields: { role: "ground" },
    data: ["expiresAt", "role", "team", "token"],
    invalid: { role: "ground", ttlSeconds: 601 },
    foreign: { team: "blue", role: "ground" },
  },
  {
    op: "renewHuman",
    fields: { role: "ground" },
    data: ["expiresAt"],
    invalid: { role: "ground", ttlSeconds: 601 },
    foreign: { team: "blue", role: "ground" },
  },
  {
    op: "mintSpectator",
    fields: {},
    data: ["expiresAt", "team", "token"],
    invalid: { ttlSeconds: 4 },
    foreign: { team: "blue" },
  },
  { op: "inviteObserver", fields: {}, data: ["expiresAt", "grant", "ticket"], invalid: { ttlSeconds: 4 } },
  { op: "revokeObserver", fields: ({ ticket }) => ({ ticket }), data: [] },
  {
    op: "revoke",
    fields: { role: "air" },
    data: [],
    foreign: { team: "blue", role: "ground" },
  },
  {
    op: "assign",
    fields: { role: "air", kind: "bot" },
    data: [],
    foreign: { team: "blue", role: "ground", kind: "bot" },
  },
  { op: "commanders", fields: {}, data: ["commanders"] },
  {
    op: "addCommander",
    fields: { name: "Falcon", roles: ["air"] },
    data: ["id", "mcpPath", "token"],
    unread: "invalid",
    invalid: { name: "", roles: ["air"] },
  },
  {
    op: "tellCommanders",
    fields: { commanders: "all", text: "Soon." },
    data: [],
    unread: "invalid",
    invalid: { commanders: "all", text: "" },
    foreign: { commanders: [CANARY], text: "Soon." },
  },
  {
    op: "commanderSettings",
    fields: ({ commander }) => ({ commander, settings: { scopes: ["act"] } }),
    data: ["settings"],
    foreign: { commander: CANARY, settings: {} },
  },
  {
    op: "commanderApproval",
    fields: ({ commander }) => ({ commander, id: "ap_1", approve: true }),
    code: "approval_not_found",
    foreign: { commander: CANARY, id: "ap_1", approve: true },
  },
  {
    op: "rotate",
    fields: ({ commander }) => ({ commander }),
    data: ["mcpPath", "token"],
    foreign: { commander: CANARY },
  },
  {
    op: "removeCommander",
    fields: ({ commander }) => ({ commander }),
    data: [],
    foreign: { commander: CANARY },
  },
  { op: "pool", fields: {}, data: ["entries"], unread: "invalid", invalid: { mine: "yes" } },
  { op: "unpublish", fields: { policyId: CANARY }, code: "forbidden" },
  {
    op: "ready",
    fields: { role: "ground", ready: true },
    data: [],
    foreign: { team: "blue", role: "ground", ready: true },
  },
  { op: "start", fields: {}, data: [], invalid: { inSeconds: 61 } },
];

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

/** The fields of a row, with what was answered before. */
const fieldsOf = ({ fields }, known) => (typeof fields === "function" ? fields(known) : fields);

test("the operations that are tested are those that are documented", async () => {
  const text = await readFile(new URL("../../PROTOCOL.md", import.meta.url), "utf8");
  const section = text.split("### Operations")[1].split("\n### ")[0];
  const heads = section.split("\n").filter((line) => line.startsWith("| `")).map((line) => line.split("|")[1]);
  const documented = heads.flatMap((head) => head.match(/\w+/g));
  assert.deepEqual(rows.map(({ op }) => op).sort(), documented.sort());
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
    const answer = await host.ask(op, fieldsOf(row, known));
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
  const known = { approval: "ap_1", ticket: CANARY, commander: CANARY };
  for (const row of rows) {
    const fields = fieldsOf(row, known);
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
  const known = { approval: "ap_1", ticket: CANARY, commander: CANARY };
  for (const row of rows) {
    const answer = await other.ask(row.op, { ...fieldsOf(row, known), [CANARY]: 1 });
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
