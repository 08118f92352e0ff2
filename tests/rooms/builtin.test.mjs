// The rooms that come with the crate, and what an application's room can do with time, with the official SDK.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client } from "@colyseus/sdk";
import { build, start } from "../lib/server.mjs";
import { Inbox, eventually, left, rejection, within } from "../lib/rooms.mjs";

let server;
let client;

before(async () => {
  server = await start(await build("playerthree-rooms", { example: "conformance" }), ["0"]);
  client = new Client(server.url);
});
after(() => server?.stop());

/** The next `+` or `-` about that room. */
async function news(inbox, roomId) {
  const told = new Promise((resolve) => {
    const timer = setInterval(() => {
      const index = inbox.messages.findIndex(
        ({ type, payload }) => (type === "+" && payload[0] === roomId) || (type === "-" && payload === roomId),
      );
      if (index < 0) return;
      clearInterval(timer);
      resolve(inbox.messages.splice(index, 1)[0]);
    }, 5);
  });
  return within(told, `news of ${roomId}`);
}

test("a lobby shows the public rooms, each change, and what passes its filter", async () => {
  const before = await client.create("probe", { mode: "listed" });
  const lobby = await client.joinOrCreate("lobby", { filter: { name: "probe" } });
  const inbox = new Inbox(lobby);
  const rooms = await inbox.next("rooms");
  const listed = rooms.find(({ roomId }) => roomId === before.roomId);
  assert.deepEqual(Object.keys(listed).sort(), [
    "clients", "createdAt", "locked", "maxClients", "metadata", "name", "private", "processId", "roomId", "unlisted",
  ]);
  assert.ok(listed.createdAt instanceof Date && Math.abs(Date.now() - listed.createdAt) < 3_600_000);
  assert.deepEqual([listed.name, listed.clients, listed.locked, listed.metadata.mode], ["probe", 1, false, "listed"]);
  assert.ok(!rooms.some(({ name }) => name === "lobby"), "the lobby itself is unlisted");

  // The story of the recorded lobby: metadata, lock, unlock, private, public, filter, end.
  const { roomId } = before;
  before.send("meta", { map: "b" });
  assert.deepEqual((await news(inbox, roomId)).payload[1].metadata, { map: "b" });
  before.send("lock");
  assert.equal((await news(inbox, roomId)).payload[1].locked, true);
  before.send("unlock");
  assert.equal((await news(inbox, roomId)).payload[1].locked, false);
  before.send("private", true);
  assert.equal((await news(inbox, roomId)).type, "-");
  before.send("private", false);
  assert.equal((await news(inbox, roomId)).payload[1].private, false);
  lobby.send("filter", { name: "probe", metadata: { map: "zzz" } });
  assert.deepEqual(await inbox.next("rooms"), []);
  lobby.send("filter", { metadata: { map: "b" } });
  assert.equal((await inbox.next("rooms"))[0].roomId, roomId);
  await before.leave();
  assert.equal((await news(inbox, roomId)).type, "-");
  await lobby.leave();
});

test("a relay hands messages to all others with their sender", async () => {
  const rooms = [await client.joinOrCreate("relay")];
  for (let count = 1; count < 3; count += 1) rooms.push(await client.joinById(rooms[0].roomId));
  const inboxes = rooms.map((room) => new Inbox(room));
  rooms[0].send("move", { x: 1 });
  rooms[0].sendBytes("raw", new Uint8Array([1, 2, 255]));
  rooms[1].send("end");
  for (const inbox of inboxes.slice(1)) {
    assert.deepEqual(await inbox.next("move"), [rooms[0].sessionId, { x: 1 }]);
    const [sender, bytes] = await inbox.next("raw");
    assert.deepEqual([sender, bytes instanceof Uint8Array, [...bytes]], [rooms[0].sessionId, true, [1, 2, 255]]);
  }
  assert.deepEqual(await inboxes[0].next("end"), [rooms[1].sessionId, null]);
  assert.equal(inboxes[0].messages.length, 0, "nothing comes back to its sender");
  await Promise.all(rooms.map((room) => room.leave()));
});

test("a queue hands players of about one rank their seats in a new room", async () => {
  const ranks = [1000, 5000, 1010];
  const waiting = await Promise.all(ranks.map((rank) => client.joinOrCreate("queue", { rank })));
  const inboxes = waiting.map((room) => new Inbox(room));
  const [first, third] = await Promise.all([inboxes[0].next("seat"), inboxes[2].next("seat")]);
  assert.equal(first.roomId, third.roomId);
  const player = await client.consumeSeatReservation(first);
  const hello = new Inbox(player).next("hello");
  const players = [player, await client.consumeSeatReservation(third)];
  const gone = [0, 2].map((place) => left(waiting[place]));
  for (const place of [0, 2]) waiting[place].send("confirm");
  assert.deepEqual(await Promise.all(gone), [4000, 4000]);
  assert.deepEqual((await hello).options, { rank: 1000 }, "a player joins with the options it queued with");
  assert.equal((await rejection(client.joinById(first.roomId))).message, "room is full");
  assert.ok(!inboxes[1].messages.some(({ type }) => type === "seat"), "a rank out of reach waits on");
  assert.equal((await rejection(client.joinOrCreate("queue", {}))).code, 400);
  await Promise.all([...players, waiting[1]].map((room) => room.leave()));
});

test("a player whom the match room refuses is told so, and nobody waits for it", async () => {
  const refused = new Client(server.url);
  refused.auth.token = "bad";
  const bad = await refused.joinOrCreate("queue", { rank: 10 });
  const error = within(new Promise((resolve) => bad.onError((code, message) => resolve({ code, message }))), "onError");
  const others = await Promise.all([10, 10].map((rank) => client.joinOrCreate("queue", { rank })));
  const seats = await Promise.all(others.map((room) => new Inbox(room).next("seat")));
  assert.equal(seats[0].roomId, seats[1].roomId);
  assert.deepEqual(await error, { code: 401, message: "bad token" });
  await Promise.all(others.map((room) => room.leave()));
});

test("sortBy decides which room fills first, and a listing shows them", async () => {
  const mode = "sorted";
  const rooms = [];
  for (const level of [1, 3, 2]) rooms.push(await client.create("probe", { mode, level, maxClients: 2 }));
  const joined = [];
  for (let count = 0; count < 3; count += 1) joined.push(await client.join("probe", { mode }));
  assert.deepEqual(joined.map(({ roomId }) => roomId), [rooms[1], rooms[2], rooms[0]].map(({ roomId }) => roomId));
  const listing = await (await fetch(`${server.url}/matchmake/probe`)).json();
  const listed = listing.filter(({ metadata }) => metadata?.mode === mode);
  assert.deepEqual(listed.map(({ clients, locked }) => [clients, locked]), Array(3).fill([2, true]));
  await Promise.all([...rooms, ...joined].map((room) => room.leave()));
});

test("what is sent after the next patch comes after what is sent now, in order", async () => {
  const room = await client.create("probe", { mode: "patch" });
  const other = await client.joinById(room.roomId);
  const types = [];
  const done = new Promise((resolve) => {
    room.onMessage("*", (type) => {
      if (types.push(type) === 5) resolve();
    });
  });
  const inbox = new Inbox(other);
  await eventually(() => types.includes("joined"), "the other one joined");
  types.length = 0;
  room.send("afterPatch", 1);
  room.send("echo", 2);
  room.send("echo", 3);
  await within(done, "five messages");
  assert.deepEqual(types, ["now", "echo", "echo", "later", "laterAll"]);
  assert.equal(await inbox.next("laterOthers"), 1);
  await Promise.all([room.leave(), other.leave()]);
});

test("many real joins at once fill rooms to the brim and no further", async () => {
  // Field report U2.
  const options = { mode: "many", maxClients: 8, auth: "slow" };
  const rooms = await Promise.all(Array.from({ length: 60 }, () => client.joinOrCreate("probe", options)));
  const sizes = new Map();
  for (const { roomId } of rooms) sizes.set(roomId, (sizes.get(roomId) ?? 0) + 1);
  assert.deepEqual([...sizes.values()].sort(), [4, 8, 8, 8, 8, 8, 8, 8]);
  await Promise.all(rooms.map((room) => room.leave()));
});

test("a refusal names what stands in the way", async () => {
  // Field report U11.
  const reason = async (method, target) => {
    const answer = await fetch(`${server.url}/matchmake/${method}/${target}`, { method: "POST" });
    return [answer.status, (await answer.json()).reason];
  };
  const room = await client.create("probe", { maxClients: 1 });
  assert.deepEqual(await reason("joinById", room.roomId), [522, "room_full"]);
  room.send("lock");
  room.send("echo", 1);
  await new Inbox(room).next("echo");
  assert.deepEqual(await reason("joinById", room.roomId), [522, "room_locked"]);
  assert.deepEqual(await reason("joinById", "nothing-1"), [522, "room_not_found"]);
  assert.deepEqual(await reason("join", "relay"), [521, "no_match"]);
  assert.deepEqual(await reason("join", "nothing"), [520, "unknown_room_name"]);
  assert.deepEqual(await reason("reconnect", room.roomId), [524, "reconnect_expired"]);
  await room.leave();
});
