// Tabs of a headless Chromium on the server's page. Every tab records what must not happen: errors, policy violations
// and requests to anybody else.

import { chromium } from "playwright-core";

const EXECUTABLE = process.env.CHROMIUM ?? "/usr/bin/chromium";
const ARGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** How long a condition in a page may take before a test fails, in milliseconds: two busy cores are slow. */
const PATIENCE = 45_000;

/** Starts the browser. The caller closes it. */
export function launch() {
  return chromium.launch({ executablePath: EXECUTABLE, args: ARGS, timeout: 120_000 });
}

/** A tab of somebody who has never been here, on the server's page. */
export class Tab {
  /** What went wrong in this tab. Empty, if all is well. */
  faults = [];

  static async open(browser, server, { path = "/", size = { width: 1280, height: 860 }, scheme = "light", touch = false } = {}) {
    const context = await browser.newContext({ viewport: size, colorScheme: scheme, hasTouch: touch });
    const page = await context.newPage();
    const tab = new Tab(server, page);
    page.setDefaultTimeout(PATIENCE);
    await page.goto(server.url + path);
    return tab;
  }

  constructor(server, page) {
    this.server = server;
    this.page = page;
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) this.faults.push(`${message.type()}: ${message.text()}`);
    });
    page.on("pageerror", (error) => this.faults.push(`thrown: ${error.message}`));
    page.on("request", (request) => this.#ownOnly(request.url()));
    page.on("websocket", (socket) => this.#ownOnly(socket.url().replace(/^ws/, "http")));
  }

  #ownOnly(url) {
    if (!url.startsWith(`${this.server.url}/`) && !url.startsWith("data:")) this.faults.push(`request to ${url}`);
  }

  /** Logs in through the form. */
  async logIn(name) {
    await this.page.fill(".login input", name);
    await this.page.click(".login button");
    await this.page.waitForSelector(`.who:text-is("${name}")`);
  }

  /** Goes to a screen of the page. */
  go(path) {
    return this.page.goto(`${this.server.url}/#${path}`);
  }

  /** Waits until an element that matches is there, and says so with its text. */
  async see(selector) {
    const found = await this.page.waitForSelector(selector);
    return found.textContent();
  }

  click(selector) {
    return this.page.click(selector);
  }

  /** The id of the match that this tab is in. */
  get matchId() {
    return new URL(this.page.url()).hash.split("/")[2];
  }

  close() {
    return this.page.context().close();
  }
}
