// §§4, 5, 20, 20.9: who may do what in a match. Every principal tries what is not theirs, credentials are crossed, reused
// and used too late, and several ask for one thing at the same instant.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { InMatch, agent, guest, person, startPlayerThree } from "../lib/playerthree.mjs";
import { eventually, rejection } from "../lib/rooms.mjs";
import { toolsList } from "./raw-mcp.mjs";

let server;
before(async () => (server = await startPlayerThree()));
after(() => server.stop());

const room = { teams: ["red", "blue"], bots: "nobody", seed: 11, private: true, observerDelayMs: 0 };
/** A private match admits observers by a player's ticket. */
const observing = async (host, someone) =>
  someone.joinById(host.room.roomId, { as: "observer", ticket: (await host.do("inviteObserver")).ticket });
const seat = async (name, roomId, options) => new InMatch(await (await person(server, name)).joinById(roomId, options));
const mandate = { autonomy: "autonomous", directive: { objective: "attack" }, whenAbsent: "hold" };
const ownerOps = [
  ["call", { role: "air", method: "act", args: { intents: [{ kind: "stop", units: [] }] } }],
  ["call", { role: "air", method: "observe", args: {} }],
  ["call", { role: "air", method: "policyDeploy", args: { runtime: "js", code: "function think() { return [] }" } }],
  ["mandate", { role: "air", team: "red", mandate }],
  ["scopes", { role: "air", team: "red", scopes: [] }],
  ["controller", { role: "air", team: "red", controller: "none" }],
  ["resolveApproval", { role: "air", team: "red", id: "ap_1", approve: true }],
  ["mint", { role: "air", team: "red" }],
];

test("nobody but its owner does anything with a seat", async () => {
  const host = new InMatch(await (await person(server, "Ann")).create("agent-command", { ...room, team: "red", role: "ground" }));
  const { roomId } = host.room;
  const mate = await seat("Cat", roomId, { team: "red", role: "air" });
  const enemy = await seat("Bob", roomId, { team: "blue", role: "ground" });
  const spectator = new InMatch(await guest(server).joinById(roomId, { as: "spectator", team: "red" }));
  const observer = new InMatch(await observing(host, await person(server, "Eve")));
  for (const stranger of [host, enemy, spectator, observer]) {
    for (const [op, fields] of ownerOps) {
      assert.equal((await stranger.ask(op, fields)).code, "forbidden", `${op} ${JSON.stringify(fields)}`);
    }
  }
  assert.equal((await observer.ask("view")).code, "forbidden");
  for (const watcher of [spectator, observer]) assert.equal((await watcher.ask("inviteObserver")).code, "forbidden");
  assert.ok((await mate.ask("mint", { role: "air" })).ok, "the owner may");
  await Promise.all([host, mate, enemy, spectator, observer].map((client) => client.room.leave()));
});

test("a seat token works with its own session alone, once, and not after DELETE", async () => {
  const red = new InMatch(await (await person(server, "Ann")).create("agent-command", { ...room, team: "red", role: "ground" }));
  const blue = await seat("Bob", red.room.roomId, { team: "blue", role: "ground" });
  const tokens = [(await red.do("mint", { role: "ground" })).token, (await blue.do("mint", { role: "ground" })).token];
  // Twelve first calls at one instant: one claims.
  const first = await Promise.all(Array.from({ length: 12 }, () => toolsList(server, tokens[0])));
  assert.deepEqual(first.map(({ status }) => status).sort(), [200, ...Array(11).fill(404)]);
  const sessions = [first.find(({ session }) => session).session, (await toolsList(server, tokens[1])).session];
  assert.equal((await toolsList(server, tokens[0], sessions[1])).status, 404);
  assert.equal((await toolsList(server, tokens[1], sessions[0])).status, 404);
  assert.equal((await toolsList(server, tokens[0])).status, 404);
  assert.equal((await toolsList(server, tokens[0], sessions[1], "DELETE")).status, 404);
  assert.equal((await toolsList(server, tokens[0], sessions[0])).status, 200);
  assert.equal((await toolsList(server, tokens[0], sessions[0], "DELETE")).status, 204);
  assert.equal((await toolsList(server, tokens[0], sessions[0])).status, 401);
  await Promise.all([red.room.leave(), blue.room.leave()]);
});

test("a seat's tokens end with its owner's hold and with the room, open waits included", async () => {
  const host = new InMatch(await (await person(server, "Ann")).create("agent-command", { ...room, team: "red", role: "ground" }));
  const cat = await seat("Cat", host.room.roomId, { team: "red", role: "air" });
  const { token } = await cat.do("mint", { role: "air" });
  const unclaimed = (await cat.do("mint", { role: "air" })).token;
  const air = await agent(server, token);
  await air.tool("game_wait", { seconds: 0 });
  const waiting = air.tool("game_wait", { seconds: 30 });
  waiting.catch(() => {});
  const kept = (await host.do("mint", { role: "ground" })).token;
  await cat.room.leave();
  // A wait that is in flight ends with the tool error, one that was still on its way at the door.
  await assert.rejects(waiting, /bad_token|Unauthorized/);
  assert.deepEqual((await Promise.all([token, unclaimed].map((t) => toolsList(server, t)))).map(({ status }) => status), [401, 401]);
  assert.equal((await toolsList(server, kept)).status, 200, "the other seat's token lives");
  await host.room.leave();
  // The agent of `kept` never called a tool, so the room ends with its last client.
  await eventually(async () => (await toolsList(server, kept)).status === 401, "the token ends with its room");
});

test("of many who want one seat at the same instant one gets it", async () => {
  const host = new InMatch(await (await person(server, "Ann")).create("agent-command", { ...room, team: "red", role: "ground" }));
  const people = await Promise.all(["A", "B", "C", "D", "E"].map((name) => person(server, name)));
  const wish = { team: "red", role: "air" };
  const joins = await Promise.allSettled(people.map((someone) => someone.joinById(host.room.roomId, wish)));
  const joined = joins.filter(({ status }) => status === "fulfilled").map(({ value }) => new InMatch(value));
  assert.equal(joined.length, 1);
  for (const { reason } of joins.filter(({ status }) => status === "rejected")) assert.match(reason.message, /no open seat/);
  // The same for minting: the seat is open again, two sides ask for it.
  const enemy = await seat("Bob", host.room.roomId, { team: "blue", role: "ground" });
  await joined[0].room.leave();
  const seats = () => host.inbox.messages.filter(({ type }) => type === "playerthree:seats").at(-1).payload.seats;
  await eventually(() => seats().some((entry) => entry.team === "red" && entry.role === "air" && entry.open), "an open seat");
  const minted = await Promise.all([host, enemy, host].map((client) => client.ask("mint", wish)));
  const owners = new Set(minted.map((answer, index) => answer.ok && [host, enemy, host][index]).filter(Boolean));
  assert.equal(owners.size, 1, JSON.stringify(minted));
  assert.ok(minted.every(({ ok, code }) => ok || code === "forbidden"));
  await Promise.all([host.room.leave(), enemy.room.leave()]);
});

test("player history and observer history exclude each other for good", async () => {
  const host = new InMatch(await (await person(server, "Ann")).create("agent-command", { ...room, team: "red", role: "ground" }));
  const { roomId } = host.room;
  const [cat, eve] = [await person(server, "Cat"), await person(server, "Eve")];
  await (await cat.joinById(roomId, { team: "red" })).leave();
  await (await observing(host, eve)).leave();
  // Whatever the refusal says, it is one; the ticket is a good one.
  assert.ok((await rejection(observing(host, cat))).code >= 400);
  assert.ok((await rejection(eve.joinById(roomId))).code >= 400);
  assert.ok((await rejection(eve.joinById(roomId, { team: "red" }))).code >= 400);
  await host.room.leave();
});
