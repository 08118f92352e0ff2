// Random mutations of random states and of three clients' views in Rust, decoded by the three real decoders: each
// client holds what its view shows, and no byte of a text or key that it does not show was ever sent to it (field
// report U49).
//
// `SEED` and `STEPS` choose the plans, `SCHEMA_SEED` the random types, `ONLY` one state; a failure names all four.

import assert from "node:assert/strict";
import { test } from "node:test";
import { MAJORS, canonical, client, expected, forgetsAll, joiningOf } from "./decoders.mjs";
import { plan, states } from "./program.mjs";

const SEED = Number(process.env.SEED ?? 20_261_130);
/** The written state gets as many steps as five random ones. */
const STEPS = Number(process.env.STEPS ?? 200);
const WRITTEN_STEPS = Number(process.env.STEPS ?? 1000);

function holds(who, follower, sent, step) {
  if (canonical(follower.state()) !== sent.wanted) assert.deepEqual(follower.state(), expected(sent.state), `${who}, step ${step}`);
}

/** Leads clients of one generation through the steps. */
function follow(major, { handshakes, steps }) {
  const clients = steps[0].clients.map(() => undefined);
  const away = clients.map(() => undefined);
  const returned = clients.map(() => false);
  for (const { step, clients: sents } of steps) {
    sents.forEach((sent, place) => {
      const who = `client ${place}`;
      if (clients[place]) {
        clients[place].decode(sent.patch);
        holds(who, clients[place], sent, step);
        if (!returned[place] || forgetsAll(major)) assert.equal(clients[place].structures(), sent.structures, `${who}, step ${step}`);
      }
      const turn = (step + 5 * place) % 17;
      if (turn === 0) {
        clients[place] = client(major, handshakes);
        returned[place] = false;
        clients[place].decode(sent.full);
        holds(`new ${who}`, clients[place], sent, step);
      } else if (turn === 9) {
        away[place] = clients[place];
        clients[place] = undefined;
      } else if (turn === 12 && away[place]) {
        away[place].rejoin(sent[joiningOf(major)]);
        holds(`returned ${who}`, away[place], sent, step);
        clients[place] = away[place];
        returned[place] = true;
      }
    });
  }
}

function keepSecrets(steps) {
  for (const { step, clients } of steps) {
    clients.forEach(({ secrets, ...sent }, place) => {
      for (const kind of ["patch", "full", "reconciling", "additive"]) {
        const bytes = Buffer.from(sent[kind], "hex").toString("latin1");
        for (const secret of secrets) assert.ok(!bytes.includes(secret), `client ${place}, ${kind}, step ${step}: ${secret}`);
      }
    });
  }
}

const { seed: schemaSeed, states: all } = states("viewed");
for (const { name, types } of all.filter(({ name }) => name === (process.env.ONLY ?? name))) {
  const count = types ? STEPS : WRITTEN_STEPS;
  test(`SCHEMA_SEED=${schemaSeed} ONLY=${name} SEED=${SEED} STEPS=${count}: views`, async (t) => {
    const whole = plan(name, SEED, count);
    for (const { clients } of whole.steps) for (const sent of clients) sent.wanted = canonical(expected(sent.state));
    for (const major of MAJORS) await t.test(`schema ${major} clients hold what their views show`, () => follow(major, whole));
    await t.test("no client is sent a byte of what its view does not show", () => keepSecrets(whole.steps));
  });
}
