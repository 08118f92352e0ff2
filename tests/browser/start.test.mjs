// People at the page, in a real browser: a match that waits until everybody is ready, and commanders.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Tab, launch } from "../lib/browser.mjs";
import { commander, startPlayerThree } from "../lib/playerthree.mjs";

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

/** §4 "Lobby phase", §20.3: the page shows who is waited for, and a commander's token once. */
test("a person adds a commander on the page, both are ready, and the match starts", async () => {
  const ann = await Tab.open(browser, server);
  await ann.logIn("Ann");
  await ann.page.selectOption('[data-key="starts"]', "ready");
  await ann.click('[data-create="agent-command"]');
  await ann.see('.start:has-text("Red ground")');

  await ann.click('[data-key="red air commander"]');
  await ann.page.fill('[data-key="commander-name"]', "Falcon");
  await ann.click('[data-key="add-commander"]');
  await ann.see("dialog[open] #mint-token");
  assert.equal(await ann.page.inputValue("#mint-url"), `${server.url}/mcp`);
  const falcon = await commander(server, await ann.page.inputValue("#mint-token"));
  await ann.click('dialog:has(#mint-token) button:has-text("Done")');
  await ann.see('[data-seat="red air"] .tag.ai');
  assert.equal(await ann.page.locator("#mint-token").count(), 0, "the token left the document");

  assert.deepEqual((await falcon.tool("game_ready")).seat, { team: "red", role: "air" });
  // Its call told it its seat, so the first wait is for the start.
  const waiting = falcon.tool("game_wait", { seconds: 60 });
  await ann.see('.start li:has-text("Red air"):has-text("ready")');
  await ann.click('[data-key="red ground ready"]');
  assert.equal((await waiting).phase, "match");
  await ann.page.waitForSelector(".start", { state: "hidden" });
  await ann.page.waitForFunction(() => Number(document.querySelector(".map").dataset.tick) > 0);
  assert.deepEqual(ann.faults, []);
  await Promise.all([falcon.close(), ann.close()]);
});
