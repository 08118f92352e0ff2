// Makes what the server embeds: `node build.mjs DIRECTORY` writes the page's files and, beside each, its ETag. The page
// stands on the packages that client-sdk/js installs and has none of its own.

import { createHash } from "node:crypto";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "../../../client-sdk/js/node_modules/esbuild/lib/main.js";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const packages = here("../../../client-sdk/js/node_modules");
const target = process.argv[2];

await build({
  entryPoints: { app: here("src/main.ts"), style: here("style.css") },
  outdir: target,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  logLevel: "error",
  nodePaths: [packages],
  tsconfigRaw: { compilerOptions: { target: "es2022", verbatimModuleSyntax: true } },
  alias: {
    "playerthree-client": here("../../../client-sdk/js/src/index.ts"),
    // The page's security policy forbids `eval`, which the usual build of this package tries.
    msgpackr: join(packages, "msgpackr/dist/index-no-eval.cjs"),
  },
});
for (const name of ["index.html", "icon.svg"]) copyFileSync(here(name), join(target, name));
for (const name of ["index.html", "icon.svg", "app.js", "style.css"]) {
  const hash = createHash("sha256").update(readFileSync(join(target, name))).digest("hex");
  writeFileSync(join(target, `${name}.etag`), `"${hash.slice(0, 32)}"`);
}
