// A scripted agent that knows no game and none of this server's words but those that it is told: the list of tools says
// how to call, the briefing what to read, and the texts what to do. It stands for a model that reads and follows them.

import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { setTimeout } from "node:timers/promises";

/** How long its waits are at most, in seconds, as the skills teach. */
const WAIT = 45;

/** How long it is quiet after a call that came too fast, in milliseconds. */
const PAUSE = 100;

export class Newcomer {
  /** The topics and skills that it read, by name. */
  read = new Map();
  /** The codes of every intent that it sent. */
  acks = [];
  /** The schema of every intent that it may send, by kind. */
  #intents = new Map();
  #connect;
  #agent;

  /** @param {() => Promise<import("./playerthree.mjs").Agent>} connect opens a connection, and another one after a loss */
  constructor(connect) {
    this.#connect = connect;
  }

  async arrive() {
    this.#agent = await this.#connect();
    const names = this.#agent.tools.map(({ name }) => name);
    // What every skill leans on: each reads, acts or waits, and says so itself.
    for (const needed of ["game_briefing", "game_skill", "game_wait", "game_ready", "game_act"]) assert.ok(names.includes(needed));
    assert.ok(this.#agent.tools.every(({ description }) => description.length > 0));
  }

  /** The connection is gone, whatever it was doing, and there is another one. */
  async comeBack() {
    await this.#agent.close();
    this.#agent = await this.#connect();
  }

  /** A long wait that nobody hears the end of: the connection goes while it is under way. */
  async loseConnectionWhileWaiting() {
    let begun;
    const underWay = new Promise((resolve) => (begun = resolve));
    const call = { name: "game_wait", arguments: { seconds: WAIT } };
    const lost = this.#agent.client.callTool(call, { onprogress: () => begun() }).then(
      () => "answered",
      () => "lost",
    );
    await Promise.race([underWay, lost]);
    await this.comeBack();
    return lost;
  }

  close() {
    return this.#agent.close();
  }

  /** A call, made again a little later where it came too fast. */
  async #call(name, args) {
    for (;;) {
      try {
        return await this.#agent.tool(name, args);
      } catch (error) {
        if (error.message !== "rate_limited") throw error;
        await setTimeout(PAUSE);
      }
    }
  }

  /** Everything that the reading order asks for: the briefing, what its role has to read, the strategy, each intent. */
  async study() {
    const briefing = await this.#call("game_briefing");
    const wanted = briefing.seat.roleDoc.match(/READ BEFORE PLAYING: ([^.]*)\./)[1].split(", ");
    for (const topic of wanted) await this.#topic(topic);
    for (const { name } of briefing.skills) await this.#skill(name, "SKILL.md");
    for (const kind of briefing.intents) {
      const text = await this.#topic(`schema/intent/${kind}`);
      this.#intents.set(kind, JSON.parse(text.slice(text.indexOf("\n{") + 1)));
    }
    return briefing;
  }

  async #topic(topic) {
    let text = "";
    for (let next = { topic }; next; ) {
      const page = await this.#call("game_briefing", next);
      text += page.text;
      next = page.next;
    }
    this.read.set(topic, text);
    return text;
  }

  async #skill(name, path) {
    let text = "";
    for (let offset = 0; offset !== undefined; ) {
      const window = await this.#call("game_skill", { name, path, offset });
      text += window.text;
      offset = window.next;
    }
    this.read.set(name, text);
  }

  /** Waits until its match runs, and says that it is ready once it has a seat. Returns how the lobby looked on the way. */
  async waitForMatch() {
    const seen = [];
    for (;;) {
      const state = await this.#call("game_wait", { seconds: WAIT });
      if (state.phase === "match") return { seen, entry: state };
      assert.ok(state.instruction.length > 0);
      seen.push(state.seat);
      if (state.seat && !state.you.ready) await this.#call("game_ready");
    }
  }

  /** Plays until its side is out. `meanwhile` happens once, after the first turn. */
  async play(meanwhile = async () => {}) {
    for (let turn = 0; ; turn += 1) {
      const observed = await this.#call("game_observe");
      if (observed.phase === "lobby") return observed;
      const intents = this.#orders(observed.observation);
      if (intents.length > 0) {
        const { acks } = await this.#call("game_act", { intents }).catch(() => ({ acks: [] }));
        this.acks.push(...acks.map(({ ok, code }) => (ok ? "ok" : code)));
      }
      if (turn === 0) await meanwhile();
      const waited = await this.#call("game_wait", { seconds: 0.5 });
      if (waited.wake === "ended") return waited;
    }
  }

  /** One order of each of the first kinds that say something, out of its schema and of what the observation shows. */
  #orders(observation) {
    const seen = { ids: idsIn(observation), extent: longestList(observation) };
    const kinds = [...this.#intents.values()].filter(({ properties }) => Object.keys(properties).length > 1);
    return kinds.slice(0, 4).map((schema) => sample(schema, seen));
  }
}

/** Whatever an observation calls an id, at any depth. */
function idsIn(value) {
  if (value === null || typeof value !== "object") return [];
  const own = typeof value.id === "string" ? [value.id] : [];
  return own.concat(Object.values(value).flatMap(idsIn));
}

/** How far things reach: boards are lists of lists. */
function longestList(value) {
  if (value === null || typeof value !== "object") return 0;
  return Math.max(Array.isArray(value) ? value.length : 0, ...Object.values(value).map(longestList));
}

const pick = (values) => values[randomInt(values.length)];

/** A value of a JSON Schema, of ids and numbers that the observation makes likely. */
function sample(schema, seen) {
  if (schema.enum) return pick(schema.enum);
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices) return sample(pick(choices), seen);
  switch (schema.type) {
    case "object": {
      const members = schema.required ?? [];
      return Object.fromEntries(members.map((name) => [name, sample(schema.properties[name], seen)]));
    }
    case "array":
      return [sample(schema.items, seen)];
    case "integer":
      return randomInt(schema.minimum, Math.min(schema.maximum, schema.minimum + Math.max(seen.extent, 1) - 1) + 1);
    case "number":
      return schema.minimum + Math.random() * (schema.maximum - schema.minimum);
    case "boolean":
      return pick([true, false]);
    default: {
      const fitting = seen.ids.filter((id) => new RegExp(schema.pattern ?? "", "u").test(id));
      return fitting.length > 0 ? pick(fitting) : "";
    }
  }
}
