// Field reports U31 and U32: SIGTERM with a hundred sockets, agents that wait, idle connections and a half-sent request.

import assert from "node:assert/strict";
import { once } from "node:events";
import net from "node:net";
import { test } from "node:test";
import { InMatch, agent, guest, person, startPlayerThree } from "../lib/playerthree.mjs";
import { eventually, left, within } from "../lib/rooms.mjs";

async function crowded() {
  const server = await startPlayerThree();
  const x = new InMatch(await (await person(server, "Ann")).create("tic-tac-toe"));
  const o = await agent(server, (await x.do("mint", { team: "o", role: "player" })).token);
  await o.tool("game_wait", { seconds: 0 });
  const watchers = await Promise.all(Array.from({ length: 99 }, () => guest(server).joinById(x.room.roomId, { as: "spectator" })));
  const rooms = [x.room, ...watchers];
  for (const room of rooms) room.reconnection.enabled = false;
  const codes = rooms.map((room) => left(room));
  const waits = [1, 2].map(() => o.tool("game_wait", { seconds: 60 }).catch((error) => error.message));
  const idle = ["", "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"].map((text) => {
    const socket = net.connect(server.port, "127.0.0.1", () => socket.write(text));
    socket.on("error", () => {});
    socket.resume();
    return within(new Promise((resolve) => socket.on("close", resolve)), "an idle connection's end");
  });
  // An answer after the waits were sent proves that the server has them.
  await o.tool("game_observe");
  return { server, codes, waits, idle };
}

for (const signal of ["SIGTERM", "SIGINT"]) {
  test(`${signal} tells every socket and every waiting agent, and ends the process well`, async () => {
    const { server, codes, waits, idle } = await crowded();
    assert.deepEqual(await server.stop(signal), { code: 0, signal: null });
    assert.deepEqual(new Set(await Promise.all(codes)), new Set([4001]));
    // A wait that was still on its way is refused at the door.
    for (const answer of await Promise.all(waits)) assert.match(answer, /bad_token|Unauthorized|503/);
    await Promise.all(idle);
  });
}

test("a second signal ends the process at once", async () => {
  const server = await startPlayerThree();
  // A request that is never sent whole keeps the server from ending by itself for longer than this test waits.
  const socket = net.connect(server.port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write("POST /matchmake/create/relay HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{");
  await within(once(socket, "connect"), "a connection");
  // The answer to a later request proves that the server has the first one.
  assert.equal((await fetch(`${server.url}/health/live`)).status, 200);
  server.child.kill("SIGTERM");
  await eventually(() => server.lines.some((line) => line.includes("stopping")), "the first signal is taken");
  assert.deepEqual(await server.stop("SIGTERM"), { code: 1, signal: null });
});
