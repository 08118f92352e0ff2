// The agents' endpoint of the shipped server, used by the official MCP client at revision 2026-07-28 (§4, §20).

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { InMatch, agent, person, startPlayerThree } from "../lib/playerthree.mjs";
import { rejection } from "../lib/rooms.mjs";

let server;
let match;

before(async () => {
  server = await startPlayerThree();
  const ann = await person(server, "Ann");
  match = new InMatch(await ann.create("agent-command", { team: "red", role: "ground", private: true }));
});
after(() => server?.stop());

async function token() {
  return (await match.do("mint", { team: "red", role: "air" })).token;
}

/** A wait that nothing ends, and the moment from which the server is known to hold it: its first progress. */
function longWait(air, options = {}) {
  let started;
  const underWay = new Promise((resolve) => (started = resolve));
  const wait = { name: "game_wait", arguments: { seconds: 60 } };
  return { result: air.client.callTool(wait, { ...options, onprogress: () => started() }), underWay };
}

/** §4: the client lists pinned tools and validates every structured result against its output schema itself. */
test("the official client reads, observes, acts and waits with progress", async () => {
  const air = await agent(server, await token());
  const list = await air.client.listTools(undefined, { cacheMode: "bypass" });
  const hash = list._meta["dev.playerthree/surfaceHash"];
  assert.match(hash, /^[0-9a-f]{64}$/);
  assert.deepEqual([list.ttlMs, list.cacheScope], [3_600_000, "private"]);

  const briefing = await air.client.callTool({ name: "game_briefing", arguments: {} });
  assert.equal(briefing._meta["dev.playerthree/surfaceHash"], hash);
  assert.equal(briefing.structuredContent.surfaceHash, hash);
  assert.deepEqual(briefing.structuredContent.commands, [{ role: "air", phase: "match", team: "red" }]);
  assert.deepEqual(JSON.parse(briefing.content[0].text), briefing.structuredContent);

  const [{ name }] = briefing.structuredContent.skills;
  const window = await air.client.callTool({ name: "game_skill", arguments: { name, path: "SKILL.md" } });
  assert.ok(window.content[0].text.startsWith(window.structuredContent.text));

  await air.tool("game_wait", { seconds: 0 });
  const told = [];
  const waited = await air.client.callTool(
    { name: "game_wait", arguments: { seconds: 2.2 } },
    { onprogress: (progress) => told.push(progress) },
  );
  assert.equal(waited.isError, false);
  assert.deepEqual(told.map(({ progress, total }) => [progress, total]), [[1, 2.2], [2, 2.2]]);
  await air.close();
});

/** §4: a credential for one role is no way to another. */
test("another role is forbidden and an unknown one invalid", async () => {
  const air = await agent(server, await token());
  assert.equal((await rejection(air.tool("game_observe", { role: "ground" }))).message, "forbidden");
  assert.equal((await rejection(air.tool("game_observe", { role: "sea" }))).message, "invalid");
  await air.tool("game_observe", { role: "air" });
  await air.close();
});

/** §20: a client of an older revision gets no way in, and learns what is supported. */
test("the handshake of older revisions is refused", async () => {
  const transport = new StreamableHTTPClientTransport(new URL("/mcp", server.url), {
    requestInit: { headers: { authorization: `Bearer ${await token()}` } },
  });
  const old = new Client({ name: "old", version: "1" });
  const refused = await rejection(old.connect(transport));
  assert.match(String(refused.message), /2026-07-28|Unsupported protocol version/);
});

/** §5: revocation refuses at once and ends what is in flight. Minting past the bound of a seat revokes its oldest. */
test("a revoked token answers its open wait and nothing after", async () => {
  const air = await agent(server, await token());
  await air.tool("game_wait", { seconds: 0 });
  const { result, underWay } = longWait(air);
  await underWay;
  for (let minted = 0; minted < 4; minted += 1) await token();
  const answer = await result;
  assert.deepEqual([answer.isError, JSON.parse(answer.content[0].text)], [true, { error: "bad_token" }]);
  assert.match(String(await rejection(air.tool("game_observe"))), /Unauthorized|401/i);
});

/** §15: a client that aborts its wait gives its place back: more waits than places, one after the other. */
test("an aborted wait frees its place", async () => {
  const air = await agent(server, await token());
  await air.tool("game_wait", { seconds: 0 });
  for (let turn = 0; turn < 5; turn += 1) {
    const abort = new AbortController();
    const { result, underWay } = longWait(air, { signal: abort.signal });
    const aborted = rejection(result);
    await underWay;
    abort.abort();
    await aborted;
  }
  const { phase } = await air.tool("game_wait", { seconds: 0 });
  assert.equal(phase, "match");
  await air.close();
});
