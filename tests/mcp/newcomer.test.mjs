// A scripted agent that knows nothing but the list of tools finds its way through the shipped server with the official
// client: it reads, waits in the lobby, is seated, plays to the end, loses its connection and comes back (§§2, 4, 20).

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Newcomer } from "../lib/newcomer.mjs";
import { InMatch, commander, person, seatAgents, startPlayerThree } from "../lib/playerthree.mjs";
import { within } from "../lib/rooms.mjs";

let server;
before(async () => (server = await startPlayerThree()));
after(() => server?.stop());

const MINUTE = 60_000;

/** Seat tokens: each seat's agent has one session, which outlives its connections. */
test("two newcomers with seat tokens play tic-tac-toe from the lobby to its end", async () => {
  const held = { readySeconds: 600, bots: "nobody" };
  const ann = new InMatch(await (await person(server, "Ann")).create("tic-tac-toe", { ...held, team: "x" }));
  const bob = new InMatch(await (await person(server, "Bob")).joinById(ann.room.roomId, { team: "o" }));
  const seated = async (owner) => {
    await owner.do("assign", { role: "player", kind: "agent" });
    const { token } = await owner.do("mint", { role: "player" });
    const newcomer = new Newcomer(seatAgents(server, token));
    await newcomer.arrive();
    const briefing = await newcomer.study();
    assert.equal(briefing.phase, "lobby");
    return newcomer;
  };
  const newcomers = [await seated(ann), await seated(bob)];
  assert.ok(newcomers[0].read.get("tactics").length > 0);

  const play = async (newcomer) => {
    const { entry } = await newcomer.waitForMatch();
    assert.ok(entry.observation, "the entry shows the first observation");
    const { outcome } = await newcomer.play(() => newcomer.comeBack());
    await newcomer.close();
    return outcome;
  };
  const outcomes = await within(Promise.all(newcomers.map(play)), "the end of the game", MINUTE);
  assert.deepEqual(outcomes.sort(), outcomes.includes("draw") ? ["draw", "draw"] : ["loss", "win"]);
  for (const { acks } of newcomers) assert.ok(acks.includes("ok"), String(acks));
  await Promise.all([ann.room.leave(), bob.room.leave()]);
});

/** A commander token: the agent is there before any match is, and a lost connection leaves nothing behind. */
test("a newcomer with a commander token plays agent-command against bots from the lobby to its end", async () => {
  const held = { readySeconds: 600, private: true, match: { maxTicks: 150 } };
  const ann = new InMatch(await (await person(server, "Ann")).create("agent-command", { ...held, team: "red", role: "ground" }));
  const { id, token } = await ann.do("addCommander", { name: "Falcon", roles: ["air"] });
  const newcomer = new Newcomer(() => commander(server, token));
  await newcomer.arrive();
  const briefing = await newcomer.study();
  assert.deepEqual([briefing.phase, briefing.commands], ["lobby", [{ role: "air", phase: "lobby" }]]);
  for (const topic of ["combat", "map", "playerthree-commander"]) assert.ok(newcomer.read.get(topic).length > 0, topic);
  assert.equal(await newcomer.loseConnectionWhileWaiting(), "lost");

  const matched = newcomer.waitForMatch();
  await ann.do("assign", { role: "air", kind: "agent", commander: id });
  await ann.do("ready", { role: "ground", ready: true });
  const { seen } = await within(matched, "the start of the match", MINUTE);
  assert.deepEqual(seen.at(-1), { team: "red", role: "air" });
  const ended = await within(newcomer.play(() => newcomer.loseConnectionWhileWaiting()), "the end", MINUTE);
  assert.ok(["win", "loss", "draw"].includes(ended.outcome), JSON.stringify(ended));
  assert.ok(newcomer.acks.includes("ok"), String(newcomer.acks));
  await newcomer.close();
  await ann.room.leave();
});
