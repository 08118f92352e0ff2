// What a patch costs here and in the official encoder, on the same changes, in one run:
//
//   cargo build --release -p playerthree-rooms-state --example encode
//   node tests/state/bench.mjs [path of the example]
//
// Processor time from the first change of a tick to the finished patch, and bytes of a patch. Fails where a patch has
// more bytes than the official one.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Encoder, MapSchema, Schema, defineTypes } from "schema-5";

const ROUNDS = 3;
const example = process.argv[2] ?? fileURLToPath(new URL("../../target/release/examples/encode", import.meta.url));

class Entity extends Schema {}
defineTypes(Entity, { x: "float32", y: "float32" });
class World extends Schema {}
defineTypes(World, { entities: { map: Entity } });
Encoder.BUFFER_SIZE = 1 << 20;

function step(entity) {
  entity.x += 1.5;
  entity.y -= 0.5;
}

/** The changes that the example makes: all by iteration, some by their keys. */
function official(entities, moving) {
  const world = new World();
  world.entities = new MapSchema();
  const keys = Array.from({ length: entities }, (_, index) => `e${index}`);
  for (const [index, key] of keys.entries()) world.entities.set(key, new Entity().assign({ x: index, y: index }));
  const encoder = new Encoder(world);
  encoder.encode();
  encoder.discardChanges();
  const movers = keys.slice(0, moving);
  const tick = () => {
    if (movers.length === entities) world.entities.forEach(step);
    else for (const key of movers) step(world.entities.get(key));
    const bytes = encoder.encode().byteLength;
    encoder.discardChanges();
    return bytes;
  };
  const rounds = Math.ceil(200_000 / Math.max(10, moving));
  let bytes = 0;
  for (let round = 0; round < rounds / 2; round++) bytes = Math.max(bytes, tick());
  const before = process.cpuUsage();
  for (let round = 0; round < rounds; round++) tick();
  const { user, system } = process.cpuUsage(before);
  return { us: (user + system) / rounds, bytes };
}

const best = new Map();
for (let round = 0; round < ROUNDS; round++) {
  const ours = execFileSync(example, { encoding: "utf8" }).trim().split("\n").map((line) => JSON.parse(line));
  for (const { entities, moving, us, bytes } of ours) {
    const count = { all: entities, "a tenth": entities / 10, none: 0 }[moving];
    const theirs = official(entities, count);
    const known = best.get(`${entities} ${moving}`) ?? { us: Infinity, theirs: Infinity };
    best.set(`${entities} ${moving}`, {
      us: Math.min(known.us, us),
      theirs: Math.min(known.theirs, theirs.us),
      bytes,
      theirBytes: theirs.bytes,
    });
  }
}
for (const [name, { us, theirs, bytes, theirBytes }] of best) {
  assert.ok(bytes <= theirBytes, `${name}: ${bytes} bytes, more than the official ${theirBytes}`);
  const ratio = (theirs / us).toFixed(1);
  console.log(`${name}: ${us.toFixed(3)} µs and ${bytes} bytes; official ${theirs.toFixed(3)} µs and ${theirBytes} bytes (1/${ratio})`);
}
