// Who is let into a match by a link, and what they are shown when their access ends (§5, §20): a second device, a
// spectator and an observer; and what an owner lets an agent do (§6).

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Tab, launch } from "../lib/browser.mjs";
import { InMatch, agent, person, startPlayerThree } from "../lib/playerthree.mjs";
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

const ENDED = '.banner:has-text("Your access to this match has ended")';
const square = (row, col) => `[data-square="${row},${col}"]`;

test("another device of an owner plays their seat until they revoke it, and its link is good once", async () => {
  const ann = await Tab.open(browser, server);
  await ann.logIn("Ann");
  await ann.page.selectOption(".tic-tac-toe select >> nth=2", "random");
  await ann.click('[data-create="tic-tac-toe"]');
  await ann.see('.turn:has-text("Your turn")');
  await ann.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await ann.click('[data-key="x player manage"]');
  await ann.click('[data-key="x player device"]');
  await ann.see('.toast:has-text("one device")');
  const link = await ann.page.evaluate(() => navigator.clipboard.readText());

  const phone = await Tab.open(browser, server, { size: { width: 390, height: 844 }, scheme: "dark" });
  await phone.page.goto(link);
  assert.match(await phone.see("[data-part=player]"), /You play X/);
  await phone.click(square(1, 1));
  for (const tab of [phone, ann]) await tab.see(`${square(1, 1)}[data-mark="x"]`);
  assert.deepEqual(phone.faults, []);

  await ann.click('[data-key="x player revoke"]');
  await phone.see(ENDED);
  await phone.page.goto("about:blank");
  await phone.page.goto(link);
  assert.match(await phone.see("[role=alert]"), /used before/);
  await ann.see(`${square(1, 1)}[data-mark="x"]`);
  assert.deepEqual(ann.faults, []);
  await Promise.all([ann.close(), phone.close()]);
});

test("a spectator with a token is told the end and let go, and an observer whose ticket is revoked at once", async () => {
  const host = new InMatch(await (await person(server, "Ann")).create("tic-tac-toe", { private: true, observerDelayMs: 0 }));
  const { token } = await host.do("mintSpectator", { ttlSeconds: 600 });
  const cho = await Tab.open(browser, server, { path: `/#/guest/${host.room.roomId}/${token}` });
  await cho.see(square(0, 0));
  await cho.see("[data-part=spectator]");
  const { ticket } = await host.do("inviteObserver", { ttlSeconds: 600 });
  const olga = await Tab.open(browser, server);
  await olga.logIn("Olga");
  await olga.go(`/observe/${host.room.roomId}/${ticket}`);
  await olga.see("[data-part=observer]");
  await olga.see(square(0, 0));

  await host.do("revokeObserver", { ticket });
  await olga.see(ENDED);
  assert.deepEqual(await host.act("player", { kind: "resign" }), ["ok"]);
  await cho.see('.turn:has-text("O wins")');
  await cho.see(ENDED);
  for (const tab of [cho, olga]) {
    assert.deepEqual(tab.faults, []);
    await tab.close();
  }
  await host.room.leave();
});

test("an observer of everything may look through the eyes of a side", async () => {
  const options = { teams: ["red", "blue"], bots: "recruit", team: "red", role: "ground", private: true, observerDelayMs: 0 };
  const host = new InMatch(await (await person(server, "Ann")).create("agent-command", options));
  const { ticket } = await host.do("inviteObserver", { ttlSeconds: 600 });
  const olga = await Tab.open(browser, server);
  await olga.logIn("Olga");
  const seen = new Set();
  olga.page.on("websocket", (socket) =>
    socket.on("framereceived", ({ payload }) => seen.add(/perspective.(all|red|blue)/s.exec(Buffer.from(payload).toString("latin1"))?.[1])),
  );
  await olga.go(`/observe/${host.room.roomId}/${ticket}`);
  await olga.see(".map[data-tick]");
  assert.ok(seen.has("all") && !seen.has("red"));
  await olga.page.selectOption('[data-key="perspective"]', "red");
  await eventually(() => seen.has("red"), "a frame as red sees it");
  const tick = () => olga.page.$eval(".map", (map) => Number(map.dataset.tick));
  const before = await tick();
  await eventually(async () => (await tick()) > before, "the map goes on");
  assert.deepEqual(olga.faults, []);
  await olga.close();
  await host.room.leave();
});

test("an owner takes a right from their agent at the page and tells it what they want", async () => {
  const ann = await Tab.open(browser, server);
  await ann.logIn("Ann");
  await ann.click('[data-create="agent-command"]');
  await ann.see(".map[data-tick]");
  await ann.click('[data-key="red air invite"]');
  await ann.see("dialog[open]");
  const client = await agent(server, await ann.page.inputValue("#mint-token"));
  await ann.click("dialog .primary");
  const stop = { intents: [{ kind: "stop", units: [] }] };
  const code = async () => (await client.tool("game_act", stop)).acks[0].code;
  assert.equal(await code(), "game", "it may act");
  await ann.click('[data-key="red air manage"]');
  await ann.click('[data-key="red air scope act"]');
  await ann.see('.toast:has-text("rights are set")');
  assert.equal(await code(), "out_of_scope");
  assert.equal(await ann.page.isChecked('[data-key="red air scope act"]'), false);
  assert.equal(await ann.page.isChecked('[data-key="red air scope say"]'), true);
  await ann.page.selectOption('[data-key="red air objective"]', "defend");
  await ann.see('.toast:has-text("mandate is set")');
  assert.equal((await client.tool("game_briefing")).mandate.directive.objective, "defend");
  await client.close();
  assert.deepEqual(ann.faults, []);
  await ann.close();
});
