// §5: a token's first call asks the person at the official client, where that client can ask.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Agent, executable, person, startPlayerThree } from "../lib/playerthree.mjs";
import { rejection } from "../lib/rooms.mjs";

let server;
before(async () => {
  server = await startPlayerThree();
});
after(() => server?.stop());

async function commanderToken() {
  const { auth } = await person(server, "Ann");
  const answer = await fetch(`${server.url}/demo/commanders`, {
    method: "POST",
    headers: { authorization: `Bearer ${auth.token}`, "content-type": "application/json" },
    body: JSON.stringify({ game: "agent-command", name: "Falcon", roles: ["ground"] }),
  });
  return (await answer.json()).token;
}

/** The official client at which a person sits; `says` is what they answer, in turn. */
async function asked(transport, says) {
  const questions = [];
  const options = { versionNegotiation: { mode: { pin: "2026-07-28" } }, capabilities: { elicitation: { form: {} } } };
  const client = new Client({ name: "asking client", version: "1" }, options);
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    questions.push(params.message);
    return says.shift();
  });
  await client.connect(transport);
  return { agent: new Agent(client, (await client.listTools()).tools), questions };
}

const overHttp = (token) =>
  new StreamableHTTPClientTransport(new URL("/mcp", server.url), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });

const yes = () => ({ action: "accept", content: { allow: true } });

test("a person is asked once, and the call goes on when they allow it", async () => {
  const { agent, questions } = await asked(overHttp(await commanderToken()), [yes()]);
  assert.equal((await agent.tool("game_wait", { seconds: 0 })).phase, "lobby");
  assert.equal((await agent.tool("game_briefing")).seat.role, "ground");
  assert.equal(questions.length, 1);
  assert.match(questions[0], /Agent Command.*ground/);
  await agent.close();
});

test("a person who says no is believed, and asked again", async () => {
  const says = [{ action: "decline" }, { action: "accept", content: { allow: false } }, yes()];
  const { agent, questions } = await asked(overHttp(await commanderToken()), says);
  assert.equal((await rejection(agent.tool("game_briefing"))).message, "consent_declined");
  assert.equal((await rejection(agent.tool("game_briefing"))).message, "consent_declined");
  assert.equal((await agent.tool("game_briefing")).seat.role, "ground");
  assert.equal(questions.length, 3);
  await agent.close();
});

test("the question passes through the bridge", async () => {
  const args = ["mcp", "--url", `${server.url}/mcp`];
  const env = { PLAYERTHREE_TOKEN: await commanderToken() };
  const { agent, questions } = await asked(new StdioClientTransport({ command: await executable(), args, env }), [yes()]);
  assert.equal((await agent.tool("game_wait", { seconds: 0 })).phase, "lobby");
  assert.equal(questions.length, 1);
  await agent.close();
});
