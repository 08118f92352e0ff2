// The example programs of the state crate, built once and run for their lines.

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const built = new Map();

/** The path of an example, built in the workspace's target directory. */
function program(name) {
  if (!built.has(name)) {
    const messages = execFileSync(
      "cargo",
      ["build", "--quiet", "--package", "playerthree-rooms-state", "--example", name, "--message-format", "json"],
      { cwd: ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], maxBuffer: 2 ** 28 },
    );
    const artifacts = messages.trim().split("\n").map((line) => JSON.parse(line));
    built.set(name, artifacts.find((artifact) => artifact.target?.name === name && artifact.executable).executable);
  }
  return built.get(name);
}

/** What an example prints, line by line as JSON. */
export function lines(name, ...args) {
  const output = execFileSync(program(name), args.map(String), { encoding: "utf8", maxBuffer: 2 ** 31 });
  return output.trim().split("\n").map((line) => JSON.parse(line));
}
