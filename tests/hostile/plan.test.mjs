// A seeded plan of some hundred operations by six people, four watchers and their agents over several rooms. What must
// hold whatever happens: one answer to every numbered operation, view streams without a gap, one side a reader, nothing
// after a close, no answer `internal`, and a server that is empty again once all have left.
//
// PLAYERTHREE_SEED picks another plan; a failing one prints its last operations.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { guest, person, startPlayerThree } from "../lib/playerthree.mjs";
import { eventually, within } from "../lib/rooms.mjs";
import { applyDelta } from "../../client-sdk/js/dist/playerthree.js";
import { toolCall } from "./raw-mcp.mjs";

const STEPS = 300;
const seed = Number(process.env.PLAYERTHREE_SEED ?? 20_261);

let server;
before(async () => (server = await startPlayerThree()));
after(() => server.stop());

/** Numbers of a plan: the same for the same seed. */
function dice(state) {
  const below = (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  return { below, pick: (list) => list[below(list.length)] };
}

/** One connection that checks everything it is sent. */
class Checked {
  pending = new Map();
  versions = new Map();
  seat = {};
  closed = false;
  dropped = false;
  /** Resolves when the connection was lost or left: from then on an answer may be lost with it. */
  gone = new Promise((resolve) => (this.lost = resolve));
  #seq = 0;

  constructor(room, faults, onClosed) {
    this.room = room;
    const check = (holds, fault) => holds || faults.push(fault);
    room.onMessage("*", () => check(!this.closed, "a message after the close"));
    room.onMessage("playerthree:welcome", ({ seat }) => (this.seat = seat ?? {}));
    room.onMessage("playerthree:result", (answer) => {
      if (answer.seq === null) return;
      check(this.pending.has(answer.seq), "an answer twice, or to nothing");
      check(answer.code !== "internal", "an answer is internal");
      this.pending.get(answer.seq)?.(answer);
      this.pending.delete(answer.seq);
    });
    room.onMessage("playerthree:view", ({ team, version, view, delta }) => {
      this.side ??= team;
      check(this.side === team, "a view of another side");
      const before = this.versions.get(team);
      if (delta !== undefined) check(before?.version + 1 === version, "a gap in a view stream");
      this.versions.set(team, { version, view: delta === undefined ? view : applyDelta(before.view, delta) });
    });
    room.onLeave(() => {
      this.closed = true;
      this.lost({});
      onClosed(this);
    });
  }

  ask(op, fields) {
    const seq = ++this.#seq;
    const answer = new Promise((resolve) => this.pending.set(seq, resolve));
    this.room.send(`playerthree:${op}`, { op, seq, ...fields });
    return answer;
  }
}

const REFUSED = /no open seat|does not play|one person|observe|watch|against|not found|full|expired|locked|invalid|out of play|ticket|history/i;

test(`plan ${seed}`, async () => {
  const { below, pick } = dice(seed);
  const people = await Promise.all(["P1", "P2", "P3", "P4", "P5", "P6"].map((name) => person(server, name)));
  const watchers = Array.from({ length: 4 }, () => guest(server));
  const [faults, done, agents, open] = [[], [], [], new Set()];
  const any = () => pick([...open]);
  const joining = (promise) => {
    const joined = promise.then(
      (room) => open.add(new Checked(room, faults, (client) => open.delete(client))),
      (error) => REFUSED.test(error.message) || faults.push(`a join failed: ${error.message}`),
    );
    done.push(joined);
    return joined;
  };
  const asking = (client, op, fields) => {
    const answer = within(Promise.race([client.ask(op, fields), client.gone]), op);
    done.push(answer.catch(() => faults.push(`no answer to ${op}`)));
    return answer;
  };
  const role = (client) => client.seat.role ?? pick(["ground", "air", "player"]);
  const act = () => pick([{ kind: "move", row: below(3), col: below(3) }, { kind: "stop", units: [] }, { kind: "resign" }, 7]);
  const call = (client, method, args) => asking(client, "call", { role: role(client), method, args });
  const mandate = () => ({ autonomy: pick(["autonomous", "supervised"]), directive: { objective: "attack" }, whenAbsent: pick(["policy", "bot", "hold"]) });

  const steps = {
    create: () => {
      const duel = { teams: ["red", "blue"], bots: pick(["nobody", "recruit"]), private: below(3) === 0, observerDelayMs: 0 };
      const [game, options] = pick([["tic-tac-toe", { bots: pick(["nobody", "random"]) }], ["agent-command", duel]]);
      return joining(pick(people).create(game, options));
    },
    join: () => void joining(pick(people).joinById(any().room.roomId)),
    watch: () => void joining(pick(watchers).joinById(any().room.roomId, { as: "spectator" })),
    observe: () => void joining(pick(people).joinById(any().room.roomId, { as: "observer" })),
    leave: () => void any().room.leave(),
    drop: () => {
      const client = any();
      client.dropped = true;
      client.lost({});
      client.room.connection.transport.ws.terminate();
    },
    act: () => void call(any(), "act", { intents: [act()] }),
    wait: () => void call(any(), "wait", { seconds: below(3) }),
    view: () => void asking(any(), pick(["view", "report"]), {}),
    control: () => void asking(any(), "controller", { role: "air", controller: pick(["human", "agent", "policy", "bot", "none"]) }),
    scopes: () => void asking(any(), "scopes", { role: pick(["air", "player"]), scopes: pick([[], ["act"]]) }),
    mandate: () => void asking(any(), "mandate", { role: pick(["air", "player"]), mandate: mandate() }),
    mint: () => {
      const wish = { role: pick(["ground", "air", "player"]), ...(below(2) && { team: pick(["red", "blue", "x", "o"]) }) };
      asking(any(), "mint", wish).then(({ ok, data }) => ok && agents.push({ token: data.token })).catch(() => {});
    },
    agent: () => {
      if (agents.length === 0) return;
      const [who, cut] = [pick(agents.slice(-8)), new AbortController()];
      const [tool, args] = pick([["game_observe", {}], ["game_wait", { seconds: below(3) }], ["game_act", { intents: [act()] }]]);
      const answer = toolCall(server, who.token, who.session, tool, args, cut.signal);
      if (below(4) === 0) setTimeout(() => cut.abort(), below(200));
      done.push(answer.then(
        ({ status, session, text }) => {
          who.session ??= session;
          if (status >= 500 || text.includes("internal")) faults.push(`an agent got ${status}`);
        },
        (error) => error.name === "AbortError" || faults.push(`an agent's call failed: ${error.message}`),
      ));
    },
  };
  const weighted = ["join", "join", "join", "watch", "leave", "drop", "observe", "act", "act", "act", "wait", "view", "view", "control", "scopes", "mandate", "mint", "mint", "agent", "agent", "create"];
  const log = [];
  for (let step = 0; step < STEPS; step += 1) {
    const name = open.size < 4 ? "create" : pick(weighted);
    log.push(name);
    await steps[name]();
    // Lets messages come and go between operations; how many is part of what is random here.
    await new Promise((resolve) => setTimeout(resolve, below(25)));
  }
  await Promise.all(done);
  assert.deepEqual(faults, [], `after ... ${log.slice(-30).join(" ")}`);
  assert.equal((await fetch(`${server.url}/health`)).status, 200);
  for (const client of [...open]) client.room.leave();
  await eventually(() => open.size === 0 || [...open].every(({ dropped }) => dropped), "everybody left");
  assert.ok(!server.lines.some((line) => line.includes("panicked")));
});
