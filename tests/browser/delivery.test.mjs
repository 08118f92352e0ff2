// How the page is delivered: its security policy, its caching, and nobody else's code.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startPlayerThree } from "../lib/playerthree.mjs";

let server;
before(async () => (server = await startPlayerThree()));
after(() => server?.stop());

const FILES = ["/", "/page/app.js", "/page/style.css", "/page/icon.svg"];

test("every file carries the strict policy and is not stored without asking", async () => {
  for (const file of FILES) {
    const { status, headers } = await fetch(server.url + file);
    assert.equal(status, 200, file);
    const policy = headers.get("content-security-policy");
    // `'self'` is the page's own address over WebSockets too.
    assert.equal(
      policy,
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; " +
        "form-action 'self'; frame-ancestors 'none'",
    );
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.equal(headers.get("referrer-policy"), "no-referrer");
    assert.equal(headers.get("cache-control"), "no-cache");
  }
});

test("a file that the browser holds is not sent again", async () => {
  for (const file of FILES) {
    const etag = (await fetch(server.url + file)).headers.get("etag");
    const again = await fetch(server.url + file, { headers: { "if-none-match": etag } });
    assert.equal(again.status, 304, file);
    assert.equal(await again.text(), "");
    const other = await fetch(server.url + file, { headers: { "if-none-match": '"other"' } });
    assert.equal(other.status, 200, file);
    await other.arrayBuffer();
  }
});

test("the page refers to no other host", async () => {
  const html = await (await fetch(`${server.url}/`)).text();
  assert.doesNotMatch(html, /(?:src|href)="(?:https?:)?\/\//);
});
