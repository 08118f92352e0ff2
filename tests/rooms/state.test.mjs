// A room's state at the official SDKs of three generations, in one live room: `room.state`, callbacks, views, late
// joins and both ways of coming back.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client as Client18, getStateCallbacks as callbacks18 } from "@colyseus/sdk";
import { Client as Client16, getStateCallbacks as callbacks16 } from "colyseus-js-016";
import { Client as Client17, getStateCallbacks as callbacks17 } from "colyseus-sdk-017";
import * as schema3 from "schema-3";
import * as schema4 from "schema-4";
import * as schema5 from "schema-5";
import { brittleLine } from "../lib/line.mjs";
import { build, start } from "../lib/server.mjs";
import { Inbox, eventually, within } from "../lib/rooms.mjs";

const GENERATIONS = [
  { sdk: "0.18", Client: Client18, prefix: "", callbacks: callbacks18, library: schema5 },
  { sdk: "0.17", Client: Client17, prefix: "/v17", callbacks: callbacks17, library: schema4 },
  { sdk: "0.16", Client: Client16, prefix: "/v16", callbacks: callbacks16, library: schema3 },
];

let server;
let line;

before(async () => {
  server = await start(await build("playerthree-rooms", { example: "stateful" }), ["0"]);
  line = await brittleLine(server);
});
after(async () => {
  await line?.close();
  await server?.stop();
});

const connect = ({ Client, prefix }, at = server) => new Client(at.url + prefix);

/** A client's state as plain values. */
function plain(room) {
  const { heroes, scores, tags, ghosts, lastWords } = room.state;
  const place = ({ x, y }) => ({ x, y });
  return {
    heroes: Object.fromEntries(
      [...heroes.entries()].map(([key, hero]) => [
        key,
        {
          ...place(hero),
          name: hero.name,
          items: [...hero.items],
          title: hero.title,
          hand: hero.hand ? [...hero.hand] : undefined,
        },
      ]),
    ),
    scores: Object.fromEntries(scores.entries()),
    tags: [...tags.values()].sort(),
    ghosts: Object.fromEntries([...ghosts.entries()].map(([key, ghost]) => [key, place(ghost)])),
    lastWords,
  };
}

/** The classes that a client's author writes. */
function classes({ Schema, defineTypes }) {
  class Place extends Schema {}
  class Hero extends Place {}
  class World extends Schema {}
  defineTypes(Place, { x: "float32", y: "float32" });
  defineTypes(Hero, { name: "string", items: ["string"], title: "string", hand: ["uint8"] });
  defineTypes(World, {
    heroes: { map: Hero },
    scores: { map: "number" },
    tags: { set: "string" },
    ghosts: { map: Place },
    lastWords: "string",
  });
  return { World, Hero };
}

const EMPTY = { heroes: {}, scores: {}, tags: [], ghosts: {}, lastWords: undefined };
const hero = (name, more = {}) => ({ x: 0, y: 0, name, items: [], title: undefined, hand: undefined, ...more });

/** Waits until a client holds exactly `wanted`. */
async function holds(room, wanted, what) {
  let held;
  const same = () => {
    if (!room.state?.heroes) return false;
    held = plain(room);
    try {
      assert.deepEqual(held, wanted);
      return true;
    } catch {
      return false;
    }
  };
  await eventually(same, what).catch(() => assert.deepEqual(held, wanted, what));
}

test("all generations hold one state, from its first patch or from late in its life", async () => {
  const host = await connect(GENERATIONS[0]).create("stateful");
  const rooms = [host];
  for (const kind of GENERATIONS.slice(1)) rooms.push(await connect(kind).joinById(host.roomId));
  for (const room of rooms) await holds(room, EMPTY, "the first state");
  host.send("do", [
    { do: "put", hero: "a", name: "Ada" },
    { do: "move", hero: "a", dx: 1.5, dy: -2 },
    { do: "give", hero: "a", item: "sword" },
    { do: "give", hero: "a", item: "potion" },
    { do: "score", hero: "a", points: 0.1 },
    { do: "tag", tag: "new" },
    { do: "tag", tag: "old" },
  ]);
  const items = ["sword", "potion"];
  const first = { ...EMPTY, heroes: { a: hero("Ada", { x: 1.5, y: -2, items }) }, scores: { a: 0.1 }, tags: ["new", "old"] };
  for (const room of rooms) await holds(room, first, "what was done before anyone else came");
  for (const kind of GENERATIONS) {
    const late = await connect(kind).joinById(host.roomId);
    rooms.push(late);
    await holds(late, first, `a late ${kind.sdk}`);
  }
  rooms[1].send("do", [
    { do: "take", hero: "a", index: 0 },
    { do: "entitle", hero: "a", title: "Countess" },
    { do: "put", hero: "b", name: "Bob" },
    { do: "score", hero: "a", points: null },
    { do: "untag", tag: "old" },
  ]);
  const ada = hero("Ada", { x: 1.5, y: -2, items: ["potion"], title: "Countess" });
  for (const room of rooms) await holds(room, { ...EMPTY, heroes: { a: ada, b: hero("Bob") }, tags: ["new"] }, "changes");
  rooms[2].send("do", [
    { do: "entitle", hero: "a", title: null },
    { do: "remove", hero: "b" },
    { do: "put", hero: "b", name: "Bea" },
  ]);
  const untitled = { ...ada, title: undefined };
  for (const room of rooms) await holds(room, { ...EMPTY, heroes: { a: untitled, b: hero("Bea") }, tags: ["new"] }, "re-added");
  await Promise.all(rooms.map((room) => room.leave()));
});

for (const kind of GENERATIONS) {
  test(`${kind.sdk}: callbacks tell what is added, changed and removed`, async () => {
    const room = await connect(kind).create("stateful");
    await holds(room, EMPTY, "the first state");
    const events = [];
    const $ = kind.callbacks(room);
    $(room.state).heroes.onAdd((added, key) => {
      events.push(`add ${key} ${added.name}`);
      $(added).listen("x", (value, previous) => previous !== undefined && events.push(`x ${key} ${value}`));
      $(added).items.onAdd((item) => events.push(`item+ ${key} ${item}`));
      $(added).items.onRemove((item) => events.push(`item- ${key} ${item}`));
    });
    $(room.state).heroes.onRemove((removed, key) => events.push(`remove ${key} ${removed.name}`));
    $(room.state).listen("lastWords", (words) => words && events.push(`words ${words}`));
    const happens = async (deeds, expected) => {
      room.send("do", deeds);
      await eventually(() => events.length >= expected.length, expected.join("; ")).catch(() => {});
      assert.deepEqual(events.splice(0), expected);
    };
    await happens([{ do: "put", hero: "a", name: "Ada" }], ["add a Ada"]);
    await happens([{ do: "move", hero: "a", dx: 5, dy: 0 }], ["x a 5"]);
    await happens([{ do: "give", hero: "a", item: "sword" }, { do: "give", hero: "a", item: "potion" }], ["item+ a sword", "item+ a potion"]);
    await happens([{ do: "take", hero: "a", index: 0 }], ["item- a sword"]);
    await happens([{ do: "say", words: "hello" }], ["words hello"]);
    await happens([{ do: "remove", hero: "a" }, { do: "put", hero: "b", name: "Bob" }], ["remove a Ada", "add b Bob"]);
    await room.leave();
  });

  test(`${kind.sdk}: joins with classes of its own`, async () => {
    const { World, Hero } = classes(kind.library);
    const room = await connect(kind).create("stateful", {}, World);
    await holds(room, EMPTY, "the first state");
    room.send("do", [{ do: "put", hero: "a", name: "Ada" }, { do: "move", hero: "a", dx: 2, dy: 0 }]);
    await holds(room, { ...EMPTY, heroes: { a: hero("Ada", { x: 2 }) } }, "a change");
    assert.ok(room.state instanceof World && room.state.heroes.get("a") instanceof Hero);
    await room.leave();
  });

  test(`${kind.sdk}: a message after the patch finds the state it speaks of`, async () => {
    const room = await connect(kind).create("stateful");
    await holds(room, EMPTY, "the first state");
    const heard = within(new Promise((resolve) => room.onMessage("said", (words) => resolve([words, room.state.lastWords]))), "said");
    room.send("do", [{ do: "say", words: "look" }]);
    assert.deepEqual(await heard, ["look", "look"]);
    await room.leave();
  });

  test(`${kind.sdk}: a view shows and hides fields and items, to its client alone`, async () => {
    const room = await connect(kind).create("stateful");
    const other = await connect(GENERATIONS[0]).joinById(room.roomId);
    const put = [
      { do: "put", hero: "a", name: "Ada" },
      { do: "deal", hero: "a", card: 7 },
      { do: "haunt", ghost: "g", x: 3 },
      { do: "haunt", ghost: "h", x: 4 },
    ];
    room.send("do", put);
    const open = { ...EMPTY, heroes: { a: hero("Ada") } };
    await holds(room, open, "nothing restricted");
    room.send("do", [{ do: "see", hero: "a", ghost: "g" }]);
    const seen = { ...EMPTY, heroes: { a: hero("Ada", { hand: [7] }) }, ghosts: { g: { x: 3, y: 0 } } };
    await holds(room, seen, "what the view shows");
    // Its name in views is new, and no byte of the state changes.
    room.send("do", [{ do: "see", ghost: "h" }]);
    await holds(room, { ...seen, ghosts: { ...seen.ghosts, h: { x: 4, y: 0 } } }, "one more item and nothing else");
    room.send("do", [{ do: "hide", ghost: "h" }]);
    await holds(room, seen, "without it again");
    room.send("do", [{ do: "deal", hero: "a", card: 9 }, { do: "haunt", ghost: "h", x: 5 }]);
    const dealt = { ...seen, heroes: { a: hero("Ada", { hand: [7, 9] }) } };
    await holds(room, dealt, "a change of what it shows");
    await holds(other, open, "nothing for the other");
    room.send("do", [{ do: "hide", hero: "a", ghost: "g" }]);
    await holds(room, open, "hidden again");
    await Promise.all([room.leave(), other.leave()]);
  });

  test(`${kind.sdk}: comes back by its token to the state as it is, and to its view`, async () => {
    const host = await connect(GENERATIONS[0]).create("stateful");
    const client = connect(kind, line);
    const room = await client.joinById(host.roomId);
    if (room.reconnection) room.reconnection.enabled = false;
    room.send("do", [
      { do: "put", hero: "a", name: "Ada" },
      { do: "deal", hero: "a", card: 7 },
      { do: "see", hero: "a" },
    ]);
    const shown = { ...EMPTY, heroes: { a: hero("Ada", { hand: [7] }) } };
    await holds(room, shown, "before the drop");
    const { reconnectionToken } = room;
    const gone = within(new Promise((resolve) => room.onLeave.once(resolve)), "onLeave");
    line.refuse();
    await gone;
    host.send("do", [{ do: "deal", hero: "a", card: 8 }, { do: "put", hero: "b", name: "Bob" }]);
    line.admit();
    const back = await client.reconnect(reconnectionToken);
    await holds(back, { ...EMPTY, heroes: { a: hero("Ada", { hand: [7, 8] }), b: hero("Bob") } }, "after the return");
    host.send("do", [{ do: "remove", hero: "b" }]);
    await holds(back, { ...EMPTY, heroes: { a: hero("Ada", { hand: [7, 8] }) } }, "patches go on");
    await Promise.all([host.leave(), back.leave()]);
  });
}

for (const kind of GENERATIONS.filter(({ sdk }) => sdk !== "0.16")) {
  test(`${kind.sdk}: reconnects by itself, and nothing that went meanwhile stays`, async () => {
    const host = await connect(GENERATIONS[0]).create("stateful");
    const room = await connect(kind, line).joinById(host.roomId);
    room.reconnection.minUptime = 0;
    const deeds = ["a", "b", "c"].flatMap((key) => [
      { do: "put", hero: key, name: key },
      { do: "give", hero: key, item: "sword" },
      { do: "give", hero: key, item: "potion" },
      { do: "score", hero: key, points: 1 },
      { do: "tag", tag: key },
    ]);
    host.send("do", [...deeds, { do: "entitle", hero: "a", title: "Countess" }]);
    await eventually(() => room.state.heroes?.size === 3, "all heroes");
    const dropped = within(new Promise((resolve) => room.onDrop.once(resolve)), "onDrop");
    const returned = within(new Promise((resolve) => room.onReconnect.once(resolve)), "onReconnect");
    line.refuse();
    await dropped;
    host.send("do", [
      { do: "remove", hero: "b" },
      { do: "take", hero: "a", index: 0 },
      { do: "entitle", hero: "a", title: null },
      { do: "score", hero: "c", points: null },
      { do: "untag", tag: "a" },
    ]);
    await eventually(() => host.state.heroes.size === 2 && host.state.tags.size === 2, "the host's own view of it");
    line.admit();
    await returned;
    const c = hero("c", { items: ["sword", "potion"] });
    const wanted = { ...EMPTY, heroes: { a: hero("a", { items: ["potion"] }), c }, scores: { a: 1, b: 1 }, tags: ["b", "c"] };
    await holds(room, wanted, "after the return");
    host.send("do", [{ do: "move", hero: "a", dx: 2, dy: 0 }, { do: "tag", tag: "d" }]);
    const moved = { ...wanted, heroes: { a: hero("a", { items: ["potion"], x: 2 }), c }, tags: ["b", "c", "d"] };
    await holds(room, moved, "patches go on");
    await Promise.all([host.leave(), room.leave()]);
  });
}
