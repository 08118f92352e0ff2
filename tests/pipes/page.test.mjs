// The page in a real browser: pasted logs are verified under its own strict policy, and log text stays text.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { delimiter, extname, join } from "node:path";
import { after, before, test } from "node:test";

import { chromium } from "playwright-core";

const root = new URL("../../src/pipes/page/", import.meta.url);
const vectors = new URL("../../src/pipes/tests/vectors/logs/", import.meta.url);
const types = { ".html": "text/html", ".css": "text/css", ".mjs": "text/javascript" };
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const names = ["chromium", "chromium-browser", "google-chrome"];
const found = process.env.PATH.split(delimiter).flatMap((dir) => names.map((name) => join(dir, name))).find(existsSync);
const executablePath = process.env.CHROMIUM ?? found;
const skip = executablePath ? false : "no Chromium on this machine";

let server;
let browser;
let page;
const requests = [];
const complaints = [];
/** Answers of a pretended inbox, by path. */
const inbox = new Map();

before(async () => {
  if (skip) return;
  server = createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    if (pathname.startsWith("/v1/")) {
      const answer = request.headers.authorization === "Bearer box.secret" && inbox.get(pathname);
      response.writeHead(answer ? 200 : 404, { "content-type": "application/json" });
      return response.end(JSON.stringify(answer || {}));
    }
    const file = new URL(pathname === "/" ? "index.html" : pathname.slice(1), root);
    if (!existsSync(file)) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": types[extname(file.pathname)], "content-security-policy": policy });
    response.end(readFileSync(file));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  page = await browser.newPage();
  page.on("request", (request) => requests.push(request.url()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (/policy|refused/i.test(message.text())) complaints.push(message.text());
  });
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
});

after(async () => {
  await browser?.close();
  server?.close();
});

async function paste(text) {
  await page.fill("#log", text);
  await page.click("#log-form button");
  await page.waitForFunction(() => !/Verifying|Nothing to show/.test(document.querySelector("#status").textContent));
}

const vector = (name) => readFileSync(new URL(`${name}.json`, vectors), "utf8");

test("a valid log is shown with its board, its hashes and no red mark", { skip }, async () => {
  const text = vector("valid-x-wins");
  await paste(text);
  assert.match(await page.textContent("#status"), /^Valid: 1 game,/);
  const shown = await page.$$eval(".chain .hash", (spans) => spans.map((span) => span.textContent));
  assert.deepEqual(shown, JSON.parse(text).chain.map((row) => row.hash));
  assert.equal(await page.$$eval(".board td.x", (cells) => cells.length), 3);
  assert.equal(await page.$$eval(".break", (marks) => marks.length), 0);
});

test("a break is marked at its event with its reason", { skip }, async () => {
  await paste(vector("invalid-edited-event"));
  assert.match(await page.textContent("#status"), /^Broken: .*wrong_prev_hash/);
  assert.match(await page.textContent(".chain .break"), /wrong_prev_hash/);
  const color = await page.$eval(".chain .break .bad", (mark) => getComputedStyle(mark).color);
  assert.notEqual(color, await page.$eval("body", (body) => getComputedStyle(body).color));
});

test("signatures are verified in the browser too", { skip }, async () => {
  await paste(vector("valid-sig-keys-in-rules"));
  assert.match(await page.textContent("#status"), /^Valid/);
  await paste(vector("invalid-signed-by-opponent"));
  assert.match(await page.textContent("#status"), /bad_signature/);
});

test("text of a log stays text", { skip }, async () => {
  const Body = JSON.stringify({ game: "<img src=x onerror=document.title='owned'>", seq: 1, action: "move" });
  await paste(JSON.stringify({ Requests: [{ Id: "<b>x</b>", Body }] }));
  assert.equal(await page.$("article img"), null);
  assert.match(await page.textContent("article h2"), /^<img/);
  await paste("nonsense");
  assert.match(await page.textContent("#status"), /not a log/);
});

test("an inbox is followed with its token, and its host is X", { skip }, async () => {
  const { inboxes } = JSON.parse(vector("valid-signed-seats"));
  const { captures } = inboxes[0];
  const seatRef = captures[0].MatchedSigningRef;
  inbox.set("/v1/inboxes/box/seats", { kind: "signed", seats: [{ role: "host", seatRef }] });
  inbox.set("/v1/inboxes/box/captures/wait", { Requests: captures, TotalCount: captures.length, NextCursor: `${captures.length}` });
  await page.fill("#token", "box.secret");
  await page.click("#inbox-form button");
  await page.waitForFunction(() => document.querySelector("#status").textContent.startsWith("Valid"));
  assert.match(await page.textContent(".chain"), new RegExp(seatRef));
  await page.fill("#token", "box.wrong");
  await page.click("#inbox-form button");
  await page.waitForFunction(() => /no such inbox/.test(document.querySelector("#status").textContent));
});

test("nobody else is asked and the policy is never hit", { skip }, () => {
  const origin = `http://127.0.0.1:${server?.address().port}/`;
  assert.deepEqual(requests.filter((url) => !url.startsWith(origin)), []);
  assert.deepEqual(complaints, []);
});
