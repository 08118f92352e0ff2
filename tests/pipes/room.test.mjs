// The `pipes` room through the official SDK: an inbox followed live, each row once and in order, and posts with receipts.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client } from "@colyseus/sdk";
import { Chain, openInbox, post, signature } from "../lib/pipes.mjs";
import { startPlayerThree } from "../lib/playerthree.mjs";
import { Inbox, left, rejection, within } from "../lib/rooms.mjs";

let server;
before(async () => (server = await startPlayerThree()));
after(() => server?.stop());

/** A client in the room of an inbox. It goes on asking while it is behind. */
class Follower {
  rows = [];
  #waiting = [];

  static async join(options) {
    return new Follower(await new Client(server.url).joinOrCreate("pipes", options));
  }

  constructor(room) {
    this.room = room;
    this.inbox = new Inbox(room);
    this.left = new Promise((resolve) => room.onLeave.once((code) => resolve(code)));
    room.onMessage("pipes:more", ({ cursor }) => room.send("pipes:after", { cursor }));
    room.onMessage("pipes:capture", (row) => {
      this.rows.push(row);
      this.#waiting = this.#waiting.filter((check) => !check());
    });
  }

  /** Resolves with the numbers of all rows so far, once the row with this number is here. */
  until(number) {
    const found = new Promise((resolve) => {
      const check = () => {
        const isHere = this.rows.some(({ Seq }) => Seq === number);
        if (isHere) resolve(this.rows.map(({ Seq }) => Seq));
        return isHere;
      };
      if (!check()) this.#waiting.push(check);
    });
    return within(found, `row ${number}`);
  }

  async post(requestId, body, more = {}) {
    this.room.send("pipes:post", { requestId, body, ...more });
    return this.inbox.next("pipes:receipt");
  }
}

const numbers = (from, to) => Array.from({ length: to - from + 1 }, (_, at) => from + at);
const inboxOf = ({ inboxId, readToken }) => ({ inbox: inboxId, readToken });
const writeToken = ({ captureUrl }) => captureUrl.split("/").at(-1);

/** Contract: the platform sequences and stores; every reader sees the same order. */
test("readers see every row once and in order, wherever they begin", async () => {
  const opened = await openInbox(server);
  const early = await Follower.join(inboxOf(opened));
  const hello = await early.inbox.next("pipes:hello");
  assert.deepEqual(hello, { inbox: opened.inboxId, kind: "anonymous", head: 0, mayRead: true, mayPost: false });
  const chain = new Chain("live");
  const bodies = [chain.start(), chain.move(1, 1), chain.move(0, 0), ...Array.from({ length: 57 }, (_, at) => `note ${at}`)];
  for (const body of bodies.slice(0, 30)) await post(server, opened.captureUrl, body);

  const whole = await Follower.join({ ...inboxOf(opened), after: 0 });
  const middle = await Follower.join({ ...inboxOf(opened), after: 17 });
  const live = await Follower.join(inboxOf(opened));
  assert.equal(whole.room.roomId, early.room.roomId);
  await early.until(30);
  // Several at once: the inbox alone decides their order.
  await Promise.all(bodies.slice(30).map((body) => post(server, opened.captureUrl, body)));
  assert.deepEqual(await early.until(60), numbers(1, 60));
  assert.deepEqual(await whole.until(60), numbers(1, 60));
  assert.deepEqual(await middle.until(60), numbers(18, 60));
  const seen = await live.until(60);
  assert.deepEqual(seen, numbers(seen[0], 60));
  assert.deepEqual(early.rows, whole.rows);
  assert.deepEqual(early.rows.slice(0, 30).map(({ Body }) => Body), bodies.slice(0, 30));
  const listed = await fetch(`${server.url}/pipes/v1/inboxes/${opened.inboxId}/captures`, {
    headers: { authorization: `Bearer ${opened.readToken}` },
  });
  assert.deepEqual((await listed.json()).Requests, early.rows);
  await Promise.all([early, whole, middle, live].map(({ room }) => room.leave()));
});

/** History comes a page at a time, at the reader's pace, while new rows arrive. */
test("a reader far behind is paged and misses nothing that comes meanwhile", async () => {
  const opened = await openInbox(server);
  const anchor = await Follower.join(inboxOf(opened));
  // More than one page of 1 MiB.
  const body = "x".repeat(32_000);
  await Promise.all(numbers(1, 40).map(() => post(server, opened.captureUrl, body)));
  await anchor.until(40);
  const room = await new Client(server.url).joinById(anchor.room.roomId, { ...inboxOf(opened), after: 0 });
  const behind = new Inbox(room);
  const { cursor } = await behind.next("pipes:more");
  assert.ok(cursor > 20 && cursor < 40);
  const seen = () => behind.messages.filter(({ type }) => type === "pipes:capture").map(({ payload }) => payload.Seq);
  // It has not asked for more, so it is sent nothing more, whatever comes.
  await post(server, opened.captureUrl, "one more");
  await anchor.until(41);
  assert.deepEqual(seen(), numbers(1, cursor));
  room.send("pipes:after", { cursor });
  for (const number of numbers(1, 41)) assert.equal((await behind.next("pipes:capture")).Seq, number);
  await Promise.all([room.leave(), anchor.room.leave()]);
});

/** A write token posts and does not read; receipts come after the row is on disk. */
test("a writer posts and gets receipts, and every refusal has its code", async () => {
  const opened = await openInbox(server);
  const reader = await Follower.join(inboxOf(opened));
  const writer = await Follower.join({ inbox: opened.inboxId, writeToken: writeToken(opened) });
  const hello = await writer.inbox.next("pipes:hello");
  assert.deepEqual([hello.mayRead, hello.mayPost], [false, true]);
  const first = await writer.post(7, "hello", { idempotencyKey: "k" });
  assert.deepEqual(first, { requestId: 7, captureId: `${opened.inboxId}-1`, seq: 1 });
  assert.deepEqual({ ...first, requestId: 8 }, await writer.post(8, "hello", { idempotencyKey: "k" }));
  assert.deepEqual(await writer.post(9, "x".repeat(32_769)), { requestId: 9, error: "too_large" });
  assert.deepEqual(await writer.post(10, "x", { idempotencyKey: "k".repeat(129) }), { requestId: 10, error: "bad_request" });
  assert.deepEqual(await reader.post(11, "x"), { requestId: 11, error: "forbidden" });
  assert.deepEqual(await reader.until(1), [1]);
  assert.deepEqual(writer.rows, []);
  writer.room.send("pipes:after", { cursor: 0 });
  assert.equal(await within(writer.left, "the end of a writer that wants to read"), 4403);
  await reader.room.leave();
});

/** A signed inbox takes a post over the room as it does over HTTP: with the signature of a live key. */
test("posts to a signed inbox need a signature and carry who signed", async () => {
  const opened = await openInbox(server, "signed");
  const host = await Follower.join({ ...inboxOf(opened), writeToken: writeToken(opened) });
  const body = new Chain("signed").start();
  assert.equal((await host.post(1, body)).error, "unsigned");
  assert.equal((await host.post(2, body, { signature: signature("pk_other", body) })).error, "unsigned");
  assert.equal((await host.post(3, body, { signature: signature(opened.hostSeat.signingKey, body) })).seq, 1);
  await host.until(1);
  assert.equal(host.rows[0].MatchedSigningRef, opened.hostSeat.seatRef);
  await host.room.leave();
});

test("nobody comes in without a good token, or with one of another inbox", async () => {
  const [one, other] = await Promise.all([openInbox(server), openInbox(server)]);
  const client = new Client(server.url);
  const codes = async (...list) => {
    const seen = [];
    for (const options of list) seen.push((await rejection(client.joinOrCreate("pipes", options))).code);
    return seen;
  };
  assert.deepEqual(await codes(
    { inbox: one.inboxId }, { inbox: one.inboxId, readToken: "x" }, { inbox: one.inboxId, readToken: other.readToken },
    { inbox: one.inboxId, readToken: one.readToken, writeToken: writeToken(other) },
    { inbox: one.inboxId, readToken: writeToken(one) }, { inbox: one.inboxId, writeToken: one.readToken },
  ), Array(6).fill(404));
  assert.deepEqual(await codes(
    {}, { ...inboxOf(one), after: 1 }, { ...inboxOf(one), after: -1 }, { ...inboxOf(one), more: 1 }, { inbox: 1 },
  ), Array(5).fill(400));
  // The right to one inbox is none to the room of another.
  const room = await client.joinOrCreate("pipes", inboxOf(one));
  assert.equal((await rejection(client.joinById(room.roomId, inboxOf(other)))).code, 404);
  room.send("pipes:nonsense", {});
  assert.equal(await left(room), 4002);
  const { rooms } = await (await fetch(`${server.url}/demo/rooms`)).json();
  assert.ok(!rooms.some(({ name }) => name === "pipes"));
});

/** A seat's right ends with the seat. */
test("a revoked guest sees no row that comes later", async () => {
  const opened = await openInbox(server, "signed");
  const headers = { authorization: `Bearer ${opened.hostToken}`, "content-type": "application/json" };
  const seats = `${server.url}/pipes/v1/inboxes/${opened.inboxId}/seats`;
  const { pairingCode, handle } = await (await fetch(seats, { method: "POST", headers, body: "{}" })).json();
  const seat = await redeem(pairingCode, handle);
  const guest = await Follower.join({ inbox: opened.inboxId, readToken: seat.seatToken });
  const body = "before";
  await post(server, opened.captureUrl, body, opened.hostSeat.signingKey);
  await guest.until(1);
  assert.equal((await fetch(`${seats}/${seat.seat.seatRef}`, { method: "DELETE", headers })).status, 204);
  await post(server, opened.captureUrl, "after", opened.hostSeat.signingKey);
  assert.equal(await within(guest.left, "the end of the guest"), 4403);
  assert.deepEqual(guest.rows.map(({ Body }) => Body), ["before"]);
});

async function redeem(code, handle) {
  const { createHash, createHmac } = await import("node:crypto");
  const [nonce, timestamp] = ["a-nonce-of-the-test", new Date().toISOString()];
  const key = createHash("sha256").update(code).digest();
  const proof = createHmac("sha256", key).update(`${handle}.${nonce}.${timestamp}`).digest("hex");
  const answer = await fetch(`${server.url}/pipes/v1/seats/redeem`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ handle, nonce, timestamp, proof }),
  });
  assert.equal(answer.status, 200);
  return answer.json();
}
