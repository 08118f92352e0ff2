/** The shapes of `playerthree:*` messages, as `PROTOCOL.md` describes them. Types only. */

import type { Json } from "./delta.js";

/** How a client joined: `human` with a human token. */
export type As = "player" | "human" | "spectator" | "observer";

/** Who acts for a seat. */
export type Controller = "human" | "agent" | "policy" | "bot" | "none";

/** `playerthree:welcome` */
export interface Welcome {
  readonly as: As;
  readonly match: string;
  readonly game: { readonly id: string; readonly version: string; readonly title: string };
  readonly teams: readonly string[];
  /** Who shares outcome and rank, by name, in a match of allies. */
  readonly alliances?: { readonly [name: string]: readonly string[] };
  readonly surfaceHash: string;
  readonly seat?: { readonly team: string; readonly role: string };
  readonly team?: string;
  /** What an observer may see, and how late. */
  readonly grant?: Grant;
}

/** `playerthree:status` */
export interface Status {
  readonly tick: number;
  readonly phase: string;
  readonly outcomes: { readonly [team: string]: Json };
  readonly ranks?: Json;
  /** One owner holds seats of two sides that are no allies: the match is their own practice. */
  readonly sameOwnerOpposed?: boolean;
  /** While an absent agent's seat holds the session (§18); `since` is in milliseconds since 1970. */
  readonly paused?: {
    readonly tick: number;
    readonly since: number;
    readonly seats: readonly (Pause & { readonly team: string; readonly role: string })[];
  };
  /** While the match is held before its first tick. */
  readonly readiness?: Readiness;
  /** The name of the room's host, while the match is held. */
  readonly host?: string | null;
}

/** Who is waited for. */
export interface Readiness {
  readonly mode: "start" | "none";
  readonly pending: boolean;
  /** Milliseconds since 1970. From then on absent agents are waited for no longer. */
  readonly deadline?: number;
  readonly seats: readonly {
    readonly team: string;
    readonly role: string;
    readonly kind: Controller;
    readonly state: "ready" | "online" | "waiting" | "absent" | "stale_policy" | "policy_failed";
  }[];
}

/** A policy or publication that waits for its owner's decision (§7). */
export interface Approval {
  readonly id: string;
  readonly kind: string;
  readonly version?: number;
  readonly status: string;
}

/** A seat of `playerthree:seats`. The members behind `owner` come to the seat's owner only. */
export interface Seat {
  readonly team: string;
  readonly role: string;
  readonly controller: Controller;
  readonly open: boolean;
  readonly agentActive: boolean;
  /** Clients must show this label (§1). */
  readonly aiPlayer: boolean;
  readonly mode: "live" | "policy" | "bot" | "held";
  readonly owner?: { readonly display: string };
  /** While the seat holds the whole session for its absent agent (§18). */
  readonly pause?: Pause;
  readonly scopes?: readonly string[];
  readonly mandate?: Mandate;
  readonly botLevel?: string | null;
  readonly policy?: Json;
  /** Why the seat does not run the policy that it was given (§20.5). */
  readonly policyState?: "stale_policy" | "policy_failed";
  readonly approval?: Approval;
}

/** A seat's hold of the session: `since` and `until` are milliseconds since 1970. */
export interface Pause {
  readonly reason: "agent_absent";
  readonly tick: number;
  readonly since: number;
  /** When the longest pause of the game runs out. */
  readonly until?: number;
}

/** What an owner allows and asks of the agent on a seat (§7). */
export interface Mandate {
  readonly autonomy: "autonomous" | "supervised";
  readonly directive: { readonly [name: string]: Json };
  readonly limits?: { readonly [name: string]: Json };
  readonly whenAbsent: "policy" | "bot" | "hold" | "pause";
}

/** A seat of one's own; `team` only where one owns seats of that role on more than one side. */
export interface SeatRef {
  readonly role: string;
  readonly team?: string;
}

/** The acknowledgement of one intent (§4). */
export type Ack =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly code: string;
      readonly schemaCode?: string;
      readonly path?: readonly (string | number)[];
      readonly gameCode?: string;
      readonly signalCode?: string;
    };

/** What an owner told an agent (§12). */
export interface Message {
  readonly from: "owner";
  readonly tick: number;
  readonly text: string;
  readonly ping?: Json;
}

/** `playerthree:said`: what an agent answered its owner. It is plain text and never markup. */
export interface Said {
  /** Its side; none between matches. */
  readonly team?: string;
  readonly role: string;
  /** The named commander, if it is one. */
  readonly commander?: string;
  readonly tick: number;
  readonly text: string;
}

/** `playerthree:observation`: what a seat of one's own sees, as its stream brings it (§9). */
export interface Observed<Observation = Json> {
  readonly role: string;
  readonly tick: number;
  readonly observation: Observation;
}

/** The result of `wait`. */
export interface Waited {
  readonly phase: string;
  readonly tick: number;
  readonly outcome: Json;
  readonly events: readonly Json[];
  readonly messages?: readonly Message[];
  readonly signals?: Json;
  readonly wake?: "event" | "ended" | "approval" | "owner_message" | "signal";
  readonly observation?: Json;
  readonly instruction?: string;
}

/** A policy's code (§11): JavaScript source, or base64 of a WebAssembly module. */
export interface Artifact {
  readonly runtime: "js" | "wasm";
  readonly code: string;
  /** Up to 16 served skill files `<skill>/<path>.js` that come before a script. */
  readonly include?: readonly string[];
}

/** What a practice is to play (§13). */
export interface Practice {
  /** The tier of the bots of other sides. */
  readonly opponent: string;
  /** Ticks to play at most. */
  readonly ticks: number;
  readonly seed?: number;
  /** The tier of the bots of the own side and its allies; by default the opponent's. */
  readonly allies?: string;
  /** Code to test in place of the seat's active policy. */
  readonly artifact?: Artifact;
  /** Options over those of this match. */
  readonly options?: Json;
}

/** The result of `practice`. `policy` holds the tested artifact's statistics. */
export type Practised =
  | {
      readonly ok: true;
      readonly outcome: "running" | "win" | "loss" | "draw";
      readonly ticks: number;
      readonly report: Json;
      readonly policy: Json;
      readonly wallMs: number;
    }
  | { readonly ok: false; readonly code: "policy" | "guard"; readonly policy: Json; readonly wallMs: number };

/** The result of `policyDeploy` and `policyRollback`. */
export type Deployed =
  | { readonly ok: true; readonly version: number; readonly probe: Json }
  | { readonly ok: false; readonly error?: Json; readonly approval?: Json };

/** The result of `publish`. */
export type Published = { readonly policyId: string } | { readonly ok: false; readonly approval: Json };

/** A published policy, as everybody may know it (§13). */
export interface PoolEntry {
  readonly policyId: string;
  readonly game: string;
  readonly role: string;
  readonly runtime: "js" | "wasm";
  readonly wins: number;
  readonly losses: number;
  readonly draws: number;
  readonly mine: boolean;
  /** Of one's own: whether it can be drafted. */
  readonly state?: "open" | "disabled" | "stale";
  /** Of one's own: SHA-256 of the code, in lower-case hexadecimal. */
  readonly artifactHash?: string;
}

/** The result of `mint`: a token for an agent of one's own. It is a secret. */
export interface Minted {
  readonly team: string;
  readonly role: string;
  readonly token: string;
  readonly expiresAt: number;
  readonly mcpPath: string;
}

/** The result of `mintHuman`: a token that lets another client hold one's own seat. It is a secret. */
export interface HumanToken {
  readonly team: string;
  readonly role: string;
  readonly token: string;
  readonly expiresAt: number;
}

/** The result of `mintSpectator`: a token that lets somebody watch one's own side. It is a secret. */
export interface SpectatorToken {
  readonly team: string;
  readonly token: string;
  readonly expiresAt: number;
}

/** The result of `inviteObserver`: a ticket for one observer, and what it lets them see. It is a secret. */
export interface Invitation {
  readonly ticket: string;
  readonly grant: Grant;
  readonly expiresAt: number;
}

/**
 * Who an `assign` puts into a seat: with the kind `agent` perhaps a named commander, with the kind `policy` a policy of
 * the pool or a version of a commander of that kind.
 */
export interface Assignment {
  readonly kind: "human" | "agent" | "policy" | "bot" | "hold";
  readonly commander?: string;
  readonly policyId?: string;
  readonly version?: number;
  /** The owner acts for the seat in person too. */
  readonly ownerControl?: boolean;
}

/** What a commander's owner lets it do and asks of it. */
export interface CommanderSettings {
  readonly botLevel?: string | null;
  readonly scopes?: readonly string[];
  readonly mandate?: Partial<Mandate>;
}

/** What everybody who sees a seat is told of the agent or policy that plays it (§20.2). */
export interface Card {
  readonly seat: { readonly team: string; readonly role: string };
  readonly kind: "agent" | "policy";
  /** Has to be shown to everybody who sees the seat. */
  readonly aiPlayer: true;
  readonly owner?: { readonly display: string };
  /** What the agent's program says it is. */
  readonly harness: { readonly label?: string; readonly verified: boolean };
  readonly provider?: { readonly name: string; readonly selfReported: true };
  readonly model?: { readonly name: string; readonly selfReported: true };
  readonly mode: "live" | "policy" | "bot" | "held";
  readonly policy?:
    | { readonly source: "library"; readonly version: number }
    | { readonly source: "pool"; readonly policyId: string };
}

/** What the owner of a commander says of the model behind it; others are told if it is shared. */
export interface CommanderMetadata {
  readonly provider?: string;
  readonly model?: string;
  readonly shared?: boolean;
}

/** A version of a policy. The hash is the SHA-256 of its composed source or of its module (§20.10.1). */
export interface PolicyVersion {
  readonly version: number;
  readonly runtime: "js" | "wasm";
  readonly bytes: number;
  readonly artifactHash: string;
}

/** A practice that succeeded (§4). Version 0 is code that was never deployed. */
export interface LastPractice {
  readonly role: string;
  readonly version: number;
  readonly outcome: "running" | "win" | "loss" | "draw";
  readonly ticks: number;
  readonly wallMs: number;
}

/** One of one's own named commanders for a game (§20.3). */
export interface Commander {
  readonly id: string;
  readonly name: string;
  readonly roles: readonly string[];
  readonly isolation: "independent" | "shared";
  /** Whether its live agent takes seats, or the versions of its library do. */
  readonly kind: "agent" | "policy";
  readonly metadata: CommanderMetadata;
  readonly settings: CommanderSettings;
  /** The versions of its policies that can be taken back or seated, and those that play for its roles. */
  readonly library: {
    readonly versions: readonly PolicyVersion[];
    readonly active: Readonly<Record<string, number>>;
  };
  /** What its newest practice that succeeded came to. */
  readonly lastPractice: LastPractice | null;
  /** Seats of a next match that are kept for it. */
  readonly reservations: readonly { readonly team: string; readonly role: string; readonly ready: boolean }[];
  /** Where it is seated. */
  readonly seats: readonly Json[];
}

/** A commander's token and where it is good. It is a secret, shown once. */
export interface CommanderToken {
  readonly token: string;
  readonly mcpPath: string;
}

/** What an observer may see, and how late: one side as its players see it, or everything. */
export type Grant =
  | { readonly kind: "team"; readonly team: string; readonly delayMs: number }
  | { readonly kind: "omniscient"; readonly teams: readonly string[]; readonly delayMs: number };
