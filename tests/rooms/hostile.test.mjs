// Input that no honest client sends: each is refused in a stated way, and the room next to it plays on.

import assert from "node:assert/strict";
import net from "node:net";
import { after, afterEach, before, test } from "node:test";
import { Client } from "@colyseus/sdk";
import { WebSocket } from "ws";
import { build, start } from "../lib/server.mjs";
import { Inbox, eventually, within } from "../lib/rooms.mjs";

let server;
let witness;
let inbox;

before(async () => {
  server = await start(await build("playerthree-rooms", { example: "conformance" }), ["0"]);
  witness = await new Client(server.url).create("probe");
  inbox = new Inbox(witness);
});
after(async () => {
  await witness?.leave();
  const ended = await server?.stop();
  assert.deepEqual(ended, { code: 0, signal: null });
});
afterEach(async () => {
  witness.send("echo", "alive");
  assert.equal(await inbox.next("echo"), "alive");
});

/** A joined socket without an SDK. */
async function join() {
  const response = await fetch(`${server.url}/matchmake/joinById/${witness.roomId}`, { method: "POST" });
  const seat = await response.json();
  const socket = new WebSocket(`${server.webSocketUrl}/${seat.processId}/${seat.roomId}?sessionId=${seat.sessionId}`);
  const frames = [];
  socket.on("message", (data) => frames.push(data));
  socket.closed = within(
    new Promise((resolve) => socket.on("close", (code, reason) => resolve({ code, reason: String(reason) }))),
    "a close",
    20_000,
  );
  // A test that never closes its socket must not fail by this promise.
  socket.closed.catch(() => {});
  socket.on("error", () => {});
  socket.frames = frames;
  await eventually(() => frames.length > 0, "the join answer");
  assert.equal(frames[0][0], 10);
  socket.send(Uint8Array.of(10));
  return socket;
}

/** Resolves once the server has handled all that was sent before. */
async function handled(socket) {
  const seen = socket.frames.length;
  socket.send(Uint8Array.of(18));
  await eventually(() => socket.frames.slice(seen).some((frame) => frame.length === 1 && frame[0] === 18), "a pong");
}

test("unknown codes, empty and text messages and repeated acknowledgements are let pass", async () => {
  const socket = await join();
  for (const code of [0, 1, 11, 14, 15, 16, 19, 20, 22, 99, 255]) socket.send(Uint8Array.of(code, 1, 2, 3));
  socket.send(new Uint8Array(0));
  socket.send("text");
  socket.send(Uint8Array.of(10));
  await handled(socket);
  socket.close();
});

test("messages that do not decode close with 4002", async () => {
  const bad = [
    [13], // no type
    [13, 0xa0], // the empty name
    [13, 0xa4, 101, 99], // a cut name
    [13, 0xa2, 0xff, 0xfe, 1], // no UTF-8
    [13, 0xcb, 0, 0, 0, 0, 0, 0, 0, 0], // a float for a type
    [13, 0xa4, 101, 99, 104, 111, 0xc1], // no MessagePack
    [13, 0xa4, 101, 99, 104, 111, 0x92, 1], // a cut payload
    [13, 0xa4, 101, 99, 104, 111, 1, 0, 0], // a padded payload, field report U50
    [13, 0xa4, 101, 99, 104, 111, 0xdd, 0xff, 0xff, 0xff, 0xff], // a list that is not there
    [13, 0xa4, 101, 99, 104, 111, ...Array(1000).fill(0x91), 1], // too deep
    [13, 0xa3, 110, 111, 112], // an unknown type
    [17, 0xa0], // raw bytes without a name
    [21, 0], // a request without a type
  ];
  for (const message of bad) {
    const socket = await join();
    socket.send(Uint8Array.from(message));
    assert.deepEqual(await socket.closed, { code: 4002, reason: "bad_message" }, String(message.slice(0, 12)));
  }
});

test("a message over the limit closes with 1009, whole or in fragments", async () => {
  // Field reports U41 and U56.
  const whole = await join();
  whole.send(new Uint8Array(65_537));
  assert.equal((await whole.closed).code, 1009);
  const fragments = await join();
  for (let count = 0; count < 20; count += 1) fragments.send(new Uint8Array(4096), { fin: false });
  assert.equal((await fragments.closed).code, 1009);
  const fits = await join();
  const message = new Uint8Array(65_536);
  message.set([99]);
  fits.send(message);
  await handled(fits);
  fits.close();
});

test("an announced frame of 64 MiB is refused before it is sent", async () => {
  const socket = await join();
  socket._socket.write(Buffer.from([0x82, 0xff, 0, 0, 0, 0, 4, 0, 0, 0, 1, 2, 3, 4]));
  assert.equal((await socket.closed).code, 1009);
});

test("broken WebSocket frames close with 1002", async () => {
  const broken = [
    [0x82, 0x01, 0x0a], // no mask
    [0xc2, 0x80, 0, 0, 0, 0], // a reserved bit
    [0x83, 0x80, 0, 0, 0, 0], // a reserved opcode
    [0x80, 0x80, 0, 0, 0, 0], // a continuation of nothing
  ];
  for (const bytes of broken) {
    const socket = await join();
    socket._socket.write(Buffer.from(bytes));
    assert.equal((await socket.closed).code, 1002, String(bytes));
  }
});

test("too many messages in a second close with 4002", async () => {
  // Field report U34: a flood is bounded, and nothing of it is handled after the close.
  const socket = await join();
  for (let count = 0; count < 2000; count += 1) socket.send(Uint8Array.of(99));
  assert.deepEqual(await socket.closed, { code: 4002, reason: "rate_limited" });
  const pings = await join();
  for (let count = 0; count < 2000; count += 1) pings.ping();
  assert.deepEqual(await pings.closed, { code: 4002, reason: "rate_limited" });
});

test("a reader that stops reading is closed as slow and its room does not wait", async () => {
  // Field report U35.
  const socket = await join();
  await handled(socket);
  socket._socket.pause();
  const flood = [13, 0xa5, ...Buffer.from("flood"), 0xcc, 100];
  for (let count = 0; count < 3; count += 1) socket.send(Uint8Array.from(flood));
  const counters = async () => (await fetch(`${server.url}/counters`)).text();
  await eventually(async () => /"slow_reader", [1-9]/.test(await counters()), "a slow reader was closed");
  witness.send("echo", "not waiting");
  assert.equal(await inbox.next("echo"), "not waiting");
  socket._socket.resume();
  assert.deepEqual(await socket.closed, { code: 4100, reason: "slow_reader" });
});

test("sockets without a seat are told so", async () => {
  const open = (path) =>
    within(
      new Promise((resolve) => {
        const socket = new WebSocket(server.webSocketUrl + path);
        const frames = [];
        socket.on("message", (data) => frames.push(data));
        socket.on("close", (code) => resolve({ code, frames }));
        socket.on("error", () => resolve({ code: "no socket", frames }));
      }),
      path,
    );
  const somewhere = `/process01/${witness.roomId}`;
  for (const path of [somewhere, `${somewhere}?sessionId=`, `${somewhere}?sessionId=unknown_1234`, "/a/b?sessionId=c"]) {
    const { code, frames } = await open(path);
    assert.equal(code, 4002, path);
    // ERROR, 524 as a little-endian number, then the text.
    assert.deepEqual([...frames[0].subarray(0, 4)], [11, 0xcd, 0x0c, 0x02], path);
  }
  assert.equal((await open("/a/b?sessionId=c&reconnectionToken=d")).code, 4003);
  assert.equal((await open("/nowhere")).code, "no socket");
});

test("garbage for a body is refused and the server goes on", async () => {
  // Field report U13.
  const post = (body, type = "application/json") =>
    fetch(`${server.url}/matchmake/create/probe`, { method: "POST", headers: { "Content-Type": type }, body });
  const refused = [
    ["{", 400],
    ["[1]", 400],
    ["7", 400],
    ['"text"', 400],
    ["\ufeff{}", 400],
    [Buffer.from([0x22, 0xff, 0xfe, 0x22]), 400],
    [`{"a":${"[".repeat(30_000)}`, 400],
    ["[".repeat(60_000), 400],
    ["x".repeat(100_000), 413],
    [Buffer.alloc(10_000_000, 32), 413],
  ];
  for (const [body, status] of refused) {
    const answer = await post(body).catch((error) => error);
    // A server that answers before it has read the whole body may be heard only as a cut connection.
    if (answer instanceof Error) assert.equal(status, 413);
    else assert.equal(answer.status, status, String(body).slice(0, 20));
  }
  assert.equal((await post("a=b", "application/x-www-form-urlencoded")).status, 415);
  for (const body of ["", "null", "[]", "{}", '{"a":1,"a":2}', '{"__proto__":{"x":1},"constructor":1}']) {
    assert.equal((await post(body)).status, 200, body);
  }
});

test("garbage for HTTP is refused and the server goes on", async () => {
  // Field report U40: long and endless headers.
  const send = (text) =>
    within(
      new Promise((resolve) => {
        let answer = "";
        const socket = net.connect(server.port, "127.0.0.1", () => socket.write(text));
        socket.on("data", (data) => (answer += data));
        socket.on("close", () => resolve(answer));
        socket.on("error", () => resolve(answer));
      }),
      "an end",
    );
  const long = (bytes) => `GET /nowhere HTTP/1.1\r\nConnection: close\r\nX: ${"x".repeat(bytes)}\r\n\r\n`;
  const many = (lines) =>
    `GET /nowhere HTTP/1.1\r\nConnection: close\r\n${"X: 1\r\n".repeat(lines)}\r\n`;
  assert.match(await send("nonsense\r\n\r\n"), /^HTTP\/1.1 400 /);
  assert.match(await send(long(16_000)), /^HTTP\/1.1 404 /);
  assert.match(await send(long(30_000)), /^HTTP\/1.1 431 /);
  assert.match(await send(many(99)), /^HTTP\/1.1 404 /);
  assert.match(await send(many(100)), /^HTTP\/1.1 431 /);
  // So much that the server ends the connection while the client still writes may bury the answer.
  for (const endless of [long(1_000_000), many(10_000)]) assert.match(await send(endless), /^HTTP\/1.1 431 |^$/);
});

test("more rooms than allowed are refused with 503", async () => {
  // Field report U14: the test server allows 50.
  const answers = await Promise.all(
    Array.from({ length: 60 }, () => fetch(`${server.url}/matchmake/create/probe`, { method: "POST" })),
  );
  const statuses = answers.map((answer) => answer.status);
  assert.ok(statuses.includes(503));
  assert.ok(statuses.filter((status) => status === 200).length <= 49);
  await eventually(async () => (await (await fetch(`${server.url}/listing`)).json()).length === 1, "they expired");
});
