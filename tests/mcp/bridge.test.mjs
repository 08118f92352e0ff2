// `playerthree mcp` (§2, §20): an agent's program that speaks MCP over standard input and output alone plays through the
// bridge. The client is the official one; whoever has no client here writes lines.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Lines, _meta, bridge } from "../lib/bridge.mjs";
import { run } from "../lib/pipes.mjs";
import { InMatch, agent, agentAt, executable, person, startPlayerThree } from "../lib/playerthree.mjs";
import { rejection, within } from "../lib/rooms.mjs";
import { start } from "../lib/server.mjs";

let server;
let client;
let match;

before(async () => {
  server = await startPlayerThree();
  client = await person(server, "Ann");
  match = new InMatch(await client.create("agent-command", { team: "red", role: "ground", private: true }));
});
after(() => server?.stop());

const seatToken = async () => (await match.do("mint", { team: "red", role: "air" })).token;

async function commanderToken() {
  const answer = await fetch(`${server.url}/demo/commanders`, {
    method: "POST",
    headers: { authorization: `Bearer ${client.auth.token}`, "content-type": "application/json" },
    body: JSON.stringify({ game: "agent-command", name: "Falcon", roles: ["ground"] }),
  });
  return (await answer.json()).token;
}

const endpoint = () => `${server.url}/mcp`;

/** The official client over a bridge of its own. */
const bridged = async (token) => agentAt(new StdioClientTransport(await bridge(token, endpoint())));

const open = (token, url = endpoint()) => Lines.open(token, url);

/** §20: the session of a seat token is kept for a client that could not do it itself, and given up at the end. */
test("the official client plays a seat over standard input and output", async () => {
  const token = await seatToken();
  const air = await bridged(token);
  const briefing = await air.tool("game_briefing");
  assert.deepEqual(briefing.commands, [{ role: "air", phase: "match", team: "red" }]);
  await air.tool("game_observe");
  assert.equal((await rejection(air.tool("game_observe", { role: "ground" }))).message, "forbidden");
  await air.tool("game_wait", { seconds: 0 });
  const told = [];
  const wait = { name: "game_wait", arguments: { seconds: 1.2 } };
  await air.client.callTool(wait, { onprogress: ({ progress }) => told.push(progress) });
  assert.deepEqual(told, [1]);
  await air.close();
  const again = await open(token);
  assert.equal((await again.ask("tools/list")).error.message, "Unauthorized");
  await again.close();
});

/** §20: discovery is answered here, starts no session, consumes nothing and invents no tool. */
test("a probe leaves a seat token as it was", async () => {
  const token = await seatToken();
  const probe = await open(token);
  const { result } = await probe.ask("server/discover");
  assert.deepEqual([result.resultType, result.supportedVersions], ["complete", ["2026-07-28"]]);
  assert.deepEqual(result.capabilities.tools, {});
  assert.equal(await probe.close(), 0);
  const direct = await agent(server, token);
  assert.equal((await direct.tool("game_briefing")).seat.role, "air");
  await direct.close();

  const unreachable = await open(token, "http://127.0.0.1:9/mcp");
  assert.equal((await unreachable.ask("server/discover")).result.resultType, "complete");
  const other = { ..._meta, "io.modelcontextprotocol/protocolVersion": "2025-11-25" };
  unreachable.write({ jsonrpc: "2.0", id: 2, method: "server/discover", params: { _meta: other } });
  assert.equal((await unreachable.next()).error.code, -32022);
  await unreachable.close();
});

/** §20: a process keeps the session that it acquired, and a consumed token is of no use to another one. */
test("a second process cannot take a seat over", async () => {
  const token = await seatToken();
  const first = await open(token);
  // Two at once: both are answered in the one session.
  first.write({ jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta } });
  first.write({ jsonrpc: "2.0", id: 2, method: "tools/list", params: { _meta } });
  const answers = [await first.next(), await first.next()];
  assert.deepEqual(answers.map(({ id }) => id).sort(), [1, 2]);
  assert.ok(answers.every(({ result }) => result.tools.length > 0));
  const second = await open(token);
  const refused = await second.ask("tools/list", {}, "mine");
  assert.deepEqual([refused.id, refused.error.code], ["mine", -32001]);
  await second.close();
  assert.ok((await first.ask("tools/call", { name: "game_observe", arguments: {} })).result.structuredContent);
  await first.close();
});

/** §15: a request that is taken back gives its place at the endpoint back. */
test("a cancelled wait frees its place, and so does the end of the process", async () => {
  const token = await commanderToken();
  for (let turn = 0; turn < 4; turn += 1) {
    const lines = await open(token);
    const wait = { name: "game_wait", arguments: { seconds: 60 } };
    lines.write({ jsonrpc: "2.0", id: 9, method: "tools/call", params: { ...wait, _meta: { ..._meta, progressToken: 1 } } });
    assert.equal((await lines.next()).method, "notifications/progress");
    if (turn % 2 === 0) {
      lines.write({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 9 } });
      const { result } = await lines.ask("tools/call", { name: "game_wait", arguments: { seconds: 0 } });
      assert.equal(result.structuredContent.phase, "lobby");
    }
    assert.equal(await lines.close(), 0);
  }
});

/** Whatever a client writes is answered in closed words, and the next request as if nothing had been. */
test("bad lines are refused one by one", async () => {
  const secret = await commanderToken();
  const lines = await open(secret);
  const canary = "canary7canary";
  const refused = async (line, code, id) => {
    lines.write(line);
    const answer = await lines.next();
    assert.deepEqual([answer.error.code, answer.id], [code, id], line.slice(0, 80));
    assert.ok(!JSON.stringify(answer).includes(canary));
  };
  await refused(`{"${canary}`, -32700, undefined);
  await refused("[]", -32600, undefined);
  await refused(`{"jsonrpc":"2.0","id":3}`, -32600, 3);
  await refused(`"${canary.repeat(90_000)}"`, -32600, undefined);
  await refused(JSON.stringify({ jsonrpc: "2.0", id: 4, method: canary, params: { _meta } }), -32601, 4);
  await refused(JSON.stringify({ jsonrpc: "2.0", id: 5, method: "tools/list" }), -32020, 5);
  const unknown = { jsonrpc: "2.0", id: 6, method: "tools/call", params: { name: "zwölf", _meta } };
  await refused(JSON.stringify(unknown), -32602, 6);
  // Neither is answered: an answer to a request that nobody sent, and a notification.
  lines.write({ jsonrpc: "2.0", id: 1, result: {} });
  lines.write({ jsonrpc: "2.0", method: "notifications/initialized" });
  assert.ok((await lines.ask("tools/list")).result.tools.length > 0);
  assert.equal(await lines.close(), 0);
  assert.equal(lines.errors, "");
});

/** Requests past the bound are told so while the others are still carried out. */
test("requests in flight are bounded", async () => {
  const lines = await open(await commanderToken());
  await lines.ask("tools/list");
  const ids = Array.from({ length: 40 }, (_, id) => id);
  for (const id of ids) {
    const wait = { name: "game_wait", arguments: { seconds: 1 } };
    lines.write({ jsonrpc: "2.0", id, method: "tools/call", params: { ...wait, _meta } });
  }
  const answers = [];
  for (const _ of ids) answers.push(await lines.next());
  assert.deepEqual(answers.map(({ id }) => id).sort((a, b) => a - b), ids);
  const busy = answers.filter(({ error }) => error?.message === "Too many requests are in flight");
  assert.ok(busy.length > 0 && busy.length <= 8, `${busy.length}`);
  await lines.close();
});

/** A server that is not there, or comes back, is a matter of the next request. */
test("the bridge survives its server", async () => {
  const first = await startPlayerThree();
  const lines = await open("A".repeat(32), `${first.url}/mcp`);
  assert.equal((await lines.ask("tools/list")).error.message, "Unauthorized");
  await first.stop();
  assert.match((await lines.ask("tools/list")).error.message, /cannot be reached|was lost/);
  assert.match((await lines.ask("tools/list")).error.message, /cannot be reached/);
  const data = await mkdtemp(join(tmpdir(), "playerthree-"));
  const second = await start(await executable(), ["serve", "--port", String(first.port), "--data", data]);
  assert.equal((await lines.ask("tools/list")).error.message, "Unauthorized");
  await lines.close();
  await second.stop();
});

/** §15 "Transport and credentials": a token is read from a file or the environment, and shown over HTTPS alone. */
test("a token never stands on the command line nor crosses a network in the clear", async () => {
  const token = await commanderToken();
  const file = join(await mkdtemp(join(tmpdir(), "playerthree-")), "token");
  await writeFile(file, `${token}\n`, { mode: 0o600 });
  const { command } = await bridge(token, endpoint());
  const args = ["mcp", "--url", `${server.url}/mcp`, "--token-file", file];
  const lines = new Lines(spawn(command, args, { env: {}, stdio: ["pipe", "pipe", "pipe"] }));
  assert.ok((await lines.ask("tools/list")).result.tools.length > 0);
  await lines.close();

  const refused = async (args, env, why) => {
    const child = new Lines(spawn(command, ["mcp", ...args], { env, stdio: ["pipe", "pipe", "pipe"] }));
    const [code] = await within(child.ended, "the refusal");
    assert.notEqual(code, 0);
    assert.match(child.errors, why);
    assert.ok(!child.errors.includes(token));
  };
  await refused(["--token", token], {}, /unexpected argument/);
  await refused([], {}, /PLAYERTHREE_TOKEN/);
  await refused(["--url", "http://game.example/mcp"], { PLAYERTHREE_TOKEN: token }, /https/);
  await refused(["--url", "http://u:p@127.0.0.1/"], { PLAYERTHREE_TOKEN: token }, /without credentials/);
  await refused([], { PLAYERTHREE_TOKEN: `${token}\n\u0007x` }, /malformed/);
});

/** §16: the connect kit prints settings, and no secret that it was not asked for. */
test("connect prints how an agent is given the endpoint", async () => {
  const catalog = await run(["connect"]);
  for (const kind of ["claude-code", "codex", "gemini-cli", "cursor", "vscode", "opencode", "claude-desktop", "claude-api"]) {
    assert.ok(catalog.out.includes(kind), kind);
  }
  const url = `${server.url}/mcp`;
  const signIn = await run(["connect", "codex", "--url", url, "--name", "arena"]);
  assert.ok(signIn.out.includes(`codex mcp add arena --url '${url}'`), signIn.out);
  const token = "T".repeat(32);
  const env = { PLAYERTHREE_TOKEN: token };
  const hidden = await run(["connect", "cursor", "--url", url, "--with", "token"], "", env);
  assert.equal(hidden.code, 0);
  assert.ok(!hidden.out.includes(token));
  const shown = await run(["connect", "cursor", "--url", url, "--with", "token", "--show-token"], "", env);
  assert.ok(shown.out.includes(`export PLAYERTHREE_TOKEN='${token}'`));
  const refused = await run(["connect", "cursor", "--channel"]);
  assert.notEqual(refused.code, 0);

  // What it prints for a program of the shell is what works.
  const printed = await run(["connect", "claude-code", "--url", url, "--with", "seat-token"]);
  const settings = JSON.parse(printed.out.slice(printed.out.indexOf("{"), printed.out.lastIndexOf("}") + 1));
  const { command, args } = settings.mcpServers.playerthree;
  const seated = await agentAt(new StdioClientTransport({ command, args, env: { PLAYERTHREE_TOKEN: await seatToken() } }));
  assert.equal((await seated.tool("game_briefing")).seat.role, "air");
  await seated.close();
});
