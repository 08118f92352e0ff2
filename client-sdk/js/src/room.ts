/** What this module needs of a room of `@colyseus/sdk` 0.17 or 0.18, and nothing more. */

import type { Room } from "@colyseus/sdk";
import type { Unsubscribe } from "./listeners.js";

interface Signal<Callback> {
  (callback: Callback): unknown;
  remove(callback: Callback): void;
}

/** A joined room. */
export interface RoomLike {
  send(type: string, message: unknown): void;
  onMessage(type: string, callback: (message: unknown) => void): Unsubscribe;
  readonly onLeave: Signal<(code: number) => void>;
  /** The connection dropped and the SDK is trying to get it back. */
  readonly onDrop?: Signal<() => void>;
  /** The connection is back. */
  readonly onReconnect?: Signal<() => void>;
}

type Assert<Fact extends true> = Fact;
/** Fails to compile if the official room stops being one of ours. */
export type OfficialRoomFits = Assert<Room extends RoomLike ? true : false>;
