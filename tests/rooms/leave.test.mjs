// How a client's life in a room ends or goes on: leaving, kicks, drops, reconnections, failing rooms, shutdown.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client } from "@colyseus/sdk";
import { WebSocket as WebSocketClient } from "ws";
import { build, start } from "../lib/server.mjs";
import { Inbox, eventually, left, rejection, within } from "../lib/rooms.mjs";

let executable;
let server;
let client;

before(async () => {
  executable = await build("playerthree-rooms", { example: "conformance" });
  server = await start(executable, ["0"]);
  client = new Client(server.url);
});
after(() => server?.stop());

async function listing() {
  return (await fetch(`${server.url}/listing`)).json();
}

async function log(room, inbox) {
  room.send("log");
  return inbox.next("log");
}

/** Cuts a room's socket without a close frame, as a lost network does. */
function cut(room) {
  room.reconnection.enabled = false;
  room.connection.transport.ws._socket.destroy();
}

test("a consented leave closes with 4000 and the room hears it once", async () => {
  const stays = await client.create("probe", { hold: 5 });
  const inbox = new Inbox(stays);
  const guest = await client.joinById(stays.roomId);
  assert.equal(await guest.leave(), 4000);
  assert.deepEqual(await inbox.next("left"), [guest.sessionId, 4000]);
  const events = (await log(stays, inbox)).filter(([, session]) => session === guest.sessionId);
  assert.deepEqual(events.map(([event]) => event), ["join", "leave"]);
  await stays.leave();
});

test("a lost connection without a hold leaves at once", async () => {
  const room = await client.create("probe");
  const inbox = new Inbox(room);
  const guest = await client.joinById(room.roomId);
  cut(guest);
  assert.deepEqual(await inbox.next("left"), [guest.sessionId, 1006]);
  const events = (await log(room, inbox)).filter(([, session]) => session === guest.sessionId);
  assert.deepEqual(events.map(([event]) => event), ["join", "drop", "leave"]);
  await room.leave();
});

test("a held seat is left when its time is over, and the room ends with it", async () => {
  // Field report U29.
  const room = await client.create("probe", { hold: 0.3 });
  const inbox = new Inbox(room);
  const guest = await client.joinById(room.roomId);
  const token = guest.reconnectionToken;
  cut(guest);
  await inbox.next("dropped");
  assert.deepEqual(await inbox.next("left"), [guest.sessionId, 1006]);
  assert.equal((await rejection(client.reconnect(token))).code, 524);
  cut(room);
  await eventually(async () => !(await listing()).some(({ roomId }) => roomId === room.roomId), "the room ended");
});

test("a manual reconnection takes the seat back under a new token", async () => {
  const room = await client.create("probe", { hold: 5 });
  const inbox = new Inbox(room);
  const guest = await client.joinById(room.roomId);
  const token = guest.reconnectionToken;
  cut(guest);
  await inbox.next("dropped");
  const back = await client.reconnect(token);
  assert.equal(back.sessionId, guest.sessionId);
  const backInbox = new Inbox(back);
  // Field report U26: in order, after the rejoin.
  assert.equal(await backInbox.next("back"), 1);
  assert.equal(await backInbox.next("back2"), 2);
  assert.notEqual(back.reconnectionToken, token);
  assert.equal((await rejection(client.reconnect(token))).code, 524, "the old token is dead");
  // Field report U22: no leave because of a drop that was made good.
  const events = (await log(back, backInbox)).filter(([, session]) => session === guest.sessionId);
  assert.deepEqual(events.map(([event]) => event), ["join", "drop", "reconnect"]);
  await back.leave();
  assert.deepEqual(await inbox.next("left"), [guest.sessionId, 4000]);
  await room.leave();
});

test("wrong and missing tokens change nothing for the client who holds the seat", async () => {
  // Field report U19.
  const room = await client.create("probe", { hold: 5 });
  const inbox = new Inbox(room);
  const guest = await client.joinById(room.roomId);
  const { sessionId, reconnectionToken } = guest;
  const [roomId] = reconnectionToken.split(":");
  const { processId } = (await listing()).find((listed) => listed.roomId === roomId);
  cut(guest);
  await inbox.next("dropped");
  const knock = (query) =>
    within(
      new Promise((resolve) => {
        const socket = new WebSocketClient(`${server.webSocketUrl}/${processId}/${roomId}?sessionId=${sessionId}${query}`);
        socket.on("close", resolve);
        socket.on("error", () => resolve("refused"));
      }),
      "a refusal",
    );
  assert.equal(await knock(""), 4002);
  assert.equal(await knock("&reconnectionToken=wrong"), 4003);
  assert.equal(await knock(`&reconnectionToken=${"x".repeat(12_000)}`), 4003);
  assert.equal(await knock(`&reconnectionToken=${"x".repeat(1_000_000)}`), "refused");
  assert.equal((await rejection(client.reconnect(`${roomId}:wrong`))).code, 524);
  const back = await client.reconnect(reconnectionToken);
  assert.equal(back.sessionId, sessionId);
  await Promise.all([back.leave(), room.leave()]);
});

test("the SDK reconnects by itself after a drop", async () => {
  const room = await client.create("probe", { hold: 5 });
  room.reconnection.minUptime = 0;
  const inbox = new Inbox(room);
  const dropped = within(new Promise((resolve) => room.onDrop.once(resolve)), "onDrop");
  const reconnected = within(new Promise((resolve) => room.onReconnect.once(resolve)), "onReconnect");
  room.connection.transport.ws._socket.destroy();
  await dropped;
  room.send("echo", "while away");
  await reconnected;
  assert.equal(await inbox.next("back"), 1);
  assert.equal(await inbox.next("echo"), "while away");
  await room.leave();
});

test("a client that is asked to come back does", async () => {
  const room = await client.create("probe", { hold: 5 });
  room.reconnection.minUptime = 0;
  const inbox = new Inbox(room);
  const reconnected = within(new Promise((resolve) => room.onReconnect.once(resolve)), "onReconnect");
  room.send("comeBack");
  await reconnected;
  assert.equal(await inbox.next("back"), 1);
  await room.leave();
});

test("a reconnection that is refused ends the SDK's attempts with 4003", async () => {
  const room = await client.create("probe");
  room.reconnection.minUptime = 0;
  const code = left(room);
  room.connection.transport.ws._socket.destroy();
  assert.equal(await code, 4003);
});

test("a newer connection with the token replaces the one that holds the seat", async () => {
  const room = await client.create("probe", { hold: 5 });
  room.reconnection.enabled = false;
  const old = left(room);
  const back = await client.reconnect(room.reconnectionToken);
  assert.equal(back.sessionId, room.sessionId);
  assert.equal(await old, 4002);
  const inbox = new Inbox(back);
  back.send("echo", "mine");
  assert.equal(await inbox.next("echo"), "mine");
  await back.leave();
});

test("a kicked client gets what was sent before, then the room's code", async () => {
  const room = await client.create("probe", { hold: 5 });
  const guest = await client.joinById(room.roomId);
  const guestInbox = new Inbox(guest);
  const inbox = new Inbox(room);
  const code = left(guest);
  guest.send("kick", 4321);
  assert.equal(await code, 4321);
  assert.equal(await guestInbox.next("last"), "words");
  assert.deepEqual(await inbox.next("left"), [guest.sessionId, 4321]);
  await room.leave();
});

test("a room that disconnects closes everybody and is gone", async () => {
  const room = await client.create("probe", { hold: 5 });
  const guest = await client.joinById(room.roomId);
  const codes = Promise.all([left(room), left(guest)]);
  room.send("disconnect");
  assert.deepEqual(await codes, [4000, 4000]);
  assert.equal((await rejection(client.joinById(room.roomId))).code, 522);
});

test("leaving the last seat and joining at once gets a room that lives", async () => {
  // Field report U7.
  for (let round = 0; round < 20; round += 1) {
    const room = await client.joinOrCreate("probe", { mode: "race" });
    const leaving = room.leave();
    const byId = client.joinById(room.roomId).catch((error) => error.code);
    const next = await client.joinOrCreate("probe", { mode: "race" });
    const named = await byId;
    assert.ok(named === 522 || named.sessionId, `joinById: ${named}`);
    await leaving;
    await Promise.all([next.leave(), named === 522 ? undefined : named.leave()]);
  }
});

test("a panic closes its room alone", async () => {
  const failing = await client.create("probe");
  const other = await client.create("probe");
  const guest = await client.joinById(failing.roomId);
  const codes = Promise.all([left(failing), left(guest)]);
  failing.send("panic");
  assert.deepEqual(await codes, [4002, 4002]);
  assert.equal((await rejection(client.joinById(failing.roomId))).code, 522);
  const inbox = new Inbox(other);
  other.send("echo", "alive");
  assert.equal(await inbox.next("echo"), "alive");
  await other.leave();
});

test("a shutdown closes every client with 4001 and the process ends", async () => {
  // Field report U31.
  const doomed = await start(executable, ["0"]);
  const doomedClient = new Client(doomed.url);
  const rooms = await Promise.all(Array.from({ length: 20 }, () => doomedClient.create("probe", { hold: 60 })));
  const codes = Promise.all(rooms.map(left));
  const ended = doomed.stop("SIGTERM");
  assert.deepEqual(await codes, rooms.map(() => 4001));
  assert.deepEqual(await ended, { code: 0, signal: null });
  assert.ok(doomed.lines.includes("ended"));
});
