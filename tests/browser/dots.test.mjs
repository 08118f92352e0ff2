// The room `dots` in a browser: what the official SDK decoded of its state is on the screen, and moves.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Tab, launch } from "../lib/browser.mjs";
import { startPlayerThree } from "../lib/playerthree.mjs";

let server;
let browser;
before(async () => {
  server = await startPlayerThree();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** What the canvas shows, as an image. Reading pixels often would make the browser warn. */
const painted = (page) => page.evaluate(() => document.querySelector("canvas.dots").toDataURL());

test("dots are drawn, move, and a click adds one that leaves with its tab", async () => {
  const tab = await Tab.open(browser, server, { path: "/#/dots" });
  await tab.see("text=200 dots, 1 looking on");
  const first = await painted(tab.page);
  // An empty canvas of this size is a few kilobytes of one colour.
  assert.ok(first.length > 20_000, `an image of ${first.length} characters`);
  const moves = (before) => document.querySelector("canvas.dots").toDataURL() !== before;
  await tab.page.waitForFunction(moves, first, { polling: 200 });
  // On the border, whose offsets are outside of the canvas.
  await tab.page.locator("canvas.dots").dispatchEvent("pointerdown", { clientX: 0, clientY: 0 });
  await tab.see("text=201 dots, 1 looking on");
  if (process.env.SCREENSHOT) await tab.page.screenshot({ path: process.env.SCREENSHOT });
  const other = await Tab.open(browser, server, { path: "/#/dots" });
  await other.see("text=201 dots, 2 looking on");
  assert.deepEqual([...tab.faults, ...other.faults], []);
  await tab.close();
  await other.see("text=200 dots, 1 looking on");
  await other.close();
});
