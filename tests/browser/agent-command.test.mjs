// People at the page, in a real browser: agent-command, its seats and those who watch.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { command, pixel, showAll } from "../lib/battlefield.mjs";
import { Tab, launch } from "../lib/browser.mjs";
import { InMatch, agent, guest, startPlayerThree } from "../lib/playerthree.mjs";

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

/** A tab that has created a match and commands red's ground. */
async function commander(name, visibility = "public") {
  return command(await Tab.open(browser, server), name, { visibility });
}

/** What the tab's crosshair says of the tile of a place, after it went there from the middle of the map. */
async function spoken(tab, { size, tile }, { x, y }) {
  await tab.page.focus(".map");
  const middle = Math.floor(size / 2);
  const walk = async (steps, [less, more]) => {
    for (let step = 0; step < Math.abs(steps); step += 1) await tab.page.keyboard.press(steps < 0 ? less : more);
  };
  await walk(Math.floor(x / tile) - middle, ["ArrowLeft", "ArrowRight"]);
  await walk(Math.floor(y / tile) - middle, ["ArrowUp", "ArrowDown"]);
  return tab.page.textContent(".spoken");
}

/** §4: what a player does in the browser is what everybody of the side sees. */
test("a unit that is moved on the map moves for a watcher of the same side", async () => {
  const ann = await commander("Ann");
  const watcher = new InMatch(await guest(server).joinById(ann.matchId, { as: "spectator", team: "red" }));
  const first = (await watcher.until((view) => view.units.length > 0)).view;
  const map = watcher.views[0].view.map;
  const tab = await Tab.open(browser, server, { path: `/#/watch/${ann.matchId}/red` });
  await tab.see(".map[data-tick]");

  const soldier = first.units.find((unit) => unit.kind === "soldier" && unit.side === "red");
  // Towards the middle, whichever corner the seed gave to red.
  const inwards = (from, by) => from + Math.sign((map.size * map.tile) / 2 - from) * by;
  const goal = { x: inwards(soldier.x, 300), y: inwards(soldier.y, 200) };
  await showAll(ann);
  const [from, to] = [await pixel(ann, map, soldier), await pixel(ann, map, goal)];
  await ann.page.mouse.click(from.x, from.y);
  await ann.see('.chosen:has-text("1 soldier")');
  await ann.page.mouse.click(to.x, to.y, { button: "right" });
  const arrived = await watcher.until((view) => {
    const now = view.units.find((unit) => unit.id === soldier.id);
    return now && now.order === "idle" && Math.hypot(now.x - goal.x, now.y - goal.y) < 120;
  }, "the soldier's arrival");
  // The watching tab is at that moment of the match, or later.
  await tab.page.waitForFunction(
    (tick) => Number(document.querySelector(".map").dataset.tick) >= tick,
    arrived.view.tick,
  );
  const seen = arrived.view.units.find((unit) => unit.id === soldier.id);
  assert.match(await spoken(tab, map, seen), /red soldier/);
  assert.equal(await tab.page.isVisible(".panel"), false, "watchers have no controls");
  assert.deepEqual([...ann.faults, ...tab.faults], []);
  await Promise.all([watcher.room.leave(), ann.close(), tab.close()]);
});

/** §1 promise 3, §20.2: an agent's seat is labelled for everybody, in the match and in the list. */
test("an agent that is invited through the page is labelled everywhere and plays", async () => {
  const ann = await commander("Ann");
  const list = await Tab.open(browser, server);
  const watcher = await Tab.open(browser, server, { path: `/#/watch/${ann.matchId}/blue` });
  await watcher.see('[data-seat="red air"]');
  assert.equal(await watcher.page.isVisible(".tag.ai"), false);

  await ann.click('[data-key="red air invite"]');
  await ann.see("dialog[open]");
  assert.equal(await ann.page.inputValue("#mint-url"), `${server.url}/mcp`);
  const token = await ann.page.inputValue("#mint-token");
  assert.match(await ann.see("dialog .warning"), /once.*mcp-session-id/s);
  await ann.click("dialog .primary");
  await ann.page.waitForSelector("dialog", { state: "detached" });
  assert.equal((await ann.page.content()).includes(token), false, "the token is shown once");

  for (const tab of [ann, watcher]) assert.equal(await tab.see('[data-seat="red air"] .tag.ai'), "AI player");
  assert.equal(await list.see(`[data-room="${ann.matchId}"] .tag.ai`), "AI player");

  const client = await agent(server, token);
  assert.equal((await client.tool("game_briefing")).seat.role, "air");
  await ann.see('[data-seat="red air"]:has-text("live")');

  // §12: words between an owner and their agent, on the page.
  await ann.page.fill(".chat input", "Hold the bridge.");
  await ann.click(".chat button");
  assert.equal(await ann.see(".chatlines li"), "You: Hold the bridge.");
  const heard = await client.tool("game_wait", { seconds: 20 });
  assert.deepEqual([heard.wake, heard.messages[0].text], ["owner_message", "Hold the bridge."]);
  await client.tool("game_say", { text: "Understood." });
  assert.match(await ann.see(".chatlines li:nth-child(2)"), /: Understood\.$/);
  await client.close();
  for (const tab of [ann, watcher, list]) {
    assert.deepEqual(tab.faults, []);
    await tab.close();
  }
});

/** §7: under a supervised mandate the owner decides at the page, and only then is the policy the seat's. */
test("a supervised agent's policy waits for its owner, who approves it at the page", async () => {
  const ann = await commander("Ann");
  await ann.click('[data-key="red ground manage"]');
  await ann.page.selectOption('[data-key="red ground autonomy"]', "supervised");
  await ann.see('.toast:has-text("mandate")');
  await ann.click('[data-key="red ground invite"]');
  await ann.see("dialog[open]");
  const client = await agent(server, await ann.page.inputValue("#mint-token"));
  await ann.click("dialog .primary");
  const deployed = await client.tool("policy_deploy", { runtime: "js", code: "function think() { return []; }" });
  assert.equal(deployed.ok, false);
  await ann.see('.approval:has-text("waits for your approval")');
  await ann.click('[data-key="red ground yes"]');
  await ann.see('.toast:has-text("Approved")');
  await ann.page.waitForSelector(".approval", { state: "detached" });
  const { policy } = await client.tool("policy_status");
  assert.equal(policy.version, deployed.approval.version ?? policy.version);
  await client.close();
  assert.deepEqual(ann.faults, []);
  await ann.close();
});

/** §20.9: an observer sees everything, and always how late. */
test("an observer sees both sides and how late it is", async () => {
  const ann = await commander("Ann", "live");
  const olga = await Tab.open(browser, server);
  await olga.logIn("Olga");
  await olga.go(`/observe/${ann.matchId}`);
  assert.match(await olga.see("[role=alert]"), /ticket/, "a private match admits nobody uninvited");
  olga.faults.length = 0;

  await ann.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await ann.click("[data-key=invite-observer]");
  await ann.see('.toast:has-text("one observer")');
  const link = await ann.page.evaluate(() => navigator.clipboard.readText());
  await olga.page.goto(link);
  await olga.see(".map[data-tick]");
  assert.match(await olga.see("[data-part=observer]"), /live/);
  assert.equal(await olga.page.locator(".standing").count(), 2);
  assert.equal(await olga.page.isVisible(".panel"), false, "observers have no controls");
  assert.deepEqual(olga.faults, []);
  await Promise.all([ann.close(), olga.close()]);
});

test("an observer of a public match is told to wait and how long", async () => {
  const ann = await commander("Ann");
  const olga = await Tab.open(browser, server);
  await olga.logIn("Olga");
  await olga.click(`[data-room="${ann.matchId}"] button:has-text("Observe")`);
  await olga.see('[data-part=observer]:has-text("3 min late")');
  await olga.see('.overlay:has-text("Waiting")');
  assert.deepEqual(olga.faults, []);
  await Promise.all([ann.close(), olga.close()]);
});
