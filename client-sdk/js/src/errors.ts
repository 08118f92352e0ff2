/** The closed errors of operations. An error carries a code and never what was sent. */

/** A code that the server answers with (§4). */
export type ServerCode =
  | "bad_message"
  | "bad_token"
  | "forbidden"
  | "mode_unavailable"
  | "out_of_scope"
  | "approval_not_found"
  | "approval_pending"
  | "approval_failed"
  | "rate_limited"
  | "invalid"
  | "busy"
  | "internal"
  | "not_in_match"
  | "paused";

/**
 * A code of this module: `timeout` (no answer in time), `closed` (the room was left or the connection ended; whether
 * the operation was carried out is unknown), `protocol` (an answer out of shape).
 */
export type ClientCode = "timeout" | "closed" | "protocol";

/** What the server may add to `invalid`. */
export interface ErrorDetail {
  readonly schemaCode?: string;
  readonly path?: readonly (string | number)[];
}

/** An operation failed. */
export class PlayerThreeError extends Error {
  readonly code: ServerCode | ClientCode;
  readonly schemaCode?: string;
  readonly path?: readonly (string | number)[];

  constructor(code: ServerCode | ClientCode, detail: ErrorDetail = {}) {
    super(code);
    this.name = "PlayerThreeError";
    this.code = code;
    if (detail.schemaCode !== undefined) this.schemaCode = detail.schemaCode;
    if (detail.path !== undefined) this.path = detail.path;
  }
}

const SERVER_CODES: ReadonlySet<string> = new Set<ServerCode>([
  "bad_message",
  "bad_token",
  "forbidden",
  "mode_unavailable",
  "out_of_scope",
  "approval_not_found",
  "approval_pending",
  "approval_failed",
  "rate_limited",
  "invalid",
  "busy",
  "internal",
  "not_in_match",
  "paused",
]);

/** Whether a received code is one of the closed list. */
export function isServerCode(code: unknown): code is ServerCode {
  return typeof code === "string" && SERVER_CODES.has(code);
}
