// The series of versions that deltas are compared on, and what every way of sending a new version sends for them: this
// project's deltas and the Rust peers from `delta/examples/compare`, the npm peers from here.

import { execFile } from "node:child_process";
import { isDeepStrictEqual, promisify } from "node:util";
import fastJsonPatch from "fast-json-patch";
import * as jsondiffpatch from "jsondiffpatch";
import { applyDelta } from "../../client-sdk/js/dist/playerthree.js";
import { build } from "../lib/server.mjs";

const byId = jsondiffpatch.create({ objectHash: (item) => item.id });

/** The writers and readers of npm, and this project's reader. A message is what `JSON.parse` gives. */
export const npm = {
  "fast-json-patch": {
    diff: (old, next) => fastJsonPatch.compare(old, next),
    apply: (document, message) => fastJsonPatch.applyPatch(document, message, false, true).newDocument,
  },
  jsondiffpatch: {
    diff: (old, next) => byId.diff(old, next),
    apply: (document, message) => byId.patch(document, message),
  },
  playerthree: { apply: applyDelta },
};

/** The program that makes the series and measures the Rust side, by its build profile. */
export function program(profile) {
  return build("playerthree-delta", { example: "compare" }, profile);
}

/** What a run of the program prints, line by line. */
export async function lines(executable, command) {
  const { stdout } = await promisify(execFile)(executable, [command], { maxBuffer: 1 << 30 });
  return stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
}

/** Every series as `{series, versions, messages}`, with the messages of every writer, resending among them. */
export async function allSeries(executable) {
  const series = await lines(executable, "messages");
  for (const { versions, messages } of series) {
    messages.resending = versions.slice(1);
    for (const [name, { diff, apply }] of Object.entries(npm)) {
      if (diff) messages[name] = versions.slice(1).map((next, at) => copy(diff(versions[at], next)));
      const rebuilt = messages[name].reduce((document, message) => apply(document, copy(message)), copy(versions[0]));
      if (!isDeepStrictEqual(rebuilt, versions.at(-1))) throw new Error(`${name} does not rebuild the last version`);
    }
  }
  return series;
}

/** A value as it arrives: nothing of it is shared with its sender. */
export function copy(value) {
  return JSON.parse(JSON.stringify(value));
}
