// client-sdk/js over the official SDK against the shipped program: what goes on by itself after a lost connection.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connect } from "../../client-sdk/js/dist/playerthree.js";
import { person, startPlayerThree } from "../lib/playerthree.mjs";
import { eventually, left, within } from "../lib/rooms.mjs";

/** The close code with which a client may come back. */
const MAY_RECONNECT = 4010;

let server;
before(async () => (server = await startPlayerThree()));
after(() => server.stop());

/** §4, §9: the view begins anew with a keyframe, and what was streamed is asked for again. */
test("views and streams of observations go on after a lost connection", async () => {
  const client = await person(server, "Ann");
  const room = await client.create("agent-command", { teams: ["red", "blue"], bots: "recruit", team: "red", role: "ground", private: true });
  Object.assign(room.reconnection, { minUptime: 0, minDelay: 10, delay: 10 });
  const match = connect(room);
  const heard = { welcome: 0, observation: [], lost: 0 };
  match.on("welcome", () => heard.welcome++);
  match.on("observation", ({ role, observation }) => heard.observation.push([role, observation.role]));
  match.on("lost", () => heard.lost++);
  await eventually(() => heard.welcome === 1, "the welcome");
  assert.ok((await match.stream("ground", { everyTicks: 2 })) >= 2);
  await eventually(() => heard.observation.length >= 2, "observations");
  const [version, observed] = [match.view().version, heard.observation.length];

  const waiting = match.seat("ground").wait({ seconds: 30 }).then(String, ({ code }) => code);
  room.connection.transport.ws.close(MAY_RECONNECT);
  assert.equal(await within(waiting, "the end of the wait"), "closed");
  await eventually(() => heard.welcome === 2, "another welcome");
  await eventually(() => match.view().version > version + 2, "later views");
  await eventually(() => heard.observation.length >= observed + 3, "later observations");
  assert.ok(heard.observation.every(([role, own]) => role === "ground" && own === "ground"));
  assert.equal(heard.lost, 0);
  const gone = left(room);
  await room.leave();
  await gone;
});
