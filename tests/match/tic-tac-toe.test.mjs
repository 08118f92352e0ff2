// One live room: a person through the official SDK, an agent through the official MCP client, and spectators.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { InMatch, agent, guest, person, startPlayerThree } from "../lib/playerthree.mjs";
import { rejection } from "../lib/rooms.mjs";

let server;
before(async () => (server = await startPlayerThree()));
after(() => server.stop());

const move = (row, col) => ({ kind: "move", row, col });

/** §4: one game, several kinds of participant, one truth. */
test("a person and an agent play to an outcome while spectators see every version", async () => {
  const ann = await person(server, "Ann");
  const x = new InMatch(await ann.create("tic-tac-toe", { team: "x" }));
  const roomId = x.room.roomId;
  const watcher = new InMatch(await guest(server).joinById(roomId, { as: "spectator", team: "o" }));
  const minted = await x.do("mint", { team: "o", role: "player" });
  const o = await agent(server, minted.token);

  assert.deepEqual(o.tools.map((tool) => tool.name).slice(0, 4), [
    "game_briefing", "game_observe", "game_act", "game_wait",
  ]);
  const briefing = await o.tool("game_briefing");
  assert.deepEqual(briefing.seat.team, "o");
  assert.deepEqual(briefing.surfaceHash, (await x.inbox.next("playerthree:welcome")).surfaceHash);
  const entry = await o.tool("game_wait", { seconds: 0 });
  assert.equal(entry.observation.you, "o");

  // The rebuilt view of the spectator against the server's fresh view, at the version that both are at.
  let versionsCompared = 0;
  const rebuiltIsFresh = async () => {
    const fresh = await watcher.do("view");
    await watcher.until(() => watcher.view.version >= fresh.version);
    assert.deepEqual({ version: watcher.view.version, view: watcher.view.view }, fresh);
    versionsCompared += 1;
  };

  // x plays the top row, o the middle one; o waits for each of x's moves as an agent would.
  let told;
  for (let turn = 0; turn < 3; turn += 1) {
    assert.deepEqual(await x.act("player", move(0, turn)), ["ok"]);
    await rebuiltIsFresh();
    told = await o.tool("game_wait", { seconds: 20, until: ["move", "win"] });
    if (told.outcome !== "running") break;
    assert.equal(told.wake, "event");
    const { acks } = await o.tool("game_act", { intents: [move(1, turn), move(1, turn)] });
    assert.deepEqual(acks, [{ ok: true }, { ok: false, code: "game", gameCode: "not_your_turn" }]);
    await o.tool("game_wait", { seconds: 0 });
    await rebuiltIsFresh();
  }

  const last = await watcher.until((view) => view.result !== "running", "the end");
  assert.equal(last.view.result, "x");
  await x.until((view) => view.result === "x");
  const seen = (await o.tool("game_observe")).observation;
  assert.deepEqual(x.view.view.board, last.view.board);
  assert.deepEqual(seen.board, last.view.board);
  assert.deepEqual(last.view.line, [0, 1, 2].map((col) => ({ row: 0, col })));

  // Every version came once, in order, as one keyframe and then deltas alone.
  assert.deepEqual(watcher.views.map((entry) => entry.keyframe), [true, ...Array(watcher.views.length - 1).fill(false)]);
  // The seat that became an agent's, and five moves, each compared.
  assert.deepEqual([watcher.views.length, versionsCompared], [7, 5]);
  assert.equal((await x.do("report")).report.result, "x");
  assert.deepEqual([told.wake, told.outcome], ["ended", "loss"]);
  await assert.rejects(o.tool("game_wait", { seconds: 60 }), /not_in_match/, "an end is told once");
  assert.equal((await o.tool("game_act", { intents: [move(2, 2)] })).acks[0].code, "game_over");
  await o.close();
  await Promise.all([x.room.leave(), watcher.room.leave()]);
});

/** §1 promise 3, §20.2: whoever sees the seat sees that an AI holds it, and nothing private. */
test("an agent's seat is labelled for everybody and private for its owner", async () => {
  const x = new InMatch(await (await person(server, "Ann")).create("tic-tac-toe"));
  const watcher = new InMatch(await guest(server).joinById(x.room.roomId, { as: "spectator" }));
  await x.do("mint", { team: "o", role: "player" });
  const labelled = async (client) => {
    for (;;) {
      const { seats } = await client.inbox.next("playerthree:seats");
      const seat = seats.find(({ team }) => team === "o");
      if (seat.controller === "agent") return seat;
    }
  };
  const [own, seen] = [await labelled(x), await labelled(watcher)];
  assert.deepEqual([own.aiPlayer, seen.aiPlayer], [true, true]);
  assert.equal(seen.owner.display, "Ann");
  assert.ok(own.mandate && own.scopes);
  assert.ok(!("mandate" in seen) && !("scopes" in seen) && !("policy" in seen));
  const { rooms } = await (await fetch(`${server.url}/demo/rooms`)).json();
  const listed = rooms.find(({ roomId }) => roomId === x.room.roomId);
  assert.equal(listed.seats.find(({ team }) => team === "o").aiPlayer, true);
  await Promise.all([x.room.leave(), watcher.room.leave()]);
});

/** §20: one person plays one side; seats are taken in order; a spectator may do nothing. */
test("seats go to whoever comes first and rights end at one's own seat", async () => {
  const [ann, bob, eve] = await Promise.all(["Ann", "Bob", "Eve"].map((name) => person(server, name)));
  const x = new InMatch(await ann.create("tic-tac-toe"));
  const { roomId } = x.room;
  assert.equal((await rejection(guest(server).joinById(roomId))).code, 401);
  assert.match((await rejection(ann.joinById(roomId))).message, /no open seat for you/);
  const o = new InMatch(await bob.joinById(roomId));
  assert.deepEqual((await o.inbox.next("playerthree:welcome")).seat, { team: "o", role: "player" });
  assert.match((await rejection(eve.joinById(roomId))).message, /no open seat/);
  assert.equal((await o.ask("mandate", { team: "x", role: "player", mandate: {} })).code, "forbidden");
  assert.equal((await o.ask("mint", { team: "x", role: "player" })).code, "forbidden");
  assert.equal((await o.ask("mint", { team: "z", role: "player" })).code, "forbidden");
  const watcher = new InMatch(await guest(server).joinById(roomId, { as: "spectator" }));
  for (const op of ["mint", "report", "resolveApproval"]) {
    const fields = { mint: { role: "player" }, report: {}, resolveApproval: { role: "player", id: "a", approve: true } };
    assert.equal((await watcher.ask(op, fields[op])).code, "forbidden", op);
  }
  const call = { role: "player", method: "act", args: { intents: [move(0, 0)] } };
  assert.equal((await watcher.ask("call", call)).code, "forbidden");
  await Promise.all([x.room.leave(), o.room.leave(), watcher.room.leave()]);
});

/** A side that nobody owns any more forfeits, and the other one wins. */
test("leaving for good concedes a match without bots", async () => {
  const x = new InMatch(await (await person(server, "Ann")).create("tic-tac-toe"));
  const o = new InMatch(await (await person(server, "Bob")).joinById(x.room.roomId));
  await x.room.leave();
  await o.until((view) => view.result === "o");
  await o.room.leave();
});

/** §4: after a lost connection the same seat goes on with a keyframe. */
test("a dropped player comes back to the same seat and a whole view", async () => {
  const ann = await person(server, "Ann");
  const x = new InMatch(await ann.create("tic-tac-toe"));
  assert.deepEqual(await x.act("player", move(1, 1)), ["ok"]);
  const token = x.room.reconnectionToken;
  x.room.reconnection.enabled = false;
  x.room.connection.transport.ws.terminate?.() ?? x.room.connection.close(4010);
  const back = new InMatch(await ann.reconnect(token));
  assert.deepEqual((await back.inbox.next("playerthree:welcome")).seat, { team: "x", role: "player" });
  const view = await back.until((seen) => seen.board[1] === ".x.");
  assert.equal(view.keyframe, true);
  await back.room.leave();
});

/** A bot tier plays an open seat when the creator asks for it. */
test("a bot answers every move of a person", async () => {
  const x = new InMatch(await (await person(server, "Ann")).create("tic-tac-toe", { bots: "perfect", seed: 3 }));
  assert.deepEqual(await x.act("player", move(0, 0)), ["ok"]);
  const view = await x.until((seen) => seen.turn === "x" && seen.tick === 2, "the bot's move");
  assert.equal(view.view.board.join("").replaceAll(".", ""), view.view.board.join("").includes("o") ? "xo" : "");
  await x.room.leave();
});
