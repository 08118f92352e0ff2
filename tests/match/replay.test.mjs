// What an operator keeps of a match: its replay, written by the server that ran it and verified by the program.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, readdir, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { InMatch, executable, person, startPlayerThree } from "../lib/playerthree.mjs";

/** Runs `playerthree replay` and returns its exit status and what it printed. */
async function replay(...args) {
  const program = await executable();
  return new Promise((resolve) => {
    execFile(program, ["replay", ...args], (error, out, err) => resolve({ status: error?.code ?? 0, out, err }));
  });
}

/** §17, §10: no client is sent a replay; the operator's file leads where the match went, and a changed one does not. */
test("a match leaves a replay for its operator, which verifies and is nobody else's", async () => {
  const directory = join(await mkdtemp(join(tmpdir(), "playerthree-")), "replays");
  const server = await startPlayerThree(["--replays", directory]);
  const ann = await person(server, "Ann");
  const x = new InMatch(await ann.create("tic-tac-toe", { team: "x" }));
  const roomId = x.room.roomId;
  const o = new InMatch(await (await person(server, "Bob")).joinById(roomId, { team: "o" }));
  const moves = [[x, 0, 0], [o, 1, 1], [o, 2, 2], [x, 0, 1], [o, 1, 0], [x, 0, 2]];
  const acks = [];
  for (const [player, row, col] of moves) {
    acks.push((await player.act("player", { kind: "move", row, col }))[0]);
  }
  assert.deepEqual(acks, ["ok", "ok", "not_your_turn", "ok", "ok", "ok"]);
  assert.deepEqual(await readdir(directory), [], "nothing leaves while the match can be watched");
  assert.ok(!x.received.includes("playerthree.replay") && !o.received.includes("playerthree.replay"));
  await Promise.all([x.room.leave(), o.room.leave()]);
  await server.stop();

  const file = join(directory, `${roomId}.replay.json`);
  assert.deepEqual(await readdir(directory), [`${roomId}.replay.json`]);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  const kept = JSON.parse(await readFile(file, "utf8"));
  assert.equal(kept.entries.filter((entry) => entry[3] === "intent").length, moves.length, "the refused one too");
  assert.deepEqual(kept.outcomes, { x: "win", o: "loss" });
  const text = JSON.stringify(kept);
  for (const name of ["Ann", "Bob"]) assert.ok(!text.includes(name), `${name} is in the replay`);

  const verdict = await replay("verify", file, "--json");
  assert.equal(verdict.status, 0, verdict.err);
  assert.deepEqual(JSON.parse(verdict.out).ranks, { x: 1, o: 2 });
  const shown = await replay("show", file, "--tick", "1", "--perspective", "seat:o/player");
  assert.equal(JSON.parse(shown.out).shown.you, "o", shown.err);

  kept.outcomes = { x: "loss", o: "win" };
  await writeFile(file, JSON.stringify(kept));
  const refused = await replay("verify", file);
  assert.equal(refused.status, 1);
  assert.match(refused.err, /playerthree\/replay: the outcome of [xo] differs/);
});

/** §10: equal inputs give equal states in every build. The golden states are those of a debug build; this program ships. */
test("the program that ships comes to the golden states", async () => {
  const golden = (name) => fileURLToPath(new URL(`../../src/session/tests/golden/${name}`, import.meta.url));
  for (const name of ["agent-command", "agent-command-duel", "tic-tac-toe"]) {
    const states = (await readFile(golden(`${name}.states.txt`), "utf8")).trimEnd().split("\n");
    const [ticks, state] = states.at(-1).split(" ");
    const verdict = await replay("verify", golden(`${name}.replay.json`), "--json");
    assert.equal(verdict.status, 0, verdict.err);
    const shown = JSON.parse(verdict.out);
    assert.deepEqual([shown.ticks, shown.state.slice(0, state.length)], [Number(ticks), state], name);
  }
});
