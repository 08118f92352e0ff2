// Random mutations in Rust, decoded by the three real decoders: after every patch each client holds exactly the state.
// Clients have joined at the start, late, or come back after an absence; with types from the reflection or classes of
// their own. `SEED` and `STEPS` choose the plan, which is printed. Field reports U46 (delete and re-add within one patch) and
// U47 (shared instances, late joins and comebacks) are among what the plan does.

import assert from "node:assert/strict";
import { test } from "node:test";
import { lines } from "./program.mjs";
import { MAJORS, canonical, client, joiningOf } from "./decoders.mjs";
import { World } from "./world.mjs";

const SEED = Number(process.env.SEED ?? 20_261_130);
const STEPS = Number(process.env.STEPS ?? 1000);

/** The program's states as text that equal states share. */
function expected(value) {
  if (Array.isArray(value)) return value.map(expected);
  if (value === null || typeof value !== "object") return value;
  if (value.unordered) return { unordered: value.unordered.map((item) => canonical(expected(JSON.parse(item)))).sort() };
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, expected(item)]));
}

function check(who, client, line, wanted) {
  const held = canonical(client.state());
  if (held !== wanted) assert.deepEqual(client.state(), expected(line.state), `${who}, step ${line.step}`);
  // A client that came back may keep a structure whose holder was replaced while it was away.
  if (!who.startsWith("returned")) assert.equal(client.structures(), line.structures, `${who}, step ${line.step}`);
}

const [handshakes, ...steps] = lines("mutations", SEED, STEPS);
for (const line of steps) line.wanted = canonical(expected(line.state));

for (const major of MAJORS) {
  test(`schema ${major} follows ${STEPS} random patches of seed ${SEED}`, () => {
    const clients = new Map([
      ["early", client(major, handshakes)],
      ["early with classes", client(major, handshakes, World)],
    ]);
    let away = new Map();
    for (const line of steps) {
      const { wanted } = line;
      for (const [who, follower] of clients) {
        follower.decode(line.patch);
        check(who, follower, line, wanted);
      }
      if (line.step % 7 === 0) {
        const name = `late ${line.step % 5}`;
        const rootOf = line.step % 2 === 0 ? World : undefined;
        const late = client(major, handshakes, rootOf);
        late.decode(line.full);
        check(name, late, line, wanted);
        clients.set(name, late);
      }
      if (line.step % 11 === 3) {
        for (const [who, absent] of away) {
          absent.rejoin(line[joiningOf(major)]);
          check(who, absent, line, wanted);
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
  });
}
