// §§5, 20 "start-mode primitives": human and spectator tokens, from the player who mints them to the client that is let
// go when they end. Every client is the official SDK.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { InMatch, agent, guest, person, startPlayerThree } from "../lib/playerthree.mjs";
import { eventually, left, rejection } from "../lib/rooms.mjs";

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
    ["revokeObserver", { ticket: "t" }],
    ["mintHuman", { role: "ground" }],
    ["mintSpectator", {}],
    ["resolveApproval", { role: "air", id: "ap_1", approve: true }],
    ["mandate", { role: "air", mandate: { autonomy: "supervised", directive: {}, whenAbsent: "hold" } }],
    ["ready", { role: "air", ready: true }],
    ["assign", { role: "air", kind: "hold" }],
    ["assign", { role: "ground", kind: "hold" }],
    ["revoke", { role: "ground" }],
    ["start", {}],
    ["commanders", {}],
    ["addCommander", { name: "Falcon", roles: ["air"] }],
    ["tellCommanders", { commanders: "all", text: "attack" }],
  ];
  for (const [op, fields] of notTheirs) {
    assert.equal((await second.ask(op, fields)).code, "forbidden", `${op} ${JSON.stringify(fields)}`);
  }
  // What the owner's agent on another seat says is the owner's alone.
  const air = await agent(server, (await ann.do("mint", { role: "air" })).token);
  await air.tool("game_say", { text: "over here" });
  assert.equal((await ann.inbox.next("playerthree:said")).text, "over here");
  assert.equal((await second.ask("view")).ok, true);
  assert.ok(second.inbox.messages.every(({ type }) => type !== "playerthree:said"));
  await air.close();
  // The owner still may, and both may give the token more time.
  assert.equal((await ann.ask("scopes", { role: "air", scopes: [] })).ok, true);
  for (const holder of [ann, second]) {
    const { expiresAt } = await holder.do("renewHuman", { role: "ground", ttlSeconds: 600 });
    assert.ok(expiresAt > minted.expiresAt);
  }
  await Promise.all([second.room.leave(), ann.room.leave()]);
});

/** §20.9: whoever comes by their login has a history, whatever token they bring. */
test("a stranger with a human token plays its side for good, and none that they saw more than", async () => {
  const ann = await create("Ann", "agent-command", { ...duel, team: "red", role: "ground" });
  const bob = await seat("Bob", ann, { team: "blue", role: "ground" });
  const token = async () => (await ann.do("mintHuman", { role: "ground" })).token;
  const ticket = async () => (await ann.do("inviteObserver")).ticket;
  const { roomId } = ann.room;
  // Eve has seen everything.
  const eve = await person(server, "Eve");
  const observer = await eve.joinById(roomId, { as: "observer", ticket: await ticket() });
  assert.match((await rejection(eve.joinById(roomId, { token: await token() }))).message, /saw or plays/);
  // Mia acts for Ann's seat, and is bound by it after she has left.
  const mia = await person(server, "Mia");
  const hers = new InMatch(await mia.joinById(roomId, { token: await token() }));
  assert.equal((await hers.inbox.next("playerthree:welcome")).as, "human");
  await hers.room.leave();
  assert.ok((await rejection(mia.joinById(roomId, { as: "spectator", team: "blue" }))).code >= 400);
  assert.ok((await rejection(mia.joinById(roomId, { as: "observer", ticket: await ticket() }))).code >= 400);
  assert.ok((await rejection(mia.joinById(roomId, { team: "blue" }))).code >= 400);
  await Promise.all([observer.leave(), bob.room.leave(), ann.room.leave()]);
});

/** A seat is promised with its reservation (PROTOCOL.md "Joining a match"). */
test("a seat that is promised to somebody on their way is taken by nobody else", async () => {
  const ann = await create("Ann", "agent-command", { ...duel, team: "red", role: "ground" });
  const bob = await person(server, "Bob");
  const answer = await fetch(`${server.url}/matchmake/joinById/${ann.room.roomId}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${bob.auth.token}` },
    body: JSON.stringify({ team: "red", role: "air" }),
  });
  const reservation = await answer.json();
  assert.equal((await ann.ask("mint", { role: "air" })).code, "forbidden");
  assert.equal((await ann.ask("assign", { role: "air", kind: "hold" })).code, "forbidden");
  const joined = new InMatch(await bob.consumeSeatReservation(reservation));
  assert.deepEqual((await joined.inbox.next("playerthree:welcome")).seat, { team: "red", role: "air" });
  await Promise.all([joined.room.leave(), ann.room.leave()]);
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

test("replacement and the end of the match let the bearer go at once, and a seat is theirs to play after its owner left", async () => {
  const ann = await create("Ann", "agent-command", { ...duel, team: "red", role: "ground" });
  const cat = await seat("Cat", ann, { team: "red", role: "air" });
  const bob = await seat("Bob", ann, { team: "blue", role: "ground" });
  const mint = async (host, role) => bearer(ann, (await host.do("mintHuman", { role })).token);
  const watcher = await bearer(ann, (await ann.do("mintSpectator")).token);
  const [first, air] = [await mint(ann, "ground"), await mint(cat, "air")];

  const replaced = left(first.room);
  const second = await mint(ann, "ground");
  assert.equal(await replaced, CREDENTIAL_ENDED);

  // A person who left holds the seat still while a client with its token plays it.
  await cat.room.leave();
  assert.deepEqual(await air.act("air", stop), ["no_units"]);
  await air.room.leave();

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

test("revoking a seat lets its joined person go at once, and its agents with them, and nobody else", async () => {
  const ann = await create("Ann", "agent-command", { ...duel, team: "red", role: "ground" });
  const bob = await seat("Bob", ann, { team: "blue", role: "ground" });
  const second = await bearer(ann, (await ann.do("mintHuman", { role: "ground" })).token);
  const theirs = await bearer(ann, (await bob.do("mintHuman", { role: "ground" })).token);
  const waiting = (await ann.do("mintSpectator")).token;
  for (const wish of [{ role: "ground", team: "red" }, { role: "air", team: "red" }, { role: "pope" }]) {
    assert.equal((await bob.ask("revoke", wish)).code, "forbidden", "somebody else's seat and none at all");
  }
  assert.equal((await second.ask("revoke", { role: "ground" })).code, "forbidden", "a token ends no token");
  const gone = left(second.room);
  assert.deepEqual(await ann.do("revoke", { role: "ground" }), {});
  assert.equal(await gone, CREDENTIAL_ENDED);
  assert.equal((await ann.ask("renewHuman", { role: "ground" })).code, "bad_token");
  assert.deepEqual(await ann.act("ground", stop), ["no_units"], "the owner holds the seat still");
  for (const client of [theirs, await bearer(ann, waiting)]) {
    assert.equal((await client.ask("view")).ok, true);
    await client.room.leave();
  }
  await Promise.all([bob.room.leave(), ann.room.leave()]);
});

test("an agent plays on in the seat that its owner gave it and left", async () => {
  const ann = await create("Ann", "agent-command", { teams: ["red", "blue"], bots: "nobody", team: "red", role: "ground" });
  const bob = await seat("Bob", ann, { team: "blue", role: "ground" });
  const ground = await agent(server, (await ann.do("mint", { role: "ground" })).token);
  await ann.do("controller", { role: "ground", controller: "agent" });
  await ground.tool("game_observe");
  const { roomId } = ann.room;
  await ann.room.leave();
  await eventually(async () => {
    const { rooms } = await (await fetch(`${server.url}/demo/rooms`)).json();
    return rooms.find((room) => room.roomId === roomId)?.clients === 1;
  }, "Ann is gone");
  // It passes every gate, and is the game's to refuse.
  const { acks } = await ground.tool("game_act", { intents: [stop] });
  assert.deepEqual(acks.map(({ code, gameCode }) => gameCode ?? code), ["no_units"]);
  await Promise.all([ground.close(), bob.room.leave()]);
});

test("a seat token waits for its first use as long as was asked, 120 seconds by default", async () => {
  const ann = await create("Ann", "agent-command", { ...duel, team: "red", role: "ground" });
  for (const ttlSeconds of [0, 4, 601]) assert.equal((await ann.ask("mint", { role: "air", ttlSeconds })).code, "invalid");
  assert.equal((await ann.ask("mint", { role: "air", ttlSeconds: "5" })).code, "bad_message");
  for (const [fields, seconds] of [[{}, 120], [{ ttlSeconds: 600 }, 600], [{ ttlSeconds: 5 }, 5]]) {
    const before = Date.now();
    const { expiresAt } = await ann.do("mint", { role: "air", ...fields });
    assert.ok(expiresAt >= before + seconds * 1000 && expiresAt <= Date.now() + seconds * 1000);
  }
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

test("a spectator token binds an account that comes with it like any watching does", async () => {
  const ann = await create("Ann", "agent-command", { ...duel, team: "red", role: "ground" });
  const bob = await person(server, "Bob");
  const blue = new InMatch(await bob.joinById(ann.room.roomId, { team: "blue", role: "ground" }));
  const { token } = await ann.do("mintSpectator");
  assert.match(String((await rejection(bob.joinById(ann.room.roomId, { token }))).message), /another side/);
  const eve = await person(server, "Eve");
  const watcher = new InMatch(await eve.joinById(ann.room.roomId, { token }));
  assert.equal((await watcher.inbox.next("playerthree:welcome")).as, "spectator", "a refusal claims nothing");
  const wish = { team: "blue", role: "air" };
  assert.match(String((await rejection(eve.joinById(ann.room.roomId, wish))).message), /no open seat/);
  // Nor does a human token show a side to somebody else who plays against it.
  const human = (await ann.do("mintHuman", { role: "ground" })).token;
  assert.match(String((await rejection(bob.joinById(ann.room.roomId, { token: human }))).message), /another side/);
  const second = await bearer(ann, human);
  await Promise.all([second.room.leave(), watcher.room.leave(), blue.room.leave(), ann.room.leave()]);
});

test("an observer is let go on the word of whoever invited them, and of nobody else", async () => {
  const ann = await create("Ann", "agent-command", { ...duel, team: "red", role: "ground" });
  const bob = await seat("Bob", ann, { team: "blue", role: "ground" });
  const observing = async (name, ticket) => {
    const observer = new InMatch(await (await person(server, name)).joinById(ann.room.roomId, { as: "observer", ticket }));
    observer.room.send("playerthree:observer", { perspective: "all" });
    assert.notEqual((await observer.inbox.next("playerthree:observer")).state, "closed");
    return observer;
  };
  const { ticket } = await ann.do("inviteObserver");
  const [eve, dan] = [await observing("Eve", ticket), await observing("Dan", (await bob.do("inviteObserver")).ticket)];
  assert.equal((await bob.ask("revokeObserver", { ticket })).code, "bad_token");
  const gone = left(eve.room);
  assert.deepEqual(await ann.do("revokeObserver", { ticket }), {});
  assert.equal(await gone, CREDENTIAL_ENDED);
  assert.equal((await ann.ask("revokeObserver", { ticket })).code, "bad_token");
  const unused = (await ann.do("inviteObserver")).ticket;
  await ann.do("revokeObserver", { ticket: unused });
  for (const bad of [ticket, unused]) {
    assert.match(String(await rejection(observing("Eve", bad))), /ticket/);
  }
  dan.room.send("playerthree:observer", { perspective: "all" });
  assert.equal((await dan.inbox.next("playerthree:observer")).op, "observer", "another's guest stays");
  await Promise.all([dan.room.leave(), bob.room.leave(), ann.room.leave()]);
});

test("an observer's ticket outlives the match, for as long as was asked", async () => {
  const ann = await create("Ann", "agent-command", { ...duel, team: "red", role: "ground" });
  const bob = await seat("Bob", ann, { team: "blue", role: "ground" });
  const before = Date.now();
  const { ticket, expiresAt } = await ann.do("inviteObserver", { ttlSeconds: 600 });
  assert.ok(expiresAt >= before + 600_000);
  assert.equal((await ann.ask("inviteObserver", { ttlSeconds: 601 })).code, "invalid");
  await bob.room.leave();
  await eventually(async () => (await ann.ask("mintSpectator")).code === "not_in_match", "the match is over");
  const late = (await ann.do("inviteObserver")).ticket;
  for (const [name, each] of [["Eve", ticket], ["Dan", late]]) {
    const observer = new InMatch(await (await person(server, name)).joinById(ann.room.roomId, { as: "observer", ticket: each }));
    assert.equal((await observer.inbox.next("playerthree:welcome")).as, "observer");
    await observer.room.leave();
  }
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
