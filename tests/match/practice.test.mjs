// §13 through the paths that people and agents use: a practice over the official Colyseus SDK and over the official MCP
// client, beside a live match that does not notice.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connect } from "../../client-sdk/js/dist/playerthree.js";
import { InMatch, agent, person, startPlayerThree } from "../lib/playerthree.mjs";
import { eventually, within } from "../lib/rooms.mjs";

let server;
before(async () => (server = await startPlayerThree()));
after(() => server.stop());

const artifact = { runtime: "js", code: "function think(obs) { log(obs.tick); return [{ kind: 'stop', units: [] }]; }" };
/** One that takes some milliseconds a think, so that a long practice lasts on any machine. */
const slow = { runtime: "js", code: "function think() { let n = 0; for (let i = 0; i < 1e5; i++) n += i; return []; }" };

/** A person's match with an agent on its seat `air`. */
async function table(name) {
  const client = await person(server, name);
  const room = await client.create("agent-command", { team: "red", role: "ground", private: true });
  const match = new InMatch(room);
  const { token } = await match.do("mint", { team: "red", role: "air" });
  return { room, match, air: await agent(server, token) };
}

test("a person practises over the official SDK, and the live match does not notice", async () => {
  const client = await person(server, "Ann");
  const match = connect(await client.create("agent-command", { team: "red", role: "ground", private: true }));
  const seat = match.seat("ground");
  const practice = { opponent: "recruit", ticks: 60, seed: 7, artifact };
  const result = await seat.practice(practice);
  assert.deepEqual([result.ok, result.ticks, result.policy.version, result.policy.calls], [true, 60, 0, 30]);
  assert.ok(result.report && result.wallMs >= 0);
  assert.equal(await seat.policyStatus(), null, "what was tried is not deployed");
  const again = await seat.practice(practice);
  assert.deepEqual([again.outcome, again.report], [result.outcome, result.report], "the same every time");

  await assert.rejects(seat.practice({ opponent: "recruit", ticks: 60 }), { code: "invalid" }, "nothing to test");
  await seat.policyDeploy(artifact);
  assert.equal((await seat.practice({ opponent: "recruit", ticks: 60 })).policy.version, 1);

  const broken = await seat.practice({ ...practice, artifact: { runtime: "js", code: "function think(" } });
  assert.deepEqual([broken.ok, broken.code, broken.policy.lastError.code], [false, "policy", "compile"]);
  assert.ok(!("outcome" in broken) && !("report" in broken) && !("ticks" in broken));
});

test("an agent's long practice tells its progress, ends with its call and leaves the tick alone", async () => {
  const { match, air } = await table("Bob");
  const long = { name: "practice_run", arguments: { opponent: "recruit", ticks: 18_000, artifact: slow } };
  const stop = new AbortController();
  const told = [];
  let more;
  const twice = new Promise((resolve) => (more = resolve));
  const onprogress = (progress) => told.push(progress) === 2 && more();
  const practice = air.client.callTool(long, { onprogress, signal: stop.signal, timeout: 120_000 });
  const other = air.client.callTool(long, { signal: stop.signal, timeout: 120_000 });
  const ended = Promise.allSettled([practice, other]);
  const { tick } = (await match.until((view) => view !== undefined)).view;
  await within(Promise.race([twice, ended]), "progress");
  assert.equal(told.length, 2, "a practice of so many ticks takes longer than that");
  assert.deepEqual(told.map(({ total }) => total), [18_000, 18_000]);
  const [first, second] = told.map(({ progress }) => progress);
  assert.ok(0 < first && first < second && second < 18_000, `${first} and then ${second} ticks were played`);
  await match.until((view) => view.tick > tick + 10, "the live match goes on");
  stop.abort();
  await ended;
  const short = { opponent: "recruit", ticks: 10, artifact };
  const result = await eventually(() => air.tool("practice_run", short).catch(() => false), "its place is given back");
  assert.equal(result.ticks, 10);
  await air.close();
});

test("a practice under way fills its owner's places, and a scope that is taken away ends the right to more", async () => {
  const { match, air } = await table("Cleo");
  const stop = new AbortController();
  const long = { name: "practice_run", arguments: { opponent: "recruit", ticks: 18_000, artifact: slow } };
  const ended = [];
  const underWay = [1, 2].map(
    () =>
      new Promise((onprogress) =>
        ended.push(air.client.callTool(long, { onprogress, signal: stop.signal, timeout: 120_000 }).catch(() => {})),
      ),
  );
  await within(Promise.all(underWay), "both practices are under way");
  const own = { role: "ground", method: "practice", args: { opponent: "recruit", ticks: 1, artifact } };
  const refused = await match.ask("call", own);
  assert.equal(refused.code, "busy");
  stop.abort();
  await Promise.all(ended);
  await match.do("scopes", { role: "air", scopes: ["act"] });
  await assert.rejects(air.tool("practice_run", long.arguments), /out_of_scope/);
  await air.close();
});

/** §13, and what a newcomer may do first: the skill's example as it is beats the weakest bots, whatever place the seed draws. */
test("an example of the served skill beats the weakest bots in a practice", async () => {
  const duel = { teams: ["red", "blue"], team: "red", role: "ground", private: true };
  const match = new InMatch(await (await person(server, "Dan")).create("agent-command", duel));
  const { token } = await match.do("mint", { team: "red", role: "air" });
  const air = await agent(server, token);
  const artifact = { runtime: "js", code: "", include: ["agent-command-strategy/policies/air.js"] };
  for (const seed of [5, 6]) {
    const result = await air.tool("practice_run", { opponent: "recruit", ticks: 9_000, seed, artifact });
    assert.deepEqual([result.outcome, result.policy.errors], ["win", 0], JSON.stringify(result));
  }
  await air.close();
  await match.room.leave();
});
