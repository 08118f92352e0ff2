// §11: the Rust source of agent-command's example module builds to a module that plays, with the shipped program.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "../lib/server.mjs";

const run = promisify(execFile);
const cwd = fileURLToPath(new URL("../..", import.meta.url));
const TARGET = "wasm32-unknown-unknown";
const NAME = "playerthree-agent-command-policy";

/** Whether this machine's Rust compiles for the sandbox. */
async function compiles() {
  const { stdout } = await run("rustc", ["--print", "target-libdir", "--target", TARGET], { cwd });
  return run("ls", [stdout.trim()]).then(() => true, () => false);
}

async function compiled() {
  const args = ["build", "--quiet", "--profile", "policy", "--target", TARGET, "--package", NAME, "--message-format=json"];
  const { stdout } = await run("cargo", args, { cwd, maxBuffer: 1 << 28 });
  const artifacts = stdout.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
  return artifacts.flatMap(({ filenames }) => filenames ?? []).find((file) => file.endsWith(".wasm"));
}

const skip = (await compiles()) ? false : `rustup target add ${TARGET}`;

test("the module that the source builds to beats the weakest bots", { skip }, async () => {
  const module = await compiled();
  const program = process.env.PLAYERTHREE_BIN ?? (await build("playerthree", { bin: "playerthree" }));
  const args = ["policy", "run", module, "--game", "agent-command", "--role", "ground", "--ticks", "9000", "--json"];
  const { ok, outcome, policy } = JSON.parse((await run(program, args)).stdout);
  assert.deepEqual([ok, outcome, policy.errors], [true, "win", 0]);
});
