/** Links that let somebody in: to a match, to its delayed stream, and to one's own seat on another device. */

import type { Connection, SeatRef } from "playerthree-client";
import { toast } from "./dom.js";
import type { LiveMatch } from "./live.js";
import { explain, span } from "./words.js";

/** Each observer of a private match comes on a ticket of their own, which is part of the link. */
export async function inviteObserver({ id, connection }: LiveMatch): Promise<void> {
  try {
    const { ticket, expiresAt } = await connection.inviteObserver();
    await copyLink(`/#/observe/${id}/${ticket}`, `A link for one observer is copied. It is good for ${span(expiresAt - Date.now())}.`);
  } catch (error) {
    toast(explain(error), "error");
  }
}

/** The token in this link holds the seat as its owner does, until it is revoked or its time is over. */
export async function inviteDevice(connection: Connection, seat: SeatRef): Promise<void> {
  try {
    const { token, expiresAt } = await connection.mintHuman({ ...seat, ttlSeconds: 600 });
    const id = connection.welcome?.match ?? "";
    await copyLink(`/#/guest/${id}/${token}`, `A link for one device of yours is copied. It is good for ${span(expiresAt - Date.now())}.`);
  } catch (error) {
    toast(explain(error), "error");
  }
}

/** Copies a link of this page, or shows it where there is no clipboard. */
export async function copyLink(path: string, done: string): Promise<void> {
  const link = location.origin + path;
  try {
    await navigator.clipboard.writeText(link);
    toast(done);
  } catch {
    toast(link);
  }
}
