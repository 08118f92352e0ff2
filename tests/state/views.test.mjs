// Random mutations of a state and of three clients' views in Rust, decoded by the three real decoders: each client
// holds what its view shows, and no byte of anything else was ever sent to it (field report U49).

import assert from "node:assert/strict";
import { test } from "node:test";
import { MAJORS, canonical, client, joiningOf } from "./decoders.mjs";
import { lines } from "./program.mjs";

const SEED = Number(process.env.SEED ?? 20_261_130);
const STEPS = Number(process.env.STEPS ?? 1000);

const [handshakes, ...steps] = lines("views", SEED, STEPS);

function holds(who, follower, sent, step) {
  const wanted = canonical(sent.state);
  if (canonical(follower.state()) !== wanted) assert.deepEqual(follower.state(), sent.state, `${who}, step ${step}`);
}

for (const major of MAJORS) {
  test(`schema ${major} clients hold what their views show, through ${STEPS} patches of seed ${SEED}`, () => {
    const clients = steps[0].clients.map(() => undefined);
    const away = clients.map(() => undefined);
    const returned = clients.map(() => false);
    for (const { step, clients: sents } of steps) {
      sents.forEach((sent, place) => {
        const who = `client ${place}`;
        if (clients[place]) {
          clients[place].decode(sent.patch);
          holds(who, clients[place], sent, step);
          // A client that came back may keep a structure whose holder was replaced while it was away.
          if (!returned[place]) assert.equal(clients[place].structures(), sent.structures, `${who}, step ${step}`);
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
  });
}

test("no client is sent a byte of what its view does not show", () => {
  for (const { step, clients } of steps) {
    clients.forEach(({ secrets, ...sent }, place) => {
      for (const kind of ["patch", "full", "reconciling", "additive"]) {
        const bytes = Buffer.from(sent[kind], "hex").toString("latin1");
        for (const secret of secrets) assert.ok(!bytes.includes(secret), `client ${place}, ${kind}, step ${step}: ${secret}`);
      }
    });
  }
});
