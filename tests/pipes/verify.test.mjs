// The browser's verifier against the protocol's vectors, which the Rust verifier passes as well.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

import { canonical, parseStrict, sha256, signedBytes } from "../../src/pipes/page/json.mjs";
import { readInput, verifyLog } from "../../src/pipes/page/verify.mjs";

const vectors = new URL("../../src/pipes/tests/vectors/", import.meta.url);
const load = (name) => JSON.parse(readFileSync(new URL(name, vectors), "utf8"));

test("canonical bytes and refusals are those of the vectors", async () => {
  const { cases } = load("canonicalization.json");
  assert.equal(cases.length, 72);
  for (const { name, input, reject, canonical: expected, sha256: hash } of cases) {
    if (reject) {
      assert.throws(() => parseStrict(input), SyntaxError, name);
      continue;
    }
    const text = canonical(parseStrict(input));
    assert.equal(text, expected, name);
    assert.equal(await sha256(new TextEncoder().encode(text)), hash, name);
  }
});

test("event hashes leave out the top-level sig alone", async () => {
  for (const { name, input, sha256: hash } of load("event-hash.json").cases) {
    assert.equal(await sha256(signedBytes(parseStrict(input))), hash, name);
  }
});

const logs = readdirSync(new URL("logs/", vectors)).sort();
const plain = ({ captureId, gameId, seq, hash }) => ({ captureId, gameId, seq, hash });

test("every log gets its exact verdict, games, faults, notes and chain", async (t) => {
  assert.equal(logs.length, 93);
  for (const file of logs) {
    await t.test(file, async () => {
      const log = load(`logs/${file}`);
      const report = await verifyLog(log.inboxes, log.options);
      assert.deepEqual(report.verdict, log.expect);
      assert.deepEqual(report.games, log.games);
      assert.deepEqual(report.faults, log.faults);
      assert.deepEqual(report.ignored, log.ignored);
      assert.deepEqual(report.chain.map(plain), log.chain);
    });
  }
});

test("a pasted log is read in every shape", async () => {
  const log = load("logs/valid-x-wins.json");
  const { captures } = log.inboxes[0];
  const shapes = [
    JSON.stringify(log, null, 2),
    JSON.stringify({ Requests: captures }),
    captures.map((row) => JSON.stringify(row)).join("\n"),
    `${captures.map((row) => row.Body).join("\n")}\n`,
  ];
  for (const text of shapes) {
    const { inboxes, options } = readInput(text);
    const report = await verifyLog(inboxes, options);
    assert.equal(report.games[0].winner, "X");
    assert.deepEqual(report.verdict, { ok: true });
  }
  for (const text of ["nonsense", "[1]", '{"a":1}', '{"Seq":1}']) assert.throws(() => readInput(text), SyntaxError);
});

test("a key of small order signs nothing", async () => {
  const start = {
    game: "g", seq: 0, prevHash: "", player: "X", action: "start", protocol: "flurryport:tic-tac-toe",
    rules: { rows: 3, cols: 3, winLength: 3 },
    sig: `ed25519:${Buffer.concat([Buffer.from([1]), Buffer.alloc(63)]).toString("base64url")}`,
  };
  const X = `ed25519:${Buffer.concat([Buffer.from([1]), Buffer.alloc(31)]).toString("base64url")}`;
  const report = await verifyLog([{ captures: [{ Id: "a", Body: JSON.stringify(start) }] }], { keys: { X } });
  assert.equal(report.verdict.reason, "bad_signature");
});
