// Skills and status resources of the shipped server, used by the official MCP client (§4, §17).

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { SkillsClient } from "@modelcontextprotocol/client/ext/skills";
import { InMatch, agent, commander, person, startPlayerThree } from "../lib/playerthree.mjs";
import { rejection, within } from "../lib/rooms.mjs";

let server;
let ann;

before(async () => {
  // Everything that any part of the program would ever log.
  server = await startPlayerThree([], { RUST_LOG: "trace" });
  const client = await person(server, "Ann");
  ann = new InMatch(await client.create("agent-command", { team: "red", role: "ground", private: true }));
});
after(() => server?.stop());

async function falcon(...roles) {
  const { id, token } = await ann.do("addCommander", { name: "Falcon", roles });
  return { id, agent: await commander(server, token) };
}

const statusUris = async ({ client }) => {
  const { resources } = await client.listResources(undefined, { cacheMode: "bypass" });
  return resources.map(({ uri }) => uri).filter((uri) => uri.startsWith("playerthree://seat/"));
};

const status = async ({ client }, uri) => JSON.parse((await client.readResource({ uri })).contents[0].text);

/** A client that listens, and the addresses that it was told of. */
async function listening({ client }, resourceSubscriptions) {
  const told = [];
  let tell = () => {};
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
    assert.deepEqual(Object.keys(params).filter((member) => member !== "_meta"), ["uri"]);
    told.push(params.uri);
    tell();
  });
  const stream = await client.listen({ resourceSubscriptions });
  const until = (count) => {
    const enough = new Promise((resolve) => {
      tell = () => told.length >= count && resolve();
      tell();
    });
    return within(enough, `${count} updates`);
  };
  return { stream, told, until };
}

/** §4: the official skills client lists every skill, and verifies size, digest and frontmatter of every file it reads. */
test("the official skills client verifies every file of every skill", async () => {
  const { token } = await ann.do("mint", { team: "red", role: "air" });
  const air = await agent(server, token);
  const skills = new SkillsClient(air.client);
  assert.ok(skills.supported);
  const { skills: listed } = await skills.list();
  const { skills: named } = await air.tool("game_briefing");
  assert.deepEqual(listed.map(({ frontmatter }) => frontmatter.name).sort(), named.map(({ name }) => name).sort());
  for (const skill of listed) {
    for (const { uri } of skill.resources) {
      const file = await skills.read(skill, uri);
      assert.ok(file.verified, uri);
    }
    const { text } = await skills.read(skill);
    const window = await air.tool("game_skill", { name: skill.frontmatter.name, path: "SKILL.md" });
    assert.ok(text.startsWith(window.text), skill.uri);
  }
  await air.close();
});

/** §17: an owner's word reaches the listener that it is for, by address alone, and no log ever holds the address. */
test("a listener is told of its own status and of nothing else", async () => {
  const [one, other] = [await falcon("ground"), await falcon("ground")];
  const [own] = await statusUris(one.agent);
  const [foreign] = await statusUris(other.agent);
  assert.equal((await rejection(one.agent.client.readResource({ uri: foreign }))).code, -32602);

  const first = await listening(one.agent, [own, foreign]);
  assert.deepEqual(first.stream.honoredFilter, { resourceSubscriptions: [own] });
  const second = await listening(other.agent, [foreign]);

  await ann.do("tellCommanders", { commanders: [one.id], text: "hold the bridge" });
  await first.until(1);
  const shown = await status(one.agent, own);
  assert.deepEqual(shown, { phase: "lobby", tick: 0, unreadOwnerMessages: 1 });
  const { messages } = await one.agent.tool("game_wait", { seconds: 0 });
  assert.equal(messages[0].text, "hold the bridge");
  await first.until(2);
  assert.equal((await status(one.agent, own)).unreadOwnerMessages, 0);

  await ann.do("rotate", { commander: one.id });
  await ann.do("rotate", { commander: other.id });
  assert.equal(await within(first.stream.closed, "the end of a stream"), "graceful");
  assert.equal(await within(second.stream.closed, "the end of a stream"), "graceful");
  assert.deepEqual([first.told, second.told], [[own, own], []]);
  for (const uri of [own, foreign]) assert.ok(!server.lines.some((line) => line.includes(uri.slice(-43))));
  assert.ok(server.lines.length > 0, "there is a log");
});

/** §17, §4: a status says where the lane is: seated, playing, ended, and back once a wait told the end. */
test("a status follows a commander into a match and out of it", async () => {
  const bob = await person(server, "Bob");
  const room = new InMatch(await bob.create("tic-tac-toe", { team: "x" }));
  const { id, token } = await room.do("addCommander", { name: "Kite", roles: ["player"] });
  const kite = await commander(server, token);
  const [uri] = await statusUris(kite);
  const { until } = await listening(kite, [uri]);
  await room.do("assign", { role: "player", kind: "agent", commander: id });
  await until(1);
  const { phase, team, outcome } = await status(kite, uri);
  assert.deepEqual([phase, team, outcome], ["match", "x", "running"]);

  await kite.tool("game_act", { intents: [{ kind: "resign" }] });
  await until(2);
  assert.equal((await status(kite, uri)).outcome, "loss");
  let waited;
  do waited = await kite.tool("game_wait", { seconds: 0 });
  while (waited.wake !== "ended");
  await until(3);
  assert.equal((await status(kite, uri)).phase, "lobby");
  await kite.close();
});
