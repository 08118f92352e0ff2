// `playerthree load --scenario match` against the shipped server: everybody that a match can have, at once.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { startPlayerThree } from "../lib/playerthree.mjs";

let server;
before(async () => (server = await startPlayerThree()));
after(() => server.stop());

/** Runs the load tool, which is the same program as the server. */
async function load(...args) {
  const line = ["load", "--url", server.url, "--pid", String(server.child.pid), ...args];
  return (await promisify(execFile)(server.child.spawnfile, line)).stdout;
}

/** Every kind of client did its part without an error, and every latency is there. */
test("two matches of people, agents, policies, spectators and observers are loaded and measured", async () => {
  const report = JSON.parse(await load("--scenario", "match", "--clients", "16", "--seconds", "6", "--json"));
  assert.deepEqual(report.errors, {});
  assert.deepEqual([report.rooms, report.joins.completed, report.joins.failed], [2, 12, 0]);
  assert.ok(report.latency.arrived > 0, "people acted");
  const parts = ["agent_act", "agent_observe", "frame_interval", "policy_status", "view_interval"];
  assert.deepEqual(Object.keys(report.parts).sort(), parts);
  for (const part of parts) assert.ok(report.parts[part].p99 >= report.parts[part].p50, part);
  assert.equal(report.server.connections, 12);
  assert.equal(typeof report.server.cpu_percent, "number");
  assert.equal(typeof report.server.children_cpu_percent, "number");
});

test("the table names every kind of client and every share of the processors", async () => {
  const table = await load("--scenario", "match", "--clients", "8", "--seconds", "3");
  for (const row of ["act", "agent act", "agent observe", "frame interval", "view interval", "server CPU", "policies CPU"]) {
    assert.match(table, new RegExp(`^${row} +[0-9]`, "m"), row);
  }
});
