// Builds `dist/`: an ES module for bundlers and pages, a script for a plain script tag (global `PlayerThree`), and the
// types. Fails when the module outgrows its budget.

import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

/** The module's size limit, gzipped. */
const BUDGET_BYTES = 12 * 1024;

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const common = { entryPoints: [here("src/index.ts")], bundle: true, minify: true, target: "es2022", platform: "neutral" };

rmSync(here("dist"), { recursive: true, force: true });
await build({ ...common, format: "esm", outfile: here("dist/playerthree.js"), sourcemap: true });
await build({ ...common, format: "iife", globalName: "PlayerThree", outfile: here("dist/playerthree.global.js") });
const tsc = here("node_modules/typescript/bin/tsc");
execFileSync(process.execPath, [tsc, "--emitDeclarationOnly", "--declaration"], { cwd: here("."), stdio: "inherit" });

const size = gzipSync(readFileSync(here("dist/playerthree.js")), { level: 9 }).length;
console.log(`dist/playerthree.js: ${size} bytes gzipped of ${BUDGET_BYTES}`);
if (size > BUDGET_BYTES) process.exit(1);
