/**
 * Reads deltas of the format in `delta/FORMAT.md`, version 1: strictly, and so that unchanged parts of a value keep
 * their identity. It must never change the old value, and never build anything from a delta that is refused.
 */

/** Any JSON value. Views are shared between versions, so nothing may change one. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** Why a delta was refused; `delta/FORMAT.md` says what each means. */
export type DeltaCode = "shape" | "depth" | "edits" | "weight" | "mismatch";

/** A delta was refused. The reader's state is not the sender's: it needs a keyframe. */
export class DeltaError extends Error {
  readonly code: DeltaCode;

  constructor(code: DeltaCode) {
    super(code);
    this.name = "DeltaError";
    this.code = code;
  }
}

/** Deepest nesting of a delta, carried values included. */
export const MAX_DEPTH = 128;
/** Most edits of a delta: each edit, removed member and step. */
export const MAX_EDITS = 65_536;
/** Largest weight of a delta: one for each value, and the length of each string and member name. */
export const MAX_WEIGHT = 1_048_576;

const MAX_INTEGER = 4_294_967_295;
const REPLACE = 0;
const LIST = 1;
const TEXT = 2;

type Members = { readonly [name: string]: Json };

/**
 * The value that `delta` makes of `old`. Parts that did not change are the same objects as in `old`.
 * @throws {DeltaError} if `delta` is malformed, beyond the bounds, or made for another value
 */
export function applyDelta(old: Json, delta: unknown): Json {
  new Weight().add(delta, MAX_DEPTH);
  new Edits().edit(delta as Json);
  return edited(old, delta as Json);
}

function refuse(code: DeltaCode): never {
  throw new DeltaError(code);
}

function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isList(value: unknown): value is readonly Json[] {
  return Array.isArray(value);
}

function integer(step: unknown): number {
  const fits = Number.isInteger(step) && !Object.is(step, -0) && Math.abs(step as number) <= MAX_INTEGER;
  return fits ? (step as number) : refuse("shape");
}

function index(step: unknown): number {
  const at = integer(step);
  return at >= 0 ? at : refuse("shape");
}

/** Counts the weight of a value and checks that it is JSON at all. */
class Weight {
  #left = MAX_WEIGHT;

  add(value: unknown, depth: number): void {
    this.#take(1);
    if (typeof value === "string") this.#take(value.length);
    else if (typeof value === "number") Number.isFinite(value) || refuse("shape");
    else if (typeof value === "object" && value !== null) {
      if (depth === 0) refuse("depth");
      if (isList(value)) for (const item of value) this.add(item, depth - 1);
      else this.#addMembers(value, depth - 1);
    } else if (value !== null && typeof value !== "boolean") refuse("shape");
  }

  #addMembers(value: object, depth: number): void {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) refuse("shape");
    for (const [name, member] of Object.entries(value)) {
      this.#take(name.length);
      this.add(member, depth);
    }
  }

  #take(weight: number): void {
    this.#left -= weight;
    if (this.#left < 0) refuse("weight");
  }
}

/** Walks the edits of a delta, but not the values that it carries, and checks their grammar. */
class Edits {
  #left = MAX_EDITS;

  edit(edit: Json | undefined): void {
    this.#count(1);
    if (edit === undefined) refuse("shape");
    if (isList(edit)) this.#tagged(edit);
    else if (isMembers(edit)) this.#members(edit);
  }

  #count(edits: number): void {
    this.#left -= edits;
    if (this.#left < 0) refuse("edits");
  }

  #members(edit: Members): void {
    const members = Object.values(edit);
    if (members.length === 0) refuse("shape");
    for (const member of members) {
      if (isRemoval(member)) this.#count(1);
      else this.edit(member);
    }
  }

  #tagged(edit: readonly Json[]): void {
    if (edit.length < 2) refuse("shape");
    const tag = integer(edit[0]);
    if (tag === LIST) this.#list(edit);
    else if (tag === TEXT) this.#text(edit);
    else if (tag !== REPLACE || edit.length !== 2) refuse("shape");
  }

  #list(steps: readonly Json[]): void {
    for (let at = 1; at < steps.length; at++) {
      const step = steps[at];
      this.#count(1);
      if (isList(step)) step.length > 0 || refuse("shape");
      else if (isMembers(step)) this.edit(step);
      else if (typeof step === "boolean") {
        index(steps[++at]);
        if (!step) this.edit(steps[++at]);
      } else if (integer(step) === 0) this.edit(steps[++at]);
    }
  }

  #text(steps: readonly Json[]): void {
    this.#count(steps.length - 1);
    for (let at = 1; at < steps.length; at++) {
      const step = steps[at];
      if (step === "" || (typeof step !== "string" && integer(step) === 0)) refuse("shape");
    }
  }
}

function isRemoval(member: Json): boolean {
  return isList(member) && member.length === 0;
}

function edited(old: Json | undefined, edit: Json): Json {
  if (isList(edit)) {
    if (edit[0] === REPLACE) return edit[1] as Json;
    if (edit[0] === LIST) return isList(old) ? editedList(old, edit) : refuse("mismatch");
    return typeof old === "string" ? editedText(old, edit) : refuse("mismatch");
  }
  if (!isMembers(edit)) return edit;
  return isMembers(old) ? editedMembers(old, edit) : refuse("mismatch");
}

function editedMembers(old: Members, edit: Members): Members {
  const members: Record<string, Json> = { ...old };
  for (const name of Object.keys(edit)) {
    const member = edit[name] as Json;
    const present = Object.hasOwn(old, name);
    if (!isRemoval(member)) put(members, name, edited(present ? old[name] : undefined, member));
    else if (present) delete members[name];
    else refuse("mismatch");
  }
  return members;
}

/** Sets a member, also one whose name would otherwise set the prototype. */
function put(members: Record<string, Json>, name: string, value: Json): void {
  if (name !== "__proto__") members[name] = value;
  else Object.defineProperty(members, name, { value, writable: true, enumerable: true, configurable: true });
}

function editedList(old: readonly Json[], steps: readonly Json[]): Json[] {
  const source = new OldList(old, steps);
  const items: Json[] = [];
  for (let at = 1; at < steps.length; at++) {
    const step = steps[at] as Json;
    if (isList(step)) for (const item of step) items.push(item);
    else if (typeof step === "boolean") {
      const item = source.take(steps[++at] as number);
      items.push(step ? item : edited(item, steps[++at] as Json));
    } else if (typeof step !== "number") items.push(edited(source.next(), step));
    else if (step === 0) items.push(edited(source.next(), steps[++at] as Json));
    else if (step > 0) source.keep(step, items);
    else source.skip(-step);
  }
  source.keep(source.left, items);
  return items;
}

/** The old elements of a list, each of which can be used once. */
class OldList {
  readonly #items: readonly Json[];
  /** Which elements were used; only needed where moves take elements out of order. */
  readonly #used: Uint8Array | undefined;
  #next = 0;

  constructor(items: readonly Json[], steps: readonly Json[]) {
    this.#items = items;
    this.#used = steps.some((step) => typeof step === "boolean") ? new Uint8Array(items.length) : undefined;
  }

  get left(): number {
    return this.#items.length - this.#next;
  }

  next(): Json {
    this.skip(1);
    return this.take(this.#next - 1);
  }

  take(at: number): Json {
    if (at >= this.#items.length || this.#used?.[at]) refuse("mismatch");
    if (this.#used) this.#used[at] = 1;
    return this.#items[at] as Json;
  }

  keep(count: number, into: Json[]): void {
    const end = this.#next + count;
    this.skip(count);
    for (let at = end - count; at < end; at++) into.push(this.take(at));
  }

  skip(count: number): void {
    if (count > this.left) refuse("mismatch");
    this.#next += count;
  }
}

function editedText(old: string, steps: readonly Json[]): string {
  let text = "";
  let next = 0;
  for (let at = 1; at < steps.length; at++) {
    const step = steps[at];
    if (typeof step === "string") {
      text += step;
      continue;
    }
    const end = next + Math.abs(step as number);
    if (end > old.length || splitsPair(old, end)) refuse("mismatch");
    if ((step as number) > 0) text += old.slice(next, end);
    next = end;
  }
  return text + old.slice(next);
}

/** Whether a cut at this position would fall inside a surrogate pair. */
function splitsPair(text: string, at: number): boolean {
  return (text.charCodeAt(at - 1) & 0xfc00) === 0xd800 && (text.charCodeAt(at) & 0xfc00) === 0xdc00;
}
