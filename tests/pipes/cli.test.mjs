// `playerthree verify` and `playerthree canonicalize` as a third party runs them: exit statuses and exact JSON against the
// protocol's vectors, and logs fetched from a server.

import assert from "node:assert/strict";
import { mkdtemp, writeFile } from "node:fs/promises";
import { readFileSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Chain, openInbox, post, run } from "../lib/pipes.mjs";
import { startPlayerThree } from "../lib/playerthree.mjs";

const vectors = new URL("../../src/pipes/tests/vectors/", import.meta.url);
const load = (name) => JSON.parse(readFileSync(new URL(name, vectors), "utf8"));
const path = (name) => fileURLToPath(new URL(`logs/${name}.json`, vectors));

let server;
before(async () => (server = await startPlayerThree()));
after(() => server?.stop());

test("every vector gets its exact verdict, games, faults and notes, and the status that says it", async () => {
  const logs = readdirSync(new URL("logs/", vectors));
  assert.equal(logs.length, 93);
  for (const file of logs) {
    const log = load(`logs/${file}`);
    const { code, out, err } = await run(["verify", fileURLToPath(new URL(`logs/${file}`, vectors)), "--json"]);
    const { verdict, games, faults, ignored, options, ...more } = JSON.parse(out);
    assert.deepEqual({ verdict, games, faults, ignored }, {
      verdict: log.expect, games: log.games, faults: log.faults, ignored: log.ignored,
    }, file);
    assert.deepEqual(more, {}, file);
    assert.ok(options, file);
    assert.deepEqual([code, err], [log.expect.ok ? 0 : 1, ""], file);
  }
});

test("what the reader knows can be said by flags, and the report says what was used", async () => {
  const { options, inboxes } = load("logs/valid-sig-keys-from-reader.json");
  const rows = inboxes[0].captures.map((row) => JSON.stringify(row)).join("\n");
  const keys = ["--keys", `X=${options.keys.X},O=${options.keys.O}`];
  const signed = JSON.parse((await run(["verify", "-", "--json", ...keys], rows)).out);
  assert.deepEqual([signed.verdict, signed.options.keys], [{ ok: true }, options.keys]);
  assert.ok(signed.games[0].verifiedSigs > 0);
  const swapped = ["--keys", `X=${options.keys.O}`, "--keys", `O=${options.keys.X}`];
  const forged = await run(["verify", "-", "--json", ...swapped], rows);
  assert.deepEqual([forged.code, JSON.parse(forged.out).verdict.reason], [1, "bad_signature"]);

  const seated = load("logs/valid-signed-seats.json");
  const seats = ["--seats", `X=${seated.options.seats.O},O=${seated.options.seats.X}`];
  const wrong = await run(["verify", path("valid-signed-seats"), "--json", ...seats]);
  assert.deepEqual([wrong.code, JSON.parse(wrong.out).verdict.reason], [1, "wrong_signer"]);
  const installed = await run(["verify", path("valid-x-wins"), "--json", "--rows", "4"]);
  assert.equal(JSON.parse(installed.out).verdict.reason, "rules_mismatch");
});

test("the text names each game and each fault", async () => {
  const valid = await run(["verify", path("valid-x-wins")]);
  assert.equal(valid.code, 0);
  assert.match(valid.out, /ttt-1/);
  const faulty = await run(["verify", path("invalid-edited-event")]);
  assert.equal(faulty.code, 1);
  assert.match(faulty.out, /^FAULT \S+ game=\S+ seq=\d+ wrong_prev_hash$/m);
});

test("without a verdict the status is 2 and nothing is printed but the reason", async () => {
  const directory = await mkdtemp(join(tmpdir(), "pipes-"));
  const junk = join(directory, "junk");
  await writeFile(junk, "neither JSON nor a log");
  for (const args of [
    [join(directory, "absent")], [junk], ["-"], [directory],
    [path("valid-x-wins"), "--keys", "X=ed25519:nonsense"],
    [path("valid-x-wins"), "--keys", "Y=a"], [path("valid-x-wins"), "--rows", "0"],
    [path("valid-x-wins"), "--token-file", junk],
    ["https://127.0.0.1/log"], ["http://127.0.0.1:1/log"],
  ]) {
    const { code, out, err } = await run(["verify", "--json", ...args], "nonsense");
    assert.deepEqual([code, out], [2, ""], args.join(" "));
    assert.notEqual(err, "", args.join(" "));
  }
});

test("canonicalize prints the vectors' bytes or hashes, and refuses what they reject", async () => {
  const { cases } = load("canonicalization.json");
  for (const { name, input, reject, canonical, sha256 } of cases) {
    const [bytes, hash] = [await run(["canonicalize"], input), await run(["canonicalize", "--hash"], input)];
    const expected = reject ? [1, "", 1, ""] : [0, canonical, 0, `${sha256}\n`];
    assert.deepEqual([bytes.code, bytes.out, hash.code, hash.out], expected, name);
  }
});

/** An anonymous inbox with one finished game. */
async function played() {
  const inbox = await openInbox(server);
  const chain = new Chain("over-http");
  const bodies = [chain.start({ rows: 1, cols: 1, winLength: 1 }), chain.move(0, 0, "win")];
  for (const body of bodies) assert.equal((await post(server, inbox.captureUrl, body)).status, 201);
  return inbox;
}

test("a log is verified where it is: an inbox, its export, or the page's own address", async () => {
  const { inboxId, readToken, captureUrl } = await played();
  const inbox = `${server.url}/pipes/v1/inboxes/${inboxId}`;
  const file = join(await mkdtemp(join(tmpdir(), "pipes-")), "token");
  await writeFile(file, `${readToken}\n`);
  for (const args of [
    [inbox, "--token-file", file],
    [`${inbox}/export?game=over-http`, "--token-file", file],
    [`${inbox}/export#token=${readToken}`],
    [`${server.url}/pipes/#token=${readToken}`],
  ]) {
    const { code, out } = await run(["verify", "--json", ...args]);
    assert.equal(code, 0, args[0]);
    assert.deepEqual(JSON.parse(out).games.map(({ gameId, winner }) => [gameId, winner]), [["over-http", "X"]]);
  }

  // A wrong token, none, and an inbox that does not exist are one answer, which holds none of them.
  for (const address of [`${inbox}#token=${inboxId}.wrong`, inbox, `${inbox}0#token=${readToken}`]) {
    const { code, out, err } = await run(["verify", address]);
    assert.deepEqual([code, out], [2, ""]);
    assert.doesNotMatch(err, /token=|wrong/);
    assert.ok(!err.includes(readToken));
  }
  await post(server, captureUrl, JSON.stringify(new Chain("over-http").event({ action: "move", move: { row: 0, col: 0 } })));
  assert.equal((await run(["verify", `${inbox}#token=${readToken}`])).code, 1);
});

test("a transfer that breaks off is no log, and no redirection is followed", async () => {
  const whole = readFileSync(new URL("logs/valid-x-wins.json", vectors));
  let asked = 0;
  const broken = createServer((request, response) => {
    asked += 1;
    if (request.url === "/moved") return response.writeHead(302, { location: "/whole" }).end();
    response.writeHead(200, { "content-type": "application/json", "content-length": whole.length });
    if (request.url === "/whole") return response.end(whole);
    response.write(whole.subarray(0, whole.length / 2), () => response.destroy());
  });
  await new Promise((resolve) => broken.listen(0, "127.0.0.1", resolve));
  const at = `http://127.0.0.1:${broken.address().port}`;
  const codes = [];
  for (const name of ["whole", "broken", "moved"]) codes.push((await run(["verify", `${at}/${name}`])).code);
  broken.close();
  assert.deepEqual([codes, asked], [[0, 2, 2], 3]);
});
