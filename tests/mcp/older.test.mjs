// Most deployed clients still open with the handshake of an older revision (§4). Where a credential lasts they play; a
// seat token and a server with the switch off refuse them (§20). The clients are official ones: the SDK that knows nothing
// else, and the current one in its default mode.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as OldHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { mintAgent } from "../lib/pipes.mjs";
import { Agent, InMatch, executable, person, startPlayerThree } from "../lib/playerthree.mjs";
import { rejection } from "../lib/rooms.mjs";

let server;
let strict;

before(async () => {
  server = await startPlayerThree();
  strict = await startPlayerThree(["--mcp-legacy", "off"]);
});
after(async () => {
  await server?.stop();
  await strict?.stop();
});

async function commanderToken(at) {
  const { auth } = await person(at, "Ann");
  const answer = await fetch(`${at.url}/demo/commanders`, {
    method: "POST",
    headers: { authorization: `Bearer ${auth.token}`, "content-type": "application/json" },
    body: JSON.stringify({ game: "agent-command", name: "Falcon", roles: ["ground"] }),
  });
  return (await answer.json()).token;
}

const bearing = (token) => ({ requestInit: { headers: { authorization: `Bearer ${token}` } } });

/** The SDK before revision 2026-07-28. */
async function oldAgent(transport) {
  const client = new OldClient({ name: "old client", version: "1" });
  await client.connect(transport);
  const { tools } = await client.listTools();
  return new Agent(client, tools);
}

const oldOverHttp = (at, token, path = "/mcp") => oldAgent(new OldHttp(new URL(path, at.url), bearing(token)));

/** The current SDK, which opens with the old handshake unless it is told otherwise. */
async function defaultAgent(at, token) {
  const client = new Client({ name: "default client", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", at.url), bearing(token)));
  return new Agent(client, (await client.listTools()).tools);
}

/** The old SDK over the bridge, which is what a program without HTTP has. */
async function oldOverBridge(at, token) {
  const args = ["mcp", "--url", `${at.url}/mcp`];
  return oldAgent(new OldStdio({ command: await executable(), args, env: { PLAYERTHREE_TOKEN: token } }));
}

for (const [who, connect] of [
  ["the SDK of older revisions", oldOverHttp],
  ["the current SDK by default", defaultAgent],
  ["the SDK of older revisions over the bridge", oldOverBridge],
]) {
  test(`${who} plays with a commander's token`, async () => {
    const agent = await connect(server, await commanderToken(server));
    assert.ok(agent.tools.some(({ name }) => name === "game_wait"));
    const briefing = await agent.tool("game_briefing");
    assert.deepEqual(briefing.commands, [{ role: "ground", phase: "lobby" }]);
    assert.equal((await agent.tool("game_wait", { seconds: 0 })).phase, "lobby");
    assert.equal((await rejection(agent.tool("game_observe", { role: "air" }))).message, "forbidden");
    const told = [];
    const wait = { name: "game_wait", arguments: { seconds: 1.2 } };
    await agent.client.callTool(wait, undefined, { onprogress: ({ progress }) => told.push(progress) });
    if (connect !== defaultAgent) assert.deepEqual(told, [1]);
    await agent.close();
  });

  test(`${who} is refused by a server with the switch off`, async () => {
    const refused = await rejection(connect(strict, await commanderToken(strict)));
    assert.match(String(refused.message), /Unsupported protocol version|2026-07-28|-32022/);
  });

  test(`${who} is refused with a seat token, which stays unclaimed`, async () => {
    const ann = await person(server, "Ann");
    const match = new InMatch(await ann.create("agent-command", { team: "red", role: "ground", private: true }));
    const { token } = await match.do("mint", { team: "red", role: "air" });
    const refused = await rejection(connect(server, token));
    assert.match(String(refused.message), /Unsupported protocol version|2026-07-28|-32022/);
    await match.room.leave();
  });
}

test("an agent of the pipes with an older client needs nothing but its address", async () => {
  const { mcpUrl } = await mintAgent(server);
  const agent = await oldAgent(new OldHttp(new URL(mcpUrl, server.url)));
  assert.ok((await agent.tool("pipes_create_game")).watchUrl);
  await agent.close();
});
