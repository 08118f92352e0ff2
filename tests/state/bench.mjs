// What a patch costs here and in the official encoder, on the same changes, in one run:
//
//   cargo build --release -p playerthree-rooms-state --example encode
//   node tests/state/bench.mjs [path of the example]
//
// Processor time from the first change of a tick to the finished patch (of all clients, where they have views), what
// the same changes take in a plain map, and bytes of a patch. Fails where a patch has more bytes than the official one.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Encoder, MapSchema, Schema, StateView, defineTypes, view } from "schema-5";

const ROUNDS = 3;
const VIEWS = 20;
const SEEN = 50;
const example = process.argv[2] ?? fileURLToPath(new URL("../../target/release/examples/encode", import.meta.url));

class Entity extends Schema {}
defineTypes(Entity, { x: "float32", y: "float32" });
class World extends Schema {}
defineTypes(World, { entities: { map: Entity } });
class Fog extends Schema {}
defineTypes(Fog, { entities: { map: Entity } });
view()(Fog.prototype, "entities");
Encoder.BUFFER_SIZE = 1 << 20;

function step(entity) {
  entity.x += 1.5;
  entity.y -= 0.5;
}

const keysOf = (count) => Array.from({ length: count }, (_, index) => `e${index}`);

function fill(world, count) {
  world.entities = new MapSchema();
  for (const [index, key] of keysOf(count).entries()) world.entities.set(key, new Entity().assign({ x: index, y: index }));
}

/** The time of one round, and the most bytes of one. */
function measure(rounds, tick) {
  let bytes = 0;
  for (let round = 0; round < rounds / 2; round++) bytes = Math.max(bytes, tick());
  const before = process.cpuUsage();
  for (let round = 0; round < rounds; round++) tick();
  const { user, system } = process.cpuUsage(before);
  return { us: (user + system) / rounds, bytes };
}

/** The changes that the example makes: all by iteration, some by their keys. */
function shared(count, moving) {
  const world = new World();
  fill(world, count);
  const encoder = new Encoder(world);
  encoder.encode();
  encoder.discardChanges();
  const keys = keysOf(moving);
  const rounds = Math.ceil(200_000 / Math.max(10, moving));
  const change = (entities) => {
    if (moving === count) entities.forEach(step);
    else for (const key of keys) step(entities.get(key));
  };
  const { us, bytes } = measure(rounds, () => {
    change(world.entities);
    const { byteLength } = encoder.encode();
    encoder.discardChanges();
    return byteLength;
  });
  const plain = new Map(keysOf(count).map((key, index) => [key, { x: index, y: index }]));
  const { us: gameUs } = measure(rounds, () => {
    change(plain);
    return 0;
  });
  return { us, gameUs, bytes };
}

/** As the example: a tenth moves, and views stay or go on by one entity. */
function viewed(goesOn) {
  const world = new Fog();
  fill(world, 1000);
  const encoder = new Encoder(world);
  const keys = keysOf(1000);
  const movers = keys.filter((_, index) => index % 10 === 0);
  const all = keys.map((key) => world.entities.get(key));
  const views = Array.from({ length: VIEWS }, () => new StateView());
  for (const [place, one] of views.entries()) for (const entity of all.slice(place * SEEN, (place + 1) * SEEN)) one.add(entity);
  const patch = () => {
    const it = { offset: 0 };
    encoder.encode(it);
    const { offset } = it;
    const bytes = views.reduce((sum, one) => sum + encoder.encodeView(one, offset, it).byteLength, 0);
    encoder.discardChanges();
    return bytes;
  };
  patch();
  let turn = 0;
  return measure(1_000, () => {
    for (const key of movers) step(world.entities.get(key));
    turn += 1;
    if (goesOn) {
      for (const [place, one] of views.entries()) {
        const first = place * SEEN + turn;
        one.remove(all[(first - 1) % all.length]);
        one.add(all[(first + SEEN - 1) % all.length]);
      }
    }
    return patch();
  });
}

function official(entities, moving) {
  if (moving.includes("views")) return { gameUs: 0, ...viewed(moving.endsWith("go on")) };
  return shared(entities, { all: entities, "a tenth": entities / 10, none: 0 }[moving]);
}

const best = new Map();
for (let round = 0; round < ROUNDS; round++) {
  const lines = execFileSync(example, { encoding: "utf8" }).trim().split("\n").map((line) => JSON.parse(line));
  for (const { entities, moving, ...ours } of lines) {
    const theirs = official(entities, moving);
    const name = `${entities}, ${moving}`;
    const known = best.get(name) ?? { ours, theirs };
    const least = (a, b) => ({ us: Math.min(a.us, b.us), gameUs: Math.min(a.gameUs, b.gameUs), bytes: Math.max(a.bytes, b.bytes) });
    best.set(name, { ours: least(known.ours, ours), theirs: least(known.theirs, theirs) });
  }
}
for (const [name, { ours, theirs }] of best) {
  const line = (of) => `${of.us.toFixed(3)} µs, ${of.gameUs.toFixed(3)} in a plain map, ${of.bytes} bytes`;
  console.log(`${name}: ${line(ours)}; official ${line(theirs)} (1/${(theirs.us / ours.us).toFixed(1)})`);
}
for (const [name, { ours, theirs }] of best) {
  assert.ok(ours.bytes <= theirs.bytes, `${name}: ${ours.bytes} bytes, more than the official ${theirs.bytes}`);
}
