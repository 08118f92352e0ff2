// §§5, 20 "start-mode primitives": human and spectator tokens, from the player who mints them to the client that is let
// go when they end. Every client is the official SDK.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { InMatch, guest, person, startPlayerThree } from "../lib/playerthree.mjs";
import { left, rejection } from "../lib/rooms.mjs";

let server;
before(async () => (server = await startPlayerThree()));
after(() => server.stop());

/** The close code of a client whose credential has ended. */
const CREDENTIAL_ENDED = 4401;

const duel = { teams: ["red", "blue"], bots: "nobody", seed: 11, private: true, observerDelayMs: 0 };
const create = async (name, game, options) => new InMatch(await (await person(server, name)).create(game, options));
const seat = async (name, host, options) =>
  new InMatch(await (await person(server, name)).joinById(host.room.roomId, options));
/** Somebody without an account, who has a token. */
const bearer = async (host, token) => new InMatch(await guest(server).joinById(host.room.roomId, { token }));
const refused = async (host, options) => {
  const { code, message } = await rejection(guest(server).joinById(host.room.roomId, options));
  return { code, message };
};
const BAD_TOKEN = { code: 525, message: "bad_token" };
const stop = { kind: "stop", units: [] };

test("the bearer of a human token holds one seat of its owner's and nothing else", async () => {
  const ann = await create("Ann", "agent-command", { ...duel, team: "red", role: "ground" });
  // The owner has an agent on the side's other seat.
  await ann.do("mint", { role: "air" });
  const minted = await ann.do("mintHuman", { role: "ground" });
  assert.deepEqual([minted.team, minted.role], ["red", "ground"]);
  assert.match(minted.token, /^[\w-]{32}$/);

  const second = await bearer(ann, minted.token);
  const welcome = await second.inbox.next("playerthree:welcome");
  assert.deepEqual([welcome.as, welcome.seat], ["human", { team: "red", role: "ground" }]);
  const { seats } = await second.inbox.next("playerthree:seats");
  const mandates = seats.filter((entry) => entry.mandate !== undefined).map(({ team, role }) => [team, role]);
  assert.deepEqual(mandates, [["red", "ground"]]);
  await second.until((view) => view.units.length > 0);
  assert.ok(second.views.every(({ team }) => team === "red"));

  assert.equal((await second.ask("call", { role: "ground", method: "act", args: { intents: [stop] } })).ok, true);
  assert.equal((await second.ask("scopes", { role: "ground", scopes: [] })).ok, true);
  assert.equal((await second.ask("mint", { role: "ground" })).ok, true);
  const notTheirs = [
    ["call", { role: "air", method: "observe", args: {} }],
    ["scopes", { role: "air", scopes: [] }],
    ["controller", { role: "air", controller: "human" }],
    ["stream", { role: "air", everyTicks: 10 }],
    ["mint", { role: "air" }],
    ["mint", { team: "blue", role: "ground" }],
    ["tell", { roles: ["air"], text: "attack" }],
    ["tell", { roles: "all", text: "attack" }],
    ["inviteObserver", {}],
    ["mintHuman", { role: "ground" }],
    ["mintSpectator", {}],
  ];
  for (const [op, fields] of notTheirs) {
    assert.equal((await second.ask(op, fields)).code, "forbidden", `${op} ${JSON.stringify(fields)}`);
  }
  // The owner still may, and both may give the token more time.
  assert.equal((await ann.ask("scopes", { role: "air", scopes: [] })).ok, true);
  for (const holder of [ann, second]) {
    const { expiresAt } = await holder.do("renewHuman", { role: "ground", ttlSeconds: 600 });
    assert.ok(expiresAt > minted.expiresAt);
  }
  await Promise.all([second.room.leave(), ann.room.leave()]);
});

test("a seat's person is there while any client of theirs is", async () => {
  const ann = await create("Ann", "agent-command", { ...duel, team: "red", role: "ground", hold: true });
  const bob = await seat("Bob", ann, { team: "blue", role: "ground" });
  const { token } = await bob.do("mintHuman", { role: "ground" });
  const second = await bearer(ann, token);
  await second.do("ready", { role: "ground", ready: true });
  const state = async () => (await ann.do("readiness")).seats.find(({ team, role }) => team === "blue" && role === "ground").state;
  assert.equal(await state(), "ready");
  await second.room.leave();
  assert.equal(await state(), "ready", "Bob himself is still in the room");
  await Promise.all([bob.room.leave(), ann.room.leave()]);
});

test("a token lets one client in, of its own match, once", async () => {
  const ann = await create("Ann", "agent-command", { ...duel, team: "red", role: "ground" });
  const elsewhere = await create("Ann", "agent-command", { ...duel, team: "red", role: "ground" });
  const { token } = await ann.do("mintHuman", { role: "ground" });
  for (const bad of ["", "x".repeat(32), (await elsewhere.do("mintHuman", { role: "ground" })).token]) {
    assert.deepEqual(await refused(ann, { token: bad }), BAD_TOKEN);
  }
  const { ticket } = await ann.do("inviteObserver");
  assert.deepEqual(await refused(ann, { token: ticket }), BAD_TOKEN, "an observer's ticket is no such token");
  // Of several clients at one instant one gets in.
  const tries = await Promise.allSettled(Array.from({ length: 6 }, () => bearer(ann, token)));
  const joined = tries.filter(({ status }) => status === "fulfilled").map(({ value }) => value);
  assert.equal(joined.length, 1, JSON.stringify(tries.map(({ reason }) => reason?.message)));
  assert.deepEqual(await refused(ann, { token }), BAD_TOKEN);
  // Disconnection consumes the lease: neither the token nor the connection comes back.
  const { reconnectionToken } = joined[0].room;
  joined[0].room.reconnection.enabled = false;
  joined[0].room.connection.close(4010);
  assert.ok((await rejection(guest(server).reconnect(reconnectionToken))).code >= 400);
  assert.deepEqual(await refused(ann, { token }), BAD_TOKEN);
  assert.equal((await ann.ask("renewHuman", { role: "ground" })).code, "bad_token");
  await Promise.all([ann.room.leave(), elsewhere.room.leave()]);
});

test("replacement, the end of the hold and the end of the match let the bearer go at once", async () => {
  const ann = await create("Ann", "agent-command", { ...duel, team: "red", role: "ground" });
  const cat = await seat("Cat", ann, { team: "red", role: "air" });
  const bob = await seat("Bob", ann, { team: "blue", role: "ground" });
  const mint = async (host, role) => bearer(ann, (await host.do("mintHuman", { role })).token);
  const watcher = await bearer(ann, (await ann.do("mintSpectator")).token);
  const [first, air] = [await mint(ann, "ground"), await mint(cat, "air")];

  const replaced = left(first.room);
  const second = await mint(ann, "ground");
  assert.equal(await replaced, CREDENTIAL_ENDED);

  const endOfHold = left(air.room);
  await cat.room.leave();
  assert.equal(await endOfHold, CREDENTIAL_ENDED);

  // Both others are here still. Their match ends when blue is given up.
  assert.equal((await second.ask("view")).ok, true);
  assert.equal((await watcher.ask("view")).ok, true);
  const ends = [second, watcher].map(({ room }) => left(room));
  await bob.room.leave();
  assert.deepEqual(await Promise.all(ends), [CREDENTIAL_ENDED, CREDENTIAL_ENDED]);
  const told = second.inbox.messages.filter(({ type }) => type === "playerthree:status").at(-1).payload;
  assert.notEqual(told.outcomes.blue, "running", "they were told how it ended");
  assert.equal((await ann.ask("mintHuman", { role: "ground" })).code, "not_in_match");
  await ann.room.leave();
});

test("the bearer of a spectator token sees its own side until the token ends", async () => {
  const ann = await create("Ann", "agent-command", { ...duel, team: "red", role: "ground" });
  assert.equal((await ann.ask("mintSpectator", { team: "blue" })).code, "forbidden");
  const minted = await ann.do("mintSpectator", { ttlSeconds: 5 });
  // Nothing beside the token widens it.
  for (const wider of [{ as: "spectator" }, { team: "blue" }, { role: "air" }]) {
    assert.equal((await refused(ann, { token: minted.token, ...wider })).code, 400);
  }
  const watcher = await bearer(ann, minted.token);
  const gone = left(watcher.room);
  const welcome = await watcher.inbox.next("playerthree:welcome");
  assert.deepEqual([welcome.as, welcome.team], ["spectator", "red"]);
  await watcher.until((view) => view.units.length > 0);
  for (const [op, fields] of [["scopes", { role: "ground", scopes: [] }], ["mintSpectator", {}], ["inviteObserver", {}]]) {
    assert.equal((await watcher.ask(op, fields)).code, "forbidden", op);
  }
  assert.equal((await watcher.ask("watch", { team: "blue" })).code, "bad_message", "there is no such operation");
  assert.equal(await gone, CREDENTIAL_ENDED);
  assert.ok(watcher.views.every(({ team }) => team === "red"));
  await ann.room.leave();
});

test("who may mint, and for how long", async () => {
  const ann = await create("Ann", "agent-command", { ...duel, team: "red", role: "ground" });
  const bob = await seat("Bob", ann, { team: "blue", role: "ground" });
  const watcher = new InMatch(await guest(server).joinById(ann.room.roomId, { as: "spectator", team: "red" }));
  for (const ttlSeconds of [0, 4, 601]) {
    assert.equal((await ann.ask("mintHuman", { role: "ground", ttlSeconds })).code, "invalid");
    assert.equal((await ann.ask("mintSpectator", { ttlSeconds })).code, "invalid");
    assert.equal((await ann.ask("renewHuman", { role: "ground", ttlSeconds })).code, "invalid");
  }
  for (const fields of [{ role: "ground", ttlSeconds: 1.5 }, { role: "ground", ttlSeconds: -1 }, { role: "ground", extra: 1 }, {}]) {
    assert.equal((await ann.ask("mintHuman", fields)).code, "bad_message");
  }
  const wish = { team: "red", role: "ground" };
  for (const stranger of [bob, watcher]) {
    for (const op of ["mintHuman", "renewHuman"]) assert.equal((await stranger.ask(op, wish)).code, "forbidden", op);
  }
  assert.equal((await ann.ask("mintHuman", { role: "air" })).code, "forbidden", "an open seat");
  await ann.do("mint", { role: "air" });
  assert.equal((await ann.ask("mintHuman", { role: "air" })).code, "forbidden", "an agent's seat");
  await Promise.all([ann, bob, watcher].map((client) => client.room.leave()));
});
