// Prints what deltas cost beside their peers, as the tables of `delta/BENCH.md`: `node tests/delta/bench.mjs`, with the
// packages of `tests` installed and `client-sdk/js` built. Times are processor time, so other work counts only where it
// takes the caches.

import { mean, sizes } from "./bytes.mjs";
import { allSeries, copy, lines, npm, program } from "./series.mjs";

/** Versions made anew in front of a measured stretch, as on the Rust side. */
const FRESH = 4;
/** Processor time for a figure after half as much to warm up, in microseconds. */
const BUDGET_US = 500_000;

const executable = await program("release");
const all = await allSeries(executable);
await printBytes();
printTimes([...(await lines(executable, "cpu")), ...all.flatMap(npmTimes)]);

async function printBytes() {
  for (const { series, messages } of all) {
    const rows = [];
    for (const [writer, sent] of Object.entries(messages)) {
      const forms = Object.entries(await sizes(sent));
      rows.push({ writer, ...Object.fromEntries(forms.map(([form, each]) => [form, mean(each).toFixed(1)])) });
      rows.at(-1)["worst MessagePack"] = Math.max(...forms[1][1]);
    }
    print(`${series}: bytes per version`, rows);
  }
}

function printTimes(figures) {
  for (const { series } of all) {
    const rows = figures.filter((figure) => figure.series === series);
    const { diffUs } = rows.find(({ writer }) => writer === "playerthree");
    const times = (us) => (us === undefined ? "" : (us / diffUs).toFixed(1));
    print(
      `${series}: processor time per version, µs`,
      rows.map((row) => ({
        writer: row.writer,
        language: row.language ?? "Rust",
        diff: row.diffUs?.toFixed(1) ?? "",
        "diff, times ours": times(row.diffUs),
        apply: row.applyUs.toFixed(1),
      })),
    );
  }
}

function npmTimes({ series, versions, messages }) {
  const texts = versions.map((version) => JSON.stringify(version));
  return Object.entries(npm).map(([writer, { diff, apply }]) => {
    const sent = messages[writer].map((message) => JSON.stringify(message));
    return {
      series,
      writer,
      language: "JavaScript",
      diffUs: diff && perVersion(sent.length, () => diffAll(texts, diff)),
      applyUs: perVersion(sent.length, () => applyAll(versions[0], sent, apply)),
    };
  });
}

function perVersion(versions, sweep) {
  const spend = (budget) => {
    let [spent, sweeps] = [0, 0];
    for (; spent < budget; sweeps++) spent += sweep();
    return spent / sweeps;
  };
  spend(BUDGET_US / 2);
  return spend(BUDGET_US) / versions;
}

function diffAll(texts, diff) {
  let spent = 0;
  for (let start = 0; start < texts.length - 1; start += FRESH) {
    const fresh = texts.slice(start, start + FRESH + 1).map((text) => JSON.parse(text));
    spent += timed(() => {
      for (let at = 1; at < fresh.length; at++) diff(fresh[at - 1], fresh[at]);
    });
  }
  return spent;
}

function applyAll(first, sent, apply) {
  const messages = sent.map((text) => JSON.parse(text));
  const start = copy(first);
  return timed(() => messages.reduce(apply, start));
}

function timed(work) {
  const now = () => {
    const { user, system } = process.cpuUsage();
    return user + system;
  };
  const before = now();
  work();
  return now() - before;
}

function print(title, rows) {
  const heads = Object.keys(rows[0]);
  console.log(`\n### ${title}\n\n| ${heads.join(" | ")} |\n| --- ${"| --: ".repeat(heads.length - 1)}|`);
  for (const row of rows) console.log(`| ${heads.map((head) => row[head]).join(" | ")} |`);
}
