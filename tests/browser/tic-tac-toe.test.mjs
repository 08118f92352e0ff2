// People at the page, in a real browser: a whole game of tic-tac-toe.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Tab, launch } from "../lib/browser.mjs";
import { brittleLine } from "../lib/line.mjs";
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

const square = (row, col) => `[data-square="${row},${col}"]`;
const MY_TURN = '.turn:has-text("Your turn")';

async function place(tab, row, col) {
  await tab.see(MY_TURN);
  await tab.click(square(row, col));
}

/** The board as a tab shows it, line by line. */
function board(tab) {
  return tab.page.$$eval("[role=row]", (rows) =>
    rows.map((row) => [...row.querySelectorAll(".square")].map((one) => one.dataset.mark || ".").join("")),
  );
}

/** §4: one game, four tabs, one truth. */
test("two tabs play to a win and two others that watch end with the same board", async () => {
  const ann = await Tab.open(browser, server);
  await ann.logIn("Ann");
  await ann.click('[data-create="tic-tac-toe"]');
  await ann.see(MY_TURN);

  const bob = await Tab.open(browser, server, { scheme: "dark" });
  await bob.logIn("Bob");
  await bob.click(`[data-room="${ann.matchId}"] button:text-is("Play")`);
  const cho = await Tab.open(browser, server, { size: { width: 390, height: 844 } });
  await cho.click(`[data-room="${ann.matchId}"] button:text-is("Watch")`);
  await cho.see(square(0, 0));
  const dee = await Tab.open(browser, server, { path: `/#/watch/${ann.matchId}/o`, scheme: "dark" });
  await dee.see(square(0, 0));

  const moves = [[ann, 0, 0], [bob, 1, 0], [ann, 0, 1], [bob, 1, 1], [ann, 0, 2]];
  for (const [tab, row, col] of moves) await place(tab, row, col);

  await ann.see('.turn:has-text("You win!")');
  await bob.see('.turn:has-text("You lose")');
  for (const watcher of [cho, dee]) await watcher.see('.turn:has-text("X wins")');
  for (const tab of [ann, bob, cho, dee]) {
    assert.deepEqual(await board(tab), ["xxx", "oo.", "..."]);
    const won = await tab.page.$$eval(".square.won", (squares) => squares.map((one) => one.dataset.square));
    assert.deepEqual(won, ["0,0", "0,1", "0,2"]);
  }
  await ann.see('.result:has-text("Victory")');
  await bob.see('.result:has-text("Defeat")');
  for (const watcher of [cho, dee]) assert.equal(await watcher.page.isVisible(".result"), false);
  for (const tab of [ann, bob, cho, dee]) {
    assert.deepEqual(tab.faults, []);
    await tab.close();
  }
});

/** The board is played with the keyboard alone, and says where one is. */
test("the keyboard plays, and a square says what is on it", async () => {
  const ann = await Tab.open(browser, server);
  await ann.logIn("Ann");
  await ann.page.selectOption(".tic-tac-toe select >> nth=2", "random");
  await ann.click('[data-create="tic-tac-toe"]');
  await ann.see(MY_TURN);
  await ann.page.focus(square(0, 0));
  await ann.page.keyboard.press("ArrowDown");
  await ann.page.keyboard.press("ArrowRight");
  const label = () => ann.page.evaluate(() => document.activeElement.getAttribute("aria-label"));
  assert.equal(await label(), "Row 2, column 2: free");
  await ann.page.keyboard.press("Enter");
  await ann.see(`${square(1, 1)}[data-mark="x"]`);
  assert.match(await label(), /^Row 2, column 2: X/);
  // The bot answers, so it is the person's turn again.
  await ann.see('.square[data-mark="o"]');
  await ann.see(MY_TURN);
  await ann.click('button:text-is("Resign")');
  await ann.click('button:text-is("Really resign?")');
  await ann.see('.result:has-text("Defeat")');
  await ann.click('button:text-is("Play again")');
  await ann.see(MY_TURN);
  assert.deepEqual(await board(ann), ["...", "...", "..."]);
  assert.deepEqual(ann.faults, []);
  await ann.close();
});

/** §9: a dropped player's seat is held, and the page comes back to it by itself. */
test("a dropped connection is shown and comes back to the same seat", async (context) => {
  // At the end of the line the page has another address than the server, and its port is not known before.
  const behind = await startPlayerThree(["--allow-origin", "*"]);
  context.after(() => behind.stop());
  const line = await brittleLine(behind);
  const ann = await Tab.open(browser, line);
  await ann.logIn("Ann");
  await ann.page.selectOption(".tic-tac-toe select >> nth=2", "random");
  await ann.click('[data-create="tic-tac-toe"]');
  await place(ann, 0, 0);
  await ann.see('.square[data-mark="o"]');
  const before = await board(ann);
  line.refuse();
  await ann.see('.banner:has-text("Reconnecting")');
  line.admit();
  await ann.page.waitForSelector(".banner", { state: "hidden" });
  assert.match(await ann.see("[data-part=player]"), /You play X/);
  assert.deepEqual(await board(ann), before);
  await ann.see(MY_TURN);
  await ann.click('.square[aria-disabled="false"]');
  await ann.page.waitForFunction(() => document.querySelectorAll('.square[data-mark="x"]').length === 2);
  await ann.close();
  await line.close();
});

/** A reload of the tab comes back to the seat, as does the way over the list. */
test("a reloaded tab keeps its seat", async () => {
  const ann = await Tab.open(browser, server);
  await ann.logIn("Ann");
  await ann.click('[data-create="tic-tac-toe"]');
  await place(ann, 2, 2);
  await ann.see(`${square(2, 2)}[data-mark="x"]`);
  await ann.page.reload();
  await ann.see(`${square(2, 2)}[data-mark="x"]`);
  assert.match(await ann.see("[data-part=player]"), /You play X/);
  const id = ann.matchId;
  await ann.click(".brand");
  await ann.click(`[data-room="${id}"] button:text-is("Return")`);
  await ann.see(`${square(2, 2)}[data-mark="x"]`);
  assert.match(await ann.see("[data-part=player]"), /You play X/);
  assert.deepEqual(ann.faults, []);
  await ann.close();
});

test("what does not work is said in words", async () => {
  const ann = await Tab.open(browser, server);
  await ann.page.fill(".login input", "<b>");
  await ann.click(".login button");
  assert.match(await ann.see(".problem:not(:empty)"), /letters, digits/);
  await ann.logIn("Ann");
  await ann.go("/play/nowhere12");
  assert.match(await ann.see("[role=alert]"), /does not exist/);
  await ann.close();
});
