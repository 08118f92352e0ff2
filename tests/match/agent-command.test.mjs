// §§7, 8, 11, 15, 20.9 in a real-time match: policies, approvals, fog and observers, with real clients only.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { InMatch, agent, guest, person, startPlayerThree } from "../lib/playerthree.mjs";
import { rejection, within } from "../lib/rooms.mjs";

let server;
before(async () => (server = await startPlayerThree()));
after(() => server.stop());

const duel = { teams: ["red", "blue"], bots: "nobody", seed: 11 };

/** Moves every unit of its section once, to a place of its own. */
const MOVES = `
  let sent = false;
  function think(obs) {
    if (sent) return [];
    sent = true;
    const section = obs[obs.role];
    log("moving", section.units.length);
    return [{ kind: "move", units: section.units.map((unit) => unit.id), x: 1600, y: 1600 }];
  }`;

/** The same in WebAssembly text would parse JSON; this one sends one fixed intent that names no unit it must know. */
const wasmPolicy = (intents) => {
  const json = JSON.stringify(intents).replaceAll('"', '\\22');
  const length = Buffer.byteLength(JSON.stringify(intents));
  return `(module
    (memory (export "memory") 2 4)
    (data (i32.const 8) "${json}")
    (func (export "alloc") (param i32) (result i32) (i32.const 65536))
    (func (export "think") (param i32 i32) (result i64)
      (i64.or (i64.shl (i64.const 8) (i64.const 32)) (i64.const ${length}))))`;
};

async function untilStatus(client, condition, what) {
  const poll = async () => {
    for (;;) {
      const { policy } = await client.tool("policy_status");
      if (condition(policy)) return policy;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  };
  return within(poll(), what, 30_000);
}

/** §11: agents deploy a JavaScript and a WebAssembly policy; both move their units. */
test("a JS and a WASM policy of one agent's owner move units of two seats", async () => {
  const red = new InMatch(await (await person(server, "Ann")).create("agent-command", { ...duel, role: "ground" }));
  await red.until((view) => view.units.length > 0);
  const scout = red.view.view.units.find((unit) => unit.kind === "scout");
  const soldiers = red.view.view.units.filter((unit) => unit.kind === "soldier");
  const air = await agent(server, (await red.do("mint", { role: "air" })).token);
  const ground = await agent(server, (await red.do("mint", { role: "ground" })).token);
  await red.do("controller", { role: "ground", controller: "agent" });

  const js = await ground.tool("policy_deploy", { runtime: "js", code: MOVES });
  assert.deepEqual([js.ok, js.version], [true, 1], JSON.stringify(js));
  assert.match(js.probe.logs[0], /moving/);
  const wat = wasmPolicy([{ kind: "move", units: [scout.id], x: 1600, y: 1600 }]);
  const code = (await assemble(wat)).toString("base64");
  const wasm = await air.tool("policy_deploy", { runtime: "wasm", code });
  assert.deepEqual([wasm.ok, wasm.version], [true, 1], JSON.stringify(wasm));

  const moved = (before) => (view) => {
    const now = view.units.find((unit) => unit.id === before.id);
    return now && Math.hypot(now.x - before.x, now.y - before.y) > 300;
  };
  // Bots moved them too until the policies took over: only the module sends the scout there.
  const arrived = ({ units }) => units.some((unit) => unit.id === scout.id && Math.hypot(unit.x - 1600, unit.y - 1600) < 100);
  await red.until(arrived, "the scout goes where it is sent");
  await red.until((view) => soldiers.every((soldier) => moved(soldier)(view)), "every soldier moves");
  const { policy } = await air.tool("policy_status");
  assert.ok(policy.calls > 0 && policy.errors === 0, JSON.stringify(policy));
  await Promise.all([air.close(), ground.close()]);
  await red.room.leave();
});

/** §9: a plan moves units at its ticks, a bad one schedules nothing, and no steps cancel. */
test("an agent's sequence moves its units when its ticks come", async () => {
  const red = new InMatch(await (await person(server, "Ann")).create("agent-command", { ...duel, role: "ground" }));
  await red.until((view) => view.units.length > 0);
  const scout = red.view.view.units.find((unit) => unit.kind === "scout");
  const air = await agent(server, (await red.do("mint", { role: "air" })).token);
  const move = { kind: "move", units: [scout.id], x: 1600, y: 1600 };
  const late = { kind: "move", units: ["e_999999999"], x: 1600, y: 1600 };

  const bad = await air.tool("game_sequence", { steps: [{ in: 0, intents: [move] }, { in: 1, intents: [move] }] });
  assert.deepEqual([bad.ok, bad.code], [false, "invalid"], "steps two ticks apart at least");
  await assert.rejects(air.tool("game_sequence", { steps: [{ in: 601, intents: [move] }] }), /invalid/);
  await assert.rejects(red.call("ground", "sequence", { steps: [] }), /forbidden/);

  const steps = [{ in: 3, intents: [move] }, { in: 5, intents: [late] }];
  const good = await air.tool("game_sequence", { steps, cancelOn: ["attacked"] });
  assert.deepEqual([good.ok, good.acks], [true, [[{ ok: true }], [{ ok: true }]]]);
  const far = (view) => {
    const now = view.units.find((unit) => unit.id === scout.id);
    return now && Math.hypot(now.x - scout.x, now.y - scout.y) > 300;
  };
  await red.until(far, "the scout moves");
  const cancelled = await air.tool("game_sequence", { steps: [] });
  assert.deepEqual([cancelled.ok, cancelled.acks], [true, []]);
  await air.close();
  await red.room.leave();
});

/** §9: a person streams their own seat at most as fast as maxHz, and nobody streams another's. */
test("a player streams the observations of their own seat", async () => {
  const red = new InMatch(await (await person(server, "Ann")).create("agent-command", { ...duel, role: "ground" }));
  assert.deepEqual(await red.do("stream", { role: "ground", everyTicks: 1 }), { everyTicks: 2 });
  const first = await red.inbox.next("playerthree:observation");
  const second = await red.inbox.next("playerthree:observation");
  assert.deepEqual([first.op, first.role, first.observation.role], ["observation", "ground", "ground"]);
  assert.ok(second.tick >= first.tick + 2, `${first.tick} and ${second.tick}`);
  const codes = async (fields) => (await red.ask("stream", { everyTicks: 1, ...fields })).code;
  assert.equal(await codes({ role: "air" }), "forbidden");
  assert.equal(await codes({ role: "ground", detail: ["sea"] }), "invalid");
  assert.equal(await codes({ role: 7 }), "bad_message");
  assert.deepEqual(await red.do("stream", { role: "ground", everyTicks: 0 }), { everyTicks: 0 });
  await red.room.leave();
});

/** §10, §15 own text: a creator allies sides; what the alliances are called is the server's, and each side plays in one. */
test("sides are allied as the room's creator says, under names of the server's", async () => {
  const ann = await person(server, "Ann");
  const three = { teams: ["red", "blue", "green"], bots: "nobody", seed: 11 };
  const red = new InMatch(await ann.create("agent-command", { ...three, alliances: [["red", "green"], ["blue"]], role: "ground" }));
  const allied = { "alliance-1": ["red", "green"], "alliance-2": ["blue"] };
  assert.deepEqual((await red.inbox.next("playerthree:welcome")).alliances, allied);
  const air = await agent(server, (await red.do("mint", { role: "air" })).token);
  assert.deepEqual((await air.tool("game_briefing")).alliances, allied);
  await air.close();
  await red.room.leave();

  for (const alliances of [
    [["red", "green"]], [["red", "green"], ["green", "blue"]], [["red"], ["blue"], ["green"], ["yellow"]],
    [["red", "green", "blue"], []], { north: ["red", "green"], south: ["blue"] }, [["red", "kanarienvogel"], ["blue"]],
  ]) {
    const error = await rejection(ann.create("agent-command", { ...three, alliances }));
    assert.ok(error.code >= 400 && !String(error.message).includes("kanarienvogel"), JSON.stringify(alliances));
  }
  const alone = new InMatch(await ann.create("agent-command", { ...three, role: "ground" }));
  assert.equal((await alone.inbox.next("playerthree:welcome")).alliances, undefined);
  await alone.room.leave();
});

/** §11: a runaway policy is stopped and reported; the tick and the other side's policy go on. */
test("an endless loop is stopped with timeout and the match goes on", async () => {
  const red = new InMatch(await (await person(server, "Ann")).create("agent-command", { ...duel, role: "ground" }));
  const air = await agent(server, (await red.do("mint", { role: "air" })).token);
  const refused = await air.tool("policy_deploy", { runtime: "js", code: "function think() { for (;;); }" });
  assert.deepEqual([refused.ok, refused.error.code], [false, "timeout"]);
  assert.equal((await air.tool("policy_status")).policy, null);
  const later = "let n = 0; function think() { n += 1; for (; n > 3;); return []; }";
  assert.equal((await air.tool("policy_deploy", { runtime: "js", code: later })).ok, true);
  const policy = await untilStatus(air, (status) => status.timeouts > 0, "a timeout");
  assert.equal(policy.lastError.code, "timeout");
  const { tick } = red.view.view;
  await red.until((view) => view.tick > tick + 20, "twenty more ticks");
  await air.close();
  await red.room.leave();
});

/** §11: each artifact error reaches its author as its own code, and the working policy stays. */
test("broken artifacts are refused with their codes and replace nothing", async () => {
  const red = new InMatch(await (await person(server, "Ann")).create("agent-command", { ...duel, role: "ground" }));
  const air = await agent(server, (await red.do("mint", { role: "air" })).token);
  assert.equal((await air.tool("policy_deploy", { runtime: "js", code: "function think() { return [] }" })).version, 1);
  const wasm = (bytes) => Buffer.from(bytes).toString("base64");
  for (const [runtime, code, expected] of [
    ["js", "function think( {", "compile"],
    ["js", "function thonk() {}", "missing_export"],
    ["js", "function think() { throw new Error('mine') }", "threw"],
    ["js", "function think() { return 7 }", "bad_output"],
    ["js", `//${"x".repeat(262_144)}`, "too_large"],
    ["js", "const detail = ['sea']; function think() { return [] }", "bad_output"],
    ["wasm", wasm([0, 97, 115, 109, 1, 0, 0]), "compile"],
  ]) {
    const answer = await air.tool("policy_deploy", { runtime, code });
    assert.deepEqual([answer.ok, answer.error?.code], [false, expected], code.slice(0, 60));
  }
  assert.equal((await air.tool("policy_status")).policy.version, 1);
  await assert.rejects(air.tool("policy_deploy", { runtime: "lua", code: "" }), /invalid/);
  await assert.rejects(air.tool("policy_deploy", { runtime: "wasm", code: "%%" }), /invalid/);
  await air.close();
  await red.room.leave();
});

/** §11 `include`: served skill files come before the code, which then needs only what differs. */
test("a policy is composed of served skill files", async () => {
  const red = new InMatch(await (await person(server, "Ann")).create("agent-command", { ...duel, role: "ground" }));
  const air = await agent(server, (await red.do("mint", { role: "air" })).token);
  const include = ["agent-command-strategy/policies/air.js"];
  const ok = await air.tool("policy_deploy", { runtime: "js", code: "", include });
  assert.deepEqual([ok.ok, ok.version], [true, 1], JSON.stringify(ok));
  for (const bad of [["agent-command-strategy/SKILL.md"], ["nowhere/x.js"], ["../x.js"], [include[0], include[0]]]) {
    await assert.rejects(air.tool("policy_deploy", { runtime: "js", code: "", include: bad }), /invalid/);
  }
  await assert.rejects(air.tool("policy_deploy", { runtime: "wasm", code: "", include }), /invalid/);
  await air.close();
  await red.room.leave();
});

/** §7: under a supervised mandate only the owner's approval over the room activates a policy. */
test("a supervised deploy acts only after its owner approved it in the room", async () => {
  const red = new InMatch(await (await person(server, "Ann")).create("agent-command", { ...duel, role: "ground" }));
  const air = await agent(server, (await red.do("mint", { role: "air" })).token);
  const mandate = { autonomy: "supervised", directive: (await air.tool("game_briefing")).mandate.directive, whenAbsent: "policy" };
  await red.do("mandate", { role: "air", mandate });
  await air.tool("game_wait", { seconds: 0 });
  // Before the agent's first call a bot stood in for it; what that ordered comes to rest first.
  let scout;
  await red.until((view) => {
    const before = scout;
    scout = view.units.find((unit) => unit.kind === "scout");
    return before && scout && before.x === scout.x && before.y === scout.y;
  }, "the scout rests");

  const asked = await air.tool("policy_deploy", { runtime: "js", code: MOVES });
  assert.deepEqual([asked.ok, asked.approval.kind, asked.approval.version], [false, "policyDeploy", 1]);
  const { tick } = red.view.view;
  await red.until((view) => view.tick > tick + 15, "some ticks without the policy");
  const still = red.view.view.units.find((unit) => unit.id === scout.id);
  assert.deepEqual([still.x, still.y], [scout.x, scout.y], "nothing acted yet");

  const waiting = air.tool("game_wait", { seconds: 30 });
  assert.equal((await red.ask("resolveApproval", { role: "air", id: "ap_77", approve: true })).code, "approval_not_found");
  const resolved = await red.do("resolveApproval", { role: "air", id: asked.approval.id, approve: true });
  assert.deepEqual([resolved.status, resolved.version], ["approved", 1]);
  assert.equal((await waiting).wake, "approval");
  await red.until((view) => {
    const now = view.units.find((unit) => unit.id === scout.id);
    return now && now.x !== scout.x;
  }, "the scout moves");

  const second = await air.tool("policy_deploy", { runtime: "js", code: "function think() { return [] }" });
  await red.do("resolveApproval", { role: "air", id: second.approval.id, approve: false });
  const { policy } = await air.tool("policy_status");
  assert.deepEqual([policy.version, policy.approval.status], [1, "rejected"]);
  await air.close();
  await red.room.leave();
});

/** §6: scopes follow every credential of the seat at once. */
test("scopes that the owner takes away are refused at once", async () => {
  const red = new InMatch(await (await person(server, "Ann")).create("agent-command", { ...duel, role: "ground" }));
  const air = await agent(server, (await red.do("mint", { role: "air" })).token);
  const stop = { intents: [{ kind: "stop", units: [] }] };
  assert.notEqual((await air.tool("game_act", stop)).acks[0].code, "out_of_scope");
  await red.do("scopes", { role: "air", scopes: [] });
  assert.equal((await air.tool("game_act", stop)).acks[0].code, "out_of_scope");
  await assert.rejects(air.tool("policy_deploy", { runtime: "js", code: "function think() {}" }), /out_of_scope/);
  await red.do("controller", { role: "air", controller: "bot" });
  await red.do("scopes", { role: "air", scopes: ["act"] });
  assert.equal((await air.tool("game_act", stop)).acks[0].code, "not_controller");
  await air.close();
  await red.room.leave();
});

/** §15.3: what blue has and red never saw is in no byte that red's player, agent or spectator receives. */
test("fog: blue's unseen units are in no byte that red receives", async () => {
  const red = new InMatch(await (await person(server, "Ann")).create("agent-command", { ...duel, team: "red", role: "ground" }));
  const { roomId } = red.room;
  const blue = new InMatch(await (await person(server, "Bob")).joinById(roomId, { team: "blue", role: "economy" }));
  const watcher = new InMatch(await guest(server).joinById(roomId, { as: "spectator", team: "red" }));
  const minted = await red.do("mint", { role: "air" });
  // Nobody may scout meanwhile: what red has seen once is no secret any more.
  const mandate = { autonomy: "autonomous", directive: { objective: "balanced" }, whenAbsent: "hold" };
  await red.do("mandate", { role: "air", mandate });
  const air = await agent(server, minted.token);
  await blue.until((view) => view.units.length > 0);
  // Blue makes something new that red cannot see, so that ids of later things are looked for too.
  const base = blue.view.view.buildings.find((building) => building.kind === "base");
  assert.deepEqual(await blue.act("economy", { kind: "produce", building: base.id, unit: "worker" }), ["ok"]);
  const count = blue.view.view.units.length;
  await blue.until((view) => view.units.length > count, "a new blue worker");
  for (const role of ["ground"]) {
    await red.call(role, "observe", { detail: "all", since: 0 });
    await red.call(role, "briefing", { topic: "match-data" });
  }
  await air.tool("game_observe", { detail: "all", since: 0 });
  await air.tool("game_wait", { seconds: 1 });
  await air.tool("game_briefing", { topic: "match-data" });

  const hidden = [...blue.view.view.units, ...blue.view.view.buildings].map((thing) => thing.id);
  assert.ok(hidden.length >= 8);
  for (const id of hidden) {
    assert.ok(blue.received.includes(id), "the canary is looked for as it travels");
    for (const [who, received] of [["player", red.received], ["spectator", watcher.received], ["agent", air.received]]) {
      assert.ok(!received.includes(id), `red's ${who} was told of ${id}`);
    }
  }
  await air.close();
  await Promise.all([red.room.leave(), blue.room.leave(), watcher.room.leave()]);
});

/** §20.9: nothing of a tick reaches an observer before that tick's wall time and the delay. */
test("an observer with a delay sees everything, late, and nothing sooner", async () => {
  const delay = 2_000;
  const options = { ...duel, role: "ground", private: true, observerDelayMs: delay };
  const red = new InMatch(await (await person(server, "Ann")).create("agent-command", options));
  const { roomId } = red.room;
  // When each tick was live, by this process's own clock: the player's view of it came then at the latest.
  const liveAt = new Map();
  red.room.onMessage("playerthree:view", () => liveAt.set(red.view.view.tick, Date.now()));
  const eve = await person(server, "Eve");
  assert.match((await rejection(eve.joinById(roomId, { as: "observer" }))).message, /ticket/);
  assert.match((await rejection(eve.joinById(roomId, { as: "observer", ticket: "x".repeat(32) }))).message, /ticket/);
  const { ticket } = await red.do("inviteObserver");
  const room = await eve.joinById(roomId, { as: "observer", ticket });
  const again = (await person(server, "Zoe")).joinById(roomId, { as: "observer", ticket });
  assert.match((await rejection(again)).message, /ticket/, "a ticket is good once");
  const observer = new InMatch(room);
  const frames = [];
  const enough = new Promise((resolve) => {
    room.onMessage("playerthree:observer", (message) => {
      const at = Date.now();
      if (message.frame) frames.push({ at, frame: message.frame });
      else assert.deepEqual([message.op, message.grant.delayMs], ["observer", delay], "what was asked for");
      if (frames.length >= 40) resolve();
    });
  });
  // Something to see on every tick.
  const soldiers = await red.until((view) => view.units.length > 0).then(({ view }) => view.units.filter((unit) => unit.kind === "soldier"));
  await red.act("ground", { kind: "move", units: soldiers.map((unit) => unit.id), x: 2000, y: 1600 });
  room.send("playerthree:observer", { perspective: "all" });
  await within(enough, "forty frames", 30_000);
  let compared = 0;
  for (const { at, frame } of frames) {
    assert.equal(frame.releaseAt - frame.recordedAt, delay);
    assert.ok(at >= frame.releaseAt, "a frame came before its release");
    const live = liveAt.get(frame.tick);
    // The view of a tick leaves with the tick; a loaded machine may read it later, never sooner.
    if (live !== undefined && Math.abs(live - frame.recordedAt) < 500) {
      assert.ok(at >= live + delay - 500, `tick ${frame.tick} was live at ${live} and observed at ${at}`);
      compared += 1;
    }
  }
  assert.ok(compared >= 10, `${compared} ticks were compared with their live time`);
  const sequences = frames.map(({ frame }) => frame.sequence);
  assert.deepEqual(sequences, sequences.map((_, index) => sequences[0] + index));
  assert.ok(frames[0].frame.world.sides.length === 2);
  // No live channel is open to an observer.
  assert.equal((await observer.ask("view")).code, "forbidden");
  const call = { role: "ground", method: "act", args: { intents: [] } };
  assert.equal((await observer.ask("call", call)).code, "forbidden");
  assert.equal((await observer.ask("inviteObserver")).code, "forbidden");
  assert.ok(!observer.received.includes("playerthree:view") && !observer.received.includes("playerthree:status"));
  assert.match((await rejection(eve.joinById(roomId))).message, /observers do not play/);
  await Promise.all([red.room.leave(), room.leave()]);
});

/** §20.9: a player never observes the match, and a public match is never shown sooner than three minutes late. */
test("players do not observe, and public observers buffer for three minutes", async () => {
  const ann = await person(server, "Ann");
  const red = new InMatch(await ann.create("agent-command", { ...duel, role: "ground", observerDelayMs: 0 }));
  assert.match((await rejection(ann.joinById(red.room.roomId, { as: "observer" }))).message, /players do not observe/);
  const eve = await (await person(server, "Eve")).joinById(red.room.roomId, { as: "observer" });
  const inbox = new InMatch(eve).inbox;
  eve.send("playerthree:observer", { perspective: "all" });
  const answer = await inbox.next("playerthree:observer");
  assert.deepEqual([answer.state, answer.grant.delayMs, answer.frame], ["buffering", 180_000, undefined]);
  const refused = new Promise((resolve) => eve.onMessage("playerthree:result", resolve));
  eve.send("playerthree:observer", { perspective: "all", after: 5 });
  assert.deepEqual(await within(refused, "the refusal"), { op: "result", seq: null, ok: false, code: "invalid" });
  await Promise.all([red.room.leave(), eve.leave()]);
});

/** §20.9: what everybody may read about a room does not tell its end before observers are told. */
test("a listing stands still from the end of a match until its observers may know it", async () => {
  const red = new InMatch(await (await person(server, "Ann")).create("agent-command", { ...duel, team: "red", role: "ground" }));
  const { roomId } = red.room;
  const blue = new InMatch(await (await person(server, "Bob")).joinById(roomId, { team: "blue", role: "ground" }));
  const listed = async () => {
    const rooms = await (await fetch(`${server.url}/matchmake/agent-command`)).json();
    return rooms.find((room) => room.roomId === roomId)?.metadata;
  };
  assert.equal((await listed()).over, false);
  // Red is nobody's any more and nothing plays for it: it forfeits, and blue has won.
  await red.room.leave();
  await blue.until((view) => view.outcome === "win");
  assert.equal((await listed())?.over, false);
  await blue.room.leave();
});

/** §15.3, §20: whoever plays a side watches no other one, and whoever watched a side plays against none. */
test("nobody plays against a side that they watched", async () => {
  const ann = await person(server, "Ann");
  const red = new InMatch(await ann.create("agent-command", { ...duel, team: "red", role: "ground" }));
  const { roomId } = red.room;
  assert.match((await rejection(ann.joinById(roomId, { as: "spectator", team: "blue" }))).message, /another side/);
  const bob = await person(server, "Bob");
  const watching = await bob.joinById(roomId, { as: "spectator", team: "red" });
  await watching.leave();
  assert.match((await rejection(bob.joinById(roomId, { team: "blue" }))).message, /no open seat/);
  const mate = new InMatch(await bob.joinById(roomId));
  assert.equal((await mate.inbox.next("playerthree:welcome")).seat.team, "red");
  await Promise.all([red.room.leave(), mate.room.leave()]);
});

/** §4 "Owner control": a seat that was minted for an agent can be taken in person, and then played. */
test("an owner takes a seat of their side in person and moves its units", async () => {
  const red = new InMatch(await (await person(server, "Ann")).create("agent-command", { ...duel, role: "ground" }));
  await red.do("mint", { role: "air" });
  await red.until((view) => view.units.some((unit) => unit.kind === "scout"));
  const scout = red.view.view.units.find((unit) => unit.kind === "scout");
  const move = { kind: "move", units: [scout.id], x: 1600, y: 1600 };
  assert.deepEqual(await red.act("air", move), ["not_controller"]);
  await red.do("controller", { role: "air", controller: "human" });
  assert.deepEqual(await red.act("air", move), ["ok"]);
  await red.do("mint", { team: "blue", role: "air" });
  const taken = await red.ask("controller", { team: "blue", role: "air", controller: "human" });
  assert.equal(taken.code, "forbidden", "one person plays one side");
  await red.room.leave();
});

/** A stranger is never sent to a room that has no seat for them. */
test("joinOrCreate goes on to a room with a seat that fits", async () => {
  const ann = new InMatch(await (await person(server, "Ann")).create("agent-command", { ...duel, team: "red", role: "ground" }));
  const wish = { ...duel, team: "red", role: "ground" };
  const people = await Promise.all(["Bob", "Cleo", "Dora"].map((name) => person(server, name)));
  const rooms = await Promise.all(people.map((client) => client.joinOrCreate("agent-command", wish)));
  assert.equal(new Set(rooms.map((room) => room.roomId)).size, 3, "each wish has one seat a room");
  assert.ok(rooms.every((room) => room.roomId !== ann.room.roomId));
  await Promise.all([ann.room.leave(), ...rooms.map((room) => room.leave())]);
});

async function assemble(wat) {
  const { default: wabt } = await import("wabt");
  const module = (await wabt()).parseWat("policy.wat", wat);
  return Buffer.from(module.toBinary({}).buffer);
}
