// The map of agent-command in a tab: where its places are on the canvas, and what hands do there.

import { guest, InMatch } from "./playerthree.mjs";

const VISIBILITY = ".agent-command select >> nth=4";
const ROLE = ".agent-command select >> nth=1";
const OPEN = { bots: "nobody" };

/** Logs a tab in and creates a match in it, as red's commander of a role. */
export async function command(tab, name, { role = "ground", visibility = "public" } = {}) {
  await tab.logIn(name);
  await tab.page.selectOption(ROLE, role);
  await tab.page.selectOption(VISIBILITY, visibility);
  await tab.click('[data-create="agent-command"]');
  await tab.see(".map[data-tick]");
  return tab;
}

/** A match that a person created over the SDK and in which nobody else acts, so that only what is ordered moves. */
export async function quiet(client, options = {}) {
  const match = new InMatch(await client.create("agent-command", { ...OPEN, teams: ["red", "blue"], role: "ground", ...options }));
  const { view } = await match.until((now) => now.map !== undefined && now.units.length > 0);
  return { match, map: view.map };
}

/** Somebody who sees what a side sees, over the SDK. */
export async function spectator(server, id, team) {
  const watcher = new InMatch(await guest(server).joinById(id, { as: "spectator", team }));
  await watcher.until((view) => view.units.length > 0);
  return { watcher, map: watcher.views[0].view.map };
}

/** Zooms out, so that the canvas shows the whole map. */
export async function showAll(tab) {
  await tab.page.focus(".map");
  await tab.page.keyboard.press("0");
}

/** Where a place of the map is in the tab's window, once the canvas shows the whole map. */
export async function pixel(tab, { size, tile }, { x, y }, canvas = ".map") {
  const box = await (await tab.page.$(canvas)).boundingBox();
  return { x: box.x + (x / (size * tile)) * box.width, y: box.y + (y / (size * tile)) * box.height };
}

/** The middle of the canvas in the tab's window. */
export async function middle(tab) {
  const box = await (await tab.page.$(".map")).boundingBox();
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/** Draws a box with the first button. */
export async function drag(tab, from, to) {
  await tab.page.mouse.move(from.x, from.y);
  await tab.page.mouse.down();
  await tab.page.mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2, { steps: 3 });
  await tab.page.mouse.move(to.x, to.y, { steps: 3 });
  await tab.page.mouse.up();
}

/** Whether the unit is on its way to a place or there. */
export function goesTo(unit, from, to) {
  const before = Math.hypot(from.x - to.x, from.y - to.y);
  return unit !== undefined && Math.hypot(unit.x - to.x, unit.y - to.y) < before - 60;
}
