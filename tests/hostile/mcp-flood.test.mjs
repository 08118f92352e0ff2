// Field reports U70, U74, U77, U79, U80, U83, U110: whatever floods the agents' endpoint, the server stays as it was.
// What it holds is read from the kernel and from the server's own metrics, after a warm-up of the same kind.

import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { Agent, request } from "node:http";
import { after, before, test } from "node:test";
import { InMatch, person, startPlayerThree } from "../lib/playerthree.mjs";

let server;
before(async () => {
  server = await startPlayerThree(["--connections-per-address", "500"]);
});
after(() => server?.stop());

const pool = new Agent({ keepAlive: true, maxSockets: 40 });
after(() => pool.destroy());

const _meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "flood", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** One request over a kept connection. */
function send({ path = "/mcp", verb = "POST", token, method, params = {}, headers = {}, body, signal, agent = pool }) {
  const all = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...(token && { authorization: `Bearer ${token}` }),
    ...(method && { "mcp-protocol-version": "2026-07-28", "mcp-method": method }),
    ...(params.name && { "mcp-name": params.name }),
    ...headers,
  };
  const text = body ?? (method && JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }));
  return new Promise((resolve, reject) => {
    const url = new URL(path, server.url);
    const call = request(url, { method: verb, headers: all, agent, signal }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part) => (text += part));
      response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, text }));
      response.on("error", reject);
    });
    call.on("error", reject);
    call.end(text);
  });
}

const call = (token, name, args, rest = {}) =>
  send({ token, method: "tools/call", params: { name, arguments: args }, ...rest });

/** A thing so often, forty at a time, and how often each outcome came. */
async function often(times, thing) {
  const outcomes = new Map();
  let left = times;
  const worker = async () => {
    while (left-- > 0) {
      const outcome = await thing();
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: 40 }, worker));
  return outcomes;
}

/** What the process holds: memory in kB, open files, threads. */
async function held() {
  const { pid } = server.child;
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const number = (name) => Number(status.match(new RegExp(`${name}:\\s+(\\d+)`))[1]);
  return { rss: number("VmRSS"), threads: number("Threads"), files: (await readdir(`/proc/${pid}/fd`)).length };
}

/** Memory that an allocator may keep for itself; a leak of one kilobyte a request would be more. */
const SLACK_KB = 9 * 1024;

/** Does a thing a thousand times to warm up, then ten thousand times, which must leave nothing behind. */
async function leavesNothing(thing) {
  await often(1000, thing);
  const before = await held();
  const outcomes = await often(10_000, thing);
  const now = await held();
  assert.ok(now.rss - before.rss < SLACK_KB, `${now.rss - before.rss} kB more`);
  assert.ok(now.threads <= before.threads + 2, `${now.threads} threads after ${before.threads}`);
  assert.ok(now.files <= before.files + 4, `${now.files} files after ${before.files}`);
  return outcomes;
}

async function owner(name) {
  const answer = await send({ path: "/demo/login", body: JSON.stringify({ name }) });
  return JSON.parse(answer.text).token;
}

async function commander(token, name) {
  const body = JSON.stringify({ game: "agent-command", name, roles: ["ground"] });
  return JSON.parse((await send({ path: "/demo/commanders", token, body })).text).token;
}

/** As many agents as it takes to make calls that no rate refuses. */
async function crowd(size) {
  const tokens = [];
  for (let made = 0; made < size; made += 16) {
    const boss = await owner(`Boss ${made}`);
    const mine = Array.from({ length: Math.min(16, size - made) }, (_, index) => commander(boss, `Falcon ${index}`));
    tokens.push(...(await Promise.all(mine)));
  }
  return tokens;
}

/** U110: whoever is not let in costs nothing, whatever they bring. */
test("10,000 requests of strangers allocate nothing", async () => {
  const strangers = [
    ["a bad Host", 403, { method: "tools/list", token: "A".repeat(32), headers: { host: "evil.example" } }],
    ["a bad Origin", 403, { method: "tools/list", token: "A".repeat(32), headers: { origin: "http://evil.example" } }],
    ["a token of nobody", 401, { method: "tools/list", token: "A".repeat(32) }],
    ["no token", 401, { method: "tools/list" }],
  ];
  for (const [what, status, request] of strangers) {
    const outcomes = await leavesNothing(async () => (await send(request)).status);
    assert.deepEqual([...outcomes.keys()], [status], what);
  }
});

/** U77, U110: discovery and silence leave nothing behind. */
test("10,000 discoveries keep no state", async () => {
  const ann = await person(server, "Ann");
  const match = new InMatch(await ann.create("agent-command", { team: "red", role: "ground", private: true }));
  const { token } = await match.do("mint", { team: "red", role: "air" });
  const outcomes = await leavesNothing(async () => {
    const { status, headers } = await send({ token, method: "server/discover" });
    return `${status} ${headers["mcp-session-id"] ?? "no session"}`;
  });
  assert.deepEqual([...outcomes.keys()], ["200 no session"]);
  assert.equal((await send({ token, method: "tools/list" })).status, 200, "the token is still unclaimed");
  await match.room.leave();
});

/** U70: calls that are carried out leave memory, files and threads as they were. */
test("10,000 tool calls leave memory, files and threads flat", async () => {
  const tokens = await crowd(96);
  let turn = 0;
  let carried = 0;
  const outcomes = await leavesNothing(async () => {
    for (;;) {
      const token = tokens[turn++ % tokens.length];
      const { status, text } = await call(token, turn % 2 ? "game_wait" : "game_briefing", turn % 2 ? { seconds: 0 } : {});
      // Past its rate another agent asks.
      if (text.includes("rate_limited")) continue;
      carried += 1;
      return `${status} ${JSON.parse(text).result.isError}`;
    }
  });
  assert.deepEqual([...outcomes], [["200 false", 10_000]]);
  assert.equal(carried, 11_000);
  const { text } = await send({ path: "/metrics", verb: "GET" });
  assert.match(text, /rooms_mailbox_messages 0/);
});

/** U79, §5: nothing that lets anybody in stands in what everybody may read. */
test("no token and no session is in the metrics or the health page", async () => {
  const ann = await person(server, "Cleo");
  const match = new InMatch(await ann.create("agent-command", { team: "red", role: "ground", private: true }));
  const { token } = await match.do("mint", { team: "red", role: "air" });
  const session = (await send({ token, method: "tools/list" })).headers["mcp-session-id"];
  for (const path of ["/metrics", "/health", "/health/live", "/demo/rooms"]) {
    const { text } = await send({ path, verb: "GET" });
    for (const secret of [token, session, ann.auth.token]) assert.ok(!text.includes(secret), path);
  }
  await match.room.leave();
});

/** §15: two waits a role are held; the others are told so at once, and everybody else is served meanwhile. */
test("a flood of waits holds up nobody", async () => {
  const tokens = await crowd(48);
  const stop = new AbortController();
  const before = await held();
  // The pool's forty sockets are not for requests that stay.
  const stay = { signal: stop.signal, agent: new Agent({ maxSockets: 200 }) };
  const told = tokens.flatMap((token) =>
    Array.from({ length: 4 }, () => call(token, "game_wait", { seconds: 60 }, stay).then(({ text }) => text, ({ name }) => name)),
  );
  const answered = Promise.all(told);
  const stranger = await commander(await owner("Dora"), "Hawk");
  assert.equal((await call(stranger, "game_wait", { seconds: 0 })).status, 200);
  stop.abort();
  const outcomes = (await answered).map((text) => (text.includes("busy") ? "busy" : text));
  assert.ok(outcomes.every((outcome) => ["busy", "AbortError"].includes(outcome)), [...new Set(outcomes)].join());
  // Their places are free again, and what they held is given back.
  for (const token of tokens.slice(0, 8)) {
    const deadline = Date.now() + 10_000;
    while ((await call(token, "game_wait", { seconds: 0 })).text.includes("busy")) assert.ok(Date.now() < deadline);
  }
  const now = await held();
  assert.ok(now.rss - before.rss < SLACK_KB + 48 * 256, `${now.rss - before.rss} kB more`);
});

/** U74: no reasonable Accept is refused, and none changes the answer. */
test("any Accept header gets an answer", async () => {
  const token = await commander(await owner("Emil"), "Owl");
  const both = "application/json;q=0.9, text/event-stream;q=0.8";
  for (const accept of ["", "*/*", "application/json", "text/event-stream", both, "APPLICATION/JSON", "text/html"]) {
    const { status, text } = await send({ token, method: "tools/list", headers: { accept } });
    assert.equal(status, 200, accept);
    assert.ok(JSON.parse(text).result.tools.length > 0);
  }
});

/** §5: a token is one in the Authorization header and nowhere else. */
test("a token in the wrong place lets nobody in and is not used up", async () => {
  const ann = await person(server, "Fred");
  const match = new InMatch(await ann.create("agent-command", { team: "red", role: "ground", private: true }));
  const { token } = await match.do("mint", { team: "red", role: "air" });
  const list = { method: "tools/list" };
  const elsewhere = [
    { ...list, path: `/mcp?access_token=${token}` },
    { ...list, path: `/mcp?token=${token}` },
    { ...list, headers: { cookie: `token=${token}` } },
    { ...list, headers: { "mcp-session-id": token } },
    { ...list, headers: { "x-api-key": token } },
    { ...list, headers: { authorization: token } },
    { ...list, headers: { authorization: `Basic ${Buffer.from(`agent:${token}`).toString("base64")}` } },
    { ...list, headers: { authorization: `Bearer ${token}x` } },
    { ...list, params: { access_token: token } },
  ];
  for (const request of elsewhere) {
    const { status, text } = await send(request);
    assert.equal(status, 401, JSON.stringify(request));
    assert.ok(!text.includes(token));
  }
  assert.equal((await send({ ...list, path: `/mcp/${token}` })).status, 405, "no endpoint but a path of the pages");
  // A commander's or a seat's token is no owner's, no agent of the pipes and no client of the rooms.
  const bearer = await commander(ann.auth.token, "Kite");
  for (const good of [token, bearer]) {
    assert.equal((await send({ path: "/demo/commanders", verb: "GET", token: good })).status, 401);
    assert.equal((await send({ path: "/pipes/mcp", ...list, token: good })).status, 401);
  }
  assert.equal((await send({ ...list, token: ann.auth.token })).status, 401, "a login is no agent");
  assert.equal((await send({ ...list, token })).status, 200, "unused until now");
  await match.room.leave();
});

/** U83: 500 honest programs behind one address register and are not punished for each other. */
test("500 clients behind one address can register", async () => {
  let port = 1024;
  const outcomes = await often(500, async () => {
    port += 1;
    const body = JSON.stringify({ client_name: `Client ${port}`, redirect_uris: [`http://127.0.0.1:${port}/callback`] });
    return (await send({ path: "/oauth/register", body })).status;
  });
  assert.deepEqual([...outcomes], [[201, 500]]);
});
