/**
 * A joined match: the room, the connection over it, and how the connection fares. It comes back by itself after a drop
 * and after a reload of the tab, and it holds no rule of a game.
 */

import type { Room } from "@colyseus/sdk";
import { connect, type As, type Connection } from "playerthree-client";
import { client } from "./account.js";

/** How the connection fares. `left`, `failed` and `revoked` are for good. */
export type Link = "up" | "dropped" | "left" | "failed" | "revoked";

/** What the creator of a match chose; the join options of `PROTOCOL.md`. */
export interface Creation {
  readonly match?: object;
  readonly teams?: readonly string[];
  readonly alliances?: readonly (readonly string[])[];
  readonly bots?: string;
  readonly private?: boolean;
  readonly observerDelayMs?: number;
  readonly team?: string;
  readonly role?: string;
  readonly readySeconds?: number;
  readonly hold?: boolean;
}

/** How a match is entered. */
export interface Entry {
  readonly as: As;
  /** The side that a spectator watches. */
  readonly team?: string;
  /** What lets an observer into a private match. */
  readonly ticket?: string;
  /** What lets somebody in without a login, in place of all else. */
  readonly token?: string;
}

const TOKENS = "playerthree.return";
const CREATED = "playerthree.created";
/** Matches of this tab whose way back is remembered. */
const REMEMBERED = 8;
/** The close code of a room that was left, or that ended. */
const CONSENTED = 4000;
/** The close code for a client whose token or ticket has ended. */
const CREDENTIAL_ENDED = 4401;
/** How a room's end is told by its close code. */
const ENDS: { readonly [code: number]: Link } = { [CONSENTED]: "left", [CREDENTIAL_ENDED]: "revoked" };
/** The close code with which the server lets a client come back. */
const MAY_RECONNECT = 4010;

/** The match that was just created or found and that the next screen takes over. */
let handed: LiveMatch | undefined;

export class LiveMatch {
  readonly room: Room;
  readonly connection: Connection;
  readonly as: As;
  #link: Link = "up";
  #onLink: (link: Link) => void = () => {};

  constructor(room: Room, as: As) {
    this.room = room;
    this.as = as;
    this.connection = connect(room);
    this.#follow();
    remember(TOKENS, room.roomId, { token: room.reconnectionToken, as });
  }

  get id(): string {
    return this.room.roomId;
  }

  get link(): Link {
    return this.#link;
  }

  /** Calls back now and whenever the link changes. */
  onLink(callback: (link: Link) => void): void {
    this.#onLink = callback;
    callback(this.#link);
  }

  /** Leaves for good: a player's seat is open again. */
  leave(): void {
    forget(TOKENS, this.id);
    this.#end(true);
  }

  /** Goes away without giving up: a player's seat is held for a minute. Others have nothing to hold. */
  stepOut(): void {
    this.#end(this.as !== "player");
  }

  #end(consented: boolean): void {
    this.#onLink = () => {};
    this.connection.dispose();
    this.room.reconnection.enabled = false;
    if (this.#link === "up") void this.room.leave(consented);
  }

  #follow(): void {
    // A player is let back for a minute, so that long is what the SDK tries, from the first second on.
    Object.assign(this.room.reconnection, { minUptime: 0, maxRetries: 30, maxDelay: 2_500 });
    // The place of an observer, or of whoever came by a token, ends with the connection.
    this.room.reconnection.enabled = this.as === "player" || this.as === "spectator";
    this.room.onDrop(() => this.#set("dropped"));
    this.room.onReconnect(() => {
      remember(TOKENS, this.id, { token: this.room.reconnectionToken, as: this.as });
      this.#set("up");
    });
    this.room.onLeave((code) => this.#set(ENDS[code] ?? "failed"));
    this.room.onError(() => {});
    // A lost stream starts over with a keyframe after a reconnection, which keeps the seat.
    this.connection.on("lost", () => this.room.connection.close(MAY_RECONNECT));
  }

  #set(link: Link): void {
    if (this.#link !== "up" && this.#link !== "dropped") return;
    this.#link = link;
    if (link === "left" || link === "revoked") forget(TOKENS, this.id);
    this.#onLink(link);
  }
}

/** Creates a match, joins it and hands it to the next screen. */
export async function create(game: string, options: Creation): Promise<LiveMatch> {
  return handOver(new LiveMatch(await client.create(game, options), "player"), options);
}

/** Joins any match of the game that has an open seat, or creates one. */
export async function findOrCreate(game: string, options: Creation): Promise<LiveMatch> {
  return handOver(new LiveMatch(await client.joinOrCreate(game, options), "player"), options);
}

/** Enters a match: takes over what was handed, comes back with what this tab remembers, or joins. */
export async function enter(id: string, entry: Entry): Promise<LiveMatch> {
  const given = handed?.id === id && handed.as === entry.as ? handed : undefined;
  handed = undefined;
  return given ?? (await comeBack(id, entry)) ?? (await join(id, entry));
}

/** Whether this tab plays in a match that it stepped out of. */
export function mayReturn(id: string): boolean {
  return (recall(TOKENS)[id] as { as?: As } | undefined)?.as === "player";
}

/** What this tab chose when it created the match, if it did. */
export function createdWith(id: string): Creation | undefined {
  return recall(CREATED)[id] as Creation | undefined;
}

async function join(id: string, entry: Entry): Promise<LiveMatch> {
  const options = entry.token === undefined ? { ...entry } : { token: entry.token };
  return new LiveMatch(await client.joinById(id, options), entry.as);
}

/** Spectators start over instead: the side they watch stands in the address. What a token let in does not come back. */
async function comeBack(id: string, entry: Entry): Promise<LiveMatch | undefined> {
  const way = recall(TOKENS)[id] as { token: string; as: As } | undefined;
  if (!way || way.as !== entry.as || entry.as === "spectator" || entry.token !== undefined) return undefined;
  try {
    return new LiveMatch(await client.reconnect(way.token), entry.as);
  } catch {
    forget(TOKENS, id);
    return undefined;
  }
}

function handOver(match: LiveMatch, options: Creation): LiveMatch {
  handed = match;
  remember(CREATED, match.id, options);
  return match;
}

function recall(key: string): { [id: string]: unknown } {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? "{}") as { [id: string]: unknown };
  } catch {
    return {};
  }
}

function remember(key: string, id: string, value: unknown): void {
  const { [id]: _, ...others } = recall(key);
  const kept = Object.entries(others).slice(1 - REMEMBERED);
  sessionStorage.setItem(key, JSON.stringify({ ...Object.fromEntries(kept), [id]: value }));
}

function forget(key: string, id: string): void {
  const { [id]: _, ...others } = recall(key);
  sessionStorage.setItem(key, JSON.stringify(others));
}
