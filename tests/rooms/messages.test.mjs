// Messages of every kind in both directions, with the official SDK.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client } from "@colyseus/sdk";
import { build, start } from "../lib/server.mjs";
import { Inbox, rejection, within } from "../lib/rooms.mjs";

let server;
let client;

before(async () => {
  server = await start(await build("playerthree-rooms", { example: "conformance" }), ["0"]);
  client = new Client(server.url);
});
after(() => server?.stop());

test("values of every JSON kind come back as they were sent", async () => {
  const room = await client.create("probe");
  const inbox = new Inbox(room);
  const values = [
    null, true, false, 0, 1, 63, 64, 127, 128, 255, 256, 65535, 65536, 4294967295, 4294967296, -1, -32, -33, -128,
    -129, -32768, -32769, -2147483648, -2147483649, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 0.1, -1.5,
    1e300, 5e-324, "", "hi", "é🙂", "x".repeat(31), "x".repeat(32), "x".repeat(255), "x".repeat(256),
    "x".repeat(30000), [], {}, [1, [2, [3]]], { a: { b: { c: [] } } },
    [{ x: 1, y: 2 }, { x: 3, y: 4 }, { y: 5, x: 6 }], { "": 1, "a b": 2, 7: 3 }, Date.UTC(2026, 0, 1),
    Array.from({ length: 200 }, (_, index) => ({ [`shape${index}`]: index, shared: { index } })),
  ];
  for (const value of values) room.send("echo", value);
  for (const value of values) assert.deepEqual(await inbox.next("echo"), value);
  await room.leave();
});

test("values that JSON does not have arrive as their nearest", async () => {
  const room = await client.create("probe");
  const inbox = new Inbox(room);
  const date = new Date(1_700_000_000_123);
  const cases = [
    [undefined, null],
    [{ gone: undefined }, { gone: null }],
    [NaN, null],
    [Infinity, null],
    [date, date.getTime()],
    [new Uint8Array([1, 2, 255]), [1, 2, 255]],
    [new Map([[1, "a"], ["k", "b"]]), { 1: "a", k: "b" }],
    [new Set([1, 2]), [1, 2]],
    [12n, 12],
  ];
  for (const [sent] of cases) room.send("echo", sent);
  for (const [, expected] of cases) assert.deepEqual(await inbox.next("echo"), expected);
  await room.leave();
});

test("types are names or numbers, and payloads may be missing or raw bytes", async () => {
  const room = await client.create("probe");
  const inbox = new Inbox(room);
  for (const type of [0, 7, 127, 128, 300, 70000]) {
    room.send(type, { type });
    assert.deepEqual(await inbox.next(type), { type });
    room.sendBytes(type, new Uint8Array([type & 0xff, 1]));
    assert.deepEqual([...(await inbox.next(type))], [type & 0xff, 1]);
  }
  const long = "t".repeat(200);
  room.sendBytes(long, new Uint8Array(0));
  assert.equal((await inbox.next(long)).length, 0);
  room.send("signal");
  assert.equal(await inbox.next("signal"), undefined);
  await room.leave();
});

test("broadcasts reach everybody, or everybody else", async () => {
  const rooms = [await client.create("probe")];
  for (let count = 1; count < 4; count += 1) rooms.push(await client.joinById(rooms[0].roomId));
  const inboxes = rooms.map((room) => new Inbox(room));
  rooms[1].send("all", { to: "all" });
  rooms[1].send("others", { to: "others" });
  rooms[1].send("all", "end");
  for (const [index, inbox] of inboxes.entries()) {
    assert.deepEqual(await inbox.next("all"), { to: "all" });
    if (index !== 1) assert.deepEqual(await inbox.next("others"), { to: "others" });
    assert.equal(await inbox.next("all"), "end");
    assert.ok(!inbox.messages.some(({ type }) => type === "others"));
  }
  await Promise.all(rooms.map((room) => room.leave()));
});

test("what is sent while joining arrives after the join, in order and ahead of later messages", async () => {
  // Field report U26.
  const room = await client.create("probe");
  const types = [];
  const echoed = new Promise((resolve) => {
    room.onMessage("*", (type) => {
      types.push(type);
      if (type === "echo") resolve();
    });
  });
  room.send("echo", 1);
  await within(echoed, "echo");
  assert.deepEqual(types, ["hello", "hello2", "echo"]);
  await room.leave();
});

test("an error of the room reaches the client, which stays", async () => {
  const room = await client.create("probe");
  const inbox = new Inbox(room);
  const error = within(new Promise((resolve) => room.onError((code, message) => resolve({ code, message }))), "onError");
  room.send("error");
  assert.deepEqual(await error, { code: 4217, message: "custom" });
  room.send("echo", "still here");
  assert.equal(await inbox.next("echo"), "still here");
  await room.leave();
});

test("requests are answered with a value, nothing, a rejection or a fault", async () => {
  const room = await client.create("probe");
  assert.equal(await room.request("double", 21), 42);
  assert.equal(await room.request("void"), undefined);
  assert.equal(await room.request("later"), "later");
  assert.deepEqual((await rejection(room.request("reject"))).reason, { reason: "no" });
  const fault = await rejection(room.request("fault"));
  assert.deepEqual([fault.name, fault.message], ["Broken", "it broke"]);
  assert.equal((await rejection(room.request("nothing"))).name, "no_handler");
  await room.leave();
});

test("timers of a room fire", async () => {
  const room = await client.create("probe");
  const inbox = new Inbox(room);
  room.send("tick", 5);
  assert.equal(await inbox.next("ticked"), 1);
  await room.leave();
});
