// §§4, 15.5; field reports U70 and U80: two waits at once are the most, a third is `busy`, and waits whose callers went
// away free their places.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { InMatch, person, startPlayerThree } from "../lib/playerthree.mjs";
import { within } from "../lib/rooms.mjs";
import { toolCall } from "./raw-mcp.mjs";

let server;
before(async () => (server = await startPlayerThree()));
after(() => server.stop());

test("an agent whose calls are cut can wait again, time after time", async () => {
  const x = new InMatch(await (await person(server, "Ann")).create("tic-tac-toe"));
  const { token } = await x.do("mint", { team: "o", role: "player" });
  const { session } = await toolCall(server, token, undefined, "game_wait", { seconds: 0 });
  const isBusy = async (seconds) => (await toolCall(server, token, session, "game_wait", { seconds })).text.includes("busy");
  // Slower than the ten calls a second that an agent may make.
  const until = (condition, what) => {
    const poll = async () => {
      while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 150));
    };
    return within(poll(), what);
  };
  // A look at the places takes one itself for a moment: a wait that meets it there is told `busy` and asks again.
  const held = async (signal) => {
    while ((await toolCall(server, token, session, "game_wait", { seconds: 60 }, signal)).text.includes("busy"));
  };
  for (let round = 0; round < 3; round += 1) {
    const cut = new AbortController();
    const waits = [1, 2].map(() => held(cut.signal).catch(({ name }) => name));
    await until(() => isBusy(0), "both places are taken");
    cut.abort();
    assert.deepEqual(await Promise.all(waits), ["AbortError", "AbortError"]);
    await until(async () => !(await isBusy(0)), "the places are free again");
  }
  await x.room.leave();
});
