// Finding and getting a seat, with the official SDK: every matchmaking method, and every way in which it fails.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client } from "@colyseus/sdk";
import { build, start } from "../lib/server.mjs";
import { Inbox, eventually, rejection } from "../lib/rooms.mjs";

let server;
let client;

before(async () => {
  server = await start(await build("playerthree-rooms", { example: "conformance" }), ["0"]);
  client = new Client(server.url);
});
after(() => server?.stop());

async function listing() {
  return (await fetch(`${server.url}/listing`)).json();
}

function matchmake(method, target, body = {}) {
  return fetch(`${server.url}/matchmake/${method}/${target}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
}

test("create makes a new room each time, joinOrCreate and join find it, joinById names it", async () => {
  const mode = { mode: "methods" };
  const first = await client.joinOrCreate("probe", mode);
  const second = await client.joinOrCreate("probe", mode);
  const third = await client.join("probe", mode);
  const fourth = await client.joinById(first.roomId);
  const other = await client.create("probe", mode);
  assert.equal(new Set([first, second, third, fourth].map((room) => room.roomId)).size, 1);
  assert.notEqual(other.roomId, first.roomId);
  assert.equal(new Set([first, second, third, fourth, other].map((room) => room.sessionId)).size, 5);
  const listed = async () => (await listing()).find((room) => room.roomId === first.roomId);
  assert.equal((await listed()).clients, 4);
  // A client may know that it is connected before the listing does.
  await eventually(async () => (await listed()).connected === 4, "all four are connected");
  await Promise.all([first, second, third, fourth, other].map((room) => room.leave()));
  await eventually(async () => (await listing()).length === 0, "all rooms disposed");
});

test("joinOrCreate keeps rooms with other filtered options apart", async () => {
  const a = await client.joinOrCreate("probe", { mode: "a" });
  const b = await client.joinOrCreate("probe", { mode: "b" });
  const a2 = await client.joinOrCreate("probe", { mode: "a" });
  assert.notEqual(a.roomId, b.roomId);
  assert.equal(a.roomId, a2.roomId);
  await Promise.all([a, b, a2].map((room) => room.leave()));
});

test("simultaneous joinOrCreate calls share a room and never overfill it", async () => {
  // Field report U2: the count holds across every await of a slow authorization.
  const options = { mode: "crowd", maxClients: 4, auth: "slow" };
  const rooms = await Promise.all(Array.from({ length: 10 }, () => client.joinOrCreate("probe", options)));
  const sizes = new Map();
  for (const { roomId } of rooms) sizes.set(roomId, (sizes.get(roomId) ?? 0) + 1);
  assert.deepEqual([...sizes.values()].sort(), [2, 4, 4]);
  await Promise.all(rooms.map((room) => room.leave()));
});

test("the join carries options and what authorization found out", async () => {
  const authed = new Client(server.url);
  authed.auth.token = "good";
  const room = await authed.create("probe", { mode: "auth", nick: "Ada" });
  const hello = await new Inbox(room).next("hello");
  assert.deepEqual(hello, { auth: { token: "good" }, options: { mode: "auth", nick: "Ada" } });
  await room.leave();
});

test("refused authorization has its code and takes no seat", async () => {
  // Field report U4.
  const room = await client.create("probe", { maxClients: 2 });
  for (const [token, code] of [["bad", 401], ["none", 525]]) {
    const refused = new Client(server.url);
    refused.auth.token = token;
    assert.equal((await rejection(refused.joinById(room.roomId))).code, code);
  }
  const other = await client.joinById(room.roomId);
  await Promise.all([room.leave(), other.leave()]);
});

test("unknown names, methods and rooms, locked, full and private ones have codes of their own", async () => {
  const code = async (promise) => (await rejection(promise)).code;
  assert.equal(await code(client.joinOrCreate("nothing")), 520);
  assert.equal(await code(client.join("probe", { mode: "nobody" })), 521);
  assert.equal(await code(client.joinById("unknown_1")), 522);
  assert.equal(await code(client.joinById("not an id")), 522);
  assert.equal((await matchmake("steal", "probe")).status, 520);

  const room = await client.create("probe", { mode: "codes", maxClients: 2 });
  const inbox = new Inbox(room);
  room.send("lock");
  room.send("echo", "locked");
  await inbox.next("echo");
  const locked = await rejection(client.joinById(room.roomId));
  assert.deepEqual([locked.code, locked.message], [522, "room is locked"]);
  assert.equal(await code(client.join("probe", { mode: "codes" })), 521);
  room.send("unlock");
  room.send("echo", "unlocked");
  await inbox.next("echo");
  const second = await client.join("probe", { mode: "codes" });
  const full = await rejection(client.joinById(room.roomId));
  assert.deepEqual([full.code, full.message], [522, "room is full"]);
  await second.leave();
  const third = await eventually(() => client.join("probe", { mode: "codes" }).catch(() => null), "a free seat");
  await Promise.all([room.leave(), third.leave()]);

  const hidden = await client.create("probe", { mode: "hidden", private: true });
  assert.equal(await code(client.join("probe", { mode: "hidden" })), 521);
  const guest = await client.joinById(hidden.roomId);
  await Promise.all([hidden.leave(), guest.leave()]);
});

test("a definition that refuses or panics answers 523 and leaves nothing", async () => {
  for (const create of ["refuse", "panic"]) {
    assert.equal((await rejection(client.create("probe", { create }))).code, 523);
  }
  await eventually(async () => (await listing()).length === 0, "no room left");
});

test("a room that refuses the join rejects with its code and frees the seat", async () => {
  const room = await client.create("probe", { maxClients: 2 });
  assert.equal((await rejection(client.joinById(room.roomId, { join: "refuse" }))).code, 526);
  assert.equal((await rejection(client.joinById(room.roomId, { join: "own code" }))).code, 4217);
  const other = await client.joinById(room.roomId);
  const inbox = new Inbox(room);
  room.send("log");
  const log = await inbox.next("log");
  assert.deepEqual(log.map(([event]) => event), ["join", "join"], "a refused client neither joined nor left");
  await Promise.all([room.leave(), other.leave()]);
});

test("a room that kicks in its join handler closes the client with the room's code", async () => {
  const room = await client.create("probe");
  assert.equal((await rejection(client.joinById(room.roomId, { join: "kick" }))).code, 4321);
  await room.leave();
});

test("a seat is used once and expires, and a room nobody enters is disposed", async () => {
  // Field reports U1 and U5. The test server's seats expire after a second.
  const reserved = await (await matchmake("create", "probe")).json();
  assert.equal((await listing()).length, 1);
  await eventually(async () => (await listing()).length === 0, "the room was disposed");
  const late = await rejection(client.consumeSeatReservation(reserved));
  assert.equal(late.code, 524);

  const used = await (await matchmake("create", "probe")).json();
  const room = await client.consumeSeatReservation(used);
  assert.equal((await rejection(client.consumeSeatReservation(used))).code, 524);
  await room.leave();
});

test("a seat answer fits every generation of clients", async () => {
  const seat = await (await matchmake("create", "probe")).json();
  assert.deepEqual(
    [seat.name, seat.room.name, seat.roomId, seat.processId],
    ["probe", "probe", seat.room.roomId, seat.room.processId],
  );
  for (const prefix of ["/v16", "/v17"]) {
    const answer = await fetch(`${server.url}${prefix}/matchmake/joinById/${seat.roomId}`, { method: "POST" });
    assert.equal(answer.status, 200);
  }
});

test("errors and preflights carry the headers that browsers need", async () => {
  const origin = "https://game.example";
  const failed = await fetch(`${server.url}/matchmake/join/nothing`, { method: "POST", headers: { origin } });
  assert.equal(failed.status, 520);
  assert.equal(failed.headers.get("access-control-allow-origin"), origin);
  assert.equal(failed.headers.get("access-control-allow-credentials"), "true");
  const preflight = await fetch(`${server.url}/matchmake/create/probe`, { method: "OPTIONS", headers: { origin } });
  assert.equal(preflight.status, 204);
  assert.equal(preflight.headers.get("access-control-allow-origin"), origin);
  assert.match(preflight.headers.get("access-control-allow-headers"), /Authorization/);
});

test("the page and the latency probe share a path", async () => {
  assert.equal(await (await fetch(server.url)).text(), "the page");
  assert.ok((await client.getLatency({ pingCount: 3 })) >= 0);
});
