// What those see who watch agent-command: smooth movement between versions, and nothing that their side does not see.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { quiet } from "../lib/battlefield.mjs";
import { Tab, launch } from "../lib/browser.mjs";
import { person, startPlayerThree } from "../lib/playerthree.mjs";
import { eventually } from "../lib/rooms.mjs";

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

/** Keeps where the page draws turned pictures, which are those of units, as places of the window's canvas. */
function recordPictures() {
  globalThis.drawn = [];
  const original = CanvasRenderingContext2D.prototype.setTransform;
  CanvasRenderingContext2D.prototype.setTransform = function (...numbers) {
    if (this.canvas.classList.contains("map") && numbers[1] !== 0 && numbers.length === 6) globalThis.drawn.push([numbers[4], numbers[5]]);
    return original.apply(this, numbers);
  };
}

test("units are drawn between the places of two versions", async () => {
  const { match, map } = await quiet(await person(server, "Ann"));
  const tab = await Tab.open(browser, server);
  await tab.page.addInitScript(recordPictures);
  await tab.page.goto(`${server.url}/#/watch/${match.room.roomId}/red`);
  await tab.page.reload();
  await tab.see(".map[data-tick]");
  const soldier = match.view.view.units.find(({ kind, side }) => kind === "soldier" && side === "red");
  const half = (map.size * map.tile) / 2;
  const goal = { x: soldier.x + Math.sign(half - soldier.x) * 280, y: soldier.y + Math.sign(half - soldier.y) * 70 };
  await tab.page.evaluate(() => (globalThis.drawn.length = 0));
  const from = match.views.length;
  assert.deepEqual(await match.act("ground", { kind: "move", units: [soldier.id], ...goal }), ["ok"]);
  const isThere = ({ id, order, x }) => id === soldier.id && order === "idle" && Math.abs(x - soldier.x) > 150;
  const { view } = await match.until(({ units }) => units.some(isThere));
  await tab.page.waitForFunction((tick) => Number(document.querySelector(".map").dataset.tick) >= tick, view.tick);
  const scale = await tab.page.evaluate(() => document.querySelector(".map").width) / (map.size * map.tile);
  const places = match.views.slice(from).map((version) => version.view.units.find(({ id }) => id === soldier.id).x);
  const drawn = (await tab.page.evaluate(() => globalThis.drawn)).map(([x, y]) => ({ x: x / scale, y: y / scale }));
  // Nobody else stands on a line this flat, wherever the seed puts red.
  const isOnLine = ({ x, y }) => Math.abs(Math.abs(y - soldier.y) - Math.abs(x - soldier.x) / 4) < 6;
  const isOnTheWay = ({ x }) => Math.abs(x - soldier.x) > 5 && Math.abs(x - goal.x) > 5 && Math.abs(x - soldier.x) < 280;
  const onTheWay = drawn.filter((place) => isOnLine(place) && isOnTheWay(place)).map(({ x }) => x);
  const between = onTheWay.filter((x) => places.every((place) => Math.abs(place - x) > 1));
  assert.ok(between.length > 3, `${onTheWay.length} pictures on the way, of which ${between.length} between two versions`);
  const back = onTheWay.filter((x, index) => index > 0 && (x - onTheWay[index - 1]) * Math.sign(goal.x - soldier.x) < -0.01);
  assert.deepEqual(back, [], "nothing jumps back");
  assert.deepEqual(tab.faults, []);
  await Promise.all([match.room.leave(), tab.close()]);
});

/** How many pixels of blue's or green's colour are in a canvas around a place. */
function pixelsOf([side, selector, x, y, extent]) {
  const canvas = document.querySelector(selector);
  const scale = canvas.width / extent;
  const [left, top, edge] = [(x - 100) * scale, (y - 100) * scale, 200 * scale].map(Math.round);
  // A copy is read, because the page's own canvas is not made for it.
  const copy = document.createElement("canvas");
  copy.width = copy.height = edge;
  const pen = copy.getContext("2d", { willReadFrequently: true });
  pen.drawImage(canvas, left, top, edge, edge, 0, 0, edge, edge);
  const { data } = pen.getImageData(0, 0, edge, edge);
  const isBlue = (red, green, blue) => blue > 180 && red < 110;
  const isGreen = (red, green, blue) => green > 150 && red < 80 && blue < 130;
  const is = side === "blue" ? isBlue : isGreen;
  let count = 0;
  for (let index = 0; index < data.length; index += 4) if (is(data[index], data[index + 1], data[index + 2])) count += 1;
  return count;
}

/** §15: fog. What a side does not see is neither drawn nor anywhere in its page. */
test("nothing unseen is drawn or in the document", async () => {
  const { match, map } = await quiet(await person(server, "Ann"));
  const { room } = match;
  const open = async (team) => {
    const tab = await Tab.open(browser, server, { path: `/#/watch/${room.roomId}/${team}` });
    await tab.see(".map[data-tick]");
    await tab.page.waitForFunction(() => Number(document.querySelector(".map").dataset.tick) > 20);
    return tab;
  };
  const [red, blue] = [await open("red"), await open("blue")];
  const base = map.starts.find(({ side }) => side === "blue");
  const extent = map.size * map.tile;
  for (const canvas of [".map", ".minimap"]) {
    assert.ok((await blue.page.evaluate(pixelsOf, ["blue", canvas, base.x, base.y, extent])) > 10, `blue sees its base on ${canvas}`);
    assert.equal(await red.page.evaluate(pixelsOf, ["blue", canvas, base.x, base.y, extent]), 0, `red sees nothing there on ${canvas}`);
  }
  const text = await red.page.content();
  assert.equal(/e_\d+/.test(text.replaceAll(/data-[a-z]+="[^"]*"/g, "")), false, "no id of a unit stands in the document");
  for (const tab of [red, blue]) assert.deepEqual(tab.faults, []);
  await Promise.all([room.leave(), red.close(), blue.close()]);
});

/** §10: allies see together, and the page tells who they are. */
test("an ally's ground is seen, and the ally is named", async () => {
  const sides = { teams: ["red", "green", "blue", "gold"], alliances: [["red", "green"], ["blue", "gold"]] };
  const { match, map } = await quiet(await person(server, "Ann"), sides);
  const tab = await Tab.open(browser, server, { path: `/#/watch/${match.room.roomId}/red` });
  await tab.see('.standing[aria-label="green"]:has-text("ally")');
  assert.equal(await tab.page.locator('.standing:has-text("ally")').count(), 1);
  const base = map.starts.find(({ side }) => side === "green");
  await tab.page.waitForFunction(pixelsOf, ["green", ".map", base.x, base.y, map.size * map.tile]);
  assert.deepEqual(tab.faults, []);
  await Promise.all([match.room.leave(), tab.close()]);
});

test("whoever watches is told what something is, by a click", async () => {
  const { match, map } = await quiet(await person(server, "Ann"));
  const tab = await Tab.open(browser, server, { path: `/#/watch/${match.room.roomId}/red` });
  await tab.see(".map[data-tick]");
  const base = map.starts.find(({ side }) => side === "red");
  const box = await (await tab.page.$(".map")).boundingBox();
  const extent = map.size * map.tile;
  await tab.page.mouse.click(box.x + (base.x / extent) * box.width, box.y + (base.y / extent) * box.height);
  await tab.see('.chosen:has-text("Red base: 1000 of 1000 hit points")');
  assert.deepEqual(tab.faults, []);
  await Promise.all([match.room.leave(), tab.close()]);
});

/** §20.9, §4: an observer is told what every side came to, a player what their own did. */
test("the end of a match is summed up for a player and for an observer", async () => {
  const { match } = await quiet(await person(server, "Ann"), { match: { maxTicks: 100 }, private: true, observerDelayMs: 0 });
  const { ticket } = await match.do("inviteObserver", {});
  const observer = await Tab.open(browser, server, { size: { width: 390, height: 844 } });
  await observer.logIn("Olga");
  await observer.page.goto(`${server.url}/#/observe/${match.room.roomId}/${ticket}`);
  const player = await Tab.open(browser, server);
  await player.logIn("Ben");
  await player.page.goto(`${server.url}/#/play/${match.room.roomId}`);
  await player.see('.result:has-text("Draw")');
  assert.match(await player.see(".summary"), /Alloy.*draw/s);
  assert.equal(await player.page.locator(".summary tbody tr").count(), 1, "a player sees their own side's report");
  await observer.see(".summary");
  assert.equal(await observer.page.locator(".summary tbody tr").count(), 2, "an observer sees both");
  assert.equal(await observer.page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false, "a phone scrolls down alone");
  for (const tab of [player, observer]) assert.deepEqual(tab.faults, []);
  await Promise.all([match.room.leave(), player.close(), observer.close()]);
});

/** §20.9: whoever looks through the eyes of a side sees its fog, whatever they saw before. */
test("an observer who changes to the eyes of a side is shown nothing else any more", async () => {
  const { match, map } = await quiet(await person(server, "Ann"), { private: true, observerDelayMs: 0 });
  const { ticket } = await match.do("inviteObserver", {});
  const olga = await Tab.open(browser, server);
  await olga.logIn("Olga");
  await olga.page.goto(`${server.url}/#/observe/${match.room.roomId}/${ticket}`);
  await olga.see(".map[data-tick]");
  const base = map.starts.find(({ side }) => side === "blue");
  const where = (canvas) => ["blue", canvas, base.x, base.y, map.size * map.tile];
  await olga.page.waitForFunction(pixelsOf, where(".map"));
  assert.equal(await olga.page.isVisible('[data-gauge="alloy"]'), false, "nobody's purse is one's own");
  await olga.page.selectOption('[data-key="perspective"]', "red");
  await olga.see('[data-gauge="alloy"]');
  for (const canvas of [".map", ".minimap"]) {
    await eventually(async () => (await olga.page.evaluate(pixelsOf, where(canvas))) === 0, `blue's base is not on ${canvas}`);
  }
  assert.deepEqual(olga.faults, []);
  await Promise.all([match.room.leave(), olga.close()]);
});
