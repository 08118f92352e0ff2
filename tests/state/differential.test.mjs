// Random mutations of random states in Rust, decoded by the three real decoders: after every patch each client holds
// exactly the state. Clients have joined at the start, late, or come back after an absence; with types from the
// reflection or classes of their own. Field reports U46 (delete and re-add within one patch) and U47 (shared
// instances, late joins and comebacks) are among what the plans do.
//
// `SEED` and `STEPS` choose the plans, `SCHEMA_SEED` the random types, `ONLY` one state; a failure names all four.

import assert from "node:assert/strict";
import { test } from "node:test";
import { classesOf } from "./classes.mjs";
import { MAJORS, canonical, client, expected, forgetsAll, joiningOf, libraryOf } from "./decoders.mjs";
import { plan, states } from "./program.mjs";
import { WORLD } from "./world.mjs";

const SEED = Number(process.env.SEED ?? 20_261_130);
/** The written state has every type and gets as many steps as five random ones. */
const STEPS = Number(process.env.STEPS ?? 200);
const WRITTEN_STEPS = Number(process.env.STEPS ?? 1000);

function check(major, who, client, line) {
  const held = canonical(client.state());
  if (held !== line.wanted) assert.deepEqual(client.state(), expected(line.state), `${who}, step ${line.step}`);
  if (who.startsWith("returned") && !forgetsAll(major)) return;
  assert.equal(client.structures(), line.structures, `${who}, step ${line.step}`);
}

/** Leads clients of one generation through the steps. */
function follow(major, { handshakes, steps }, Root) {
  const clients = new Map([
    ["early", client(major, handshakes)],
    ["early with classes", client(major, handshakes, Root)],
  ]);
  let away = new Map();
  for (const line of steps) {
    for (const [who, follower] of clients) {
      follower.decode(line.patch);
      check(major, who, follower, line);
    }
    if (line.step % 7 === 0) {
      const name = `late ${line.step % 5}`;
      const late = client(major, handshakes, line.step % 2 === 0 ? Root : undefined);
      late.decode(line.full);
      check(major, name, late, line);
      clients.set(name, late);
    }
    if (line.step % 11 === 3) {
      for (const [who, absent] of away) {
        absent.rejoin(line[joiningOf(major)]);
        check(major, who, absent, line);
        clients.set(who, absent);
      }
      away = new Map();
    }
    if (line.step % 11 === 8) {
      const who = `late ${(line.step * 3) % 5}`;
      const absent = clients.get(who) ?? clients.get(`returned ${who}`);
      if (absent) {
        clients.delete(who);
        clients.delete(`returned ${who}`);
        away.set(`returned ${who}`, absent);
      }
    }
  }
}

const { seed: schemaSeed, states: all } = states("open");
for (const { name, types } of all.filter(({ name }) => name === (process.env.ONLY ?? name))) {
  const count = types ? STEPS : WRITTEN_STEPS;
  test(`SCHEMA_SEED=${schemaSeed} ONLY=${name} SEED=${SEED} STEPS=${count}: clients hold the state`, async (t) => {
    const whole = plan(name, SEED, count);
    for (const line of whole.steps) line.wanted = canonical(expected(line.state));
    for (const major of MAJORS) {
      await t.test(`schema ${major}`, () => {
        const classes = classesOf(types ?? WORLD, libraryOf(major));
        follow(major, whole, classes[types ? "T0" : "World"]);
      });
    }
  });
}
