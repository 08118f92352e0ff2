// What the official encoders said of a state, beside what this one says of the same mutations: the same bytes where the
// format leaves no freedom, and the same state at the real decoders.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { MAJORS, client } from "./decoders.mjs";
import { plan } from "./program.mjs";

/** The recording's steps beside this encoder's of the same mutations, and both handshakes. */
function beside(name) {
  const { handshakes: recorded, steps } = JSON.parse(readFileSync(new URL(`recorded/${name}.json`, import.meta.url), "utf8"));
  const ours = plan(`recorded ${name}`, 0, 0);
  assert.equal(ours.steps.length, steps.length);
  return { recorded, handshakes: ours.handshakes, steps: steps.map((step, place) => ({ ...step, ours: ours.steps[place] })) };
}

const same = (bytes) => bytes;
// A Rust field has one type, so that no type id stands behind a reference.
const withoutTypeIds = (bytes) => bytes.replace(/d50[23]/g, "");

/** Where an encoder is free: which recorded patches and full states ours equal, and whether the types are the same. */
const RECORDINGS = [
  { name: "many-fields", patch: same, full: same, types: true },
  // In a full state the content of a shared instance stands behind the others'.
  { name: "inheritance", patch: withoutTypeIds, types: false },
  // Items are inserted in a way that all generations read alike, and references counted in another order.
  { name: "array-splice-insert", types: true },
  // The structures of a patch may stand in any order.
  { name: "late-join", full: same, types: true },
];

for (const { name, patch, full, types } of RECORDINGS) {
  const { recorded, handshakes, steps } = beside(name);
  for (const [place, step] of steps.entries()) {
    test(`${name}, ${step.note}: the bytes`, () => {
      if (patch) assert.equal(step.ours.patch, patch(step.patch));
      if (full && step.full) assert.equal(step.ours.full, full(step.full));
    });
    for (const major of MAJORS) {
      test(`${name}, ${step.note}: schema ${major} holds the recorded state`, () => {
        const early = client(major, handshakes);
        for (const { ours } of steps.slice(0, place + 1)) early.decode(ours.patch);
        assert.deepEqual(early.json(), step.state);
        const late = client(major, handshakes);
        late.decode(step.ours.full);
        assert.deepEqual(late.json(), step.state);
      });
    }
  }
  for (const [major, handshake] of Object.entries(types ? recorded : {})) {
    test(`${name}: schema ${major} reads our bytes by the recorded handshake, and the recorded bytes by ours`, () => {
      for (const step of steps.filter(({ full }) => full)) {
        const theirs = client(major, { joined: handshake, apart: handshake });
        theirs.decode(step.ours.full);
        assert.deepEqual(theirs.json(), step.state);
        const ours = client(major, handshakes);
        ours.decode(step.full);
        assert.deepEqual(ours.json(), step.state);
      }
    });
  }
}

/** A state as the recorded client saw it: there a map by view is nothing until something in it is seen. */
const seen = ({ hands, ...state }) => (hands && Object.keys(hands).length > 0 ? { ...state, hands } : state);

const { handshakes, steps } = beside("views");
for (const major of MAJORS) {
  for (const who of ["A", "B"]) {
    test(`views: ${who} with schema ${major} holds after each step what was recorded`, () => {
      const early = client(major, handshakes);
      for (const { note, states, ours } of steps) {
        early.decode(ours.clients[who].patch);
        assert.deepEqual(seen(early.json()), seen(states[who]), note);
        const late = client(major, handshakes);
        late.decode(ours.clients[who].full);
        assert.deepEqual(seen(late.json()), seen(states[who]), note);
      }
    });
  }
}
