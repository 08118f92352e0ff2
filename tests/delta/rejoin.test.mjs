// A reader whose deltas are lost, repeated, swapped or damaged on their way (§4): the client refuses them, discards the
// side's state, and is whole again with the keyframe of its next join. Server and clients are those that ship.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connect } from "../../client-sdk/js/dist/playerthree.js";
import { InMatch, guest, person, startPlayerThree } from "../lib/playerthree.mjs";
import { within } from "../lib/rooms.mjs";

let server;
before(async () => (server = await startPlayerThree()));
after(() => server.stop());

/** A room whose view messages go through `line` first, which gives what arrives in their place. */
function behind(room, line) {
  const between = Object.create(room);
  between.onMessage = (type, callback) =>
    room.onMessage(type, (message) => {
      const arriving = type === "playerthree:view" ? line(message) : [message];
      arriving.forEach((each) => callback(each));
    });
  return between;
}

/** Lets keyframes through, and does something to the first deltas. */
function onDeltas(harm) {
  const deltas = [];
  return (message) => {
    if ("view" in message) return [message];
    deltas.push(message);
    return harm(deltas, message);
  };
}

const harms = {
  "a lost delta": (deltas, message) => (deltas.length === 1 ? [] : [message]),
  "a repeated delta": (_, message) => [message, message],
  "swapped deltas": (deltas, message) => (deltas.length === 1 ? [] : deltas.length === 2 ? [message, deltas[0]] : [message]),
  "a delta of another version": (deltas, message) => [{ ...message, version: message.version + 1 }],
  "a truncated delta": (_, message) => [{ ...message, delta: { ...message.delta, board: [1] } }],
  "a corrupted delta": (_, message) => [{ ...message, delta: { ...message.delta, board: { row: 1 } } }],
};

test("damaged streams are refused, and a new join brings the whole view", async () => {
  const x = new InMatch(await (await person(server, "Ann")).create("tic-tac-toe"));
  const { roomId } = x.room;
  const o = new InMatch(await (await person(server, "Bob")).joinById(roomId));
  const watchers = [];
  for (const [name, harm] of Object.entries(harms)) {
    const room = await guest(server).joinById(roomId, { as: "spectator", team: "x" });
    const match = connect(behind(room, onDeltas(harm)));
    watchers.push({ name, room, lost: new Promise((resolve) => match.on("lost", resolve)), match });
  }
  const moves = [
    [x, 0, 0],
    [o, 1, 1],
    [x, 2, 2],
  ];
  for (const [player, row, col] of moves) {
    assert.deepEqual(await player.act("player", { kind: "move", row, col }), ["ok"]);
    await o.until((view) => view.board[row][col] !== ".");
  }
  for (const { name, room, lost, match } of watchers) {
    assert.equal(await within(lost, `the loss by ${name}`), "x");
    assert.equal(match.view("x")?.view, undefined, `${name}: nothing is left of the view`);
    await room.leave();
    const again = await guest(server).joinById(roomId, { as: "spectator", team: "x" });
    const whole = connect(again);
    const view = await within(new Promise((resolve) => whole.on("welcome", () => whole.view("x").onChange(resolve))), name);
    assert.deepEqual(view.board, ["x..", ".o.", "..x"], name);
    await again.leave();
  }
  await Promise.all([x.room.leave(), o.room.leave()]);
});
