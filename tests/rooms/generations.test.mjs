// Three generations of the official SDKs in one room of one server. Each runs the full life of a client: at the
// endpoint of its generation, and, where a room has no state to describe, at the plain one too.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client as Client18 } from "@colyseus/sdk";
import { Client as Client16 } from "colyseus-js-016";
import { Client as Client17 } from "colyseus-sdk-017";
import { brittleLine } from "../lib/line.mjs";
import { build, start } from "../lib/server.mjs";
import { Inbox, left, rejection, within } from "../lib/rooms.mjs";

const CLIENTS = [
  { sdk: "0.18", Client: Client18, prefix: "", says: "0.18" },
  { sdk: "0.17", Client: Client17, prefix: "/v17", says: "0.17" },
  { sdk: "0.16", Client: Client16, prefix: "/v16", says: "0.16" },
  { sdk: "0.17", Client: Client17, prefix: "", says: "0.18" },
  { sdk: "0.16", Client: Client16, prefix: "", says: "0.18" },
];
const title = ({ sdk, prefix }) => `${sdk} at ${prefix || "/"}`;
const reconnectsByItself = ({ sdk }) => sdk !== "0.16";

let executable;
let server;
let line;

before(async () => {
  executable = await build("playerthree-rooms", { example: "conformance" });
  server = await start(executable, ["0"]);
  line = await brittleLine(server);
});
after(async () => {
  await line?.close();
  await server?.stop();
});

function connect({ Client, prefix }, at = server) {
  return new Client(at.url + prefix);
}

function signalled(signal, what) {
  return within(new Promise((resolve) => signal.once(resolve)), what);
}

test("all generations meet in one room and hear one another", async () => {
  const rooms = [];
  const first = await connect(CLIENTS[0]).create("probe", { mode: "all generations" });
  rooms.push(first);
  for (const kind of CLIENTS.slice(1)) rooms.push(await connect(kind).joinById(first.roomId));
  const inboxes = rooms.map((room) => new Inbox(room));
  for (const [index, room] of rooms.entries()) {
    room.send("all", { from: index, text: "héllo", list: [1, -2, 3.5, null, true], big: 2 ** 53 - 1 });
    for (const inbox of inboxes) {
      const heard = await inbox.next("all");
      assert.deepEqual(heard, { from: index, text: "héllo", list: [1, -2, 3.5, null, true], big: 2 ** 53 - 1 });
    }
  }
  assert.equal(new Set(rooms.map((room) => room.sessionId)).size, CLIENTS.length);
  await Promise.all(rooms.map((room) => room.leave()));
});

for (const kind of CLIENTS) {
  test(`${title(kind)}: joins, talks both ways, and leaves by consent`, async () => {
    const host = await connect(CLIENTS[0]).create("probe", { hold: 5 });
    const hostInbox = new Inbox(host);
    const client = connect(kind);
    client.auth.token = "good";
    const room = await client.joinById(host.roomId, { nick: "Ada" });
    const inbox = new Inbox(room);
    assert.deepEqual(await inbox.next("hello"), { auth: { token: "good" }, options: { nick: "Ada" } });
    assert.equal(await inbox.next("hello2"), 2);
    room.send("generation");
    assert.equal(await inbox.next("generation"), kind.says);
    room.send("echo", { nested: { a: [1, 2] } });
    assert.deepEqual(await inbox.next("echo"), { nested: { a: [1, 2] } });
    room.send(7, 42);
    assert.equal(await inbox.next(7), 42);
    room.sendBytes("bin", Uint8Array.of(1, 2, 255));
    assert.deepEqual([...(await inbox.next("bin"))], [1, 2, 255]);
    host.send("others", "to the others");
    assert.equal(await inbox.next("others"), "to the others");
    room.send("others", "to the host");
    assert.equal(await hostInbox.next("others"), "to the host");
    const error = within(new Promise((resolve) => room.onError.once((...args) => resolve(args))), "onError");
    room.send("error");
    assert.deepEqual((await error).slice(0, 2), [4217, "custom"]);
    assert.equal(await room.leave(), 4000);
    assert.deepEqual(await hostInbox.next("left"), [room.sessionId, 4000]);
    await host.leave();
  });

  test(`${title(kind)}: is kicked with the room's code`, async () => {
    const room = await connect(kind).create("probe");
    const inbox = new Inbox(room);
    const code = left(room);
    room.send("kick", 4321);
    assert.equal(await code, 4321);
    assert.equal(await inbox.next("last"), "words");
  });

  test(`${title(kind)}: takes its seat back after a drop`, async () => {
    const host = await connect(CLIENTS[0]).create("probe", { hold: 10 });
    const hostInbox = new Inbox(host);
    const client = connect(kind, line);
    const room = await client.joinById(host.roomId);
    if (room.reconnection) room.reconnection.enabled = false;
    const { reconnectionToken, sessionId } = room;
    const gone = left(room);
    line.refuse();
    assert.equal(await gone, 1006);
    assert.equal(await hostInbox.next("dropped"), sessionId);
    line.admit();
    const back = await client.reconnect(reconnectionToken);
    const inbox = new Inbox(back);
    assert.equal(back.sessionId, sessionId);
    assert.equal(await inbox.next("back"), 1);
    assert.equal(await inbox.next("back2"), 2);
    assert.notEqual(back.reconnectionToken, reconnectionToken);
    assert.equal((await rejection(client.reconnect(reconnectionToken))).code, 524);
    back.send("echo", "here again");
    assert.equal(await inbox.next("echo"), "here again");
    await back.leave();
    assert.deepEqual(await hostInbox.next("left"), [sessionId, 4000]);
    await host.leave();
  });

  test(`${title(kind)}: has the codes of the failures in its errors`, async () => {
    const client = connect(kind);
    const code = async (promise) => (await rejection(promise)).code;
    assert.equal(await code(client.joinOrCreate("nothing")), 520);
    assert.equal(await code(client.join("probe", { mode: title(kind) })), 521);
    assert.equal(await code(client.joinById("unknown_1")), 522);
    assert.equal(await code(client.reconnect("unknown_1:token")), 522);
    assert.equal(await code(client.create("probe", { create: "refuse" })), 523);
    client.auth.token = "none";
    assert.equal(await code(client.create("probe")), 525);
    client.auth.token = "good";
    assert.equal(await code(client.create("probe", { join: "refuse" })), 526);
  });
}

for (const kind of CLIENTS.filter(reconnectsByItself)) {
  test(`${title(kind)}: reconnects by itself and loses nothing it sent meanwhile`, async () => {
    const room = await connect(kind, line).create("probe", { hold: 10 });
    room.reconnection.minUptime = 0;
    const inbox = new Inbox(room);
    const { sessionId } = room;
    const dropped = signalled(room.onDrop, "onDrop");
    const reconnected = signalled(room.onReconnect, "onReconnect");
    line.refuse();
    await dropped;
    room.send("echo", "while away");
    line.admit();
    await reconnected;
    assert.equal(room.sessionId, sessionId);
    assert.equal(await inbox.next("back"), 1);
    assert.equal(await inbox.next("echo"), "while away");
    assert.equal(await room.leave(), 4000);
  });

  test(`${title(kind)}: comes back when it is asked to`, async () => {
    const room = await connect(kind).create("probe", { hold: 10 });
    room.reconnection.minUptime = 0;
    const reconnected = signalled(room.onReconnect, "onReconnect");
    room.send("comeBack");
    await reconnected;
    await room.leave();
  });

  test(`${title(kind)}: gives up when its reconnection is refused`, async () => {
    const room = await connect(kind, line).create("probe");
    room.reconnection.minUptime = 0;
    const code = left(room);
    line.refuse();
    line.admit();
    assert.equal(await code, 4003);
  });

  test(`${title(kind)}: measures its latency`, async () => {
    assert.ok((await connect(kind).getLatency({ pingCount: 3 })) >= 0);
  });
}

test("a shutdown closes every generation with 4001", async () => {
  const doomed = await start(executable, ["0"]);
  const rooms = await Promise.all(CLIENTS.map((kind) => connect(kind, doomed).create("probe", { hold: 60 })));
  const codes = Promise.all(rooms.map(left));
  const ended = doomed.stop("SIGTERM");
  assert.deepEqual(await codes, rooms.map(() => 4001));
  assert.deepEqual(await ended, { code: 0, signal: null });
});
