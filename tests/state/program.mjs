// The program that mutates random states, built once and run for its lines.

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const NAME = "playerthree-rooms-state-plans";
let built;

/** The program's path, built in the workspace's target directory. */
function program() {
  if (!built) {
    const messages = execFileSync("cargo", ["build", "--quiet", "--package", NAME, "--message-format", "json"], {
      cwd: ROOT,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
      maxBuffer: 2 ** 28,
    });
    const artifacts = messages.trim().split("\n").map((line) => JSON.parse(line));
    built = artifacts.find((artifact) => artifact.target?.name === NAME && artifact.executable).executable;
  }
  return built;
}

/** What the program prints, line by line as JSON. */
function lines(...args) {
  const output = execFileSync(program(), args.map(String), { encoding: "utf8", maxBuffer: 2 ** 31 });
  return output.trim().split("\n").map((line) => JSON.parse(line));
}

/** The states there are of a kind, and the seed of the random ones among them. */
export function states(kind) {
  const [{ seed }, ...all] = lines("list");
  return { seed, states: all.filter(({ name }) => name.startsWith(kind)) };
}

/** The handshakes of a state, and the steps of a plan. */
export function plan(name, seed, steps) {
  const [handshakes, ...all] = lines(name, seed, steps);
  return { handshakes, steps: all };
}
