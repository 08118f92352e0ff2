// §17 "Wake channels": `playerthree mcp --channel` wakes a client that sleeps, for four kinds of events of its own seats: from
// its status resources, or from waits where an endpoint follows none.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { Lines } from "../lib/bridge.mjs";
import { InMatch, person, startPlayerThree } from "../lib/playerthree.mjs";

let server;
before(async () => (server = await startPlayerThree()));
after(() => server?.stop());

const endpoint = () => `${server.url}/mcp`;

/** The shipped endpoint behind one that answers `subscriptions/listen` by itself. */
async function behind(listen) {
  const proxy = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    const { method, id } = JSON.parse(body);
    if (method === "subscriptions/listen") return listen(response, id);
    const { host, connection, "content-length": length, ...headers } = request.headers;
    const answer = await fetch(endpoint(), { method: "POST", headers, body });
    const type = answer.headers.get("content-type");
    response.writeHead(answer.status, type ? { "content-type": type } : {}).end(await answer.text());
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  return proxy;
}

/** An endpoint that has no subscriptions. */
const refusing = (response, id) => {
  const error = { code: -32601, message: "Method not found" };
  response.writeHead(404, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, error }));
};

/** An endpoint that honors no address. */
const deaf = (response, id) => {
  const params = { _meta: { "io.modelcontextprotocol/subscriptionId": id }, notifications: {} };
  const acknowledged = { jsonrpc: "2.0", method: "notifications/subscriptions/acknowledged", params };
  response.writeHead(200, { "content-type": "text/event-stream" }).write(`data: ${JSON.stringify(acknowledged)}\n\n`);
};

/** Everything that wakes a client, in order. Returns the owner's message as the client was told it. */
async function wakes(name, url) {
  const bob = await person(server, `Bob ${name}`);
  const red = new InMatch(await bob.create("agent-command", { team: "red", role: "ground", private: true }));
  const hawk = await red.do("addCommander", { name: "Hawk", roles: ["air"] });
  await red.do("commanderSettings", { commander: hawk.id, settings: { mandate: { autonomy: "supervised" } } });
  const asleep = await Lines.open(hawk.token, url, "--channel");
  const { result } = await asleep.ask("server/discover");
  assert.deepEqual(result.capabilities.experimental, { "claude/channel": {} });
  await asleep.ask("tools/list");
  await red.do("assign", { role: "air", kind: "agent", commander: hawk.id });
  assert.deepEqual((await asleep.woken()).meta, { event: "seated" });
  await red.do("tell", { team: "red", roles: ["air"], text: "canary" });
  const { meta, content } = await asleep.woken();
  assert.deepEqual(meta, { event: "owner_message" });
  const deploy = { name: "policy_deploy", arguments: { runtime: "js", code: "function think() { return []; }" } };
  const asked = (await asleep.ask("tools/call", deploy, "deploy")).result.structuredContent;
  await red.do("commanderApproval", { commander: hawk.id, id: asked.approval.id, approve: true });
  assert.deepEqual((await asleep.woken()).meta, { event: "approval_resolved" });
  assert.equal(await asleep.close(), 0);
  await red.room.leave();

  const x = new InMatch(await bob.create("tic-tac-toe", { team: "x" }));
  const falcon = await x.do("addCommander", { name: "Falcon", roles: ["player"] });
  const lines = await Lines.open(falcon.token, url, "--channel");
  await lines.ask("tools/list");
  await x.do("assign", { team: "o", role: "player", kind: "agent", commander: falcon.id });
  assert.deepEqual((await lines.woken()).meta, { event: "seated" });
  await x.act("player", { kind: "resign" });
  assert.deepEqual((await lines.woken()).meta, { event: "match_ended", outcome: "win" });
  await lines.close();
  await x.room.leave();
  return content;
}

test("a channel wakes its client when it is seated, written to, answered and done, in fixed words", async () => {
  assert.equal(await wakes("1", endpoint()), "Your owner wrote to you. Call game_wait to read it.");
});

/** "otherwise background waits monitor each commanded role": what such a wait reads goes on to the client, marked. */
test("a channel wakes its client where the endpoint follows no status", async () => {
  for (const [name, listen] of [["2", refusing], ["3", deaf]]) {
    const proxy = await behind(listen);
    const url = `http://127.0.0.1:${proxy.address().port}/mcp`;
    assert.equal(await wakes(name, url), "Your owner wrote to you: canary");
    proxy.closeAllConnections();
    proxy.close();
  }
});

/** §4, §17: a seat is told while its match waits for readiness; the channel belongs to the current protocol alone. */
test("a channel wakes its client before its match starts, and no client of an older revision", async () => {
  const dan = await person(server, "Dan");
  const options = { team: "red", role: "ground", private: true, readySeconds: 600 };
  const red = new InMatch(await dan.create("agent-command", options));
  const kite = await red.do("addCommander", { name: "Kite", roles: ["air"] });
  const asleep = await Lines.open(kite.token, endpoint(), "--channel");
  await asleep.ask("tools/list");
  const older = await Lines.open(kite.token, endpoint(), "--channel");
  const ask = (id, method, params = {}) => {
    older.write({ jsonrpc: "2.0", id, method, params });
    return older.next();
  };
  const client = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "old", version: "1" } };
  assert.equal((await ask(1, "initialize", client)).result.protocolVersion, "2025-11-25");
  assert.equal((await ask(2, "tools/list")).id, 2);
  await red.do("assign", { role: "air", kind: "agent", commander: kite.id });
  assert.deepEqual((await asleep.woken()).meta, { event: "seated" });
  await red.do("tell", { team: "red", roles: ["air"], text: "canary" });
  assert.deepEqual((await asleep.woken()).meta, { event: "owner_message" });
  // Both have the same seat: what woke the one would have come to the other by now, before its next answer.
  assert.equal((await ask(3, "tools/call", { name: "game_wait", arguments: { seconds: 0 } })).id, 3);
  await asleep.close();
  await older.close();
  await red.room.leave();
});
