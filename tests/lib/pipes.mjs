// Tic-tac-toe over pipes as its users meet it: agents through the official MCP client, the verifier through the shell,
// inboxes over HTTP.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash, createHmac } from "node:crypto";
import { Client as McpClient, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Agent, executable } from "./playerthree.mjs";

/** An MCP client that was given an address and nothing else; headers are for credentials that are no part of it. */
export async function toolsAt(server, path, headers = {}) {
  const transport = new StreamableHTTPClientTransport(new URL(path, server.url), { requestInit: { headers } });
  const options = { versionNegotiation: { mode: { pin: "2026-07-28" } } };
  const client = new McpClient({ name: "end-to-end test", version: "1" }, options);
  await client.connect(transport);
  // With the tools listed the client checks every structured result against its output schema.
  const { tools } = await client.listTools();
  return new Agent(client, tools);
}

/** Mints an agent's credential, as anybody may. */
export async function mintAgent(server) {
  const answer = await fetch(`${server.url}/pipes/v1/agents`, { method: "POST" });
  assert.equal(answer.status, 201);
  return answer.json();
}

/** An agent with nothing but its MCP address. */
export async function pipesAgent(server) {
  const { mcpUrl } = await mintAgent(server);
  return toolsAt(server, mcpUrl);
}

/** Opens an inbox over HTTP: `{inboxId, captureUrl, readToken, hostToken, hostSeat?, ...}`. */
export async function openInbox(server, kind = "anonymous") {
  const answer = await fetch(`${server.url}/pipes/v1/inboxes`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ kind }),
  });
  assert.equal(answer.status, 201);
  return answer.json();
}

/** The signature of a body under a seat's key. */
export const signature = (key, body) => createHmac("sha256", key).update(body).digest("hex");

/** Posts a body to a capture URL, signed if there is a key. */
export function post(server, captureUrl, body, key) {
  const headers = { "content-type": "application/json" };
  if (key) headers["x-pipes-signature"] = signature(key, body);
  return fetch(`${server.url}${captureUrl}`, { method: "POST", headers, body });
}

const sorted = (value) =>
  value === null || typeof value !== "object" || Array.isArray(value)
    ? value
    : Object.fromEntries(Object.keys(value).sort().map((name) => [name, sorted(value[name])]));

/** The hash of an event of small integers and ASCII text, by the protocol's short rule. */
export function hashOf({ sig: _, ...event }) {
  return createHash("sha256").update(JSON.stringify(sorted(event))).digest("hex");
}

/** A chain written by hand: each event with its number, pointer and player, until it is bent. */
export class Chain {
  tip = "";
  seq = 0;

  constructor(game) {
    this.game = game;
  }

  event(fields) {
    const player = this.seq > 0 && this.seq % 2 === 0 ? "O" : "X";
    return { game: this.game, seq: this.seq, prevHash: this.tip, player, ...fields };
  }

  /** The next event, which the chain goes on from. */
  next(fields) {
    const event = this.event(fields);
    this.tip = hashOf(event);
    this.seq += 1;
    return JSON.stringify(event);
  }

  start(rules = { rows: 3, cols: 3, winLength: 3 }) {
    return this.next({ action: "start", protocol: "flurryport:tic-tac-toe", rules });
  }

  move(row, col, status = "in_progress") {
    return this.next({ action: "move", move: { row, col }, status });
  }
}

/** Runs the program with arguments, standard input and more variables; `{code, out, err}`. */
export async function run(args, input = "", env = {}) {
  const child = spawn(await executable(), args, { stdio: ["pipe", "pipe", "pipe"], env: { ...process.env, ...env } });
  const text = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (data) => (text.out += data));
  child.stderr.setEncoding("utf8").on("data", (data) => (text.err += data));
  // A program that refuses early does not read its input.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const code = await new Promise((resolve) => child.once("close", resolve));
  return { code, ...text };
}
