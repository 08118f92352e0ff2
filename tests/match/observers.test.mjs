// §20.9 with the official SDK and client-sdk/js: what observers of a side and of everything are shown, and that a lost
// connection loses nothing of the history.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connect } from "../../client-sdk/js/dist/playerthree.js";
import { InMatch, person, startPlayerThree } from "../lib/playerthree.mjs";
import { rejection, within } from "../lib/rooms.mjs";

const DELAY = 1_000;
/** Frames that a reader may be behind and still be sent one after the other. */
const BATCH = 64;
const duel = { teams: ["red", "blue"], seed: 11, private: true, observerDelayMs: DELAY, role: "ground" };

let server;

before(async () => (server = await startPlayerThree()));
after(() => server.stop());

/** A connection of a new observer who came with a ticket of the host's. */
async function observing(host, name, wish = {}, options) {
  const { ticket, grant } = await host.do("inviteObserver", wish);
  const room = await (await person(server, name)).joinById(host.room.roomId, { as: "observer", ticket });
  return { room, grant, match: connect(room, options) };
}

/** Resolves once the stream has shown the sequence, with everything it showed from the first call on. */
function upTo(observer, seen, sequence) {
  return within(
    new Promise((resolve) => {
      const stop = observer.onFrame((frame) => {
        seen.set(frame.sequence, frame);
        if (frame.sequence < sequence()) return;
        stop();
        resolve();
      });
    }),
    "the frames",
    30_000,
  );
}

test("an observer who was cut off joins anew and goes on from the frame that it had", async () => {
  const host = new InMatch(await (await person(server, "Ann")).create("agent-command", { ...duel, team: "red" }));
  const [whole, cut] = [await observing(host, "Eve"), await observing(host, "Zoe")];
  const [all, mine] = [new Map(), new Map()];
  const watched = [];
  whole.match.observer.onFrame((frame) => watched.push(frame) && all.set(frame.sequence, frame));
  whole.match.observer.watch();
  let first = Infinity;
  const before = upTo(cut.match.observer, mine, () => first + 10);
  cut.match.observer.onFrame((frame) => (first = Math.min(first, frame.sequence)));
  // One more may come between the last that is waited for and the cut.
  cut.match.observer.onFrame((frame) => mine.set(frame.sequence, frame));
  cut.match.observer.watch();
  await before;
  const { observer } = cut.match;
  const last = observer.frame.sequence;
  cut.room.connection.close();
  await within(new Promise((resolve) => cut.match.on("closed", resolve)), "the cut");
  // Meanwhile frames are released that nobody sends to it.
  await within(upTo(whole.match.observer, new Map(), () => last + 15), "what it misses");
  const again = observing(host, "Zoe", {}, { observer });
  await within(upTo(observer, mine, () => last + 30), "the rest");
  await again;
  const sequences = [...mine.keys()];
  // On a slow machine the observer may come back so late that the newest frame has to do, whole.
  const jumps = sequences.filter((sequence, index) => index > 0 && sequence !== sequences[index - 1] + 1);
  assert.ok(jumps.every((sequence) => sequence > last + BATCH), `no gap and nothing twice: ${sequences}`);
  let compared = 0;
  for (const [sequence, frame] of mine) {
    if (!all.has(sequence)) continue;
    assert.deepEqual(frame, all.get(sequence), `frame ${sequence}`);
    compared += 1;
  }
  assert.ok(compared >= 30, `${compared} frames were compared`);
  assert.equal(observer.delayMs, DELAY);
  const { from, to, alpha } = observer.sample();
  assert.ok(from.sequence <= to.sequence && alpha >= 0 && alpha <= 1);
  await Promise.all([host.room.leave(), whole.room.leave()]);
});

test("a side's observer sees that side's fogged view, late, and nothing else", async () => {
  const host = new InMatch(await (await person(server, "Ann")).create("agent-command", { ...duel, team: "red" }));
  const views = new Map();
  host.room.onMessage("playerthree:view", () => views.set(host.view.view.tick, host.view.view));
  const { room, grant, match } = await observing(host, "Eve", { team: "red" });
  assert.deepEqual(grant, { kind: "team", team: "red", delayMs: DELAY });
  const seen = new Map();
  const enough = upTo(match.observer, seen, () => 30);
  match.observer.watch("red");
  await enough;
  assert.deepEqual(match.observer.grant, grant);
  let compared = 0;
  for (const { tick, world } of seen.values()) {
    // The seat was taken in tick 0.
    if (tick === 0 || !views.has(tick)) continue;
    assert.deepEqual(world, views.get(tick), `tick ${tick}`);
    compared += 1;
  }
  assert.ok(compared >= 10, `${compared} ticks were compared`);
  const refused = within(new Promise((resolve) => match.observer.onState(resolve)), "a refusal");
  match.observer.watch("blue");
  assert.equal(await refused, "closed");
  await Promise.all([host.room.leave(), room.leave()]);
});

test("a player of a public match observes their own side alone", async () => {
  const ann = await person(server, "Ann");
  const host = new InMatch(await ann.create("agent-command", { teams: ["red", "blue"], seed: 11, team: "red", role: "ground" }));
  for (const wish of [{}, { team: "blue" }]) {
    const refused = await rejection(ann.joinById(host.room.roomId, { as: "observer", ...wish }));
    assert.match(refused.message, /players do not observe/);
  }
  const room = await ann.joinById(host.room.roomId, { as: "observer", team: "red" });
  const { observer } = connect(room);
  const answered = within(new Promise((resolve) => observer.onState(resolve)), "an answer");
  observer.watch("red");
  assert.equal(await answered, "buffering");
  assert.deepEqual(observer.grant, { kind: "team", team: "red", delayMs: 180_000 });
  await Promise.all([host.room.leave(), room.leave()]);
});
