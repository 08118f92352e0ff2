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

test("hostile policies in five seats stop neither the tick nor the honest policy", async () => {
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
    await other.close();
  }
  await Promise.all(players.map((player) => player.room.leave()));
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
