// §4, §20.9: what many read is built once. Every reader of a side and every observer of a perspective is sent the very same
// bytes, whoever they are and whenever they came.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { InMatch, guest, person, startPlayerThree } from "../lib/playerthree.mjs";
import { eventually } from "../lib/rooms.mjs";

const WATCHERS = 12;

let server;
before(async () => (server = await startPlayerThree()));
after(() => server.stop());

/** The messages of a type that a client was sent, as bytes. */
const messages = ({ bytes }, type) => bytes.filter((message) => message.subarray(0, 40).includes(type)).map((message) => message.toString("latin1"));

test("readers of one side and observers of one perspective are sent the same bytes", async () => {
  const options = { teams: ["red", "blue"], bots: "commander", seed: 11, private: true, observerDelayMs: 0, team: "red" };
  const host = new InMatch(await (await person(server, "Ann")).create("agent-command", options));
  const enter = async (client, wish) => new InMatch(await client.joinById(host.room.roomId, wish));
  const all = Array.from({ length: WATCHERS });
  const spectators = await Promise.all(all.map(() => enter(guest(server), { as: "spectator", team: "red" })));
  const observers = await Promise.all(
    all.map(async () => enter(await person(server, "Eve"), { as: "observer", ticket: (await host.do("inviteObserver")).ticket })),
  );
  for (const { room } of observers) {
    room.onMessage("playerthree:observer", () => {});
    room.send("playerthree:observer", { perspective: "all" });
  }
  for (const [readers, type, more] of [[spectators, "playerthree:view", [host]], [observers, "playerthree:observer", []]]) {
    const { streams, common } = await eventually(() => {
      // The first message of an observer is the answer to it, and the first of a spectator its keyframe.
      const streams = [...readers, ...more].map((reader) => messages(reader, type).slice(1));
      const common = streams.reduce((shared, stream) => shared.filter((message) => stream.includes(message)));
      return common.length >= 10 && { streams, common };
    }, `ten messages of ${type} that everybody was sent`);
    // Between the first and the last that all have, nobody has another one.
    for (const stream of streams) {
      const span = stream.slice(stream.indexOf(common[0]), stream.lastIndexOf(common.at(-1)) + 1);
      assert.deepEqual(span, common);
    }
  }
  await Promise.all([...spectators, ...observers, host].map(({ room }) => room.leave()));
});
