// §§12, 22: an owner and their agents talk, and teammates signal, over the shipped program with the official clients.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { InMatch, agent, guest, person, startPlayerThree } from "../lib/playerthree.mjs";
import { eventually } from "../lib/rooms.mjs";

let server;
before(async () => (server = await startPlayerThree()));
after(() => server.stop());

const duel = { teams: ["red", "blue"], bots: "nobody", seed: 11 };

/** Ann's ground and her agent in the air, Bob against them, and somebody who watches red. */
async function seated() {
  const red = new InMatch(await (await person(server, "Ann")).create("agent-command", { ...duel, team: "red", role: "ground" }));
  const { roomId } = red.room;
  const blue = new InMatch(await (await person(server, "Bob")).joinById(roomId, { team: "blue", role: "ground" }));
  const watcher = new InMatch(await guest(server).joinById(roomId, { as: "spectator", team: "red" }));
  const air = await agent(server, (await red.do("mint", { role: "air" })).token);
  const enemy = await agent(server, (await blue.do("mint", { role: "air" })).token);
  // The entry into the match has been told.
  await Promise.all([air, enemy].map((each) => each.tool("game_wait", { seconds: 0 })));
  const end = async () => {
    await Promise.all([air.close(), enemy.close()]);
    await Promise.all([red, blue, watcher].map(({ room }) => room.leave()));
  };
  return { red, blue, watcher, air, enemy, end };
}

const said = (client) => client.inbox.messages.filter(({ type }) => type === "playerthree:said").map(({ payload }) => payload);

test("an owner's message wakes their agent once, and the answer reaches the owner alone", async () => {
  const { red, blue, watcher, air, enemy, end } = await seated();
  const [told, answered] = ["look to the north 4711", "on my way 4712"];
  const waiting = air.tool("game_wait", { seconds: 30 });
  assert.deepEqual(await red.do("tell", { roles: ["air"], text: told, ping: { x: 700, y: 800 } }), {});
  const woken = await waiting;
  assert.equal(woken.wake, "owner_message");
  assert.deepEqual(woken.messages.map(({ from, text, ping }) => ({ from, text, ping })), [{ from: "owner", text: told, ping: { x: 700, y: 800 } }]);
  assert.equal((await air.tool("game_observe")).messages, undefined);

  assert.equal((await air.tool("game_say", { text: answered })).ok, true);
  await eventually(() => said(red).length > 0, "the owner hears it");
  const [{ op, team, role, text }] = said(red);
  assert.deepEqual({ op, team, role, text }, { op: "said", team: "red", role: "air", text: answered });
  await blue.do("view");
  await watcher.do("view");
  await enemy.tool("game_observe", { detail: "all" });
  for (const [who, bytes] of Object.entries({ blue: blue.received, watcher: watcher.received, enemy: enemy.received, log: server.lines.join("\n") })) {
    for (const words of [told, answered]) assert.ok(!bytes.includes(words), `${who} read "${words}"`);
  }
  assert.ok(!red.received.includes(told), "an owner is not sent their own words");
  await end();
});

test("a message to another's seat, out of bounds or too fast is refused with its code", async () => {
  const { red, blue, watcher, air, end } = await seated();
  const code = async (client, fields) => (await client.ask("tell", fields)).code;
  const hello = { roles: ["air"], text: "hello" };
  assert.equal(await code(blue, { ...hello, team: "red" }), "forbidden");
  assert.equal(await code(watcher, hello), "forbidden");
  assert.equal(await code(red, { ...hello, team: "gold" }), "forbidden");
  for (const text of ["", "\u202eolleh", "x".repeat(301), 7]) assert.equal(await code(red, { ...hello, text }), "invalid");
  const codes = [];
  for (let sent = 0; sent < 8; sent++) codes.push(await code(red, hello));
  assert.ok(codes.includes("rate_limited"), String(codes));
  const { messages } = await air.tool("game_observe");
  assert.equal(messages.length, codes.filter((each) => each === undefined).length);
  await red.do("scopes", { role: "air", scopes: ["act"] });
  await assert.rejects(air.tool("game_say", { text: "hello" }), /out_of_scope/);
  await end();
});

test("a person asks a teammate's agent, which takes it on and is done, and the other side sees nothing", async () => {
  const { red, blue, watcher, air, enemy, end } = await seated();
  const waiting = air.tool("game_wait", { seconds: 30 });
  assert.deepEqual(await red.act("ground", { kind: "signal", signal: { kind: "look", x: 1357, y: 1246, to: "air" } }), ["ok"]);
  const woken = await waiting;
  assert.equal(woken.wake, "signal");
  const [request] = woken.signals.inbox;
  assert.deepEqual([request.id, request.from, request.state, request.x], ["sg_1", "ground", "submitted", 1357]);
  const answer = async (update) => (await air.tool("game_act", { intents: [{ kind: "signal_update", id: request.id, update }] })).acks[0];
  assert.deepEqual(await answer("ack"), { ok: true });
  for (const client of [red, watcher]) await client.until((view) => view.signals[0]?.state === "working");
  assert.deepEqual(await answer("done"), { ok: true });
  assert.deepEqual(await answer("done"), { ok: false, code: "signal", signalCode: "closed" });
  await red.until((view) => view.signals[0]?.state === "completed" && view.signals[0].by === "air");

  const stranger = await enemy.tool("game_act", { intents: [{ kind: "signal_update", id: request.id, update: "ack" }] });
  assert.deepEqual(stranger.acks[0], { ok: false, code: "signal", signalCode: "unknown_signal" });
  assert.deepEqual((await enemy.tool("game_observe")).observation.signals, { inbox: [], sent: [] });
  assert.deepEqual((await blue.do("view")).view.signals, []);
  assert.ok(!enemy.received.includes("1357"));
  await end();
});
