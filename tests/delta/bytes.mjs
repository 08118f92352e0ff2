// What a series of messages weighs on the wire, in each of the forms that a transport may give it.

import { createDeflateRaw, constants, deflateRawSync } from "node:zlib";
import { encode } from "@msgpack/msgpack";

/** The cheapest level, as servers deflate many small messages. */
const LEVEL = 1;
/** The end of a flushed block, which a WebSocket leaves out (RFC 7692). */
const FLUSH_BYTES = 4;

const json = (message) => Buffer.from(JSON.stringify(message));
const messagePack = (message) => Buffer.from(encode(message));
const alone = (body) =>
  deflateRawSync(body, { level: LEVEL, finishFlush: constants.Z_SYNC_FLUSH }).length - FLUSH_BYTES;

/** The bytes of each message when the compressor keeps its window from one to the next. */
async function windowKept(bodies) {
  const stream = createDeflateRaw({ level: LEVEL });
  let bytes = 0;
  stream.on("data", (chunk) => (bytes += chunk.length));
  const sizes = [];
  for (const body of bodies) {
    const before = bytes;
    stream.write(body);
    await new Promise((resolve) => stream.flush(constants.Z_SYNC_FLUSH, resolve));
    sizes.push(bytes - before - FLUSH_BYTES);
  }
  stream.destroy();
  return sizes;
}

/** The sizes of every message in bytes, by form. */
export async function sizes(messages) {
  const [text, packed] = [messages.map(json), messages.map(messagePack)];
  const length = (bodies) => bodies.map((body) => body.length);
  return {
    JSON: length(text),
    MessagePack: length(packed),
    "JSON deflated": text.map(alone),
    "MessagePack deflated": packed.map(alone),
    "JSON deflated, window kept": await windowKept(text),
    "MessagePack deflated, window kept": await windowKept(packed),
  };
}

export function mean(numbers) {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}
