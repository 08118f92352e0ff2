// An owner connects an agent by signing in (§5): the official client finds its way from the 401, a person consents in a
// browser, and the agent plays until its owner takes it back.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { after, before, test } from "node:test";
import { StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";
import { Tab, launch } from "../lib/browser.mjs";
import { agentAt, startPlayerThree } from "../lib/playerthree.mjs";
import { rejection, within } from "../lib/rooms.mjs";

let server;
let browser;

before(async () => {
  server = await startPlayerThree();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** A program on this computer that the browser comes back to. `come` resolves with the parameters of its visit. */
class Callback {
  static async listen(port = 0) {
    const callback = new Callback();
    callback.http = createServer((request, response) => {
      response.end("Thank you.");
      const { pathname, searchParams } = new URL(request.url, callback.url);
      if (pathname === "/callback") callback.visited(searchParams);
    });
    callback.come = new Promise((resolve) => (callback.visited = resolve));
    await once(callback.http.listen(port, "127.0.0.1"), "listening");
    return callback;
  }

  get url() {
    return `http://127.0.0.1:${this.http.address().port}/callback`;
  }

  close() {
    this.http.closeAllConnections();
    return new Promise((resolve) => this.http.close(resolve));
  }
}

/** What the official client keeps, in memory; `opened` is the address that it wants the person's browser at. */
class Keeper {
  kept = {};

  constructor(callback) {
    this.redirectUrl = callback.url;
  }
  get clientMetadata() {
    return { client_name: "Test harness", redirect_uris: [this.redirectUrl], token_endpoint_auth_method: "none" };
  }
  state() {
    return "state of the test";
  }
  clientInformation() {
    return this.kept.client;
  }
  saveClientInformation(client) {
    this.kept.client = client;
  }
  tokens() {
    return this.kept.tokens;
  }
  saveTokens(tokens) {
    this.kept.tokens = tokens;
  }
  invalidateCredentials(scope) {
    if (scope === "tokens" || scope === "all") delete this.kept.tokens;
    if (scope === "client" || scope === "all") delete this.kept.client;
  }
  redirectToAuthorization(url) {
    this.opened = url;
  }
  saveCodeVerifier(verifier) {
    this.kept.verifier = verifier;
  }
  codeVerifier() {
    return this.kept.verifier;
  }
}

/** Signs in by name and answers the consent page. */
async function consent(address, name, decision, choose = async () => {}) {
  const tab = await Tab.open(browser, server, { path: address.pathname + address.search });
  await tab.page.fill('input[name="name"]', name);
  await tab.click('button:text-is("Sign in")');
  await tab.see(`strong:text-is("${name}")`);
  await choose(tab);
  return { tab, decide: () => tab.click(`button[value="${decision}"]`) };
}

/** The whole way of an agent whose owner allows it. */
async function connect(name, choose) {
  const callback = await Callback.listen();
  const keeper = new Keeper(callback);
  const transport = new StreamableHTTPClientTransport(new URL("/mcp", server.url), { authProvider: keeper });
  assert.ok((await rejection(agentAt(transport))) instanceof UnauthorizedError);
  const { tab, decide } = await consent(keeper.opened, name, "allow", choose);
  await decide();
  const answer = await within(callback.come, "the browser's return");
  // The browser ends on the harness's own page, which is no request of ours.
  const own = new URL(callback.url).origin;
  tab.faults = tab.faults.filter((fault) => !fault.startsWith(`request to ${own}/`));
  assert.deepEqual(tab.faults, []);
  await tab.close();
  await callback.close();
  assert.equal(answer.get("state"), "state of the test");
  assert.equal(answer.get("iss"), server.url);
  await transport.finishAuth(answer);
  return keeper;
}

/** The official client with what it keeps. */
function agentOf(keeper) {
  return agentAt(new StreamableHTTPClientTransport(new URL("/mcp", server.url), { authProvider: keeper }));
}

const form = (fields) => ({ method: "POST", body: new URLSearchParams(fields) });

/** §5: discovery from the 401, registration, consent, tokens, play, refresh, revocation while a wait is open. */
test("an agent signs in, plays, refreshes, and is refused at once when it is revoked", async () => {
  const keeper = await connect("Ann", async (tab) => {
    const page = await tab.see("body");
    assert.match(page, /calls itself “Test harness” — nobody verified that/);
    assert.match(page, /a program on this computer/);
    await tab.click('input[value="new:agent-command"]');
    await tab.page.fill('input[name="name.new:agent-command"]', "Falcon");
    await tab.page.uncheck('input[name="role.new:agent-command.air"]');
    await tab.page.uncheck('input[name="role.new:agent-command.economy"]');
  });
  assert.match(keeper.kept.client.client_id, /^dcr_/);
  const agent = await agentOf(keeper);
  const briefing = await agent.tool("game_briefing");
  assert.deepEqual(briefing.commands, [{ role: "ground", phase: "lobby" }]);
  assert.equal((await agent.tool("game_wait", { seconds: 0 })).phase, "lobby");
  assert.equal((await rejection(agent.tool("game_observe", { role: "air" }))).message, "forbidden");

  // An access token that is no good makes the client refresh by itself.
  const before = { ...keeper.kept.tokens };
  keeper.kept.tokens.access_token = "A".repeat(32);
  assert.equal((await agent.tool("game_wait", { seconds: 0 })).phase, "lobby");
  assert.notEqual(keeper.kept.tokens.refresh_token, before.refresh_token);

  let begin;
  const begun = new Promise((resolve) => (begin = resolve));
  const wait = { name: "game_wait", arguments: { seconds: 60 } };
  const waiting = agent.client.callTool(wait, { onprogress: () => begin() });
  await begun;
  const { client, tokens } = keeper.kept;
  const revoke = form({ token: tokens.refresh_token, client_id: client.client_id });
  assert.equal((await fetch(`${server.url}/oauth/revoke`, revoke)).status, 200);
  assert.equal(JSON.parse((await waiting).content[0].text).error, "bad_token");
  keeper.opened = undefined;
  assert.ok((await rejection(agent.tool("game_briefing"))) instanceof UnauthorizedError);
  assert.ok(keeper.opened, "the client asks for consent anew");
  await agent.close();
});

/** §5: whoever shows an old refresh token has stolen it, or was stolen from. */
test("a refresh token that is used twice ends the connection", async () => {
  const keeper = await connect("Bob");
  const { client, tokens } = keeper.kept;
  const refresh = () => {
    const fields = { grant_type: "refresh_token", refresh_token: tokens.refresh_token, client_id: client.client_id };
    return fetch(`${server.url}/oauth/token`, form({ ...fields, resource: `${server.url}/mcp` }));
  };
  const fresh = await (await refresh()).json();
  const again = await refresh();
  assert.deepEqual([again.status, await again.json()], [400, { error: "invalid_grant" }]);
  const call = await fetch(`${server.url}/mcp`, {
    method: "POST",
    headers: { authorization: `Bearer ${fresh.access_token}`, "content-type": "application/json" },
    body: "{}",
  });
  assert.equal(call.status, 401);
  assert.match(call.headers.get("www-authenticate"), /error="invalid_token", resource_metadata="http/);
});

/** §5: an owner who says no is believed. */
test("a person who denies sends the agent away with access_denied", async () => {
  const callback = await Callback.listen();
  const keeper = new Keeper(callback);
  const transport = new StreamableHTTPClientTransport(new URL("/mcp", server.url), { authProvider: keeper });
  await rejection(agentAt(transport));
  const { tab, decide } = await consent(keeper.opened, "Cleo", "deny");
  await decide();
  const answer = await within(callback.come, "the browser's return");
  assert.deepEqual([answer.get("error"), answer.get("code")], ["access_denied", null]);
  await tab.close();
  await callback.close();
});

/** §5: both authorization scenarios of the official conformance suite, at the revision that is spoken. */
test("the official conformance suite passes the authorization server", async () => {
  const callback = await Callback.listen();
  const port = callback.http.address().port;
  await callback.close();
  const registration = await fetch(`${server.url}/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ redirect_uris: [`http://127.0.0.1:${port}/callback`] }),
  });
  const { client_id: client } = await registration.json();
  const at = (path) => fileURLToPath(new URL(`../node_modules/${path}`, import.meta.url));
  const suite = at("@modelcontextprotocol/conformance/dist/index.js");
  const args = ["authorization", "--url", server.url, "--spec-version", "2026-07-28", "--client-id", client];
  args.push("--resource", `${server.url}/mcp`, "-p", String(port));
  const child = spawn(at("node/bin/node"), [suite, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const lines = [];
  let answered;
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on("line", (line) => {
      lines.push(line);
      const asked = line.match(/https?:\/\/\S*\/oauth\/authorize\?\S+/);
      if (asked && !answered) answered = consent(new URL(asked[0]), "Dora", "allow").then(({ decide }) => decide());
    });
  }
  const [code] = await once(child, "close");
  await answered;
  assert.equal(code, 0, lines.join("\n"));
  assert.ok(answered, "the suite asked for consent");
});

/** Field report: open registration is no way to fill the server's memory, and a flood is told so in OAuth's own words. */
test("10,000 registrations of one address leave the server as it was", async () => {
  const flooded = await startPlayerThree();
  const resident = async () => {
    const status = await readFile(`/proc/${flooded.child.pid}/status`, "utf8");
    return Number(status.match(/VmRSS:\s+(\d+) kB/)[1]);
  };
  const body = JSON.stringify({ redirect_uris: Array(8).fill(`http://127.0.0.1/${"x".repeat(400)}`) });
  const headers = { "content-type": "application/json" };
  const answers = new Map();
  const register = async () => {
    const answer = await fetch(`${flooded.url}/oauth/register`, { method: "POST", headers, body });
    const { error } = await answer.json();
    const kind = `${answer.status} ${error ?? "ok"}`;
    answers.set(kind, (answers.get(kind) ?? 0) + 1);
  };
  await register();
  const before = await resident();
  for (let sent = 0; sent < 10_000; sent += 100) await Promise.all(Array.from({ length: 100 }, register));
  const grown = (await resident()) - before;
  assert.deepEqual([...answers.keys()].sort(), ["201 ok", "429 temporarily_unavailable"]);
  assert.ok(grown < 48 * 1024, `${grown} kB`);
  await flooded.stop();
});
