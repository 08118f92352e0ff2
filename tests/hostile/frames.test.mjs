// §15, field reports U41, U50: messages that no client library builds, sent into a live match. Each is answered with a
// closed code or closes its own sender, and the match next to it keeps ticking.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { InMatch, guest, person, startPlayerThree } from "../lib/playerthree.mjs";
import { eventually, within } from "../lib/rooms.mjs";

let server;
let witness;
before(async () => {
  server = await startPlayerThree();
  const options = { teams: ["red", "blue"], bots: "nobody", role: "ground" };
  witness = new InMatch(await (await person(server, "Ann")).create("agent-command", options));
  await witness.until(() => true);
});
after(async () => {
  await witness.room.leave();
  await server.stop();
});

const short = (text) => [0xa0 | text.length, ...Buffer.from(text)];
const named = (text) => [13, 0xd9, text.length, ...Buffer.from(text)];
const call = named("playerthree:call");

const spectator = async () => {
  const client = new InMatch(await guest(server).joinById(witness.room.roomId, { as: "spectator", team: "blue" }));
  client.room.reconnection.enabled = false;
  return client;
};

test("bodies that are no operation are answered bad_message, and nothing of them comes back", async () => {
  const bodies = {
    "a depth bomb": [...call, ...Array(100_000).fill(0x91), 1],
    "a list of 4 billion": [...call, 0xdd, 0xff, 0xff, 0xff, 0xff],
    "a map of 4 billion": [...call, 0xdf, 0xff, 0xff, 0xff, 0xff],
    "a text of 4 GiB": [...call, 0xdb, 0xff, 0xff, 0xff, 0xff, 1],
    "binary of 4 GiB": [...call, 0xc6, 0xff, 0xff, 0xff, 0xff],
    "a cut extension": [...call, 0xc7, 0xff, 1, 2],
    "a record definition": [...call, 0xd4, 0x72, 0x40, 0x91, 0xa2, 0x6f, 0x70],
    "the reserved byte": [...call, 0xc1],
    "no body": call,
    "NaN": [...call, 0xcb, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0],
    "members that are null": [...call, 0x82, ...short("op"), 0xc0, ...short("seq"), 0xc0],
    "a key that is a number": [...call, 0x81, 1, 2],
    "a prototype": [...call, 0x83, ...short("op"), ...short("call"), ...short("seq"), 1, ...short("__proto__"), 0x80],
    "65535 members": [...call, 0xde, 0xff, 0xff, ...Array.from({ length: 65_535 }, (_, n) => [0xa2, n & 127, n >> 9, 0xc0]).flat()],
    "an unknown operation": [...named("playerthree:nonsense"), 0x80],
    "raw bytes": [17, ...call.slice(1), 1, 2, 3],
    "a mebibyte of binary": [...call, 0xc6, 0, 0x0f, 0xf0, 0, ...Buffer.alloc(0xff000)],
  };
  const client = await spectator();
  for (const [what, bytes] of Object.entries(bodies)) {
    const answer = new Promise((resolve) => client.room.onMessage("playerthree:result", resolve));
    client.room.connection.transport.ws.send(Uint8Array.from(bytes));
    const { ok, code, ...rest } = await within(answer, what);
    assert.deepEqual([ok, code], [false, "bad_message"], what);
    assert.deepEqual(Object.keys(rest).sort(), ["op", "seq"], what);
  }
  client.room.leave();
});

test("a type that is a number closes its sender alone, and protocol codes of the server's own are let pass", async () => {
  const client = await spectator();
  const closed = within(new Promise((resolve) => client.room.onLeave(resolve)), "a close");
  const { ws } = client.room.connection.transport;
  for (const code of [10, 11, 15]) ws.send(Uint8Array.of(code));
  assert.ok((await client.ask("view")).ok);
  ws.send(Uint8Array.of(13, 5, 0x80));
  assert.equal(await closed, 4002);
  const { tick } = witness.view.view;
  await witness.until((view) => view.tick > tick + 5, "the match goes on");
});

test("spectators who stop reading are dropped while the match goes on", async () => {
  // Field report U35.
  const readers = await Promise.all([spectator(), spectator(), spectator()]);
  for (const { room } of readers) room.connection.transport.ws._socket.pause();
  const { tick } = witness.view.view;
  await witness.until((view) => view.tick > tick + 20, "the match goes on");
  for (const { room } of readers) room.connection.transport.ws.terminate();
  const late = await spectator();
  await eventually(() => late.view, "a new reader's keyframe");
  late.room.leave();
});
