// A page of somebody else's that loads the SDK and this client with plain script tags, and plays.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { launch } from "../lib/browser.mjs";
import { person, startPlayerThree } from "../lib/playerthree.mjs";

/** What the official SDK and this client are delivered as for plain pages. */
const SCRIPTS = ["../node_modules/@colyseus/sdk/dist/colyseus.js", "../../client-sdk/js/dist/playerthree.global.js"];

let server;
let browser;
let plain;
before(async () => {
  plain = createServer((_, response) => {
    response.setHeader("content-type", "text/html");
    response.end("<!doctype html><title>plain</title><link rel='icon' href='data:,'>");
  });
  await once(plain.listen(0, "127.0.0.1"), "listening");
  server = await startPlayerThree(["--allow-origin", "*"]);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
  plain.close();
});

test("two script tags are enough to play a move and see it", async () => {
  const page = await browser.newPage();
  const faults = [];
  page.on("pageerror", ({ message }) => faults.push(message));
  await page.goto(`http://127.0.0.1:${plain.address().port}/`);
  for (const script of SCRIPTS) await page.addScriptTag({ path: fileURLToPath(new URL(script, import.meta.url)) });
  const { token } = (await person(server, "Ann")).auth;
  const board = await page.evaluate(
    async ({ url, token }) => {
      const client = new globalThis.Colyseus.Client(url);
      client.auth.token = token;
      const room = await client.create("tic-tac-toe");
      const match = globalThis.PlayerThree.connect(room);
      const { seat } = await new Promise((resolve) => match.on("welcome", resolve));
      const moved = new Promise((resolve) => {
        match.view().onChange((view) => view.board.join("").includes("x") && resolve(view.board));
      });
      const acks = await match.seat(seat.role).act([{ kind: "move", row: 1, col: 1 }]);
      if (!acks[0].ok) throw new Error(JSON.stringify(acks));
      const seen = await moved;
      await room.leave();
      return seen;
    },
    { url: server.url, token },
  );
  assert.deepEqual(board, ["...", ".x.", "..."]);
  assert.deepEqual(faults, []);
  await page.close();
});
