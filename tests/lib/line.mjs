// A line between a client and a server that can be cut, as a lost network does it: no close frame, no answer.

import { once } from "node:events";
import { connect, createServer } from "node:net";

/** A way to the server that can be cut: `refuse` drops every connection and takes no new one, `admit` lets them again. */
export async function brittleLine(server) {
  const open = new Set();
  let refusing = false;
  const drop = () => open.forEach((socket) => socket.destroy());
  const front = createServer((near) => {
    if (refusing) return near.destroy();
    const far = connect(server.port, "127.0.0.1");
    for (const [socket, other] of [[near, far], [far, near]]) {
      open.add(socket);
      socket.pipe(other);
      socket.on("error", () => other.destroy());
      socket.on("close", () => (open.delete(socket), other.destroy()));
    }
  });
  await once(front.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${front.address().port}`,
    refuse: () => ((refusing = true), drop()),
    admit: () => (refusing = false),
    close: () => (drop(), new Promise((resolve) => front.close(resolve))),
  };
}
