// The observer player (§20.9): frames by sequence, a keyframe asked for after a gap, the delay and interpolation.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ObserverPlayer } from "../dist/playerthree.js";

const GRANT = { kind: "omniscient", teams: ["x", "o"], delayMs: 1000 };

function watching() {
  const sent = [];
  const player = new ObserverPlayer((message) => sent.push(message));
  player.watch();
  return { player, sent };
}

/** A frame recorded 100 ms after the one before and released when it is due. */
function frame(sequence, content) {
  const recordedAt = 10_000 + sequence * 100;
  return { sequence, tick: sequence, recordedAt, releaseAt: recordedAt + 1000, perspective: "all", ...content };
}

const ready = (player, sequence, content, now) =>
  player.receive({ op: "observer", state: "ready", grant: GRANT, frame: frame(sequence, content) }, now);

test("it buffers, then follows frames", () => {
  const { player, sent } = watching();
  assert.deepStrictEqual(sent, [{ perspective: "all" }]);
  const states = [];
  const worlds = [];
  player.onState((state, grant) => states.push([state, grant?.delayMs]));
  player.onFrame(({ world }) => worlds.push(world));
  player.receive({ op: "observer", state: "buffering", grant: GRANT });
  ready(player, 4, { world: { n: 1, deep: {} } });
  ready(player, 5, { delta: { n: 2 } });
  assert.deepStrictEqual(states, [["buffering", 1000], ["ready", 1000]]);
  assert.deepStrictEqual(worlds, [{ n: 1, deep: {} }, { n: 2, deep: {} }]);
  assert.equal(worlds[0].deep, worlds[1].deep);
  assert.equal(player.delayMs, 1000);
});

for (const [what, content, sequence] of [
  ["a gap", { delta: { n: 9 } }, 7],
  ["a delta that does not fit", { delta: [1, 1] }, 5],
  ["neither world nor delta", {}, 5],
  ["a sequence that is no number", { delta: { n: 9 }, sequence: "5" }, 5],
]) {
  test(`${what} asks for one keyframe and shows no guess`, () => {
    const { player, sent } = watching();
    ready(player, 4, { world: { n: 1 } });
    ready(player, sequence, content);
    ready(player, 8, { delta: { n: 10 } });
    assert.equal(sent.length, 2);
    assert.deepStrictEqual(player.frame.world, { n: 1 });
    ready(player, 9, { world: { n: 11 } });
    ready(player, 10, { delta: { n: 12 } });
    assert.deepStrictEqual(player.frame.world, { n: 12 });
    assert.equal(sent.length, 2);
  });
}

test("interpolation stays between released frames", () => {
  const { player } = watching();
  assert.equal(player.sample(0), undefined);
  const latency = 40;
  for (let sequence = 0; sequence < 10; sequence++) {
    const at = frame(sequence).releaseAt + latency;
    ready(player, sequence, sequence === 0 ? { world: { n: 0 } } : { delta: { n: sequence } }, at);
  }
  const newest = player.frame.releaseAt + latency;
  const sample = player.sample(newest);
  assert.deepStrictEqual([sample.from.world.n, sample.to.world.n, sample.alpha], [7, 8, 0.5]);
  const late = player.sample(newest + 5000);
  assert.deepStrictEqual([late.from.world.n, late.to.world.n, late.alpha], [9, 9, 1]);
  const early = player.sample(0);
  assert.deepStrictEqual([early.to.world.n, early.alpha], [0, 1]);
});

test("a closed stream is not asked for again", () => {
  const { player, sent } = watching();
  player.receive({ op: "observer", state: "closed" });
  player.resume();
  assert.equal(player.state, "closed");
  assert.equal(sent.length, 1);
});

test("it resumes after a reconnection with what follows its newest frame", () => {
  const { player, sent } = watching();
  ready(player, 4, { world: { n: 1 } });
  player.resume();
  assert.deepStrictEqual(sent.at(-1), { perspective: "all", after: 4 });
  player.receive({ op: "observer", state: "ready", grant: GRANT });
  player.receive({ op: "observer", state: "ready", frame: frame(5, { delta: { n: 2 } }) });
  assert.deepStrictEqual(player.history.map(({ world }) => world.n), [1, 2]);
  assert.equal(sent.length, 2);
});

test("a cursor that is refused asks for a keyframe, and anything else that is refused is closed", () => {
  const { player, sent } = watching();
  ready(player, 4, { world: { n: 1 } });
  player.refuse("invalid");
  assert.equal(sent.length, 1, "nothing was asked that this could answer");
  player.resume();
  player.refuse("invalid");
  assert.deepStrictEqual(sent.at(-1), { perspective: "all" });
  ready(player, 90, { world: { n: 3 } });
  assert.deepStrictEqual([player.state, player.frame.world], ["ready", { n: 3 }]);
  player.watch("x");
  player.refuse("forbidden");
  assert.equal(player.state, "closed");
});

test("a request that came too soon is repeated", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { player, sent } = watching();
  player.refuse("rate_limited");
  assert.equal(sent.length, 1);
  context.mock.timers.tick(1_000);
  assert.deepStrictEqual(sent, [{ perspective: "all" }, { perspective: "all" }]);
  player.refuse("rate_limited");
  player.stop();
  context.mock.timers.tick(1_000);
  assert.equal(sent.length, 2);
});

test("a frame of the perspective before is not shown", () => {
  const { player } = watching();
  ready(player, 4, { world: { n: 1 } });
  player.watch("x");
  assert.equal(player.frame, undefined);
  ready(player, 5, { world: { n: 2 } });
  assert.equal(player.frame, undefined);
  ready(player, 9, { world: { n: 3 }, perspective: "x" });
  assert.deepStrictEqual(player.frame.world, { n: 3 });
});

test("an observer who joins anew goes on over the new connection", () => {
  const { player, sent } = watching();
  ready(player, 4, { world: { n: 1 } });
  const again = [];
  player.moveTo((message) => again.push(message));
  assert.deepStrictEqual([sent.length, again], [1, [{ perspective: "all", after: 4 }]]);
});
