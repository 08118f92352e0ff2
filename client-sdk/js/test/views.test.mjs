// View streams (§4): keyframes, deltas, gaps, and callbacks by path.

import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "../dist/playerthree.js";
import { FakeRoom } from "./fake-room.mjs";

function joined() {
  const room = new FakeRoom();
  const match = connect(room);
  room.push("welcome", { op: "welcome", as: "player", match: "m1", seat: { team: "red", role: "ground" }, teams: ["red", "blue"] });
  return { room, match, view: (body) => room.push("view", { op: "view", team: "red", ...body }) };
}

test("a view follows its keyframe and the deltas after it", () => {
  const { match, view } = joined();
  assert.equal(match.view().view, undefined);
  view({ version: 7, view: { tick: 1, units: { u1: { x: 1 } }, map: ["."] } });
  const first = match.view("red").view;
  view({ version: 8, delta: { tick: 2, units: { u1: { x: 2 } } } });
  assert.deepStrictEqual(match.view().view, { tick: 2, units: { u1: { x: 2 } }, map: ["."] });
  assert.equal(match.view().view.map, first.map);
  assert.equal(match.view().version, 8);
});

test("callbacks by path come only when their part changed", () => {
  const { match, view } = joined();
  const seen = [];
  const stop = match.view().onChangeAt(["units", "u1"], (value, before) => seen.push([value, before]));
  match.view().onChangeAt(["units", "constructor"], () => assert.fail("no member of this name"));
  view({ version: 1, view: { tick: 1, units: { u1: { x: 1 }, u2: { x: 1 } } } });
  view({ version: 2, delta: { tick: 2, units: { u2: { x: 2 } } } });
  view({ version: 3, delta: { units: { u1: { x: 3 } } } });
  view({ version: 4, delta: { units: { u1: [] } } });
  stop();
  view({ version: 5, delta: { units: { u1: 1 } } });
  assert.deepStrictEqual(seen, [[{ x: 1 }, undefined], [{ x: 3 }, { x: 1 }], [undefined, { x: 3 }]]);
});

for (const [what, message] of [
  ["a gap", { version: 3, delta: { tick: 3 } }],
  ["a repeated version", { version: 1, delta: { tick: 3 } }],
  ["a delta that does not fit", { version: 2, delta: { units: { u9: [] } } }],
  ["a malformed delta", { version: 2, delta: [] }],
  ["no content", { version: 2 }],
  ["a version that is no number", { version: "2", delta: { tick: 3 } }],
]) {
  test(`${what} loses the stream until the next keyframe`, () => {
    const { match, view } = joined();
    const lost = [];
    match.on("lost", (team) => lost.push(team));
    view({ version: 1, view: { tick: 1, units: {} } });
    view(message);
    assert.deepStrictEqual(lost, ["red"]);
    assert.equal(match.view().view, undefined);
    view({ version: 2, delta: { tick: 2 } });
    assert.equal(match.view().view, undefined);
    view({ version: 9, view: { tick: 9 } });
    assert.deepStrictEqual(match.view().view, { tick: 9 });
  });
}

test("a callback that throws stops neither the others nor the stream, and is not hidden", async (t) => {
  const { match, view } = joined();
  const reported = [];
  t.mock.method(globalThis, "queueMicrotask", (task) => reported.push(task));
  const seen = [];
  match.view().onChange(() => {
    throw new Error("in a callback");
  });
  match.view().onChange((value) => seen.push(value));
  view({ version: 1, view: 1 });
  assert.deepStrictEqual(seen, [1]);
  assert.throws(reported[0], /in a callback/);
});
