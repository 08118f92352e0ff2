// A room without a network, for tests of this package alone: it records what is sent and plays the server.

/** A signal as the SDK's: called to add a callback, with `remove`. */
function signal() {
  const callbacks = new Set();
  const add = (callback) => callbacks.add(callback);
  return Object.assign(add, {
    remove: (callback) => callbacks.delete(callback),
    invoke: (...args) => callbacks.forEach((callback) => callback(...args)),
    size: () => callbacks.size,
  });
}

export class FakeRoom {
  sent = [];
  onLeave = signal();
  onDrop = signal();
  onReconnect = signal();
  handlers = new Map();

  send(type, message) {
    this.sent.push({ type, message });
  }

  onMessage(type, callback) {
    this.handlers.set(type, callback);
    return () => this.handlers.delete(type);
  }

  /** A message from the server, as it comes out of a decoder: a copy. */
  push(op, body) {
    this.handlers.get(`playerthree:${op}`)?.(body === undefined ? body : structuredClone(body));
  }

  /** Answers the newest operation. */
  answer(body) {
    this.push("result", { op: "result", seq: this.sent.at(-1).message.seq, ...body });
  }
}
