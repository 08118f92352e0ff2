// What PROTOCOL.md says that an operation can be refused with, beside what every one can: each code is brought about
// through the official SDK, and there is none that the page does not name (§4 "Results and errors").

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { CANARY, documented, mandate, options, rows } from "../lib/operations.mjs";
import { InMatch, agent, person, startPlayerThree } from "../lib/playerthree.mjs";
import { eventually } from "../lib/rooms.mjs";

/** Where somebody has to be, made when a refusal needs it. Each has a person of its own, and so a budget. */
const stage = {
  /** A player of a match that is held before its start, and who is its host. */
  async host(more = {}) {
    return create("agent-command", { ...options, team: "red", role: "ground", ...more });
  },
  /** A player of a public match of a game without policies, streams and chat. */
  small: () => create("tic-tac-toe", {}),
  /** A player whose match is over. */
  async over() {
    const host = await stage.host({ hold: false });
    const loser = await enter(host, { team: "blue", role: "ground" });
    await loser.room.leave();
    await eventually(async () => (await host.ask("report")).ok, "the match is over");
    return host;
  },
  /** A player with a commander that plays another match. */
  async busy() {
    const host = await stage.host();
    const { id } = await host.do("addCommander", { name: "Falcon", roles: ["air"] });
    const other = new InMatch(await host.client.create("agent-command", { ...options, team: "red", role: "ground" }));
    open.push(other.room);
    await other.do("assign", { role: "air", kind: "agent", commander: id });
    return { host, id };
  },
};

/** For each operation and code, how to be refused so. */
const refusals = {
  view: { rate_limited: async () => over(await stage.host(), "view", {}, "rate_limited") },
  call: {
    bad_message: async () => (await stage.host()).ask("call", { role: "ground", method: CANARY, args: {} }),
  },
  report: { not_in_match: async () => (await stage.host()).ask("report") },
  stream: { mode_unavailable: async () => (await stage.small()).ask("stream", { role: "player", everyTicks: 1 }) },
  resolveApproval: {
    approval_not_found: async () => (await stage.host()).ask("resolveApproval", { role: "ground", id: "ap_1", approve: true }),
    approval_failed: async () => {
      const { host, approval } = await asked("function think() { throw new Error('no'); }");
      return host.ask("resolveApproval", approval);
    },
    approval_pending: async () => {
      const { host, approval } = await asked("for (let i = 0; i < 2e5; i++); function think() { return []; }");
      const [first, second] = await Promise.all([1, 2].map(() => host.ask("resolveApproval", approval)));
      assert.equal(first.ok, true, JSON.stringify(first));
      return second;
    },
    not_in_match: async () => (await stage.over()).ask("resolveApproval", { role: "ground", id: "ap_1", approve: true }),
  },
  mintHuman: { not_in_match: async () => (await stage.over()).ask("mintHuman", { role: "ground" }) },
  renewHuman: { bad_token: async () => (await stage.host()).ask("renewHuman", { role: "ground" }) },
  mintSpectator: {
    busy: async () => over(await stage.host(), "mintSpectator", {}, "busy"),
    not_in_match: async () => (await stage.over()).ask("mintSpectator"),
  },
  tell: {
    rate_limited: async () => over(await stage.host(), "tell", { roles: ["ground"], text: "Hold." }, "rate_limited"),
    mode_unavailable: async () => (await stage.small()).ask("tell", { roles: "all", text: "Hold." }),
  },
  assign: {
    invalid: async () => (await stage.host()).ask("assign", { role: "ground", kind: "bot", policyId: CANARY }),
    busy: async () => {
      const { host, id } = await stage.busy();
      return host.ask("assign", { role: "air", kind: "agent", commander: id });
    },
  },
  start: {
    forbidden: async () => (await enter(await stage.host(), { team: "blue", role: "ground" })).ask("start"),
  },
  addCommander: { busy: async () => over(await stage.host(), "addCommander", { name: "Falcon", roles: ["air"] }, "busy") },
  tellCommanders: {
    rate_limited: async () => {
      const host = await stage.host();
      await host.do("addCommander", { name: "Falcon", roles: ["air"] });
      return over(host, "tellCommanders", { commanders: "all", text: "Soon." }, "rate_limited");
    },
    mode_unavailable: async () => (await stage.small()).ask("tellCommanders", { commanders: "all", text: "Soon." }),
  },
  removeCommander: {
    busy: async () => {
      const { host, id } = await stage.busy();
      return host.ask("removeCommander", { commander: id });
    },
  },
  commanderSettings: {
    invalid: async () => {
      const host = await stage.host();
      const { id } = await host.do("addCommander", { name: "Falcon", roles: ["air"] });
      return host.ask("commanderSettings", { commander: id, settings: { [CANARY]: 1 } });
    },
  },
  commanderApproval: {
    approval_not_found: async () => {
      const host = await stage.host();
      const { id } = await host.do("addCommander", { name: "Falcon", roles: ["air"] });
      return host.ask("commanderApproval", { commander: id, id: "ap_1", approve: true });
    },
  },
  pool: { mode_unavailable: async () => (await stage.small()).ask("pool") },
  unpublish: {
    forbidden: async () => (await stage.host()).ask("unpublish", { policyId: CANARY }),
    mode_unavailable: async () => (await stage.small()).ask("unpublish", { policyId: CANARY }),
  },
  inviteObserver: {
    forbidden: async () => (await stage.host()).ask("inviteObserver", { team: "blue" }),
    busy: async () => over(await stage.host(), "inviteObserver", {}, "busy"),
    mode_unavailable: async () => (await stage.small()).ask("inviteObserver"),
  },
  revokeObserver: { bad_token: async () => (await stage.host()).ask("revokeObserver", { ticket: CANARY }) },
};

/** A call of a seat's owner. */
const call = (match, role, method, args = {}) => match.ask("call", { role, method, args });
const small = (method, args) => async () => call(await stage.small(), "player", method, args);
const held = (method, args) => async () => call(await stage.host(), "ground", method, args);
const finished = (method, args) => async () => call(await stage.over(), "ground", method, args);

/** A call whose answer nobody waits for; it ends with its connection. */
const begin = ({ room }, seq, method, args) => room.send("playerthree:call", { op: "call", seq, role: "ground", method, args });

/** A call of a seat's agent, whose owner left it these scopes. */
const asAgent = (tool, args, scopes = []) => async () => {
  const host = await stage.host();
  const air = await agent(server, (await host.do("mint", { role: "air" })).token);
  await host.do("scopes", { role: "air", scopes });
  try {
    for (let times = 0; times < 10; times++) await air.tool(tool, args);
    return { ok: true };
  } catch ({ message }) {
    return { ok: false, code: message };
  } finally {
    await air.close();
  }
};

const code = { runtime: "js", code: "function think() { return []; }" };
const practice = { opponent: "recruit", ticks: 10, artifact: code };

/** The same for the methods of `call`. */
const methods = {
  briefing: { invalid: held("briefing", { topic: CANARY }) },
  observe: { invalid: held("observe", { since: -1 }) },
  act: { invalid: held("act", { intents: [] }), paused: held("act", { intents: [{ kind: "stop", units: [] }] }) },
  sequence: {
    invalid: held("sequence", { steps: CANARY }),
    forbidden: held("sequence", { steps: [] }),
    paused: asAgent("game_sequence", { steps: [] }, ["act"]),
    mode_unavailable: small("sequence", { steps: [] }),
  },
  wait: {
    invalid: held("wait", { seconds: 61 }),
    busy: async () => {
      const host = await stage.host();
      for (const seq of [900, 901]) begin(host, seq, "wait", { seconds: 60 });
      return call(host, "ground", "wait", { seconds: 60 });
    },
    not_in_match: async () => {
      const host = await stage.over();
      assert.equal((await call(host, "ground", "wait", { seconds: 0 })).data.wake, "ended");
      return call(host, "ground", "wait", { seconds: 0 });
    },
  },
  ready: { invalid: held("ready", { [CANARY]: 1 }), forbidden: held("ready") },
  skill: { invalid: held("skill", { name: CANARY, path: "SKILL.md" }) },
  policyDeploy: {
    invalid: held("policyDeploy", { runtime: CANARY, code: "" }),
    out_of_scope: asAgent("policy_deploy", code),
    not_in_match: finished("policyDeploy", code),
    mode_unavailable: small("policyDeploy", code),
  },
  policyStatus: { invalid: held("policyStatus", { [CANARY]: 1 }), mode_unavailable: small("policyStatus") },
  policyRollback: {
    invalid: held("policyRollback", { version: 9 }),
    out_of_scope: asAgent("policy_rollback", { version: 1 }),
    not_in_match: finished("policyRollback", { version: 1 }),
    mode_unavailable: small("policyRollback", { version: 1 }),
  },
  practice: {
    invalid: held("practice", { ...practice, opponent: CANARY }),
    out_of_scope: asAgent("practice_run", practice),
    busy: async () => {
      const host = await stage.host();
      for (const seq of [900, 901]) begin(host, seq, "practice", { ...practice, ticks: 18_000 });
      return call(host, "ground", "practice", practice);
    },
    mode_unavailable: small("practice", practice),
  },
  publish: {
    invalid: held("publish"),
    out_of_scope: asAgent("pool_publish", {}),
    not_in_match: finished("publish"),
    mode_unavailable: small("publish"),
  },
  say: {
    invalid: held("say", { text: 7 }),
    forbidden: held("say", { text: "Hello." }),
    out_of_scope: asAgent("game_say", { text: "Hello." }),
    rate_limited: asAgent("game_say", { text: "Hello." }, ["say"]),
    mode_unavailable: small("say", { text: "Hello." }),
  },
};

/**
 * Codes that take a full machine, ten minutes of misbehaving policies or a race to bring about. The tests of the crates
 * do, with time and places of their own: `places` and `commanders` of the host, `artifacts` and `lanes` of the session.
 */
const elsewhere = {
  resolveApproval: ["busy", "rate_limited", "bad_token"],
  commanderApproval: ["approval_pending", "approval_failed", "busy", "rate_limited", "not_in_match", "bad_token"],
  tellCommanders: ["busy"],
  commanderSettings: ["busy"],
  policyDeploy: ["busy", "rate_limited"],
  policyRollback: ["busy", "rate_limited"],
  practice: ["rate_limited"],
  publish: ["busy"],
};

const open = [];
let server;
before(async () => (server = await startPlayerThree()));
after(async () => {
  await Promise.all(open.map((room) => room.leave()));
  await server.stop();
});

async function create(game, wish) {
  const client = await person(server, "Ann");
  const match = new InMatch(await client.create(game, wish));
  open.push(match.room);
  return Object.assign(match, { client });
}

async function enter(host, wish) {
  const match = new InMatch(await (await person(server, "Bob")).joinById(host.room.roomId, wish));
  open.push(match.room);
  return match;
}

/** An agent's policy that waits for its owner's word. */
async function asked(code) {
  const host = await stage.host();
  const air = await agent(server, (await host.do("mint", { role: "air" })).token);
  await host.do("mandate", { role: "air", mandate });
  const { approval } = await air.tool("policy_deploy", { runtime: "js", code });
  await air.close();
  return { host, approval: { role: "air", id: approval.id, approve: true } };
}

/** Asks the same thing over and over until it is refused with that code. */
function over(match, op, fields, code) {
  return eventually(async () => {
    const answer = await match.ask(op, fields);
    return answer.code === code && answer;
  }, `${op} is refused with ${code}`);
}

/** The codes in a column of a table of PROTOCOL.md. */
async function codesOf(heading, column) {
  const table = documented(await readFile(new URL("../../PROTOCOL.md", import.meta.url), "utf8"), heading);
  return (name) => (table.get(name).at(column).match(/`\w+`/g) ?? []).map((code) => code.slice(1, -1)).sort();
}

test("an operation is refused with each code that is documented, and with no other", async () => {
  const codes = await codesOf("Operations", 3);
  for (const { op, foreign, invalid } of rows) {
    const shown = Object.keys(refusals[op] ?? {}).concat(elsewhere[op] ?? []);
    if (foreign) shown.push("forbidden");
    if (invalid) shown.push("invalid");
    assert.deepEqual([...new Set(shown)].sort(), codes(op), op);
  }
});

test("a method is refused with each code that is documented, and with no other", async () => {
  const codes = await codesOf("Methods of `call`", 2);
  for (const [method, shown] of Object.entries(methods)) {
    assert.deepEqual(Object.keys(shown).concat(elsewhere[method] ?? []).sort(), codes(method), method);
  }
});

for (const [name, codes] of Object.entries({ ...refusals, ...methods })) {
  for (const [code, refused] of Object.entries(codes)) {
    test(`${name} can be refused with ${code}`, async () => {
      const answer = await refused();
      assert.deepEqual([answer.ok, answer.code], [false, code], JSON.stringify(answer));
      assert.ok(!JSON.stringify(answer).includes(CANARY), "the answer repeats its input");
    });
  }
}
