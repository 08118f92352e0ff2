/** A list of callbacks. One that throws neither stops the others nor the message that is being handled. */

/** Ends a subscription. */
export type Unsubscribe = () => void;

export class Listeners<Args extends unknown[]> {
  readonly #callbacks = new Set<(...args: Args) => void>();

  add(callback: (...args: Args) => void): Unsubscribe {
    // A wrapper, so that a callback that is added twice is called twice and removed once.
    const entry = (...args: Args) => callback(...args);
    this.#callbacks.add(entry);
    return () => void this.#callbacks.delete(entry);
  }

  emit(...args: Args): void {
    for (const callback of [...this.#callbacks]) {
      try {
        callback(...args);
      } catch (error) {
        // The page's own handler of uncaught errors shall see it, as for any event listener.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
