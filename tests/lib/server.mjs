// Starts a server program of this workspace on a free port and stops it again. Every test that needs a real server
// process uses this, and nothing here knows what the server does.

import { execFile, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const workspace = fileURLToPath(new URL("../..", import.meta.url));

/** How long a server may take to listen, and to end after it was told to, in milliseconds. */
const START_LIMIT = 20_000;
const STOP_LIMIT = 15_000;

/**
 * Builds a program and returns the path of its executable.
 * @param {string} packageName
 * @param {{ bin?: string, example?: string }} target
 * @param {"dev" | "release"} [profile]
 */
export async function build(packageName, target, profile = "dev") {
  const [kind, name] = Object.entries(target)[0];
  const args = ["build", "--quiet", "--package", packageName, `--${kind}`, name, "--message-format=json"];
  args.push("--profile", profile);
  const { stdout } = await promisify(execFile)("cargo", args, { cwd: workspace, maxBuffer: 1 << 28 });
  const executables = stdout
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line))
    .filter((message) => message.executable && message.target.name === name);
  if (executables.length === 0) throw new Error(`cargo built no ${kind} ${name}`);
  return executables[0].executable;
}

/**
 * Starts a program and waits until it prints an address, `http://HOST:PORT`. The program is given what `args` says,
 * which should make it take any free port.
 * @param {string} executable
 * @param {string[]} args
 * @param {{ env?: Record<string, string> }} [options]
 */
export async function start(executable, args, options = {}) {
  const child = spawn(executable, args, {
    cwd: workspace,
    env: { ...process.env, ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const server = new RunningServer(child);
  try {
    await server.listening;
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
  return server;
}

export class RunningServer {
  /** Everything the program printed, line by line, standard error included. */
  lines = [];
  /** The address it printed, as `http://HOST:PORT`. */
  url;
  /** Resolves with `{ code, signal }` once the program has ended. */
  ended;

  constructor(child) {
    this.child = child;
    this.ended = new Promise((resolve) => child.once("exit", (code, signal) => resolve({ code, signal })));
    this.listening = new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(this.#failure("did not listen in time")), START_LIMIT);
      child.once("error", reject);
      this.ended.then(() => reject(this.#failure("ended before it listened")));
      this.#watch((line) => {
        const address = line.match(/https?:\/\/[^\s/]+:\d+/);
        if (!address || this.url) return;
        this.url = address[0];
        clearTimeout(timer);
        resolve(this.url);
      });
    });
  }

  get port() {
    return Number(new URL(this.url).port);
  }

  get webSocketUrl() {
    return this.url.replace(/^http/, "ws");
  }

  /** Sends a signal and waits for the end; kills what does not end in time and fails. */
  async stop(signal = "SIGTERM") {
    this.child.kill(signal);
    let timer;
    const late = new Promise((resolve) => (timer = setTimeout(resolve, STOP_LIMIT, "late")));
    const ended = await Promise.race([this.ended, late]);
    clearTimeout(timer);
    if (ended !== "late") return ended;
    this.child.kill("SIGKILL");
    throw this.#failure("did not end in time");
  }

  #watch(onLine) {
    for (const stream of [this.child.stdout, this.child.stderr]) {
      createInterface({ input: stream }).on("line", (line) => {
        this.lines.push(line);
        onLine(line);
      });
    }
  }

  #failure(what) {
    return new Error(`${this.child.spawnfile} ${what}:\n${this.lines.join("\n")}`);
  }
}
