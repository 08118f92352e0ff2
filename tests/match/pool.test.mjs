// §13, §20.1, §20.5: a policy goes from its author's agent through the pool into somebody else's seat. Ann and Bob use the
// official SDK, Ann's commander the official MCP client.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { InMatch, commander, guest, person, startPlayerThree } from "../lib/playerthree.mjs";

let server;
before(async () => (server = await startPlayerThree()));
after(() => server?.stop());

const duel = { teams: ["red", "blue"], bots: "nobody", seed: 11, private: true };
const code = (secret) => `function think(obs) { /* code of ${secret} */ log("log of ${secret}"); return []; }`;

async function room(name, options) {
  return new InMatch(await (await person(server, name)).create("agent-command", { ...duel, ...options }));
}

/** A commander of the owner's with a stock MCP client. */
async function added(owner, fields) {
  const { id, token } = await owner.do("addCommander", { name: "Falcon", roles: ["air"], ...fields });
  return { id, agent: await commander(server, token) };
}

/** The first message of a type that is as wanted. */
async function told(match, type, wanted) {
  for (;;) {
    const message = await match.inbox.next(`playerthree:${type}`);
    if (wanted(message)) return message;
  }
}

const isBlueAir = ({ team, role }) => team === "blue" && role === "air";

/** §13: published by an agent, drafted by another owner, recorded at the end; §15: its text reaches its author alone. */
test("a foreign policy plays a drafted seat, and nothing that it wrote reaches anybody but its author", async () => {
  const ann = await room("Ann", { team: "red", role: "ground" });
  const { agent } = await added(ann);
  await assert.rejects(agent.tool("pool_publish"), /invalid/, "nothing is deployed");
  const deployed = await agent.tool("policy_deploy", { runtime: "js", code: code("ann") });
  assert.deepEqual([deployed.ok, deployed.version], [true, 1]);
  assert.ok(agent.received.includes("log of ann"), "an author reads their own log");
  const { policyId } = await agent.tool("pool_publish");
  assert.match(policyId, /^pol_\d{1,15}$/);

  const bob = await room("Bob", { team: "blue", role: "ground" });
  const { entries, next } = await bob.do("pool", { role: "air" });
  const metadata = { policyId, game: "agent-command", role: "air", runtime: "js" };
  assert.deepEqual(entries, [{ ...metadata, wins: 0, losses: 0, draws: 0, mine: false }]);
  assert.equal(next, undefined);
  assert.equal((await bob.ask("unpublish", { policyId })).code, "forbidden");
  assert.equal((await bob.ask("unpublish", { policyId: "pol_999" })).code, "forbidden");
  for (const bad of [{ policyId: "pol_999" }, { policyId: `${policyId} ` }, {}, { policyId, version: 1 }, { commander: "cmd_x", policyId }]) {
    assert.equal((await bob.ask("assign", { role: "air", kind: "policy", ...bad })).code, "invalid");
  }
  assert.equal((await bob.ask("assign", { role: "ground", kind: "policy", policyId })).code, "invalid", "another role's");
  await bob.do("assign", { role: "air", kind: "policy", policyId });
  await told(bob, "seats", ({ seats }) => seats.find(isBlueAir).mode === "policy");
  let status;
  do {
    await bob.call("ground", "wait", { seconds: 0.2 });
    status = (await bob.call("air", "policyStatus", {})).policy;
  } while (status.calls === 0);
  assert.deepEqual([status.version, status.policyId, status.errors, status.logs], [null, policyId, 0, []]);
  const [card] = (await bob.do("cards")).cards;
  assert.deepEqual([card.kind, card.mode, card.aiPlayer], ["policy", "policy", true]);
  assert.deepEqual(card.policy, { source: "pool", policyId });
  for (const method of ["publish", "practice"]) {
    const args = method === "publish" ? {} : { opponent: "recruit", ticks: 1 };
    assert.equal((await bob.ask("call", { role: "air", method, args })).code, "invalid", method);
  }

  // Others at the table: a spectator, an opponent, and an agent of Bob's own.
  const { token } = await bob.do("mintSpectator", {});
  const watcher = new InMatch(await guest(server).joinById(bob.room.roomId, { token }));
  const mate = await added(bob, { name: "Heron" });
  await mate.agent.tool("policy_status");

  const red = new InMatch(await (await person(server, "Eve")).joinById(bob.room.roomId, { team: "red", role: "ground" }));
  await red.room.leave();
  await told(bob, "status", ({ outcomes }) => outcomes.blue === "win");
  const ended = await bob.do("pool");
  assert.deepEqual(ended.entries, [{ ...metadata, wins: 1, losses: 0, draws: 0, mine: false }]);

  const parties = { bob, watcher, red, "bob's agent": mate.agent };
  for (const [who, { received }] of Object.entries(parties)) {
    for (const secret of ["code of ann", "log of ann", "function think"]) {
      assert.ok(!received.includes(secret), `${who} was told the ${secret}`);
    }
  }

  const mine = (await ann.do("pool", { mine: true })).entries;
  assert.deepEqual(mine.map(({ state, wins }) => [state, wins]), [["open", 1]]);
  await ann.do("unpublish", { policyId });
  assert.deepEqual((await bob.do("pool")).entries, []);
  assert.equal((await bob.ask("assign", { role: "air", kind: "policy", policyId })).code, "invalid");
  for (const one of [agent, mate.agent]) await one.close();
  for (const one of [bob, ann]) await one.room.leave();
});

/** §20.1, §20.5: a version of one's own library takes a seat; one that fails there is said to, and a bot stands in. */
test("a version of one's own library plays a seat, and one that fails its trial is policy_failed", async () => {
  const bob = await room("Bob", { team: "blue", role: "ground", bots: "recruit", readySeconds: 600 });
  const { id, agent } = await added(bob, { kind: "policy" });
  await agent.tool("policy_deploy", { runtime: "js", code: code("bob") });
  const strict = "function think() { return [{ kind: 'fly' }]; }";
  assert.equal((await agent.tool("policy_deploy", { runtime: "js", code: strict })).version, 2);
  assert.equal((await bob.ask("assign", { role: "air", kind: "agent", commander: id })).code, "invalid");
  assert.equal((await bob.ask("assign", { role: "air", kind: "policy", commander: id, version: 9 })).code, "invalid");
  const state = (wanted) =>
    told(bob, "status", ({ readiness }) => readiness?.seats.find(isBlueAir).state === wanted);
  await bob.do("assign", { role: "air", kind: "policy", commander: id });
  await state("policy_failed");
  const card = async () => (await bob.do("cards")).cards.find(({ seat }) => seat.role === "air");
  assert.deepEqual([(await card()).mode, (await card()).policy], ["bot", undefined]);
  await bob.do("assign", { role: "air", kind: "policy", commander: id, version: 1 });
  await state("ready");
  assert.deepEqual((await card()).policy, { source: "library", version: 1 });
  await bob.do("ready", { role: "ground", ready: true });
  await bob.until((view) => view.tick > 0, "the match runs");
  await agent.close();
  await bob.room.leave();
});
