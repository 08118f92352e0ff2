// The delta reader against the vectors that it shares with the Rust one, and what only JavaScript has to prove.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { applyDelta, DeltaError, MAX_DEPTH, MAX_EDITS, MAX_WEIGHT } from "../dist/playerthree.js";

const vectors = (file) => JSON.parse(readFileSync(new URL(`../../../delta/vectors/${file}.json`, import.meta.url)));

/** The code of the refusal, or "accepted". */
function outcome(old, delta) {
  try {
    applyDelta(old, delta);
    return "accepted";
  } catch (error) {
    assert.ok(error instanceof DeltaError, String(error));
    return error.code;
  }
}

test("every shared edit gives its new version", () => {
  for (const { name, old, new: expected, delta } of [...vectors("edits"), ...vectors("readable")]) {
    const before = structuredClone(old);
    assert.deepStrictEqual(applyDelta(old, delta), expected, name);
    assert.deepStrictEqual(old, before, `${name}: the old version is untouched`);
  }
});

test("every shared refusal has its code", () => {
  for (const { name, old, delta, error } of vectors("refused")) assert.equal(outcome(old, delta), error, name);
});

test("unchanged and moved parts keep their identity (§4)", () => {
  const old = { a: { deep: [1] }, list: [{ id: 1 }, { id: 2, x: 1 }, { id: 3 }], n: 1 };
  const next = applyDelta(old, { n: 2, list: [1, true, 2, 1, { x: 2 }, -1] });
  assert.deepStrictEqual(next, { a: { deep: [1] }, list: [{ id: 3 }, { id: 1 }, { id: 2, x: 2 }], n: 2 });
  assert.equal(next.a, old.a);
  assert.equal(next.list[0], old.list[2]);
  assert.equal(next.list[1], old.list[0]);
  assert.notEqual(next.list[2], old.list[1]);
});

test("values that are not JSON are refused", () => {
  const cyclic = [0];
  cyclic.push(cyclic);
  for (const value of [undefined, NaN, Infinity, 1n, () => 1, Symbol("s"), new Date(0), new Map(), new Uint8Array(1)]) {
    assert.equal(outcome(1, value), "shape");
    assert.equal(outcome({}, { a: [0, [value]] }), "shape");
  }
  assert.equal(outcome(1, cyclic), "depth");
});

test("bounds are exact", () => {
  const nested = (depth) => Array.from({ length: depth - 1 }).reduce((value) => [value], []);
  assert.equal(outcome(1, [0, nested(MAX_DEPTH - 1)]), "accepted");
  assert.equal(outcome(1, [0, nested(MAX_DEPTH)]), "depth");
  assert.equal(outcome(1, [0, "🎲".repeat((MAX_WEIGHT - 4) / 2) + "a"]), "accepted");
  assert.equal(outcome(1, [0, "🎲".repeat((MAX_WEIGHT - 4) / 2) + "ab"]), "weight");
  const steps = (count) => [1, ...Array(count).fill(-1)];
  assert.equal(outcome(Array(MAX_EDITS).fill(0), steps(MAX_EDITS - 1)), "accepted");
  assert.equal(outcome(Array(MAX_EDITS).fill(0), steps(MAX_EDITS)), "edits");
});

test("no delta reaches a prototype", () => {
  applyDelta({}, JSON.parse('{"__proto__": [0, {"polluted": 1}]}'));
  applyDelta({}, JSON.parse('{"constructor": [0, {"prototype": {"polluted": 1}}]}'));
  assert.equal({}.polluted, undefined);
  const rebuilt = applyDelta(JSON.parse('{"__proto__": {"a": 1}}'), JSON.parse('{"__proto__": {"a": 2}}'));
  assert.equal(JSON.stringify(rebuilt), '{"__proto__":{"a":2}}');
});

test("a refusal repeats nothing of the delta", () => {
  for (const delta of [{ secret: {} }, ["secret"], [1, "secret"], { a: ["secret", 1] }]) {
    try {
      applyDelta({}, delta);
      assert.fail("accepted");
    } catch (error) {
      assert.doesNotMatch(`${error.message}${JSON.stringify(error)}`, /secret/);
    }
  }
});
