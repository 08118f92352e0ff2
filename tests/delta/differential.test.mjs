// The Rust writer against the JavaScript reader (§4): over random evolutions with fixed seeds, every version that the
// reader rebuilds is the writer's, byte for byte in canonical JSON, and both refuse the same damaged deltas.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { applyDelta, DeltaError } from "../../client-sdk/js/dist/playerthree.js";
import { build } from "../lib/server.mjs";

const VERSIONS = 4000;

/** Canonical JSON (RFC 8785): members sorted by their names' code units, numbers as JavaScript writes them. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(",")}}`;
}

/** What applying gives: the canonical text of the value, or the code of the refusal. */
function outcome(old, delta) {
  try {
    return { value: canonical(applyDelta(old, delta)) };
  } catch (error) {
    if (!(error instanceof DeltaError)) throw error;
    return { error: error.code };
  }
}

function freeze(value) {
  if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(freeze);
  return value;
}

const evolve = await build("playerthree-delta", { example: "evolve" });

test("random evolutions are rebuilt exactly, and the same damaged deltas refused", async (context) => {
  for (const seed of [1, 2, 3]) await context.test(`${VERSIONS} versions of seed ${seed}`, () => follow(seed));
});

async function follow(seed) {
  const { stdout } = await promisify(execFile)(evolve, [String(seed), String(VERSIONS)], { maxBuffer: 1 << 28 });
  const counts = { versions: 0, refused: 0, misread: 0 };
  let newest;
  for (const line of stdout.trimEnd().split("\n")) {
    const step = JSON.parse(line);
    if ("start" in step) newest = freeze(step.start);
    else if ("damaged" in step) {
      assert.deepStrictEqual(outcome(newest, freeze(step.damaged)), step.outcome, line);
      counts[step.outcome.error ? "refused" : "misread"] += 1;
    } else {
      newest = freeze(applyDelta(newest, freeze(step.delta)));
      assert.equal(canonical(newest), step.next, line);
      counts.versions += 1;
    }
  }
  assert.ok(counts.versions >= VERSIONS && counts.refused > VERSIONS / 10, JSON.stringify(counts));
}
