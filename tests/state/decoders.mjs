// The decoders of the three schema packages behind one face, with every warning of theirs as an error.

import * as schema3 from "schema-3";
import * as schema4 from "schema-4";
import * as schema5 from "schema-5";

const GENERATIONS = {
  3: { library: schema3, dialect: "joined", joining: "additive" },
  4: { library: schema4, dialect: "joined", joining: "additive" },
  5: { library: schema5, dialect: "apart", joining: "reconciling" },
};

export const MAJORS = Object.keys(GENERATIONS);

/**
 * Whether a client of this major that came back lets go of all that it no longer holds. Schema 3 keeps a collection that
 * was replaced while it was away; its SDK begins anew instead of coming back.
 */
export const forgetsAll = (major) => major !== "3";

/** What a rejoining client of this major is sent. */
export const joiningOf = (major) => GENERATIONS[major].joining;

/** Runs `decode` and fails when the decoder logs anything: it logs what it cannot place and goes on. */
function strictly(decode) {
  const { warn, error, log } = console;
  const logged = [];
  console.warn = console.error = console.log = (...args) => {
    // Decoded values pass the encoder's check of what a program assigns.
    if (!String(args[0]).startsWith("trying to encode")) logged.push(args.map(String).join(" "));
  };
  try {
    decode();
  } finally {
    Object.assign(console, { warn, error, log });
  }
  if (logged.length > 0) throw new Error(`the decoder logged: ${logged.join("; ")}`);
}

/** The schema library of this major. */
export const libraryOf = (major) => GENERATIONS[major].library;

/** A client that learns the types from the reflection, or brings a root class of its own. */
export function client(major, handshakes, Root) {
  const { library, dialect } = GENERATIONS[major];
  const decoder = Root
    ? new library.Decoder(new Root())
    : library.Reflection.decode(Buffer.from(handshakes[dialect], "hex"));
  // A client with callbacks collects changes, which is a path of its own through the decoder.
  decoder.triggerChanges = () => {};
  return {
    decode: (hex) => strictly(() => decoder.decode(Buffer.from(hex, "hex"))),
    rejoin: (hex) =>
      strictly(() => {
        const bytes = Buffer.from(hex, "hex");
        if (major === "5") decoder.decodeResync(bytes);
        else decoder.decode(bytes);
      }),
    state: () => plain(decoder.state, library),
    json: () => JSON.parse(JSON.stringify(decoder.state.toJSON())),
    structures: () => decoder.root.refs.size,
  };
}

/** A decoded value as the program prints states: sets sorted, and numbers that JSON lacks as text. */
function plain(value, library) {
  if (value === undefined || value === null) return "undefined";
  if (typeof value === "bigint") return `big ${value}`;
  if (typeof value === "number") {
    if (Number.isNaN(value)) return "NaN";
    if (!Number.isFinite(value)) return `float ${value > 0 ? "inf" : "-inf"}`;
    return Object.is(value, -0) ? "float -0" : value;
  }
  if (typeof value !== "object") return value;
  if (value instanceof library.MapSchema) {
    return { map: Object.fromEntries([...value.entries()].map(([key, item]) => [key, plain(item, library)])) };
  }
  if (value instanceof library.SetSchema || value instanceof library.CollectionSchema) {
    return { unordered: [...value.values()].map((item) => canonical(plain(item, library))).sort() };
  }
  if (value instanceof library.ArraySchema) return [...value].map((item) => plain(item, library));
  const fields = {};
  const metadata = value.constructor[Symbol.metadata];
  // A subclass inherits the metadata of its parent.
  for (const index in metadata) {
    const { name } = metadata[index];
    fields[name] = plain(value[name], library);
  }
  return fields;
}

/** JSON with sorted keys, so that equal values are equal text. */
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value && typeof value === "object") {
    const keys = Object.keys(value).sort();
    return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
  }
  return JSON.stringify(value);
}

/** A state as the program prints it, in the form in which a client's is read. */
export function expected(value) {
  if (Array.isArray(value)) return value.map(expected);
  if (value === null || typeof value !== "object") return value;
  if (value.unordered) return { unordered: value.unordered.map((item) => canonical(expected(JSON.parse(item)))).sort() };
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, expected(item)]));
}
