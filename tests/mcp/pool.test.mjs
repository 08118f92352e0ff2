// §4 "Agent sessions", §7, §13: the pool and a commander's library through the official MCP client, between matches and in
// one, under the eyes of an owner.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { InMatch, agent, commander, person, startPlayerThree } from "../lib/playerthree.mjs";

let server;
before(async () => (server = await startPlayerThree()));
after(() => server?.stop());

const policy = (number) => ({ runtime: "js", code: `function think() { return []; } // ${number}` });

async function annIn(options) {
  const duel = { teams: ["red", "blue"], bots: "nobody", private: true, team: "red", role: "ground" };
  return new InMatch(await (await person(server, "Ann")).create("agent-command", { ...duel, ...options }));
}

/** §4: the tool is listed with its schemas, and a seat token's agent publishes what it deployed. */
test("an agent publishes its active policy, once", async () => {
  const red = await annIn();
  const air = await agent(server, (await red.do("mint", { role: "air" })).token);
  const tool = air.tools.find(({ name }) => name === "pool_publish");
  assert.deepEqual([tool.annotations.readOnlyHint, tool.annotations.openWorldHint], [false, false]);
  await assert.rejects(air.tool("pool_publish"), /invalid/);
  await air.tool("policy_deploy", policy(1));
  const { policyId } = await air.tool("pool_publish");
  assert.deepEqual(await air.tool("pool_publish"), { policyId });
  await red.do("scopes", { role: "air", scopes: ["act", "policy"] });
  await assert.rejects(air.tool("pool_publish"), /out_of_scope/);
  await air.close();
  await red.room.leave();
});

/** §7, §4: a supervised commander's deploys, rollbacks and publications wait for its owner between matches, too. */
test("an owner approves what a commander does between matches, and the library goes into the match", async () => {
  const red = await annIn({ readySeconds: 600 });
  const { id, token } = await red.do("addCommander", { name: "Falcon", roles: ["air"] });
  const falcon = await commander(server, token);
  assert.equal((await falcon.tool("policy_status")).policy, null);
  assert.equal((await falcon.tool("policy_deploy", policy(1))).version, 1);
  await red.do("commanderSettings", { commander: id, settings: { mandate: { autonomy: "supervised" } } });

  const decide = async (request, approve) => {
    assert.equal(request.ok, false);
    const wait = falcon.tool("game_wait", { seconds: 60 });
    const decided = await red.do("commanderApproval", { commander: id, id: request.approval.id, approve });
    const { phase, wake } = await wait;
    assert.deepEqual([phase, wake], ["lobby", "approval"]);
    return decided;
  };
  const rejected = await falcon.tool("policy_deploy", policy(2));
  assert.deepEqual(await decide(rejected, false), { id: rejected.approval.id, status: "rejected" });
  assert.equal((await falcon.tool("policy_status")).policy.version, 1);
  const deploy = await falcon.tool("policy_deploy", policy(2));
  assert.deepEqual(await decide(deploy, true), { id: deploy.approval.id, status: "approved", version: 2 });
  const rollback = await falcon.tool("policy_rollback", { version: 1 });
  assert.deepEqual([rollback.approval.kind, (await decide(rollback, true)).version], ["policyRollback", 1]);
  const publish = await falcon.tool("pool_publish");
  assert.deepEqual([publish.approval.kind, publish.approval.version], ["publish", 1]);
  const [{ library }] = (await red.do("commanders")).commanders;
  assert.deepEqual([library.versions.map(({ version }) => version), library.active], [[1, 2], { air: 1 }]);
  const { policyId } = await decide(publish, true);
  assert.match(policyId, /^pol_\d+$/);
  const again = { commander: id, id: publish.approval.id, approve: true };
  assert.equal((await red.ask("commanderApproval", again)).code, "approval_not_found");
  const bob = new InMatch(await (await person(server, "Bob")).joinById(red.room.roomId, { team: "blue", role: "ground" }));
  assert.equal((await bob.ask("commanderApproval", again)).code, "forbidden");

  await red.do("assign", { role: "air", kind: "agent", commander: id });
  for (;;) {
    const { policy: active } = await falcon.tool("policy_status");
    if (active?.version === 1) break;
    await falcon.tool("game_wait", { seconds: 0.2 });
  }
  const inMatch = await falcon.tool("policy_deploy", policy(3));
  assert.equal(inMatch.approval.version, 3);
  const decided = await red.do("resolveApproval", { role: "air", id: inMatch.approval.id, approve: true });
  assert.equal(decided.version, 3);
  await red.do("assign", { role: "air", kind: "hold" });
  assert.equal((await falcon.tool("policy_status")).policy.version, 3, "what was deployed in the match stays");
  await falcon.close();
  await bob.room.leave();
  await red.room.leave();
});
