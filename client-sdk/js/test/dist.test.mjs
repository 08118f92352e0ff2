// The built files as their users take them: small enough, bundled for a browser, and from a plain script tag.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import * as library from "../dist/playerthree.js";

const BUDGET_BYTES = 12 * 1024;
const file = (path) => fileURLToPath(new URL(path, import.meta.url));

test("module and script are within the size budget, and say nothing to Node", async () => {
  for (const name of ["playerthree.js", "playerthree.global.js"]) {
    const text = await readFile(file(`../dist/${name}`), "utf8");
    const size = gzipSync(text, { level: 9 }).length;
    assert.ok(size <= BUDGET_BYTES, `${name} has ${size} bytes gzipped`);
    assert.doesNotMatch(text, /\brequire\(|from"node:|\bprocess\.|\bBuffer\b/, name);
  }
});

test("a bundler takes what is used and leaves the rest, without anything of Node", async () => {
  const bundled = async (contents) => {
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: file("..") },
      alias: { "playerthree-client": file("../dist/playerthree.js") },
      bundle: true,
      minify: true,
      format: "esm",
      platform: "browser",
      write: false,
      logLevel: "silent",
    });
    return outputFiles[0].text;
  };
  const whole = await bundled('export * from "playerthree-client";');
  const part = await bundled('export { applyDelta } from "playerthree-client";');
  assert.ok(part.length < whole.length / 2, `${part.length} of ${whole.length} characters`);
  const { applyDelta } = await import(`data:text/javascript;base64,${Buffer.from(part).toString("base64")}`);
  assert.deepEqual(applyDelta({ a: 1 }, { a: 2 }), { a: 2 });
});

test("a script tag gives the global what the module exports", async () => {
  const page = createContext({});
  runInContext(await readFile(file("../dist/playerthree.global.js"), "utf8"), page);
  const { PlayerThree } = page;
  assert.deepEqual(Object.keys(PlayerThree).sort(), Object.keys(library).sort());
  page.delta = { a: 2 };
  assert.equal(runInContext("JSON.stringify(PlayerThree.applyDelta({ a: 1 }, JSON.parse('{\"a\":2}')))", page), '{"a":2}');
});
