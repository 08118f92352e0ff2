// The log at its most talkative: nothing in it lets a reader take a seat, act for an agent or see what was said.

import assert from "node:assert/strict";
import { test } from "node:test";
import { InMatch, agent, guest, person, startPlayerThree } from "../lib/playerthree.mjs";
import { left } from "../lib/rooms.mjs";

test("no token, option or message of a client is in the log", async () => {
  const server = await startPlayerThree([], { RUST_LOG: "trace" });
  const client = await person(server, "Ann");
  const x = new InMatch(await client.create("tic-tac-toe", { seed: 20_261_130 }));
  const { token } = await x.do("mint", { team: "o", role: "player" });
  const o = await agent(server, token);
  await o.tool("game_briefing");
  const human = (await x.do("mintHuman", { role: "player" })).token;
  await guest(server).joinById(x.room.roomId, { token: human });
  const relay = await client.create("relay", { seen: "option-canary" });
  relay.send("echo", "message-canary");
  await new Promise((resolve) => relay.onMessage("echo", resolve));
  const [, reconnection] = relay.reconnectionToken.split(":");
  const secrets = {
    login: client.auth.token,
    seat: token,
    human,
    reconnection,
    session: relay.sessionId,
    option: "option-canary",
    message: "message-canary",
    seed: "20261130",
  };
  // A message without a type is worth a line.
  const closed = left(relay);
  relay.connection.send(Uint8Array.of(13));
  assert.equal(await closed, 4002);
  await x.room.leave();
  await server.stop();
  const log = server.lines.join("\n");
  assert.match(log, /DEBUG.*bad message/);
  for (const [what, secret] of Object.entries(secrets)) assert.ok(!log.includes(secret), `${what} is in the log`);
});
