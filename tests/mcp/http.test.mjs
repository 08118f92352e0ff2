// The endpoint as plain HTTP against the shipped server: what a client that is no MCP client, or a hostile one, gets.

import assert from "node:assert/strict";
import { request } from "node:http";
import { connect } from "node:http2";
import { after, before, test } from "node:test";
import { InMatch, person, startPlayerThree } from "../lib/playerthree.mjs";
import { within } from "../lib/rooms.mjs";

let server;
let match;

before(async () => {
  server = await startPlayerThree();
  const ann = await person(server, "Ann");
  match = new InMatch(await ann.create("tic-tac-toe", { team: "x" }));
});
after(() => server?.stop());

const VERSION = "2026-07-28";
const _meta = {
  "io.modelcontextprotocol/protocolVersion": VERSION,
  "io.modelcontextprotocol/clientCapabilities": {},
};

async function token() {
  return (await match.do("mint", { team: "x", role: "player" })).token;
}

/** Sends one request over a connection of its own; `fetch` would not let a test choose Host or chunking. */
function send({ bearer, method = "POST", headers = {}, body }) {
  const all = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...(bearer && { authorization: `Bearer ${bearer}` }),
    ...headers,
  };
  return new Promise((resolve, reject) => {
    const call = request(new URL("/mcp", server.url), { method, headers: all, agent: false }, (response) => {
      let text = "";
      response.on("data", (part) => (text += part));
      response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, text }));
      response.on("error", reject);
    });
    call.on("error", reject);
    call.end(body);
  });
}

function rpc(method, params = {}, headers = {}) {
  return {
    headers: { "mcp-protocol-version": VERSION, "mcp-method": method, ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }),
  };
}

const code = ({ text }) => JSON.parse(text).error.code;

/** §20: one lease a token; discovery does not claim it, DELETE ends it. */
test("a seat token's lease from discovery to DELETE", async () => {
  const bearer = await token();
  const discovered = await send({ bearer, ...rpc("server/discover") });
  assert.deepEqual([discovered.status, discovered.headers["mcp-session-id"]], [200, undefined]);
  const listed = await send({ bearer, ...rpc("tools/list") });
  const session = listed.headers["mcp-session-id"];
  assert.match(session, /^[\w-]{32}$/);
  const stranger = await send({ bearer, ...rpc("tools/list") });
  assert.deepEqual([stranger.status, code(stranger)], [404, -32001]);
  const again = await send({ bearer, ...rpc("tools/list", {}, { "mcp-session-id": session }) });
  assert.equal(again.status, 200);
  const ended = await send({ bearer, method: "DELETE", headers: { "mcp-session-id": session } });
  assert.equal(ended.status, 204);
  assert.equal((await send({ bearer, ...rpc("server/discover") })).status, 401);
});

/** §15: foreign pages and rebound names stay out; the server's own origin does not. */
test("Origin and Host are checked against exact lists", async () => {
  const bearer = await token();
  const from = (headers) => send({ bearer, ...rpc("server/discover", {}, headers) });
  assert.equal((await from({ origin: "http://evil.example" })).status, 403);
  assert.equal((await from({ host: `evil.example:${server.port}` })).status, 403);
  assert.equal((await from({ host: "127.0.0.1" })).status, 403);
  assert.equal((await from({ origin: server.url, host: `127.0.0.1:${server.port}` })).status, 200);
});

/** HTTP/2 names a host in a place of its own, which no check of the header would see: it is not spoken. */
test("nothing but HTTP/1.1 is spoken", async () => {
  const session = connect(server.url);
  session.on("error", () => {});
  const stream = session.request({ ":method": "POST", ":path": "/mcp", ":authority": "evil.example" });
  const answered = new Promise((resolve) => {
    stream.on("response", () => resolve(true));
    stream.on("error", () => resolve(false));
    stream.on("close", () => resolve(false));
  });
  stream.end();
  assert.equal(await within(answered, "the end of the stream"), false);
  session.destroy();
});

/** §5: only a good seat token in the one right place lets anybody in. A login token is an owner's, and not one. */
test("other credentials do not authenticate", async () => {
  const login = await fetch(`${server.url}/demo/login`, { method: "POST", body: JSON.stringify({ name: "Bob" }) });
  const owner = (await login.json()).token;
  for (const bearer of [undefined, owner, "x".repeat(32), "short"]) {
    const refused = await send({ bearer, ...rpc("tools/list") });
    assert.equal(refused.status, 401);
    assert.match(refused.headers["www-authenticate"], /^Bearer/);
    if (bearer) assert.ok(!refused.text.includes(bearer));
  }
});

/** §15: bodies past 1048576 bytes are 413, declared or chunked, and the server answers the next request. */
test("oversized bodies are refused", async () => {
  const bearer = await token();
  const body = " ".repeat(1_048_577);
  for (const headers of [{ "content-length": body.length }, { "transfer-encoding": "chunked" }]) {
    const answer = await send({ bearer, body, headers }).catch((error) => ({ cut: error.code }));
    // A server may close while a client still writes; then the client sees a broken pipe instead of the answer.
    assert.ok(answer.status === 413 || ["EPIPE", "ECONNRESET"].includes(answer.cut), JSON.stringify(answer));
  }
  assert.equal((await send({ bearer, ...rpc("server/discover") })).status, 200);
});

/** §15: ten calls a second and twenty at once; what is past that is told so and changes nothing. */
test("a flood of calls is limited", async () => {
  const bearer = await token();
  const listed = await send({ bearer, ...rpc("tools/list") });
  const headers = { "mcp-session-id": listed.headers["mcp-session-id"], "mcp-name": "game_observe" };
  const params = { name: "game_observe", arguments: {} };
  const answers = await Promise.all(
    Array.from({ length: 60 }, () => send({ bearer, ...rpc("tools/call", params, headers) })),
  );
  const errors = answers.map(({ text }) => JSON.parse(text).result).filter((result) => result.isError);
  const codes = new Set(errors.map((result) => JSON.parse(result.content[0].text).error));
  assert.ok(codes.has("rate_limited"));
  assert.deepEqual([...codes].filter((found) => !["rate_limited", "busy"].includes(found)), []);
  assert.ok(answers.length - errors.length > 0);
});
