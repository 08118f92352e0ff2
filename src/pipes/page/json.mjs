// Strict I-JSON, canonical bytes (RFC 8785) and the event hash, for the browser. The same rules as the Rust verifier,
// held to the same vectors; it must never accept a text that two careful parsers could read differently.

/** Brackets that may be open at once in a body. */
export const MAX_DEPTH = 64;

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const SPACE = /[ \t\n\r]*/y;
const LITERALS = new Map([["true", true], ["false", false], ["null", null]]);

/** Parses one I-JSON value. Objects come back as Maps, so that no member name has a meaning of its own. */
export function parseStrict(text) {
  const parser = new Parser(text);
  const value = parser.value();
  parser.space();
  if (parser.at !== text.length) throw new SyntaxError("text after the value");
  return value;
}

class Parser {
  constructor(text) {
    this.text = text;
    this.at = 0;
    this.depth = 0;
  }

  match(pattern) {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (!found) throw new SyntaxError("not JSON");
    this.at += found[0].length;
    return found[0];
  }

  space() {
    this.match(SPACE);
  }

  takes(symbol) {
    this.space();
    if (this.text[this.at] !== symbol) return false;
    this.at += 1;
    return true;
  }

  expect(symbol) {
    if (!this.takes(symbol)) throw new SyntaxError("not JSON");
  }

  value() {
    this.space();
    switch (this.text[this.at]) {
      case "{":
        return this.nested(() => this.object());
      case "[":
        return this.nested(() => this.array());
      case '"':
        return this.string();
      default:
        return this.literal() ?? this.number();
    }
  }

  nested(read) {
    this.depth += 1;
    if (this.depth > 127) throw new SyntaxError("too deep");
    this.at += 1;
    const value = read();
    this.depth -= 1;
    return value;
  }

  object() {
    const members = new Map();
    if (this.takes("}")) return members;
    do {
      this.space();
      const name = this.string();
      if (members.has(name)) throw new SyntaxError("repeated member");
      this.expect(":");
      members.set(name, this.value());
    } while (this.takes(","));
    this.expect("}");
    return members;
  }

  array() {
    const items = [];
    if (this.takes("]")) return items;
    do items.push(this.value());
    while (this.takes(","));
    this.expect("]");
    return items;
  }

  string() {
    const text = JSON.parse(this.match(STRING));
    if (!text.isWellFormed()) throw new SyntaxError("lone surrogate");
    return text;
  }

  literal() {
    for (const [word, value] of LITERALS) {
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length;
        // A wrapper tells a read null from no literal.
        return value ?? NULL;
      }
    }
    return undefined;
  }

  number() {
    const number = Number(this.match(NUMBER));
    if (!Number.isFinite(number)) throw new SyntaxError("number past a double");
    return number;
  }
}

/** JSON's null as a value of its own. */
export const NULL = Symbol("null");

/** The RFC 8785 text of a parsed value. */
export function canonical(value) {
  if (value === NULL) return "null";
  if (value instanceof Map) {
    // The default order of strings is that of UTF-16 units, as the RFC asks.
    const names = [...value.keys()].sort();
    return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value.get(name))}`).join(",")}}`;
  }
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  return JSON.stringify(value);
}

/** The canonical bytes of an event without its top-level `sig`: what is hashed and what is signed. */
export function signedBytes(event) {
  const bare = new Map(event);
  bare.delete("sig");
  return new TextEncoder().encode(canonical(bare));
}

/** Lowercase hex SHA-256. */
export async function sha256(bytes) {
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The most brackets that are open at once outside strings, counted on text that need not be JSON. */
export function deepest(text) {
  let open = 0;
  let most = 0;
  for (let at = 0; at < text.length; at += 1) {
    const symbol = text[at];
    if (symbol === '"') at = endOfString(text, at);
    else if (symbol === "[" || symbol === "{") most = Math.max(most, ++open);
    else if (symbol === "]" || symbol === "}") open = Math.max(0, open - 1);
  }
  return most;
}

function endOfString(text, start) {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at;
}
