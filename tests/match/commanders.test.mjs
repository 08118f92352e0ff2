// §4 "Agent sessions", §5, §20: a person and their named commander, each with a stock client: the official SDK in the
// room, the official MCP client with nothing but an address and a token.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { InMatch, commander, guest, person, startPlayerThree } from "../lib/playerthree.mjs";

let server;
before(async () => (server = await startPlayerThree()));
after(() => server?.stop());

const held = { teams: ["red", "blue"], bots: "nobody", seed: 11, role: "ground", private: true };

async function annIn(options) {
  return new InMatch(await (await person(server, "Ann")).create("agent-command", { ...held, ...options }));
}

/** A wait that nothing ends, once the server is known to hold it: it has told of its progress. */
async function longWait(agent) {
  let started;
  const underWay = new Promise((resolve) => (started = resolve));
  const wait = { name: "game_wait", arguments: { seconds: 60 } };
  const result = agent.client.callTool(wait, { onprogress: () => started() });
  // Whoever starts it looks at how it ends later.
  result.catch(() => {});
  await underWay;
  return { result };
}

/** §4 "Lobby phase", "Mid-match seat assignment", §5 rotation, §20.3. */
test("a commander waits, is seated, gets ready, plays, and its rotated token is dead at once", async () => {
  const red = await annIn({ readySeconds: 600 });
  const { id, token, mcpPath } = await red.do("addCommander", { name: "Falcon", roles: ["air"] });
  assert.equal(mcpPath, "/mcp");
  const falcon = await commander(server, token);
  const alone = await falcon.tool("game_observe");
  assert.deepEqual([alone.phase, alone.seat, alone.startsWhen.kind], ["lobby", null, "seat"]);
  const { commands } = await falcon.tool("game_briefing");
  assert.deepEqual(commands, [{ role: "air", phase: "lobby" }]);

  const seating = await longWait(falcon);
  await red.do("assign", { role: "air", kind: "agent", commander: id });
  const { structuredContent: seated } = await seating.result;
  assert.deepEqual([seated.phase, seated.seat], ["lobby", { team: "red", role: "air" }]);
  assert.deepEqual([seated.match.size, seated.match.maxTicks], [32, 9000], "the game says what will be played");
  await assert.rejects(falcon.tool("game_act", { intents: [{ kind: "stop", units: [] }] }), /paused/);
  assert.equal((await falcon.tool("game_ready")).you.ready, true);

  const starting = await longWait(falcon);
  const pending = (await red.do("readiness")).seats.filter((seat) => seat.state !== "ready");
  assert.deepEqual(pending.map(({ team, role }) => [team, role]), [["red", "ground"]]);
  await red.do("ready", { role: "ground", ready: true });
  const { structuredContent: entry } = await starting.result;
  assert.equal(entry.phase, "match");
  const scout = entry.observation.air.units.find((unit) => unit.kind === "scout");
  const { acks } = await falcon.tool("game_act", { intents: [{ kind: "move", units: [scout.id], x: 1600, y: 1600 }] });
  assert.deepEqual(acks, [{ ok: true }]);
  await red.until((view) => view.units.some((unit) => unit.id === scout.id && unit.x !== scout.x), "the scout moves");

  const inFlight = await longWait(falcon);
  const rotated = await red.do("rotate", { commander: id });
  const ended = await inFlight.result.then(({ isError, content }) => isError && content[0].text, String);
  assert.match(ended, /bad_token|401|closed|terminated|fetch/i);
  await assert.rejects(falcon.tool("game_observe"));
  await assert.rejects(commander(server, token));

  const again = await commander(server, rotated.token);
  assert.equal((await again.tool("game_observe")).observation.role, "air");
  await red.do("assign", { role: "air", kind: "hold" });
  const back = await again.tool("game_observe");
  assert.deepEqual([back.phase, back.seat], ["lobby", null], "back in its lobby");
  await again.close();
  await red.room.leave();
});

/** §12 `commanders.tell`, §4 "Lobby phase": words between matches, into the match, and back. */
test("an owner and their commander talk before it has a seat, and what was not read comes along", async () => {
  const red = await annIn({ readySeconds: 600 });
  const bob = new InMatch(await (await person(server, "Bob")).joinById(red.room.roomId, { team: "blue", role: "ground" }));
  const { id, token } = await red.do("addCommander", { name: "Falcon", roles: ["air"] });
  const other = await red.do("addCommander", { name: "Heron", roles: ["air"] });
  const [falcon, heron] = [await commander(server, token), await commander(server, other.token)];
  const waiting = await longWait(falcon);
  const [told, unread, answered] = ["look north 5811", "look south 5812", "ready 5813"];
  await red.do("tellCommanders", { commanders: [id], text: told });
  const { structuredContent: woken } = await waiting.result;
  assert.deepEqual([woken.phase, woken.wake], ["lobby", "owner_message"]);
  assert.deepEqual(woken.messages, [{ from: "owner", tick: 0, text: told }]);
  assert.equal((await falcon.tool("game_observe")).messages, undefined, "once");
  assert.equal((await heron.tool("game_observe")).messages, undefined, "and to nobody else");

  assert.deepEqual(await falcon.tool("game_say", { text: answered }), { ok: true, tick: 0 });
  const said = await red.inbox.next("playerthree:said");
  assert.deepEqual(said, { op: "said", commander: id, role: "air", tick: 0, text: answered });
  for (const commanders of [[id], ["cmd_of_nobody"], "all"]) {
    assert.equal((await bob.ask("tellCommanders", { commanders, text: told })).code, "forbidden");
  }
  for (const text of ["", "x".repeat(501), 7]) {
    assert.equal((await red.ask("tellCommanders", { commanders: "all", text })).code, "invalid");
  }

  await red.do("tellCommanders", { commanders: "all", text: unread });
  await red.do("assign", { role: "air", kind: "agent", commander: id });
  const seated = await falcon.tool("game_wait", { seconds: 60 });
  assert.deepEqual([seated.seat, seated.wake, seated.messages[0].text], [{ team: "red", role: "air" }, "owner_message", unread]);
  assert.equal((await heron.tool("game_observe")).messages[0].text, unread);
  await bob.do("view");
  for (const words of [told, unread, answered]) assert.ok(!bob.received.includes(words));
  assert.ok(!server.lines.join("\n").includes(told));
  await Promise.all([falcon.close(), heron.close()]);
  await Promise.all([bob.room.leave(), red.room.leave()]);
});

/** §20.2: everybody who sees the seats is told who plays them and how, whenever that changes. */
test("identity cards come with the welcome and with every change, and say what is only said", async () => {
  const red = await annIn();
  assert.deepEqual((await red.inbox.next("playerthree:cards")).cards, []);
  const metadata = { provider: "Example", model: "example-1", shared: true };
  const { id, token } = await red.do("addCommander", { name: "Falcon", roles: ["air"], metadata });
  const watcher = new InMatch(await guest(server).joinById(red.room.roomId, { as: "spectator", team: "red" }));
  await watcher.inbox.next("playerthree:cards");
  await red.do("assign", { role: "air", kind: "agent", commander: id });
  const [card] = (await watcher.inbox.next("playerthree:cards")).cards;
  assert.deepEqual(card.harness, { verified: false });
  assert.deepEqual(card.model, { name: "example-1", selfReported: true });
  const falcon = await commander(server, token);
  await falcon.tool("game_observe");
  let live = card;
  while (live.mode !== "live" || !live.harness.label) [live] = (await watcher.inbox.next("playerthree:cards")).cards;
  assert.deepEqual(live.harness, { label: "end-to-end test", verified: false });
  await red.do("controller", { role: "air", controller: "bot" });
  while ((await watcher.inbox.next("playerthree:cards")).cards.length > 0);
  assert.ok(!watcher.received.includes(id) && !watcher.received.includes("Falcon"));
  await falcon.close();
  await Promise.all([watcher.room.leave(), red.room.leave()]);
});

/** §4 "Owner control", "Mid-match seat assignment": the same commander again. */
test("a commander that is assigned again is in control again, and its owner may hold the seat with it", async () => {
  const red = await annIn();
  const { id, token } = await red.do("addCommander", { name: "Falcon", roles: ["air"] });
  const falcon = await commander(server, token);
  const assign = { role: "air", kind: "agent", commander: id };
  await red.do("assign", assign);
  const stop = { kind: "stop", units: [] };
  // It passes every gate, and is the game's to refuse.
  const acts = async () => (await falcon.tool("game_act", { intents: [stop] })).acks.map(({ code, gameCode }) => gameCode ?? code)[0];
  assert.equal(await acts(), "no_units");
  await red.do("controller", { role: "air", controller: "bot" });
  assert.equal(await acts(), "not_controller");
  await red.do("assign", assign);
  assert.equal(await acts(), "no_units");
  assert.deepEqual(await red.act("air", stop), ["not_controller"]);
  await red.do("assign", { ...assign, ownerControl: true });
  assert.deepEqual(await red.act("air", stop), ["no_units"]);
  await falcon.close();
  await red.room.leave();
});

/** §4, §20: the host's word starts a held match; commanders are their owner's alone, and one at a time. */
test("commanders are their owner's alone, and only the host starts a match that is held for the host", async () => {
  const red = await annIn({ hold: true });
  const bob = await person(server, "Bob");
  const blue = new InMatch(await bob.joinById(red.room.roomId, { team: "blue", role: "ground" }));
  const { id, token } = await red.do("addCommander", { name: "Falcon", roles: ["ground", "air"] });
  for (const [op, fields] of [
    ["rotate", { commander: id }],
    ["removeCommander", { commander: id }],
    ["commanderSettings", { commander: id, settings: {} }],
    ["assign", { role: "air", kind: "agent", commander: id }],
  ]) {
    const unknown = { ...fields, commander: "cmd_of_nobody" };
    assert.equal((await blue.ask(op, fields)).code, (await blue.ask(op, unknown)).code, `${op}: as unknown as none`);
    assert.equal((await blue.ask(op, fields)).ok, false);
  }
  assert.deepEqual((await blue.do("commanders")).commanders, []);

  await red.do("assign", { role: "air", kind: "agent", commander: id });
  assert.equal((await red.ask("removeCommander", { commander: id })).code, "busy");
  const { settings } = await red.do("commanderSettings", { commander: id, settings: { scopes: ["act"] } });
  assert.deepEqual(settings.scopes, ["act"]);
  const [card] = (await blue.do("cards")).cards;
  assert.deepEqual([card.seat, card.kind, card.aiPlayer], [{ team: "red", role: "air" }, "agent", true]);
  assert.ok(!JSON.stringify(card).includes(id));

  const falcon = await commander(server, token);
  const commands = async () => (await falcon.tool("game_briefing")).commands;
  const idle = { role: "ground", phase: "lobby" };
  assert.deepEqual(await commands(), [idle, { role: "air", phase: "lobby", team: "red" }]);

  assert.equal((await blue.ask("start")).code, "forbidden");
  assert.equal((await red.ask("start", { inSeconds: 61 })).code, "invalid");
  await red.do("start");
  await red.until((view) => view.tick > 0, "the match runs");
  assert.equal((await red.ask("start")).code, "invalid");
  assert.deepEqual(await commands(), [idle, { role: "air", phase: "match", team: "red" }]);
  await assert.rejects(falcon.tool("game_act", { role: "ground", intents: [{ kind: "stop", units: [] }] }), /not_in_match/);
  await falcon.close();
  await blue.room.leave();
  await red.room.leave();
});

/** §7: an owner answers by the commander's id what it asked at a seat, and nobody else's request. */
test("what a seated commander asks is answered by its id", async () => {
  const ann = new InMatch(await (await person(server, "Antonia")).create("agent-command", { team: "red", role: "ground" }));
  const mandate = { autonomy: "supervised" };
  const added = await ann.do("addCommander", { name: "Swift", roles: ["air"] });
  await ann.do("commanderSettings", { commander: added.id, settings: { mandate } });
  await ann.do("assign", { role: "air", kind: "agent", commander: added.id });
  const swift = await commander(server, added.token);
  await swift.tool("game_wait", { seconds: 0 });
  const code = "function think() { return []; }";
  const { approval } = await swift.tool("policy_deploy", { runtime: "js", code });
  const answer = (more) => ann.ask("commanderApproval", { commander: added.id, id: approval.id, approve: true, ...more });
  assert.equal((await answer({ id: "ap_99" })).code, "approval_not_found");
  assert.equal((await answer({ commander: "cmd_unknown" })).code, "forbidden");
  assert.equal((await answer({})).data.status, "approved");
  assert.equal((await swift.tool("policy_status")).policy.version, 1);
  await ann.room.leave();
});
