// §15: a browser lends its user's address to every page they visit, so the shipped server lets only the pages in that its
// operator knows. Programs that are no browsers name no origin and are not meant.

import assert from "node:assert/strict";
import { test } from "node:test";
import { WebSocket } from "ws";
import { startPlayerThree } from "../lib/playerthree.mjs";

const GAME = "https://game.example";
const EVIL = "https://evil.example";

const headers = (origin) => (origin === undefined ? {} : { origin });

async function listing(server, origin) {
  return (await fetch(`${server.url}/matchmake/tic-tac-toe`, { headers: headers(origin) })).status;
}

/** The status that answers a socket's handshake. */
function handshake(server, origin) {
  return new Promise((resolve) => {
    const socket = new WebSocket(`${server.webSocketUrl}/process/room?sessionId=nobody`, { headers: headers(origin) });
    socket.on("error", () => {});
    socket.on("upgrade", ({ statusCode }) => resolve(statusCode));
    socket.on("unexpected-response", (_, { statusCode }) => resolve(statusCode));
    socket.on("open", () => socket.terminate());
  });
}

/** Starts a server with these arguments for one test. */
async function serving(context, ...args) {
  const server = await startPlayerThree(args);
  context.after(() => server.stop());
  return server;
}

test("pages of the server's own address and of loopback may use the rooms, and no others", async (context) => {
  const server = await serving(context);
  const { port } = new URL(server.url);
  for (const origin of [undefined, server.url, `http://localhost:${port}`, `http://[::1]:${port}`]) {
    assert.equal(await listing(server, origin), 200, origin);
    assert.notEqual(await handshake(server, origin), 403, origin);
  }
  for (const origin of [EVIL, "null", `${server.url}/`, "http://127.0.0.1:1", `https://127.0.0.1:${port}`]) {
    assert.equal(await listing(server, origin), 403, origin);
    assert.equal(await handshake(server, origin), 403, origin);
  }
  const create = { method: "POST", headers: { origin: EVIL, "content-type": "application/json" }, body: "{}" };
  assert.equal((await fetch(`${server.url}/matchmake/create/relay`, create)).status, 403);
  assert.deepEqual((await (await fetch(`${server.url}/demo/rooms`)).json()).rooms, []);
});

test("pages of an origin that the operator names may use the rooms too", async (context) => {
  const server = await serving(context, "--allow-origin", GAME);
  for (const [origin, status] of [[GAME, 200], [server.url, 200], [EVIL, 403]]) {
    assert.equal(await listing(server, origin), status, origin);
  }
});

test("every page may use the rooms where the operator says so, and none the agents' endpoint", async (context) => {
  const server = await serving(context, "--allow-origin", "*");
  for (const origin of [EVIL, "null", server.url]) assert.equal(await listing(server, origin), 200, origin);
  for (const origin of [EVIL, "*"]) {
    const answer = await fetch(`${server.url}/mcp`, { method: "POST", headers: { origin } });
    assert.equal(answer.status, 403, origin);
  }
});
