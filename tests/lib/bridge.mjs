// `playerthree mcp` as a test holds it: a process, and its lines.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { executable } from "./playerthree.mjs";
import { within } from "./rooms.mjs";

/** The `_meta` of every request. */
export const _meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** How a bridge to this endpoint is started. */
export const bridge = async (token, url) => ({
  command: await executable(),
  args: ["mcp", "--url", url],
  env: { PATH: process.env.PATH, PLAYERTHREE_TOKEN: token },
  stderr: "pipe",
});

/** A bridge whose lines the test writes and reads itself. */
export class Lines {
  static async open(token, url, ...options) {
    const { command, args, env } = await bridge(token, url);
    return new Lines(spawn(command, [...args, ...options], { env, stdio: ["pipe", "pipe", "pipe"] }));
  }

  constructor(child) {
    this.child = child;
    this.ended = once(child, "exit");
    this.lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    this.errors = "";
    child.stderr.on("data", (data) => (this.errors += data));
  }

  write(line) {
    this.child.stdin.write(`${typeof line === "string" ? line : JSON.stringify(line)}\n`);
  }

  async next() {
    const { value } = await within(this.lines.next(), "a line", 30_000);
    return JSON.parse(value);
  }

  ask(method, params = {}, id = 1) {
    this.write({ jsonrpc: "2.0", id, method, params: { ...params, _meta } });
    return this.next();
  }

  /** What woke the client. */
  async woken() {
    const { method, params } = await this.next();
    assert.equal(method, "notifications/claude/channel");
    return params;
  }

  async close() {
    this.child.stdin.end();
    const [code] = await within(this.ended, "the bridge's end", 30_000);
    return code;
  }
}
