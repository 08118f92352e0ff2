// Everybody can use the pages: axe finds nothing serious on any of them, light and dark, on a desk and on a phone, and a
// keyboard is enough from the first visit to a move in a match.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Tab, launch } from "../lib/browser.mjs";
import { startPlayerThree } from "../lib/playerthree.mjs";

const AXE = await readFile(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const SIZES = [
  { width: 1280, height: 860 },
  { width: 390, height: 844 },
];
const REFUSED = ["serious", "critical"];

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

/** What axe refuses about the tab as it is, in each scheme and size. Also refuses a page wider than the screen. */
async function findings(tab) {
  const found = [];
  await tab.page.evaluate(AXE);
  for (const colorScheme of ["light", "dark"]) {
    await tab.page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    for (const size of SIZES) {
      await tab.page.setViewportSize(size);
      const { violations } = await tab.page.evaluate(() => globalThis.axe.run());
      for (const { id, impact, nodes } of violations.filter(({ impact }) => REFUSED.includes(impact)))
        found.push(`${colorScheme} ${size.width}: ${impact} ${id}: ${nodes.map(({ html }) => html).join(" ")}`);
      const wide = await tab.page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      if (wide) found.push(`${colorScheme} ${size.width}: the page scrolls sideways`);
    }
  }
  await tab.page.setViewportSize(SIZES[0]);
  return found;
}

/** A tab of somebody who is logged in. */
async function person(name) {
  const tab = await Tab.open(browser, server);
  await tab.logIn(name);
  return tab;
}

/** Checks what a tab shows, and that nothing went wrong in it. */
async function check(tab) {
  assert.deepEqual(await findings(tab), []);
  assert.deepEqual(tab.faults, []);
}

test("the list, the dots and a page that is not there are accessible", async () => {
  const guest = await Tab.open(browser, server);
  await guest.see("[data-create]");
  await check(guest);
  const ann = await person("Ann");
  await check(ann);
  await ann.go("/dots");
  await ann.see("canvas.dots");
  await check(ann);
  await ann.go("/nowhere");
  await ann.see(".empty h1");
  await check(ann);
  await Promise.all([guest.close(), ann.close()]);
});

test("a board game is accessible to whoever plays and watches it", async () => {
  const ann = await person("Ann");
  await ann.page.selectOption(".tic-tac-toe select >> nth=2", "random");
  await ann.click('[data-create="tic-tac-toe"]');
  await ann.see('.square[aria-disabled="false"]');
  await check(ann);
  const cho = await Tab.open(browser, server, { path: `/#/watch/${ann.matchId}/x` });
  await cho.see(".square");
  await check(cho);
  await ann.click('button:text-is("Resign")');
  await ann.click('button:text-is("Really resign?")');
  await ann.see(".result");
  await check(ann);
  await Promise.all([ann.close(), cho.close()]);
});

test("a commander's match, panels and dialogs are accessible, and those who watch and observe it", async () => {
  const ann = await person("Ann");
  await ann.page.selectOption('[data-key="starts"]', "ready");
  await ann.click('[data-create="agent-command"]');
  await ann.see(".start");
  await check(ann);
  await ann.click('[data-key="red ground ready"]');
  await ann.page.waitForSelector(".start", { state: "hidden" });
  await ann.see(".map[data-tick]");
  await ann.click('[data-key="red ground manage"]');
  await check(ann);
  await ann.click('[data-key="red air invite"]');
  await ann.see("dialog[open]");
  await check(ann);
  await ann.click("dialog .primary");
  await ann.page.waitForSelector("dialog", { state: "detached" });
  const watcher = await Tab.open(browser, server, { path: `/#/watch/${ann.matchId}/blue` });
  await watcher.see('[data-seat="red air"] .tag.ai');
  await check(watcher);
  const observer = await person("Olga");
  await observer.go(`/observe/${ann.matchId}`);
  await observer.see("[data-part=observer]");
  await check(observer);
  await Promise.all([ann.close(), watcher.close(), observer.close()]);
});

test("the page that verifies games over pipes is accessible", async () => {
  const tab = await Tab.open(browser, server, { path: "/pipes/" });
  await tab.see("h1");
  await check(tab);
  await tab.close();
});

test("the page where an owner lets an agent in is accessible", async () => {
  const redirect = "http://127.0.0.1:1/callback";
  const registration = await fetch(`${server.url}/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ client_name: "Harness", redirect_uris: [redirect], token_endpoint_auth_method: "none" }),
  });
  const { client_id: id } = await registration.json();
  const asked = new URLSearchParams({
    response_type: "code",
    client_id: id,
    redirect_uri: redirect,
    code_challenge: createHash("sha256").update("verifier".repeat(8)).digest("base64url"),
    code_challenge_method: "S256",
    resource: `${server.url}/mcp`,
    state: "x",
  });
  const tab = await Tab.open(browser, server, { path: `/oauth/authorize?${asked}` });
  await check(tab);
  await tab.page.fill('input[name="name"], input[type="text"]', "Ann");
  await tab.page.keyboard.press("Enter");
  await tab.see('button[value="allow"]');
  await check(tab);
  await tab.close();
});

/** Presses Tab until the focus is on an element that matches, as somebody without a mouse would. */
async function tabTo(tab, selector) {
  for (let presses = 0; presses < 80; presses += 1) {
    await tab.page.keyboard.press("Tab");
    if (await tab.page.evaluate((wanted) => document.activeElement.matches(wanted), selector)) {
      const { outlineStyle, boxShadow } = await tab.page.evaluate(() => {
        const { outlineStyle, boxShadow } = getComputedStyle(document.activeElement);
        return { outlineStyle, boxShadow };
      });
      assert.ok(outlineStyle !== "none" || boxShadow !== "none", `${selector} shows that it has the focus`);
      return;
    }
  }
  assert.fail(`no way to ${selector} with the keyboard`);
}

test("a keyboard alone logs in, makes a match, invites an agent and moves", async () => {
  const ann = await Tab.open(browser, server);
  await ann.see(".login input");
  await tabTo(ann, ".login input");
  await ann.page.keyboard.type("Ann");
  await ann.page.keyboard.press("Enter");
  await ann.see('.who:text-is("Ann")');
  await tabTo(ann, '[data-create="agent-command"]');
  await ann.page.keyboard.press("Enter");
  await ann.see(".map[data-tick]");
  await tabTo(ann, '[data-key="red air invite"]');
  await ann.page.keyboard.press("Enter");
  await ann.see("dialog[open]");
  const inside = () => ann.page.evaluate(() => document.activeElement.closest("dialog") !== null);
  assert.equal(await inside(), true, "the dialog takes the focus");
  await ann.page.keyboard.press("Escape");
  await ann.page.waitForSelector("dialog[open]", { state: "detached" });
  await tabTo(ann, ".map");
  await ann.page.keyboard.press("ArrowLeft");
  assert.match(await ann.page.textContent(".spoken"), /\S/, "the map says what is under its crosshair");
  await tabTo(ann, 'a[href="#/"]');
  await ann.page.keyboard.press("Enter");
  await ann.see("[data-create]");
  assert.deepEqual(ann.faults, []);
  await ann.close();
});
