/**
 * A PlayerThree match over a joined room: the messages in, the operations out. It holds no rule of a game and trusts
 * nothing of a message beyond what `PROTOCOL.md` promises.
 */

import { Calls, type CallOptions } from "./calls.js";
import type { Json } from "./delta.js";
import { PlayerThreeError } from "./errors.js";
import { Listeners, type Unsubscribe } from "./listeners.js";
import { ObserverPlayer } from "./observer.js";
import type {
  Approval,
  Assignment,
  Card,
  Commander,
  CommanderMetadata,
  CommanderSettings,
  CommanderToken,
  Controller,
  HumanToken,
  Invitation,
  Mandate,
  Minted,
  Observed,
  PoolEntry,
  Readiness,
  Said,
  Seat,
  SeatRef,
  SpectatorToken,
  Status,
  Welcome,
} from "./protocol.js";
import type { RoomLike } from "./room.js";
import { SeatControl } from "./seat.js";
import { ViewStream, type ViewMessage } from "./views.js";

/** Sides whose streams are kept; a match has far fewer. */
const MAX_TEAMS = 64;
/** An approved policy is tried before the answer comes. */
const APPROVAL_MS = 60_000;

/** What a connection tells of. */
interface Events {
  /** After a join and after every reconnection. */
  welcome: [welcome: Welcome];
  status: [status: Status];
  seats: [seats: readonly Seat[]];
  /** The identity cards of all agents and policies, after the welcome and when one changes (§20.2). */
  cards: [cards: readonly Card[]];
  /** An agent of one's own answered (§12). */
  said: [said: Said];
  /** A seat of one's own that is streamed sees this (§9). */
  observation: [observed: Observed];
  /**
   * The view stream of a team is lost, told once until it goes on: it does with a keyframe, once the connection was dropped
   * and came back (`room.connection.close(4010)`). Leaving the room would give a seat up.
   */
  lost: [team: string];
  /** The connection dropped; operations in flight ended with `closed`. */
  dropped: [];
  /** The room was left or the connection ended for good. */
  closed: [code: number];
}

/** How often observations come, and which sections of them in full beside the role's own. */
export interface StreamRequest {
  /** Ticks between two observations; 0 stops the stream. */
  readonly everyTicks: number;
  readonly detail?: readonly string[] | "all";
}

/** What a connection goes on with. */
export interface ConnectOptions {
  /** The stream of an earlier connection of this observer to the same match, which goes on where it was cut. */
  observer?: ObserverPlayer;
}

/** Makes a connection of a room. Call it in the same turn in which the room was joined, so that no message is missed. */
export function connect(room: RoomLike, options: ConnectOptions = {}): Connection {
  return new Connection(room, options);
}

export class Connection {
  /** The delayed stream, for a client that joined as an observer. */
  readonly observer: ObserverPlayer;
  readonly #calls: Calls;
  readonly #views = new Map<string, ViewStream>();
  readonly #listeners: { [Name in keyof Events]: Listeners<Events[Name]> } = {
    welcome: new Listeners(),
    status: new Listeners(),
    seats: new Listeners(),
    cards: new Listeners(),
    said: new Listeners(),
    observation: new Listeners(),
    lost: new Listeners(),
    dropped: new Listeners(),
    closed: new Listeners(),
  };
  readonly #subscriptions: Unsubscribe[] = [];
  /** The streams that run, by role, to be asked for again after a lost connection. */
  readonly #streams = new Map<string, StreamRequest>();
  /** The teams whose streams are lost. */
  readonly #lost = new Set<string>();
  /** How the observer of this connection asks. */
  readonly #ask: (message: object) => void;
  #welcome: Welcome | undefined;
  #status: Status | undefined;
  #seats: readonly Seat[] = [];

  constructor(room: RoomLike, { observer }: ConnectOptions = {}) {
    this.#calls = new Calls((type, message) => room.send(type, message));
    this.#ask = (message) => room.send("playerthree:observer", message);
    this.observer = observer ?? new ObserverPlayer(this.#ask);
    this.#receive(room);
    this.#follow(room);
    observer?.moveTo(this.#ask);
  }

  /** What the server said first. */
  get welcome(): Welcome | undefined {
    return this.#welcome;
  }

  get status(): Status | undefined {
    return this.#status;
  }

  get seats(): readonly Seat[] {
    return this.#seats;
  }

  on<Name extends keyof Events>(event: Name, callback: (...args: Events[Name]) => void): Unsubscribe {
    return this.#listeners[event].add(callback);
  }

  /** The view stream of a team; without one, that of the client's own side. */
  view<View = Json>(team = this.#welcome?.seat?.team ?? this.#welcome?.team): ViewStream<View> | undefined {
    return team === undefined ? undefined : (this.#stream(team) as ViewStream<View> | undefined);
  }

  /** The calls of a seat of one's own side. */
  seat(role: string): SeatControl {
    return new SeatControl(role, (method, args, options) => this.call(role, method, args, options));
  }

  /** One call of a seat (§4 `SeatControl`). */
  call<T = Json>(role: string, method: string, args: object = {}, options?: CallOptions): Promise<T> {
    return this.#calls.request("call", { role, method, args }, options);
  }

  /** A fresh view of one's side, outside the stream. */
  freshView<View = Json>(options?: CallOptions): Promise<{ version: number; view: View }> {
    return this.#calls.request("view", {}, options);
  }

  /**
   * Streams the observations of a seat of one's own side to the `observation` event, and says how many ticks they are
   * apart (§9). It goes on after a lost connection.
   */
  async stream(role: string, request: StreamRequest, options?: CallOptions): Promise<number> {
    const { everyTicks } = await this.#calls.request<{ everyTicks: number }>("stream", { role, ...request }, options);
    if (everyTicks > 0) this.#streams.set(role, request);
    else this.#streams.delete(role);
    return everyTicks;
  }

  /** The report of one's side, once its outcome is final. */
  report<Report = Json>(options?: CallOptions): Promise<{ team: string; report: Report }> {
    return this.#calls.request("report", {}, options);
  }

  /** Sets what the agent on a seat of one's own may do and is asked to (§7). */
  mandate(seat: SeatRef, mandate: Mandate, options?: CallOptions): Promise<void> {
    return this.#owner("mandate", { ...seat, mandate }, options);
  }

  /** Replaces the scopes of a seat of one's own (§6). */
  scopes(seat: SeatRef, scopes: readonly string[], options?: CallOptions): Promise<void> {
    return this.#owner("scopes", { ...seat, scopes }, options);
  }

  /** Says who acts for a seat of one's own. */
  controller(seat: SeatRef, controller: Controller, options?: CallOptions): Promise<void> {
    return this.#owner("controller", { ...seat, controller }, options);
  }

  /** Decides on what an agent asked approval for. */
  resolveApproval(
    seat: SeatRef,
    decision: { id: string; approve: boolean },
    options?: CallOptions,
  ): Promise<Pick<Approval, "id" | "status" | "version">> {
    return this.#calls.request("resolveApproval", { ...seat, ...decision }, { timeoutMs: APPROVAL_MS, ...options });
  }

  /**
   * A token for an agent of one's own on a seat that is one's own or open. It waits `ttlSeconds` for its first use: 5 to
   * 600, by default 120.
   */
  mint(seat: SeatRef & { readonly ttlSeconds?: number }, options?: CallOptions): Promise<Minted> {
    return this.#calls.request("mint", seat, options);
  }

  /** A token for another client of one's own, good for one seat that one holds in person, 5 to 600 seconds. */
  mintHuman(seat: SeatRef & { readonly ttlSeconds?: number }, options?: CallOptions): Promise<HumanToken> {
    return this.#calls.request("mintHuman", seat, options);
  }

  /** More time for the seat's human token, whose client has joined. */
  renewHuman(seat: SeatRef & { readonly ttlSeconds?: number }, options?: CallOptions): Promise<{ expiresAt: number }> {
    return this.#calls.request("renewHuman", seat, options);
  }

  /** A token for one spectator of one's own side. */
  mintSpectator(wish: { readonly ttlSeconds?: number } = {}, options?: CallOptions): Promise<SpectatorToken> {
    return this.#calls.request("mintSpectator", wish, options);
  }

  /** Puts an occupant into a seat that is one's own or open. What the one before had there ends. */
  assign(seat: SeatRef, assignment: Assignment, options?: CallOptions): Promise<void> {
    return this.#owner("assign", { ...seat, ...assignment }, options);
  }

  /** Ends every token of a seat of one's own. */
  revoke(seat: SeatRef, options?: CallOptions): Promise<void> {
    return this.#owner("revoke", seat, options);
  }

  /** Says that one is ready, or no longer, on a seat that one holds in person in a match that is held. */
  ready(seat: SeatRef, ready: boolean, options?: CallOptions): Promise<void> {
    return this.#owner("ready", { ...seat, ready }, options);
  }

  /** Starts a held match, as the room's host: at once or after so many seconds, at most 60. */
  start(inSeconds = 0, options?: CallOptions): Promise<void> {
    return this.#owner("start", { inSeconds }, options);
  }

  /** Who is waited for before the start. */
  readiness(options?: CallOptions): Promise<Readiness> {
    return this.#calls.request("readiness", {}, options);
  }

  /** The identity cards of agent and policy seats (§20.2). */
  cards(options?: CallOptions): Promise<{ cards: readonly Card[] }> {
    return this.#calls.request("cards", {}, options);
  }

  /** One's own commanders for this game. */
  commanders(options?: CallOptions): Promise<{ commanders: readonly Commander[] }> {
    return this.#calls.request("commanders", {}, options);
  }

  /** A new commander, and its token. */
  addCommander(
    draft: Pick<Commander, "name" | "roles"> &
      Partial<Pick<Commander, "isolation" | "kind">> & { readonly metadata?: CommanderMetadata },
    options?: CallOptions,
  ): Promise<CommanderToken & { id: string }> {
    return this.#calls.request("addCommander", draft, options);
  }

  /** Ends a commander and its token. `busy` while it plays. */
  removeCommander(commander: string, options?: CallOptions): Promise<void> {
    return this.#owner("removeCommander", { commander }, options);
  }

  /** A new token for a commander. The one before is dead at once. */
  rotate(commander: string, options?: CallOptions): Promise<CommanderToken> {
    return this.#calls.request("rotate", { commander }, options);
  }

  /** Patches a commander's settings, which its live seats follow. */
  commanderSettings(
    commander: string,
    settings: CommanderSettings,
    options?: CallOptions,
  ): Promise<{ settings: CommanderSettings }> {
    return this.#calls.request("commanderSettings", { commander, settings }, options);
  }

  /** Decides on what a commander asked approval for between matches. */
  commanderApproval(
    commander: string,
    decision: { id: string; approve: boolean },
    options?: CallOptions,
  ): Promise<Pick<Approval, "id" | "status" | "version"> & { policyId?: string }> {
    const fields = { commander, ...decision };
    return this.#calls.request("commanderApproval", fields, { timeoutMs: APPROVAL_MS, ...options });
  }

  /** A page of the game's pool; `next` is the `after` of the page that follows (§13). */
  pool(
    query: { role?: string; mine?: boolean; after?: string } = {},
    options?: CallOptions,
  ): Promise<{ entries: readonly PoolEntry[]; next?: string }> {
    return this.#calls.request("pool", query, options);
  }

  /** Takes a policy of one's own out of the pool. */
  unpublish(policyId: string, options?: CallOptions): Promise<void> {
    return this.#owner("unpublish", { policyId }, options);
  }

  /** Writes to the agents on seats of one's own of one side (§12). Each reads it once. */
  tell(
    to: { roles: readonly string[] | "all"; team?: string },
    message: { text: string; ping?: Json },
    options?: CallOptions,
  ): Promise<void> {
    return this.#owner("tell", { ...to, ...message }, options);
  }

  /** Writes to commanders of one's own, wherever they are (§12). Each of their lanes reads it once. */
  tellCommanders(
    commanders: readonly string[] | "all",
    message: { text: string; ping?: Json },
    options?: CallOptions,
  ): Promise<void> {
    return this.#owner("tellCommanders", { commanders, ...message }, options);
  }

  /**
   * A ticket for one observer of a private match, on a player's word: of the player's own side if `team` names it, else of
   * everything. It is a secret.
   */
  inviteObserver(
    wish: { team?: string; ttlSeconds?: number } = {},
    options?: CallOptions,
  ): Promise<Invitation> {
    return this.#calls.request("inviteObserver", wish, options);
  }

  /** Ends a ticket that one handed out, and lets the observer go who came with it. */
  revokeObserver(ticket: string, options?: CallOptions): Promise<void> {
    return this.#owner("revokeObserver", { ticket }, options);
  }

  /** Stops listening to the room and ends every operation in flight. Leaving the room is the caller's. */
  dispose(): void {
    this.#subscriptions.splice(0).forEach((unsubscribe) => unsubscribe());
    this.#calls.close();
    this.observer.stop(this.#ask);
  }

  async #owner(op: string, fields: object, options?: CallOptions): Promise<void> {
    await this.#calls.request(op, fields, options);
  }

  #receive(room: RoomLike): void {
    const handlers: Record<string, (message: never) => void> = {
      result: (message: { seq?: unknown; code?: unknown }) => {
        // Only a request of an observer bears no number.
        if (message.seq === null) this.observer.refuse(message.code, this.#ask);
        else this.#calls.answer(message);
      },
      observer: (message) => this.observer.asksBy(this.#ask) && this.observer.receive(message),
      view: (message: ViewMessage) => this.#receiveView(message),
      welcome: (message: Partial<Welcome>) => this.#receiveWelcome(message),
      status: (message: Partial<Status>) => this.#receiveStatus(message),
      cards: (message: { cards?: readonly Card[] }) => this.#receiveCards(message),
      said: (message: Partial<Said>) => this.#receiveSaid(message),
      observation: (message: Partial<Observed>) => this.#receiveObservation(message),
      seats: (message: { seats?: readonly Seat[] }) => this.#receiveSeats(message),
    };
    for (const [op, handler] of Object.entries(handlers)) {
      const receive = (message: unknown) => {
        if (typeof message === "object" && message !== null) handler(message as never);
      };
      this.#subscriptions.push(room.onMessage(`playerthree:${op}`, receive));
    }
  }

  #receiveWelcome(message: Partial<Welcome>): void {
    if (typeof message.match !== "string") return;
    this.#welcome = message as Welcome;
    if (message.grant) this.observer.admit(message.grant);
    this.#listeners.welcome.emit(this.#welcome);
  }

  #receiveStatus(message: Partial<Status>): void {
    if (!Number.isSafeInteger(message.tick)) return;
    this.#status = message as Status;
    this.#listeners.status.emit(this.#status);
  }

  #receiveSeats(message: { seats?: readonly Seat[] }): void {
    if (!Array.isArray(message.seats)) return;
    this.#seats = message.seats;
    this.#listeners.seats.emit(this.#seats);
  }

  #receiveCards(message: { cards?: readonly Card[] }): void {
    if (Array.isArray(message.cards)) this.#listeners.cards.emit(message.cards);
  }

  #receiveSaid(message: Partial<Said>): void {
    if (typeof message.text !== "string" || typeof message.role !== "string") return;
    this.#listeners.said.emit(message as Said);
  }

  #receiveObservation(message: Partial<Observed>): void {
    if (typeof message.role !== "string" || message.observation === undefined) return;
    this.#listeners.observation.emit(message as Observed);
  }

  #receiveView(message: ViewMessage): void {
    if (typeof message.team !== "string") return;
    const { team } = message;
    if (this.#stream(team)?.receive(message) !== false) this.#lost.delete(team);
    else if (!this.#lost.has(team)) {
      this.#lost.add(team);
      this.#listeners.lost.emit(team);
    }
  }

  #stream(team: string): ViewStream | undefined {
    const known = this.#views.get(team);
    if (known || this.#views.size >= MAX_TEAMS) return known;
    const stream = new ViewStream(team);
    this.#views.set(team, stream);
    return stream;
  }

  /** A stream ends with its connection. What is refused now, as a seat that was lost meanwhile, is asked for no more. */
  #streamAgain(role: string, request: StreamRequest): void {
    this.stream(role, request).catch((error: unknown) => {
      const dropped = error instanceof PlayerThreeError && error.code === "closed";
      if (!dropped) this.#streams.delete(role);
    });
  }

  #follow(room: RoomLike): void {
    const left = (code: number) => {
      this.dispose();
      this.#listeners.closed.emit(code);
    };
    const dropped = () => {
      this.#calls.interrupt();
      this.#listeners.dropped.emit();
    };
    const resumed = () => {
      this.observer.resume();
      for (const [role, request] of this.#streams) this.#streamAgain(role, request);
    };
    room.onLeave(left);
    room.onDrop?.(dropped);
    room.onReconnect?.(resumed);
    this.#subscriptions.push(
      () => room.onLeave.remove(left),
      () => room.onDrop?.remove(dropped),
      () => room.onReconnect?.remove(resumed),
    );
  }
}
