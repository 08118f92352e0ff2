// §15.5, §9, §12: what a person or an agent may do in a time is one budget, whichever way they come: over their own client,
// a human token, HTTP, or several sessions of MCP.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { InMatch, agent, guest, person, startPlayerThree } from "../lib/playerthree.mjs";

let server;
before(async () => (server = await startPlayerThree()));
after(() => server.stop());

const duel = { teams: ["red", "blue"], bots: "nobody", seed: 11, private: true, team: "red", role: "ground" };

/** A person with two clients on their seat, an agent beside it, and a way to ask over HTTP. */
async function doubled() {
  const client = await person(server, "Ann");
  const ann = new InMatch(await client.create("agent-command", duel));
  const { token } = await ann.do("mintHuman", { role: "ground" });
  const second = new InMatch(await guest(server).joinById(ann.room.roomId, { token }));
  const http = async (op, fields) => {
    const answer = await fetch(`${server.url}/demo/matches/${ann.room.roomId}/${op}`, {
      method: "POST",
      headers: { authorization: `Bearer ${client.auth.token}` },
      body: JSON.stringify({ team: "red", ...fields }),
    });
    return { ok: answer.ok, status: answer.status, code: (await answer.json()).error };
  };
  const end = () => Promise.all([second, ann].map(({ room }) => room.leave()));
  return { ann, second, http, end };
}

/**
 * How many of the answers to all this at once were no refusal by rate, and the most that one budget allows for the time
 * that it took: two budgets would allow twice its burst.
 */
async function passed({ burst, perSecond }, requests, isLimited) {
  const begun = performance.now();
  const answers = await Promise.all(requests.map((request) => request()));
  const seconds = (performance.now() - begun) / 1000;
  const through = answers.flat().filter((answer) => !isLimited(answer));
  return { through: through.length, refused: answers.flat().length - through.length, most: burst + Math.ceil(seconds * perSecond) };
}

const times = (count, request) => Array.from({ length: count }, () => request);

test("a person's operations are one budget over their client, a human token and HTTP", async () => {
  const { ann, second, http, end } = await doubled();
  const requests = [
    ...times(80, () => ann.ask("readiness")),
    ...times(80, () => second.ask("readiness")),
    ...times(20, () => http("scopes", { role: "ground", scopes: ["act"] })),
  ];
  const { through, refused, most } = await passed({ burst: 60, perSecond: 20 }, requests, ({ code }) => code === "rate_limited");
  assert.ok(refused > 0 && through <= most, `${through} passed, ${most} may`);
  await end();
});

test("leaving and joining again gives a person no other budget", async () => {
  const client = await person(server, "Ann");
  const host = new InMatch(await (await person(server, "Bob")).create("agent-command", { ...duel, team: "blue", bots: "recruit" }));
  const again = async () => new InMatch(await client.joinById(host.room.roomId, { team: "red", role: "ground" }));
  let through = 0;
  const begun = performance.now();
  for (let times = 0; times < 3; times++) {
    const ann = await again();
    const answers = await Promise.all(Array.from({ length: 80 }, () => ann.ask("readiness")));
    through += answers.filter(({ ok }) => ok).length;
    await ann.room.leave();
  }
  const most = 60 + Math.ceil(((performance.now() - begun) / 1000) * 20);
  assert.ok(through <= most, `${through} passed, ${most} may`);
  await host.room.leave();
});

test("the intents of a seat's person are one budget over both of their clients", async () => {
  const { ann, second, end } = await doubled();
  const act = (client) => async () => {
    const { acks } = await client.call("ground", "act", { intents: Array(20).fill({ kind: "stop", units: [] }) });
    return acks;
  };
  const requests = [...times(3, act(ann)), ...times(3, act(second))];
  const { through, refused, most } = await passed({ burst: 40, perSecond: 10 }, requests, ({ code }) => code === "rate_limited");
  assert.ok(refused > 0 && through <= most, `${through} passed, ${most} may`);
  await end();
});

test("the intents of a seat's agents are one budget over all of their sessions", async () => {
  const { ann, end } = await doubled();
  const tokens = [await ann.do("mint", { role: "air" }), await ann.do("mint", { role: "air" })];
  const agents = await Promise.all(tokens.map(({ token }) => agent(server, token)));
  const act = (client) => async () => {
    const { acks } = await client.tool("game_act", { intents: Array(20).fill({ kind: "stop", units: [] }) });
    return acks;
  };
  const requests = agents.flatMap((client) => times(3, act(client)));
  const { through, refused, most } = await passed({ burst: 40, perSecond: 10 }, requests, ({ code }) => code === "rate_limited");
  assert.ok(refused > 0 && through <= most, `${through} passed, ${most} may`);
  await Promise.all(agents.map((client) => client.close()));
  await end();
});

test("an owner's words to agents are one budget over their client and HTTP", async () => {
  const { ann, http, end } = await doubled();
  await ann.do("mint", { role: "air" });
  const tell = { roles: ["air"], text: "Hold." };
  const requests = [...times(8, () => ann.ask("tell", tell)), ...times(8, () => http("tell", tell))];
  const { through, refused, most } = await passed({ burst: 5, perSecond: 1 }, requests, ({ code }) => code === "rate_limited");
  assert.ok(refused > 0 && through > 0 && through <= most, `${through} passed, ${most} may`);
  await end();
});
