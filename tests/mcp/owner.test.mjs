// An owner's way in without a page (the demo's own): `playerthree owner` from the shell against the shipped server.

import assert from "node:assert/strict";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { run } from "../lib/pipes.mjs";
import { InMatch, agent, commander, person, startPlayerThree } from "../lib/playerthree.mjs";
import { rejection } from "../lib/rooms.mjs";

let server;

before(async () => {
  server = await startPlayerThree();
});
after(() => server?.stop());

/** Somebody at a shell, signed in by the token of a login. */
async function shellOf(token) {
  const file = join(await mkdtemp(join(tmpdir(), "playerthree-")), "token");
  await writeFile(file, `${token}\n`, { mode: 0o600 });
  const owner = (...args) => run(["owner", "--server", server.url, "--token-file", file, ...args]);
  return {
    async do(...args) {
      const { code, out, err } = await owner(...args);
      assert.equal(code, 0, err);
      return JSON.parse(out);
    },
    async refused(...args) {
      const { code, out, err } = await owner(...args);
      assert.deepEqual([code, out], [1, ""]);
      return err.trim();
    },
  };
}

const login = async (name) => JSON.parse((await run(["owner", "login", name, "--server", server.url])).out);

test("commanders are named, settled, rotated and removed from the shell", async () => {
  const { token, name } = await login("Ann");
  assert.equal(name, "Ann");
  const ann = await shellOf(token);
  const added = await ann.do("add-commander", "--game", "agent-command", "--name", "Falcon", "--role", "ground");
  const falcon = await commander(server, added.token);
  assert.equal((await falcon.tool("game_wait", { seconds: 0 })).phase, "lobby");
  await ann.do("settings", added.id, '{"scopes": ["say"]}');
  const [listed] = (await ann.do("commanders")).commanders;
  assert.deepEqual([listed.game, listed.name, listed.settings.scopes], ["agent-command", "Falcon", ["say"]]);
  const rotated = await ann.do("rotate", added.id);
  assert.notEqual(rotated.token, added.token);
  await assert.rejects(falcon.tool("game_briefing"));
  assert.deepEqual(await ann.do("connections"), { connections: [] });

  const bob = await shellOf((await login("Bob")).token);
  assert.match(await bob.refused("rotate", added.id), /refused: forbidden/);
  assert.match(await bob.refused("disconnect", "con_unknown"), /refused: forbidden/);
  await ann.do("remove-commander", added.id);
  assert.deepEqual(await ann.do("commanders"), { commanders: [] });
});

test("seats of a running match are handed to agents from the shell, by their owner alone", async () => {
  const client = await person(server, "Cleo");
  const match = new InMatch(await client.create("agent-command", { team: "red", role: "ground", private: true }));
  const cleo = await shellOf(client.auth.token);
  const room = match.room.roomId;
  const { id, token } = await cleo.do("add-commander", "--game", "agent-command", "--name", "Hawk", "--role", "air");
  await cleo.do("assign", room, "red", "air", "--commander", id);
  const hawk = await commander(server, token);
  assert.equal((await hawk.tool("game_wait", { seconds: 0 })).phase, "match");
  await cleo.do("tell", room, "red", "air", "hold the ridge");
  const { messages } = await hawk.tool("game_wait", { seconds: 5 });
  assert.equal(messages[0].text, "hold the ridge");
  const minted = await cleo.do("seat-token", room, "red", "air");
  const seated = await agent(server, minted.token);
  assert.equal((await seated.tool("game_briefing")).seat.role, "air");
  await cleo.do("scopes", room, "red", "air", "say", "policy");
  const mandate = { ...(await seated.tool("game_briefing")).mandate, autonomy: "supervised" };
  await cleo.do("mandate", room, "red", "air", JSON.stringify(mandate));
  const held = await seated.tool("game_briefing");
  assert.deepEqual([held.scopes, held.mandate.autonomy].flat().sort(), ["policy", "say", "supervised"]);
  assert.match(await cleo.refused("scopes", room, "red", "air", "rule"), /refused: invalid/);
  assert.match(await cleo.refused("seat-token", room, "red", "air", "--ttl", "1"), /refused: (invalid|bad_message)/);
  const short = await cleo.do("seat-token", room, "red", "air", "--ttl", "5");
  assert.ok(short.expiresAt < minted.expiresAt);
  await cleo.do("revoke-seat", room, "red", "air");
  await assert.rejects(seated.tool("game_briefing"));

  const dora = await shellOf((await login("Dora")).token);
  for (const asked of [room, "nowhere"]) {
    assert.match(await dora.refused("seat-token", asked, "red", "air"), /refused: forbidden/);
  }
  const stranger = await shellOf(token);
  assert.match(await stranger.refused("commanders"), /refused: bad_token/, "an agent's token is no owner's");
  await match.room.leave();
});

/** §20: whoever sees more of a match than a side does commands nothing on that side, and whoever commands it sees no more. */
test("watching and commanding from outside the room exclude each other", async () => {
  const cleo = await person(server, "Cleopatra");
  const match = new InMatch(await cleo.create("agent-command", { team: "red", role: "ground" }));
  const room = match.room.roomId;
  const outside = async (name) => {
    const client = await person(server, name);
    const shell = await shellOf(client.auth.token);
    const { id, token } = await shell.do("add-commander", "--game", "agent-command", "--name", "Owl", "--role", "air");
    return { client, shell, id, token };
  };
  const dora = await outside("Dora");
  const watching = await dora.client.joinById(room, { as: "spectator", team: "red" });
  assert.match(await dora.shell.refused("assign", room, "blue", "air", "--commander", dora.id), /refused: forbidden/);
  await watching.leave();
  assert.match(await dora.shell.refused("assign", room, "blue", "air", "--commander", dora.id), /refused: forbidden/);

  const emil = await outside("Emil");
  const owl = await commander(server, emil.token);
  const seated = owl.tool("game_wait", { seconds: 30 });
  await emil.shell.do("assign", room, "blue", "air", "--commander", emil.id);
  assert.equal((await seated).phase, "match");
  const watch = emil.client.joinById(room, { as: "spectator", team: "red" });
  assert.match((await rejection(watch)).message, /another side/);
  await match.room.leave();
});
