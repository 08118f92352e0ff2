// Field reports U14 and U110: rooms that are made and never entered, and joins that are cut at every step, leave nothing
// behind, and a match beside them keeps ticking.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { WebSocket } from "ws";
import { InMatch, person, startPlayerThree } from "../lib/playerthree.mjs";
import { within } from "../lib/rooms.mjs";

let server;
let witness;
before(async () => {
  server = await startPlayerThree();
  witness = new InMatch(await (await person(server, "Ann")).create("agent-command", { bots: "nobody", role: "ground" }));
  await witness.until(() => true);
});
after(async () => {
  await witness.room.leave();
  await server.stop();
});

const listed = async () => (await (await fetch(`${server.url}/demo/rooms`)).json()).rooms;

/** A seat is kept for 15 seconds; a test that must see it end may wait for twice that. */
async function untilAlone(what) {
  const poll = async () => {
    while ((await listed()).length > 1) await new Promise((resolve) => setTimeout(resolve, 200));
  };
  return within(poll(), what, 30_000);
}

/** Reserves a seat in a new room, as `joinOrCreate` does, and goes no further. */
async function reserve(token) {
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  const answer = await fetch(`${server.url}/matchmake/create/tic-tac-toe`, { method: "POST", headers, body: '{"bots":"random"}' });
  assert.equal(answer.status, 200);
  return answer.json();
}

test("rooms that nobody enters and joins that are cut before their seat is taken end by themselves", async () => {
  const { tick } = witness.view.view;
  const login = (await person(server, "Bob")).auth.token;
  for (let wave = 0; wave < 10; wave += 1) await Promise.all(Array.from({ length: 20 }, () => reserve(login)));
  assert.ok((await listed()).length > 100);
  for (let count = 0; count < 20; count += 1) {
    const seat = await reserve(login);
    const socket = new WebSocket(`${server.webSocketUrl}/${seat.processId}/${seat.roomId}?sessionId=${seat.sessionId}`);
    socket.on("error", () => {});
    // Cut before the upgrade, or left in an orderly way once inside. What is cut after it was inside is held a minute.
    if (count % 2 === 0) {
      socket.terminate();
      continue;
    }
    await within(new Promise((resolve) => socket.on("message", resolve)), "the seat");
    socket.send(Uint8Array.of(10));
    socket.send(Uint8Array.of(12));
    await within(new Promise((resolve) => socket.on("close", resolve)), "the goodbye");
  }
  await witness.until((view) => view.tick > tick + 10, "the match goes on");
  await untilAlone("abandoned rooms end");
  assert.equal((await listed())[0].roomId, witness.room.roomId);
});
