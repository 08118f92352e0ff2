// What one more reader of a match costs the server (§4, §20.9): processor time for each message delivered to 1, 100 and
// 1,000 spectators of one side, observers, and both at once, beside a room that relays the same number of messages of the
// same size to as many clients. All in one run, with `playerthree load` as the audience. BENCH.md of the binding says how.
//
//     PLAYERTHREE_BIN=target/release/playerthree node tests/match/fanout.mjs [seconds] [readers,...]

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { startPlayerThree } from "../lib/playerthree.mjs";

const SECONDS = Number(process.argv[2] ?? 20);
const READERS = (process.argv[3] ?? "1,100,1000").split(",").map(Number);
/** Views and frames of Agent Command in a second. */
const PER_SECOND = 10;

/** All clients come from one address here. */
const server = await startPlayerThree(["--connections-per-address", "5000", "--joins-per-address", "10000"]);

/** Runs the load tool and returns what a run is compared by. */
async function measure(...args) {
  const fixed = ["load", "--url", server.url, "--pid", String(server.child.pid), "--seconds", String(SECONDS), "--warm-up", "3", "--json"];
  const { stdout } = await promisify(execFile)(server.child.spawnfile, [...fixed, ...args]);
  const { joins, messages, errors, generator, server: used, measured_seconds: seconds } = JSON.parse(stdout);
  const cpu = (used.cpu_percent / 100) * seconds;
  return {
    delivered: messages.received / seconds,
    bytes: messages.received > 0 ? Math.round(messages.received_bytes / messages.received) : 0,
    cpuPerSecond: cpu / seconds,
    notes: [
      generator.bottleneck && "the generator was the bottleneck",
      Object.keys(errors).length > 0 && `not all went well: ${JSON.stringify(errors)}`,
    ].filter(Boolean),
  };
}

const watch = (clients, observers) => measure("--scenario", "watch", "--clients", String(clients), "--observers", String(observers));

/** A relay in which as many others are sent a message of that size ten times a second. */
function relay(readers, bytes) {
  const clients = readers + 1;
  // What a relayed message has beside its filler.
  const filler = Math.max(0, bytes - 36);
  return measure("--scenario", "broadcast", "--clients", String(clients), "--rate", String(PER_SECOND / clients), "--filler", String(filler));
}

const percent = (share) => `${(100 * share).toFixed(1)} %`;
const micros = (cpuPerSecond, delivered) => (delivered > 0 ? (1e6 * cpuPerSecond / delivered).toFixed(1) : "-");

console.log("| readers | what | delivered a second | bytes each | server CPU | us each | us each, without the match |");
console.log("| --- | --- | --- | --- | --- | --- | --- |");

/** A row of the table: all that it took, and what is left of it without what takes place without readers. */
function row(readers, what, { delivered, bytes, cpuPerSecond, notes }, without = { delivered: 0, cpuPerSecond: 0 }) {
  const more = delivered - without.delivered;
  const cells = [
    readers,
    what,
    delivered.toFixed(0),
    bytes,
    percent(cpuPerSecond),
    micros(cpuPerSecond, delivered),
    more >= 1 ? micros(cpuPerSecond - without.cpuPerSecond, more) : "-",
  ];
  console.log(`| ${cells.join(" | ")} | ${notes.join(", ")}`);
}

try {
  // What the match itself takes, with its host and one spectator.
  const alone = await watch(1, 0);
  for (const readers of READERS) {
    const spectators = await watch(readers, 0);
    row(readers, "spectators", spectators, alone);
    row(readers, "observers", await watch(readers, readers), alone);
    row(`${readers} and ${readers}`, "both", await watch(2 * readers, readers), alone);
    row(readers, "relay", await relay(readers, spectators.bytes));
  }
} finally {
  await server.stop();
}
