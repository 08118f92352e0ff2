// Small helpers around rooms of the official SDK: waiting for messages and ends without sleeping.

// The SDK tells the console of each message without a handler and each retry, which here is what is tested.
console.info = () => {};
console.warn = () => {};

/** How long anything that must happen may take before a test fails, in milliseconds. */
export const PATIENCE = 10_000;

/** Fails with `what` where `promise` does not settle in time. */
export async function within(promise, what, limit = PATIENCE) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`timed out: ${what}`)), limit);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Records every message of a room from now on, in order. Attach it right after joining. */
export class Inbox {
  messages = [];
  #waiting = [];

  constructor(room) {
    leaveOnce(room);
    room.onMessage("*", (type, payload) => {
      this.messages.push({ type, payload });
      this.#waiting = this.#waiting.filter((check) => !check());
    });
  }

  /** The payload of the first message of that type that no earlier call has taken. */
  next(type) {
    const found = new Promise((resolve) => {
      const check = () => {
        const index = this.messages.findIndex((message) => message.type === type);
        if (index < 0) return false;
        resolve(this.messages.splice(index, 1)[0].payload);
        return true;
      };
      if (!check()) this.#waiting.push(check);
    });
    return within(found, `message ${type}`);
  }
}

/**
 * Makes a room's `leave` end always: the SDK's own waits for ever where the server has closed the room before, and where
 * its goodbye is never answered.
 */
function leaveOnce(room) {
  const leave = room.leave.bind(room);
  let ended;
  room.onLeave((code) => (ended = code));
  room.leave = async (consented) => ended ?? within(leave(consented), "the end of the room");
}

/** Resolves with the code once the room is left for good. */
export function left(room) {
  return within(new Promise((resolve) => room.onLeave.once((code) => resolve(code))), "onLeave");
}

/** The error that `promise` rejects with. */
export async function rejection(promise) {
  try {
    await within(promise, "a rejection");
  } catch (error) {
    return error;
  }
  throw new Error("it did not reject");
}

/** Asks again and again, a turn of the event loop apart, until `check` returns something truthy. */
export async function eventually(check, what) {
  const end = Date.now() + PATIENCE;
  for (;;) {
    const result = await check();
    if (result) return result;
    if (Date.now() > end) throw new Error(`never happened: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
