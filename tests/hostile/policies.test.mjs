// §11, field reports U86 and U109: hostile policies in many seats at once, through the path that agents use. The match's
// tick goes on, the honest policy next to them keeps thinking, and what a policy does to its own language stays there.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { InMatch, agent, person, startPlayerThree } from "../lib/playerthree.mjs";
import { eventually } from "../lib/rooms.mjs";

let server;
before(async () => (server = await startPlayerThree()));
after(() => server.stop());

const hostile = [
  "let n = 0; function think() { n += 1; for (; n > 2;); return [] }",
  "let n = 0; function think() { n += 1; if (n > 2) Array(3e7).join(''); return [] }",
  "let n = 0; function think() { n += 1; if (n > 2) /(a+)+$/.test('a'.repeat(50) + 'b'); return [] }",
  "const kept = []; function think() { for (let i = 0; i < 9000; i += 1) kept.push({ i, text: 'x' + i }); return [] }",
  "function think() { for (let i = 0; i < 200; i += 1) log('z'.repeat(5000)); return Array(5000).fill({ kind: 'stop', units: [] }) }",
];

/** A match of three people with two agents each. */
async function crowded() {
  const teams = ["red", "blue", "green"];
  const red = new InMatch(await (await person(server, "Ann")).create("agent-command", { teams, bots: "nobody", seed: 3, team: "red", role: "ground" }));
  const players = [red];
  for (const team of teams.slice(1)) {
    players.push(new InMatch(await (await person(server, team)).joinById(red.room.roomId, { team, role: "ground" })));
  }
  const agents = [];
  for (const player of players) {
    for (const role of ["air", "ground"]) {
      const { token } = await player.do("mint", { role });
      await player.do("controller", { role, controller: "agent" });
      agents.push(await agent(server, token));
    }
  }
  return { players, agents };
}

async function leave({ players, agents }) {
  for (const one of agents) await one.close();
  await Promise.all(players.map((player) => player.room.leave()));
}

test("hostile policies in five seats stop neither the tick nor the honest policy", async () => {
  const table = await crowded();
  const { players: [red], agents } = table;
  const [honest, ...others] = agents;
  assert.ok((await honest.tool("policy_deploy", { runtime: "js", code: "function think() { return [] }" })).ok);
  const deployed = [];
  for (const [index, other] of others.entries()) deployed.push(await other.tool("policy_deploy", { runtime: "js", code: hostile[index] }));
  assert.ok(deployed.filter(({ ok }) => ok).length >= 3, JSON.stringify(deployed));
  const calls = async () => (await honest.tool("policy_status")).policy;
  const [{ tick }, before] = [red.view.view, await calls()];
  await red.until((view) => view.tick > tick + 50, "fifty ticks beside hostile policies");
  const status = await eventually(async () => {
    const now = await calls();
    return now.calls >= before.calls + 15 && now;
  }, "the honest policy thinks on");
  assert.equal(status.errors, 0);
  const failed = (await others[0].tool("policy_status")).policy;
  assert.equal(failed.lastError.code, "timeout");
  for (const other of agents) {
    const { length } = JSON.stringify(await other.tool("policy_status"));
    assert.ok(length < 60_000, "a status stays bounded");
  }
  await leave(table);
});

// Field reports U86 and U92: policies that compute nearly as long as they may, at every think, leave another match its ticks.
test("a match beside six policies that spin loses no tick", async (t) => {
  const table = await crowded();
  const spin = (after, rounds) => ({
    runtime: "js",
    code: `let n = 0; function think() { n += 1; for (let i = 0; n > ${after} && i < ${rounds}; i += 1); return [] }`,
  });
  const { probe } = await table.agents[0].tool("policy_deploy", spin(0, 3_000));
  // Half of what a call may use, but for the one that their trial sees.
  const rounds = Math.ceil((3_000 * 10) / probe.maxMs);
  for (const one of table.agents) assert.ok((await one.tool("policy_deploy", spin(1, rounds))).ok);
  const quiet = new InMatch(await (await person(server, "Quinn")).create("agent-command", { teams: ["red", "blue"], bots: "nobody", team: "red", role: "ground" }));
  await quiet.until((view) => view.tick > 5, "the other match runs");
  const times = [];
  quiet.room.onMessage("playerthree:view", () => times.push(performance.now()));
  const [from, began] = [quiet.view.view.tick, performance.now()];
  await quiet.until((view) => view.tick >= from + 100, "a hundred ticks beside them");
  // A match makes up for up to five ticks that come late, and loses later ones.
  const lost = (performance.now() - began) / 100 - (quiet.view.view.tick - from);
  assert.ok(lost < 5, `${lost} ticks lost`);
  const gaps = times.slice(1).map((time, index) => time - times[index]).sort((a, b) => a - b);
  t.diagnostic(`views came ${gaps[gaps.length >> 1].toFixed(1)} ms apart (p50), ${gaps.at(-2).toFixed(1)} ms (p99)`);
  const statuses = await Promise.all(table.agents.map((one) => one.tool("policy_status")));
  const calls = statuses.reduce((sum, { policy }) => sum + policy.calls, 0);
  assert.ok(calls > 30, `they play: ${JSON.stringify(statuses)}`);
  await leave(table);
  await quiet.room.leave();
});

test("tricks on the language itself give a closed code or an honest answer", async () => {
  const red = new InMatch(await (await person(server, "Ann")).create("agent-command", { teams: ["red", "blue"], bots: "nobody", role: "ground" }));
  const air = await agent(server, (await red.do("mint", { role: "air" })).token);
  const tricks = [
    ["Object.prototype.toJSON = () => [1]; Array.prototype.toJSON = () => 'x'; function think() { return [{}] }", "bad_output"],
    ["function think() { return [{ get kind() { throw new Error('mine') } }] }", "bad_output"],
    ["let think = new Proxy(function () {}, { apply: () => [{ kind: 1n }] })", "bad_output"],
    ["async function think() { return [] }", "bad_output"],
    ["function think() { return [{ kind: '\\ud800' }] }", "bad_output"],
    ["const detail = { get length() { return 1e9 } }; function think() { return [] }", "bad_output"],
    ["Object.defineProperty(globalThis, 'think', { get() { for (;;); } })", "timeout"],
    ["function think() { throw { get message() { for (;;); } } }", "timeout"],
    ["function think() { Promise.resolve().then(function again() { return Promise.resolve().then(again) }); return [] }", "timeout"],
    ["function think() { return new Proxy([], { get: (list, key) => (key === 'length' ? 2 ** 32 : list[key]) }) }", "timeout"],
    ["var think = class {}", "threw"],
    ["function think() { throw new Error('S'.repeat(1e6)) }", "threw"],
    ["\u0000", "compile"],
    ["", "missing_export"],
  ];
  for (const [code, expected] of tricks) {
    const deploy = () => air.tool("policy_deploy", { runtime: "js", code }).catch(({ message }) => assert.equal(message, "rate_limited"));
    const answer = await eventually(deploy, "the rate lets it pass");
    assert.deepEqual([answer.ok, answer.error?.code], [false, expected], code);
    assert.ok(JSON.stringify(answer).length < 4_000, "an error's text is bounded");
  }
  assert.equal((await air.tool("policy_status")).policy, null);
  const { tick } = red.view.view;
  await red.until((view) => view.tick > tick + 5, "the match goes on");
  await air.close();
  await red.room.leave();
});
