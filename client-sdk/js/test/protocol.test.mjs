// The types against the page that they are written after: PROTOCOL.md's shapes, member by member, and its operations.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { documented } from "../../../tests/lib/operations.mjs";
import { membersOf, shapeBehind } from "../../../tests/lib/shapes.mjs";

const read = (path) => readFile(new URL(path, import.meta.url), "utf8");
const page = await read("../../../PROTOCOL.md");
const types = await read("../src/protocol.ts");
const row = (op) => page.slice(page.indexOf(`\n| \`${op}\` |`));
/** Every message names itself; the types leave that out. */
const body = (shape) => shape.filter((member) => member !== "op");

test("every message, answer and argument has the members that are documented", () => {
  for (const [name, shape] of [
    ["Welcome", body(shapeBehind(page, "| `playerthree:welcome` |"))],
    ["Status", body(shapeBehind(page, "| `playerthree:status` |"))],
    ["Said", body(shapeBehind(page, "| `playerthree:said` |"))],
    ["Observed", body(shapeBehind(page, "| `playerthree:observation` |"))],
    ["Readiness", shapeBehind(page, "`readiness` in a status is")],
    ["Pause", shapeBehind(page, "A seat that holds has")],
    ["Card", shapeBehind(page, "A card says who plays")],
    ["Message", shapeBehind(page, "A message is")],
    ["Minted", shapeBehind(row("mint"), "ttlSeconds?")],
    ["HumanToken", shapeBehind(row("mintHuman"), "ttlSeconds?")],
    ["SpectatorToken", shapeBehind(row("mintSpectator"), "ttlSeconds?")],
    ["Invitation", shapeBehind(row("inviteObserver"), "ttlSeconds?")],
    ["CommanderToken", shapeBehind(row("rotate"), "player")],
    ["Commander", shapeBehind(row("commanders"), "commanders:")],
    ["PolicyVersion", shapeBehind(row("commanders"), "versions:")],
    ["LastPractice", shapeBehind(row("commanders"), "`lastPractice` is null or")],
    ["CommanderMetadata", shapeBehind(row("addCommander"), "metadata?:")],
    ["CommanderSettings", shapeBehind(row("commanderSettings"), "settings:")],
    ["PoolEntry", shapeBehind(row("pool"), "entries:")],
    ["Waited", shapeBehind(row("wait"), "until?: [event kinds]}")],
    ["Artifact", shapeBehind(row("policyDeploy"), "|")],
    ["Practice", shapeBehind(row("practice"), "|")],
  ]) {
    assert.deepEqual(membersOf(types, name), shape, name);
  }
});

test("a seat has what everybody sees, what its owner sees, and its pause", () => {
  const everybody = shapeBehind(page, "A seat is");
  const owners = page.match(/To its owner a seat also has ([\s\S]*?)\n\n/)[1].match(/`(\w+)\??[:`]/g).map((name) => name.match(/\w+/)[0]);
  const names = owners.filter((name) => !["stale_policy", "policy_failed"].includes(name)).map((name) => `${name}?`);
  assert.deepEqual(membersOf(types, "Seat"), [...everybody, ...names, "pause?"].sort());
});

test("every documented operation can be sent, and every method of a seat that an owner may call", async () => {
  const sent = await read("../src/connection.ts");
  for (const op of documented(page, "Operations").keys()) assert.ok(sent.includes(`"${op}"`), op);
  const called = await read("../src/seat.ts");
  // Agents alone have these, and they call them over MCP.
  const agents = ["sequence", "ready", "say"];
  for (const method of documented(page, "Methods of `call`").keys()) {
    assert.equal(called.includes(`"${method}"`), !agents.includes(method), method);
  }
});
