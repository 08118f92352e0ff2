/** The calls of one seat (§4 `SeatControl`), the same that agents make over MCP. */

import type { CallOptions } from "./calls.js";
import type { Json } from "./delta.js";
import type { Ack, Artifact, Deployed, Practice, Practised, Published, Waited } from "./protocol.js";

/** Sends one call of a seat. */
export type SeatCall = <T>(method: string, args: object, options?: CallOptions) => Promise<T>;

/** A wait lasts as long as it was asked to, and then its answer may still take this long. */
const ANSWER_MS = 10_000;
/** Policies are compiled and tried before the answer comes. */
const POLICY_MS = 60_000;
/** A practice that nobody makes way for plays a tick in far less. */
const PRACTICE_TICK_MS = 20;

export class SeatControl {
  readonly role: string;
  readonly #call: SeatCall;

  constructor(role: string, call: SeatCall) {
    this.role = role;
    this.#call = call;
  }

  /** The core briefing, or a page of a topic. */
  briefing(args: { topic?: string; page?: number } = {}, options?: CallOptions): Promise<Json> {
    return this.#call("briefing", args, options);
  }

  /** The observation of this seat. */
  async observe<Observation = Json>(
    args: { since?: number; detail?: readonly string[] | "all"; fields?: readonly string[] } = {},
    options?: CallOptions,
  ): Promise<Observation> {
    return (await this.#call<{ observation: Observation }>("observe", args, options)).observation;
  }

  /** Sends 1 to 64 intents. The acknowledgements come in their order. */
  async act(intents: readonly object[], options?: CallOptions): Promise<readonly Ack[]> {
    return (await this.#call<{ acks: readonly Ack[] }>("act", { intents }, options)).acks;
  }

  /** Waits 0 to 60 seconds of game time, or until one of the named kinds of events happened. */
  wait(args: { seconds: number; until?: readonly string[] }, options?: CallOptions): Promise<Waited> {
    return this.#call("wait", args, { timeoutMs: args.seconds * 1000 + ANSWER_MS, ...options });
  }

  /** A window of a skill's file. */
  skill(args: { name: string; path: string; offset?: number }, options?: CallOptions): Promise<Json> {
    return this.#call("skill", args, options);
  }

  /** Deploys a policy; under a supervised mandate the owner has to approve it first. */
  policyDeploy(artifact: Artifact, options?: CallOptions): Promise<Deployed> {
    return this.#call("policyDeploy", artifact, { timeoutMs: POLICY_MS, ...options });
  }

  /** The state of the seat's policy, or null. */
  async policyStatus(options?: CallOptions): Promise<Json> {
    return (await this.#call<{ policy: Json }>("policyStatus", {}, options)).policy;
  }

  /** Puts the active policy into the game's pool; under a supervised mandate the owner has to approve it first (§13). */
  publish(options?: CallOptions): Promise<Published> {
    return this.#call("publish", {}, options);
  }

  /** Makes a retained version of the policy active again. */
  policyRollback(version: number, options?: CallOptions): Promise<Deployed> {
    return this.#call("policyRollback", { version }, { timeoutMs: POLICY_MS, ...options });
  }

  /**
   * Plays a headless match with the given artifact, or the seat's active policy, against bots (§13). It may take long:
   * the default timeout is a minute and 20 ms for each tick.
   */
  practice(practice: Practice, options?: CallOptions): Promise<Practised> {
    return this.#call("practice", practice, { timeoutMs: POLICY_MS + practice.ticks * PRACTICE_TICK_MS, ...options });
  }
}
