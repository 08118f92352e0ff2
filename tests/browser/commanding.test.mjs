// A person commands on the map of agent-command, by mouse, by touch and by keyboard, and the server's views show it.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { command, drag, goesTo, middle, pixel, showAll, spectator } from "../lib/battlefield.mjs";
import { Tab, launch } from "../lib/browser.mjs";
import { startPlayerThree } from "../lib/playerthree.mjs";

const PHONE = { width: 390, height: 844 };

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

/** A tab with a match, and somebody who sees what red sees. */
async function begin(name, options, tabOptions) {
  const tab = await command(await Tab.open(browser, server, tabOptions), name, options);
  const { watcher, map } = await spectator(server, tab.matchId, "red");
  return { tab, watcher, map };
}

async function end({ tab, watcher }) {
  assert.deepEqual(tab.faults, []);
  await Promise.all([watcher.room.leave(), tab.close()]);
}

const own = (view, kind) => view.units.filter((unit) => unit.side === "red" && unit.kind === kind);

/** The smallest box around units, with some points to each side. */
function around(units, margin = 40) {
  const [xs, ys] = [units.map(({ x }) => x), units.map(({ y }) => y)];
  const from = { x: Math.min(...xs) - margin, y: Math.min(...ys) - margin };
  return [from, { x: Math.max(...xs) + margin, y: Math.max(...ys) + margin }];
}

/** A free place some tiles nearer to the middle of the map. */
function inwards({ size, tile, terrain }, { x, y }, tiles = 5) {
  const half = (size * tile) / 2;
  for (let reach = tiles; reach > 0; reach -= 1) {
    const place = { x: x + Math.sign(half - x) * reach * tile, y: y + Math.sign(half - y) * reach * tile };
    if (terrain[Math.floor(place.y / tile)][Math.floor(place.x / tile)] === ".") return place;
  }
  throw new Error("no free place");
}

test("a box selects the army, and the second button sends it", async () => {
  const game = await begin("Ann");
  const { tab, watcher, map } = game;
  await showAll(tab);
  const soldiers = own(watcher.view.view, "soldier");
  const [from, to] = around(soldiers);
  await drag(tab, await pixel(tab, map, from), await pixel(tab, map, to));
  await tab.see(`.chosen:has-text("${soldiers.length} soldiers")`);
  assert.match(await tab.see(".picked"), /2 soldiers, 100%/, "the selection is listed in words");
  const goal = inwards(map, soldiers[0]);
  const at = await pixel(tab, map, goal);
  await tab.page.mouse.click(at.x, at.y, { button: "right" });
  await watcher.until((view) => soldiers.every(({ id, ...was }) => goesTo(own(view, "soldier").find((unit) => unit.id === id), was, goal)));
  await end(game);
});

test("a double click takes all of a kind, and attack-move is one key and one click", async () => {
  const game = await begin("Ann");
  const { tab, watcher, map } = game;
  await showAll(tab);
  const soldiers = own(watcher.view.view, "soldier");
  const at = await pixel(tab, map, soldiers[0]);
  await tab.page.mouse.dblclick(at.x, at.y);
  await tab.see(`.chosen:has-text("${soldiers.length} soldiers")`);
  await tab.page.keyboard.press("a");
  await tab.see('.chosen:has-text("fight")');
  const to = await pixel(tab, map, inwards(map, soldiers[0]));
  await tab.page.mouse.click(to.x, to.y);
  await watcher.until((view) => own(view, "soldier").every(({ order }) => order === "advance"));
  await tab.page.keyboard.press("s");
  await watcher.until((view) => own(view, "soldier").every(({ order }) => order === "idle"));
  await tab.page.keyboard.press("Escape");
  await tab.click('[data-group="army"]');
  await tab.page.keyboard.press("a");
  await tab.see('.chosen:has-text("fight")');
  await end(game);
});

test("a finger selects with a tap, orders with a tap, takes several with a drag and all of a kind by resting", async () => {
  const game = await begin("Ann", { role: "economy" }, { size: PHONE, touch: true });
  const { tab, watcher, map } = game;
  await showAll(tab);
  await tab.page.locator(".map").scrollIntoViewIfNeeded();
  const [worker] = own(watcher.view.view, "worker");
  const on = await pixel(tab, map, worker);
  await tab.page.touchscreen.tap(on.x, on.y);
  await tab.see('.chosen:has-text("1 worker")');
  const patch = map.patchPlaces.toSorted((one, other) => distance(one, worker) - distance(other, worker))[0];
  const ore = await pixel(tab, map, patch);
  await tab.page.touchscreen.tap(ore.x, ore.y);
  await watcher.until((view) => own(view, "worker").find(({ id }) => id === worker.id)?.order === "gather");

  const cdp = await tab.page.context().newCDPSession(tab.page);
  const touch = (type, ...touchPoints) => cdp.send("Input.dispatchTouchEvent", { type, touchPoints });
  const resting = own(watcher.view.view, "worker").filter(({ order }) => order === "idle");
  const [from, to] = around(resting, 60);
  const [a, b] = [await pixel(tab, map, from), await pixel(tab, map, to)];
  await touch("touchStart", a);
  await touch("touchMove", { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });
  await touch("touchMove", b);
  await touch("touchEnd");
  // The one that is on its way may have been in the box still.
  await tab.see('.chosen:has-text("workers")');
  await tab.click('button:text-is("Deselect")');
  await tab.see('.chosen:has-text("Nothing selected")');
  await touch("touchStart", await pixel(tab, map, resting[0]));
  await tab.see('.chosen:has-text("4 workers")');
  await touch("touchEnd");
  await end(game);
});

const distance = (one, other) => Math.hypot(one.x - other.x, one.y - other.y);

test("a click on the small map moves the large one there", async () => {
  const game = await begin("Ann");
  const { tab, watcher, map } = game;
  await tab.click('[data-group="soldier"]');
  const goal = nearMiddle(map);
  const small = await pixel(tab, map, goal, ".minimap");
  await tab.page.mouse.click(small.x, small.y);
  const at = await middle(tab);
  await tab.page.mouse.click(at.x, at.y, { button: "right" });
  await watcher.until((view) => own(view, "soldier").some((unit) => distance(unit, goal) < 160), "a soldier where the small map was clicked");
  await end(game);
});

/** The middle of a free tile that the large map can have in its own middle. */
function nearMiddle({ size, tile, terrain }) {
  const half = (size * tile) / 2;
  const free = terrain.flatMap((row, y) => [...row].flatMap((ground, x) => (ground === "." ? [{ x: (x + 0.5) * tile, y: (y + 0.5) * tile }] : [])));
  return free.toSorted((one, other) => distance(one, { x: half, y: half }) - distance(other, { x: half, y: half }))[0];
}

test("a happening of the timeline shows its place", async () => {
  const game = await begin("Ann", { role: "economy" });
  const { tab, watcher, map } = game;
  const bots = own(watcher.view.view, "worker").map(({ id }) => id);
  await tab.click('[data-make="worker"]');
  await tab.see('.queues:has-text("Worker")');
  const { view } = await watcher.until((now) => own(now, "worker").some(({ id }) => !bots.includes(id)), "a new worker");
  const fresh = own(view, "worker").find(({ id }) => !bots.includes(id));
  await tab.see('.ticker li:has-text("Ready: worker")');
  const far = await pixel(tab, map, { x: map.size * map.tile - fresh.x, y: map.size * map.tile - fresh.y }, ".minimap");
  await tab.page.mouse.click(far.x, far.y);
  await tab.page.emulateMedia({ reducedMotion: "reduce" });
  await tab.click('.ticker button:has-text("Ready: worker")');
  await tab.page.focus(".map");
  await tab.page.keyboard.press("0");
  await tab.click('.ticker button:has-text("Ready: worker")');
  // Near a corner the view cannot have the place in its middle: the click goes to where it is.
  const on = await seenAt(tab, map, fresh);
  await tab.page.mouse.click(on.x, on.y);
  await tab.see('.chosen:has-text("1 worker")');
  await end(game);
});

/** Where a place is in the window after the page looked there from the whole map. */
async function seenAt(tab, { size, tile }, { x, y }) {
  const zoom = 1.9;
  const extent = size * tile;
  const width = extent / zoom;
  const corner = (value) => Math.min(extent - width, Math.max(0, value - width / 2));
  const box = await (await tab.page.$(".map")).boundingBox();
  return { x: box.x + ((x - corner(x)) / width) * box.width, y: box.y + ((y - corner(y)) / width) * box.height };
}

test("a building is placed where it may stand, and the page says where it may not", async () => {
  const game = await begin("Ann", { role: "economy" });
  const { tab, watcher, map } = game;
  await showAll(tab);
  const base = watcher.view.view.buildings.find(({ kind, side }) => kind === "base" && side === "red");
  await tab.click('[data-make="factory"]');
  await tab.see('.chosen:has-text("Choose a tile")');
  const on = await pixel(tab, map, { x: base.x + map.tile, y: base.y });
  await tab.page.mouse.click(on.x, on.y);
  await tab.see('.toast:has-text("too close to another building")');
  await tab.see('[data-make="factory"][aria-pressed="true"]');
  const site = openSite(watcher.view.view, map, base);
  const free = await pixel(tab, map, site);
  await tab.page.mouse.click(free.x, free.y);
  await tab.see('[data-make="factory"][aria-pressed="false"]');
  await watcher.until((view) => view.buildings.some(({ kind, x, y }) => kind === "factory" && x === site.x && y === site.y), "the factory");
  await end(game);
});

test("a finger's first tap shows where a building would stand, and the second builds it", async () => {
  const game = await begin("Ann", { role: "economy" }, { size: PHONE, touch: true });
  const { tab, watcher, map } = game;
  await showAll(tab);
  const base = watcher.view.view.buildings.find(({ kind, side }) => kind === "base" && side === "red");
  const site = openSite(watcher.view.view, map, base);
  await tab.page.locator('[data-make="factory"]').tap();
  const on = await pixel(tab, map, base);
  await tab.page.touchscreen.tap(on.x, on.y);
  await tab.see('.chosen:has-text("too close to another building")');
  const free = await pixel(tab, map, site);
  await tab.page.touchscreen.tap(free.x, free.y);
  await tab.see('.chosen:has-text("Tap again")');
  await tab.page.touchscreen.tap(free.x, free.y);
  await watcher.until((view) => view.buildings.some(({ kind, x, y }) => kind === "factory" && x === site.x && y === site.y), "the factory");
  await end(game);
});

/** The middle of the nearest tile to a place on which nothing hinders a building. */
function openSite({ buildings }, { size, tile, terrain, patchPlaces }, near) {
  const column = (value) => Math.floor(value / tile);
  const sites = [];
  for (let row = 0; row < size; row += 1) {
    for (let col = 0; col < size; col += 1) {
      const isBeside = ({ x, y }) => Math.max(Math.abs(column(x) - col), Math.abs(column(y) - row)) <= 1;
      if (terrain[row][col] === "." && ![...buildings, ...patchPlaces].some(isBeside)) sites.push({ x: (col + 0.5) * tile, y: (row + 0.5) * tile });
    }
  }
  return sites.toSorted((one, other) => distance(one, near) - distance(other, near))[0];
}

test("keys alone select the army, send it and keep it as a group", async () => {
  const game = await begin("Ann");
  const { tab, watcher, map } = game;
  const soldiers = own(watcher.view.view, "soldier");
  await tab.page.focus(".map");
  const { keyboard } = tab.page;
  await keyboard.press("f");
  await tab.see('.chosen:has-text("2 soldiers")');
  await keyboard.press("Shift+Digit1");
  const goal = inwards(map, soldiers[0], 4);
  const steps = [goal.x - soldiers[0].x, goal.y - soldiers[0].y].map((points) => Math.round(points / map.tile));
  for (const [count, keys] of [[steps[0], ["ArrowLeft", "ArrowRight"]], [steps[1], ["ArrowUp", "ArrowDown"]]])
    for (let step = 0; step < Math.abs(count); step += 1) await keyboard.press(keys[count < 0 ? 0 : 1]);
  assert.match(await tab.page.textContent(".spoken"), /Column \d+, row \d+/);
  await keyboard.press("Enter");
  await watcher.until((view) => own(view, "soldier").some((unit) => goesTo(unit, soldiers[0], goal)));
  await keyboard.press("Escape");
  await tab.see('.chosen:has-text("Nothing selected")');
  await keyboard.press("1");
  await tab.see('.chosen:has-text("2 soldiers")');
  await keyboard.press("i");
  assert.match(await tab.page.textContent(".spoken"), /Alloy \d+, energy \d+.*soldier/);
  await end(game);
});

test("one person commands a whole side, and takes a role from a bot", async () => {
  const all = await begin("Ann", { role: "all" });
  await all.tab.see('.roles:has-text("economy, ")');
  for (const role of ["economy", "ground", "air"]) await all.tab.see(`.roles:has-text("${role}")`);
  await all.tab.see('[data-part="player"]:has-text("economy, ground, air")');
  await all.watcher.until((view) => view.tick > 0, "the first tick, which waits for all three");
  await all.tab.page.waitForSelector("[data-take]", { state: "detached" });
  await end(all);
  const one = await begin("Ben");
  await one.tab.click('[data-take="economy"]');
  await one.tab.see('[data-make="worker"]');
  await end(one);
});
