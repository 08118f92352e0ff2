// §§5, 15, 20.2; field reports U59 and U79: what belongs to one party reaches no other, in no byte, and no secret or
// rejected input reaches the log.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { InMatch, agent, guest, person, startPlayerThree } from "../lib/playerthree.mjs";
import { eventually, rejection } from "../lib/rooms.mjs";
import { toolCall, toolsList } from "./raw-mcp.mjs";

let server;
before(async () => (server = await startPlayerThree()));
after(() => server.stop());

test("tokens, session ids, mandates, policies, chat, signals and rejected input reach neither strangers nor the log", async () => {
  const secrets = new Map();
  const login = async (name) => {
    const client = await person(server, name);
    secrets.set(`login of ${name}`, client.auth.token);
    return client;
  };
  const keep = (who, { room }) => {
    secrets.set(`session of ${who}`, room.sessionId);
    secrets.set(`reconnection of ${who}`, room.reconnectionToken.split(":").at(-1));
  };
  const ann = await login("Ann");
  const options = { teams: ["red", "blue"], bots: "nobody", seed: 11, private: true, observerDelayMs: 0 };
  const red = new InMatch(await ann.create("agent-command", { ...options, team: "red", role: "ground" }));
  const { roomId } = red.room;
  const blue = new InMatch(await (await login("Bob")).joinById(roomId, { team: "blue", role: "ground" }));
  const spectator = new InMatch(await guest(server).joinById(roomId, { as: "spectator", team: "blue" }));
  const { ticket } = await red.do("inviteObserver");
  secrets.set("ticket", ticket);
  const observer = new InMatch(await (await login("Eve")).joinById(roomId, { as: "observer", ticket }));
  observer.room.send("playerthree:observer", { perspective: "all" });
  for (const [who, client] of Object.entries({ red, blue, spectator, observer })) keep(who, client);

  const { token } = await red.do("mint", { role: "air" });
  secrets.set("seat token", token);
  const { session } = await toolsList(server, token);
  secrets.set("lease", session);
  const second = (await red.do("mint", { role: "air" })).token;
  const air = await agent(server, second);
  await red.do("mandate", { role: "air", mandate: { autonomy: "supervised", directive: { objective: "scout" }, whenAbsent: "hold" } });
  const [policy, policyLog] = [`policy-${randomUUID()}`, `log-${randomUUID()}`];
  secrets.set("policy code", policy).set("policy log", policyLog);
  const code = `function think() { log("${policyLog}"); return [{ kind: "${policy}" }] }`;
  const { approval } = await air.tool("policy_deploy", { runtime: "js", code });
  await red.do("resolveApproval", { role: "air", id: approval.id, approve: true });
  await eventually(async () => (await air.tool("policy_status")).policy.calls > 0, "the policy thinks");

  const [key, value] = [`key-${randomUUID()}`, `value-${randomUUID()}`];
  secrets.set("rejected key", key).set("rejected value", value);
  await red.ask("call", { role: "ground", method: "observe", args: { [key]: value } });
  await red.ask("call", { role: key, method: value, args: {} });
  await red.act("ground", { kind: "move", [key]: value });
  const answers = [
    (await toolCall(server, token, session, "game_observe", { [key]: value })).text,
    (await toolCall(server, token, session, "game_act", { intents: [{ kind: value, [key]: 1 }] })).text,
    (await toolCall(server, token, session, key, {})).text,
    (await toolsList(server, token, key)).text,
    (await toolsList(server, key)).text,
    String((await rejection(ann.joinById(roomId, { [key]: value }))).message),
    await (await fetch(`${server.url}/${key}?q=${value}`)).text(),
    await (await fetch(`${server.url}/demo/login`, { method: "POST", body: JSON.stringify({ name: value, [key]: 1 }) })).text(),
  ];
  // What owners and their agents say to each other, and what teammates ask of each other, stay on their side (§§12, 22).
  const [told, said] = [`told-${randomUUID()}`, `said-${randomUUID()}`];
  secrets.set("owner's message", told).set("agent's answer", said);
  await red.do("tell", { roles: ["air"], text: told });
  assert.equal((await air.tool("game_observe", { fields: ["tick"] })).messages[0].text, told);
  await air.tool("game_say", { text: said });
  assert.equal((await red.inbox.next("playerthree:said")).text, said);
  const falcon = await red.do("addCommander", { name: `name-${randomUUID().slice(0, 8)}`, roles: ["air"] });
  secrets.set("commander", falcon.id).set("commander token", falcon.token);
  const between = `between-${randomUUID()}`;
  secrets.set("message between matches", between);
  await red.do("tellCommanders", { commanders: [falcon.id], text: between });
  assert.deepEqual(await red.act("ground", { kind: "signal", signal: { kind: "look", x: 1357, y: 1246, to: "air" } }), ["ok"]);
  const { signals } = (await air.tool("game_observe", { fields: ["signals"] })).observation;
  assert.deepEqual(signals.inbox.map(({ state }) => state), ["submitted"]);
  await red.until((view) => view.signals.length === 1);

  const mark = observer.bytes.length;
  await eventually(() => observer.bytes.length > mark, "the observer is sent something");

  const listing = await (await fetch(`${server.url}/demo/rooms`)).text();
  const briefing = await air.tool("game_briefing");
  const observed = await air.tool("game_observe", { detail: "all" });
  const readers = { blue: blue.received, spectator: spectator.received, observer: observer.received };
  const texts = { ...readers, answers: answers.join("\n"), listing, agent: JSON.stringify([briefing, observed]), log: server.lines.join("\n") };
  for (const [reader, text] of Object.entries(texts)) {
    for (const [what, secret] of secrets) {
      if (what.endsWith(`of ${reader}`)) continue;
      assert.ok(!text.includes(secret), `${reader} was told the ${what}`);
    }
  }
  for (const [reader, text] of Object.entries(readers)) assert.ok(!text.includes("submitted"), `${reader} was told of a signal`);
  // A card says who plays a seat and how; what its owner asked of it stays with the owner.
  for (const reader of ["spectator", "observer"]) {
    for (const member of ["mandate", "scopes", "approval", "botLevel"]) assert.ok(!readers[reader].includes(member), `${reader}: ${member}`);
  }
  const cards = blue.inbox.messages.filter(({ type }) => type === "playerthree:seats").at(-1).payload.seats;
  const card = cards.find((entry) => entry.team === "red" && entry.role === "air");
  assert.deepEqual(Object.keys(card).sort(), ["agentActive", "aiPlayer", "controller", "mode", "open", "owner", "role", "team"]);
  assert.deepEqual(Object.keys(card.owner), ["display"]);
  await air.close();
  await Promise.all([red, blue, spectator, observer].map((client) => client.room.leave()));
});
