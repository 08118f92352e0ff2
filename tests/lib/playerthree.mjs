// The shipped server and everybody who uses it: people and watchers through the official SDK, agents through the
// official MCP client. Nothing here knows a game.

import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client as McpClient, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client } from "@colyseus/sdk";
import { applyDelta } from "../../client-sdk/js/dist/playerthree.js";
import { Inbox, within } from "./rooms.mjs";
import { build, start } from "./server.mjs";

/** The program named by PLAYERTHREE_BIN, or a debug build of it. */
export async function executable() {
  return process.env.PLAYERTHREE_BIN ?? build("playerthree", { bin: "playerthree" });
}

/** Starts the program on a free port. */
export async function startPlayerThree(args = [], env = {}) {
  const data = await mkdtemp(join(tmpdir(), "playerthree-"));
  return start(await executable(), ["serve", "--port", "0", "--data", data, ...args], { env });
}

/** Logs a name in and returns an SDK client that joins as that person. */
export async function person(server, name) {
  const answer = await fetch(`${server.url}/demo/login`, { method: "POST", body: JSON.stringify({ name }) });
  const { token } = await answer.json();
  const client = new Client(server.url);
  client.auth.token = token;
  return client;
}

/** An SDK client of nobody in particular, who may watch. */
export function guest(server) {
  return new Client(server.url);
}

/** A client in a match: every message in order, numbered operations, and views rebuilt from keyframes and deltas. */
export class InMatch {
  /** Versions of views as this client rebuilt them: `{team, version, view, keyframe}`. */
  views = [];
  #seq = 0;
  #results = new Map();
  #changed = [];

  constructor(room) {
    this.room = room;
    this.inbox = new Inbox(room);
    this.bytes = [];
    room.connection.transport.ws.addEventListener("message", ({ data }) => this.bytes.push(Buffer.from(data)));
    room.onMessage("playerthree:result", (result) => {
      this.#results.get(result.seq)?.(result);
      this.#results.delete(result.seq);
    });
    room.onMessage("playerthree:view", (message) => this.#see(message));
  }

  #see({ team, version, view, delta }) {
    const before = this.views.at(-1);
    if (delta !== undefined && version !== before.version + 1) throw new Error("a gap in the view stream");
    const now = delta === undefined ? view : applyDelta(before.view, delta);
    this.views.push({ team, version, view: now, keyframe: delta === undefined });
    this.#changed = this.#changed.filter((check) => !check());
  }

  /** Sends a numbered operation and returns the whole answer. */
  async ask(op, fields = {}) {
    const seq = ++this.#seq;
    const answer = new Promise((resolve) => this.#results.set(seq, resolve));
    this.room.send(`playerthree:${op}`, { op, seq, ...fields });
    return within(answer, `the answer to ${op}`);
  }

  /** Sends an operation that must succeed and returns its data. */
  async do(op, fields) {
    const answer = await this.ask(op, fields);
    if (!answer.ok) throw new Error(`${op}: ${JSON.stringify(answer)}`);
    return answer.data;
  }

  /** A call of one's own seat. */
  call(role, method, args) {
    return this.do("call", { role, method, args });
  }

  /** The acks of some intents, as codes. */
  async act(role, ...intents) {
    const { acks } = await this.call(role, "act", { intents });
    return acks.map((ack) => (ack.ok ? "ok" : (ack.gameCode ?? ack.code)));
  }

  get view() {
    return this.views.at(-1);
  }

  /** Resolves once the newest view satisfies the condition. */
  async until(condition, what = "a view") {
    const found = new Promise((resolve) => {
      const check = () => this.view !== undefined && condition(this.view.view) && (resolve(this.view), true);
      if (!check()) this.#changed.push(check);
    });
    return within(found, what, 30_000);
  }

  /** Everything the server sent to this client from the moment of the join, as text that ids can be looked up in. */
  get received() {
    return Buffer.concat(this.bytes).toString("latin1");
  }
}

/** A stock MCP client for a commander token, which needs no session. */
export async function commander(server, token) {
  return agentOver(new URL("/mcp", server.url), { requestInit: { headers: { authorization: `Bearer ${token}` } } });
}

/** An MCP client for one seat token. */
export function agent(server, token) {
  return seatAgents(server, token)();
}

/**
 * MCP clients for one seat token, one after the other. They share its `mcp-session-id`, which seat tokens require to be
 * kept and stock clients do not keep.
 */
export function seatAgents(server, token) {
  let session;
  const keepsSession = async (url, init) => {
    const headers = new Headers(init?.headers);
    if (session) headers.set("mcp-session-id", session);
    const response = await fetch(url, { ...init, headers });
    session ??= response.headers.get("mcp-session-id") ?? undefined;
    return response;
  };
  const options = { requestInit: { headers: { authorization: `Bearer ${token}` } }, fetch: keepsSession };
  return () => agentOver(new URL("/mcp", server.url), options);
}

function agentOver(url, transportOptions) {
  return agentAt(new StreamableHTTPClientTransport(url, transportOptions));
}

/** The official client over a transport. */
export async function agentAt(transport) {
  const options = { versionNegotiation: { mode: { pin: "2026-07-28" } } };
  const client = new McpClient({ name: "end-to-end test", version: "1" }, options);
  await client.connect(transport);
  // With the tools listed the client checks every structured result against its output schema.
  const { tools } = await client.listTools();
  return new Agent(client, tools);
}

export class Agent {
  /** Everything this agent was sent, as text. */
  received = "";

  constructor(client, tools) {
    this.client = client;
    this.tools = tools;
  }

  /** A tool's structured result. A tool error is thrown with its closed code as message. */
  async tool(name, args = {}) {
    const result = await this.client.callTool({ name, arguments: args });
    this.received += JSON.stringify(result);
    if (result.isError) throw new Error(JSON.parse(result.content[0].text).error);
    return result.structuredContent;
  }

  close() {
    return this.client.close();
  }
}
