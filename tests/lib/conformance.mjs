// The official MCP conformance suite against a running endpoint. The suite knows no bearer tokens, so that it goes through
// a proxy on loopback that adds one and changes nothing else.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const at = (path) => fileURLToPath(new URL(`../node_modules/${path}`, import.meta.url));
const SUITE = at("@modelcontextprotocol/conformance/dist/index.js");

/** The revision that is spoken. */
const REVISION = "2026-07-28";

/** An address on loopback that hands every request on to `url` with a bearer token. Its own name becomes the server's. */
async function withBearer(url, token) {
  const target = new URL(url);
  const http = createServer((asked, answered) => {
    const own = asked.headers.host === proxy.host;
    const headers = { ...asked.headers, authorization: `Bearer ${token}` };
    if (own) headers.host = target.host;
    if (headers.origin === proxy.origin) headers.origin = target.origin;
    const onward = request(new URL(asked.url, target), { method: asked.method, headers }, (response) => {
      answered.writeHead(response.statusCode, response.headers);
      response.pipe(answered);
    });
    onward.on("error", () => answered.destroy());
    answered.on("close", () => onward.destroy());
    asked.pipe(onward);
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const proxy = new URL(`http://127.0.0.1:${http.address().port}`);
  return { url: proxy, close: () => (http.closeAllConnections(), http.close()) };
}

/**
 * Runs a whole suite at the revision, or one scenario of an extension, against `url` as whoever holds `token`. What is in
 * the baseline file has to fail, and nothing else may.
 * @returns {Promise<{code: number, output: string, checks: Map<string, object[]>}>} the checks by scenario
 */
export async function conformance(url, token, { scenario, suite, baseline }) {
  const proxy = await withBearer(url, token);
  const out = await mkdtemp(join(tmpdir(), "conformance-"));
  const args = ["server", "--url", new URL("/mcp", proxy.url).href, "-o", out];
  if (scenario) args.push("--scenario", scenario);
  if (suite) args.push("--suite", suite, "--spec-version", REVISION);
  if (baseline) args.push("--expected-failures", baseline);
  const child = spawn(at("node/bin/node"), [SUITE, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => (output += part));
  const [code] = await once(child, "close");
  proxy.close();
  const checks = await checksIn(out);
  await rm(out, { recursive: true });
  return { code, output, checks };
}

async function checksIn(out) {
  const checks = new Map();
  for (const directory of await readdir(out)) {
    const scenario = directory.match(/^server-(.*?)(-\d{4}-\d\d-\d\dT.*)?$/)?.[1];
    if (scenario) checks.set(scenario, JSON.parse(await readFile(join(out, directory, "checks.json"), "utf8")));
  }
  return checks;
}
