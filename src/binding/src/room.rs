//! A match in a room: the actor that owns a live match and delivers what comes out of it. Who is let in is decided in
//! `admission`, what a client may do in `rights`, what observers get in `watching`; nothing here knows a game.

use crate::admission::{Admission, Admitted};
use crate::door::{Door, Event};
use crate::frames::Frames;
use crate::keyframes::Keyframes;
use crate::ops;
use crate::options::{self, Bots};
use crate::owning::Matches;
use crate::push;
use crate::rates::{Payer, Rates};
use crate::watching::Reading;
use playerthree_game::{Clock, Name, Seat};
use playerthree_host::{Account, AgentCall, Agents, Answer, Asker, Live, MatchDoor, PolicyPlaces, Pools};
use playerthree_rooms::{
    AutoDispose, BadMessage, CloseReason, Cx, Join, Message, MessageType, Refusal, Room, SessionId, TimerId,
    Visibility,
};
use playerthree_schema::Schema;
use playerthree_session::{Code, Millis, ObserverGrant, Occupant, OwnerControl, OwnerId, Right, Surface};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::time::Instant;

/// How long a dropped player's or spectator's place is held. An observer's ends with its connection (§20.9).
pub const RECONNECTION_GRACE: Duration = Duration::from_secs(60);

/// How often waits, presence, abandoned seats and observer frames are looked at between ticks.
const HEARTBEAT: Duration = Duration::from_millis(250);

/// How long a seat that its owner handed over from outside waits for its agent: as long as a seat token is good unclaimed
/// (§20), in milliseconds.
const HANDED_MS: Millis = 120_000;

/// Who waits for an answer.
#[derive(Debug)]
pub enum Caller {
    /// A client, by the number of its operation.
    Client {
        /// Which client.
        client: SessionId,
        /// The number.
        seq: u32,
    },
    /// An agent.
    Agent(oneshot::Sender<Answer>),
}

/// What a connected client is (§5): its rights follow from this alone.
pub(crate) enum Principal {
    Player {
        account: Account,
        seat: Seat,
    },
    /// Another client of a seat's owner, good for that seat alone (§20).
    Human {
        account: Account,
        seat: Seat,
    },
    Spectator {
        team: Name,
    },
    Observer {
        owner: OwnerId,
        grant: ObserverGrant,
        reading: Option<Reading>,
    },
}

impl Principal {
    /// The side whose live view this client reads. Observers read none.
    pub(crate) fn side(&self) -> Option<&Name> {
        match self {
            Self::Player { seat, .. } | Self::Human { seat, .. } => Some(&seat.team),
            Self::Spectator { team } => Some(team),
            Self::Observer { .. } => None,
        }
    }

    /// Whose client this is, where it holds a seat.
    fn account(&self) -> Option<&Account> {
        match self {
            Self::Player { account, .. } | Self::Human { account, .. } => Some(account),
            Self::Spectator { .. } | Self::Observer { .. } => None,
        }
    }

    /// Whose budget this client's operations take from (§15.5): the person's who stands behind it, or its own.
    pub(crate) fn payer(&self, client: SessionId) -> Payer {
        match self {
            Self::Player { account, .. } | Self::Human { account, .. } => {
                Payer::Person(account.owner.clone())
            }
            Self::Observer { owner, .. } => Payer::Person(owner.clone()),
            Self::Spectator { .. } => Payer::Client(client),
        }
    }

    /// Whether this client is its owner's for everything of that seat.
    pub(crate) fn answers_for(&self, owner: &OwnerId, seat: &Seat) -> bool {
        match self {
            Self::Player { account, .. } => account.owner == *owner,
            Self::Human { account, seat: own } => account.owner == *owner && own == seat,
            Self::Spectator { .. } | Self::Observer { .. } => false,
        }
    }
}

pub(crate) struct Client {
    pub(crate) principal: Principal,
    /// Not while its place is held for a connection that dropped.
    pub(crate) connected: bool,
}

/// A match in a room.
pub struct MatchRoom {
    pub(crate) live: Live<Caller>,
    pub(crate) surface: Arc<Surface>,
    pub(crate) agents: Arc<Agents>,
    pub(crate) pools: Pools,
    matches: Matches,
    pub(crate) door: Arc<dyn MatchDoor>,
    pub(crate) match_id: Arc<str>,
    pub(crate) admission: Admission,
    pub(crate) clients: BTreeMap<SessionId, Client>,
    /// What clients and people may still ask.
    pub(crate) rates: Rates,
    /// What those who join a side's stream are sent, encoded.
    keyframes: Keyframes,
    /// What observers read, encoded.
    pub(crate) frames: Frames,
    /// Who reads the stream of a seat in person.
    pub(crate) streams: BTreeMap<Seat, SessionId>,
    /// The identity cards that everybody was told of last.
    pub(crate) cards: Vec<Value>,
    /// Who starts a match that its room holds: the first player, and after them another one who is here.
    pub(crate) host: Option<OwnerId>,
    /// When each seat was last handed over from outside the room, where its owner has no client.
    pub(crate) handed: BTreeMap<Seat, Millis>,
    join_schema: Arc<Schema>,
    pub(crate) bots: Option<Name>,
    private: bool,
    /// The place that a persistent session takes among those of its game; such a room never ends by itself.
    world: Option<OwnedSemaphorePermit>,
    /// The listing stands still and has to be brought up to date.
    unlisted: bool,
    clock: Instant,
    tick: Option<TimerId>,
    heartbeat: TimerId,
}

/// What a room is made from.
pub(crate) struct Parts {
    pub(crate) game: playerthree_session::Match,
    pub(crate) agents: Arc<Agents>,
    pub(crate) matches: Matches,
    pub(crate) places: PolicyPlaces,
    pub(crate) join_schema: Arc<Schema>,
    pub(crate) bots: Option<Name>,
    pub(crate) private: bool,
    pub(crate) world: Option<OwnedSemaphorePermit>,
}

impl MatchRoom {
    pub(crate) fn new(cx: &mut Cx<'_, Self>, parts: Parts) -> Self {
        let handle = cx.handle();
        let wake = {
            let handle = handle.clone();
            // Where the mailbox is full the next heartbeat looks for answers.
            Arc::new(move || _ = handle.try_post(Event::Wake))
        };
        let surface = Arc::clone(parts.game.surface());
        let pools = parts.places.pools().clone();
        let match_id: Arc<str> = cx.room_id().to_string().into();
        parts.matches.open(&match_id, handle.clone());
        let live = Live::new(parts.game, parts.places, wake);
        let door = Arc::new(Door::new(handle, live.board()));
        let mut room = Self {
            live,
            surface,
            agents: parts.agents,
            pools,
            matches: parts.matches,
            door,
            match_id,
            admission: Admission::default(),
            clients: BTreeMap::new(),
            rates: Rates::default(),
            keyframes: Keyframes::default(),
            frames: Frames::default(),
            streams: BTreeMap::new(),
            cards: Vec::new(),
            host: None,
            handed: BTreeMap::new(),
            join_schema: parts.join_schema,
            bots: parts.bots,
            private: parts.private,
            world: parts.world,
            unlisted: false,
            clock: Instant::now(),
            tick: None,
            heartbeat: cx.set_interval(HEARTBEAT),
        };
        room.list(cx);
        room
    }

    pub(crate) fn now(&self) -> Millis {
        u64::try_from(self.clock.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Tells matchmaking and listings how the room stands. A room without a seat to take is found by its id alone.
    pub(crate) fn list(&mut self, cx: &mut Cx<'_, Self>) {
        let game = self.live.game();
        if !game.outcomes_are_released() {
            // Listings are for everybody, observers included: from the end of a side on they stand still until observers
            // may know it (§20.9).
            self.unlisted = true;
            return;
        }
        self.unlisted = false;
        let open = self.admission.open_seats(game);
        let playable = open > 0 && !game.is_over() && !self.private;
        cx.set_visibility(if playable { Visibility::Public } else { Visibility::Private });
        let about = |seats: Vec<Value>| {
            json!({
                "game": self.surface.manifest.id,
                "title": self.surface.manifest.title,
                "private": self.private,
                "openSeats": open,
                "over": game.is_over(),
                "seats": seats,
            })
        };
        let listed = cx.set_metadata(about(game.listed_seats_json(self.now())));
        // More seats than a listing holds: it says how many are open, and not which. The rest always fits.
        _ = listed.or_else(|_| cx.set_metadata(about(Vec::new())));
    }

    // --- joining and leaving -------------------------------------------------------------------------------------

    fn seat(&mut self, admitted: Admitted) -> Result<Principal, Refusal> {
        match admitted {
            Admitted::Spectator { team } => Ok(Principal::Spectator { team }),
            Admitted::Observer { owner, grant } => Ok(Principal::Observer { owner, grant, reading: None }),
            Admitted::Human { account, seat } => Ok(Principal::Human { account, seat }),
            Admitted::Player { account, seat } => {
                let occupant =
                    Occupant::Human { owner: account.owner.clone(), display: account.display.clone() };
                let taken = self.assign(&seat, occupant, OwnerControl::Kept);
                taken.map_err(|_| Refusal::join_refused("the seat was taken"))?;
                Ok(Principal::Player { account, seat })
            }
        }
    }

    /// What a client needs to begin, and to begin again after a reconnection.
    fn welcome(&mut self, cx: &mut Cx<'_, Self>, client: SessionId) {
        let Some(state) = self.clients.get(&client) else { return };
        let manifest = &self.surface.manifest;
        let mut welcome = json!({
            "op": "welcome",
            "match": self.match_id,
            "game": { "id": manifest.id, "version": manifest.version, "title": manifest.title },
            "teams": self.live.game().teams(),
            "surfaceHash": self.surface.hash,
        });
        if let Some(alliances) = self.live.game().alliances() {
            welcome["alliances"] = json!(alliances);
        }
        let reads = match &state.principal {
            Principal::Player { seat, .. } => {
                welcome["as"] = json!("player");
                welcome["seat"] = json!(seat);
                Some(seat.team.clone())
            }
            Principal::Human { seat, .. } => {
                welcome["as"] = json!("human");
                welcome["seat"] = json!(seat);
                Some(seat.team.clone())
            }
            Principal::Spectator { team } => {
                welcome["as"] = json!("spectator");
                welcome["team"] = json!(team);
                Some(team.clone())
            }
            Principal::Observer { grant, .. } => {
                welcome["as"] = json!("observer");
                welcome["grant"] = grant.to_json();
                None
            }
        };
        push::send(cx, client, "playerthree:welcome", &welcome);
        if let Some(team) = reads {
            push::send(cx, client, "playerthree:status", &self.status());
            if let Some(seats) = self.seats(client) {
                push::send(cx, client, "playerthree:seats", &seats);
            }
            push::send(cx, client, "playerthree:cards", &push::cards(&self.live.game().cards(self.now())));
            for message in self.live.game().view_messages(&team, None) {
                let encode = || push::view(&team, &message);
                cx.send_frame(client, &self.keyframes.get_or(&team, message.version(), encode));
            }
        }
    }

    /// Gives a seat back to the room. A side that nobody owns any more concedes in a room without bots.
    fn release(&mut self, seat: &Seat) {
        let now = self.now();
        let occupant = self.bots.clone().map_or(Occupant::Nobody, Occupant::Bot);
        self.agents.revoke_seat(&self.match_id, seat);
        let released = self.assign(seat, occupant, OwnerControl::Kept).is_ok();
        if released && self.bots.is_none() && !self.live.game().is_owned(&seat.team) {
            // A game without `forfeit` simply goes on without the side.
            _ = self.live.game_mut().forfeit(&seat.team, now);
        }
    }

    /// Whether the seat of an owner who left is played on for them: by a client that holds it by a human token, or by an
    /// agent that they gave it to (§20).
    fn is_played_on(&self, seat: &Seat, owner: &OwnerId) -> bool {
        let bears = |client: &Client| matches!(&client.principal, Principal::Human { account, seat: own } if own == seat && account.owner == *owner);
        self.clients.values().any(bears) || self.live.game().is_played_by_agent(seat, self.now())
    }

    /// Gives back the seats of people who left, as soon as no agent of theirs plays them. A seat that was handed over from
    /// outside waits for its agent as long as a seat token does.
    fn release_abandoned(&mut self) {
        if self.live.game().is_over() {
            return;
        }
        let here = |owner: &OwnerId| {
            let owns = |client: &Client| matches!(&client.principal, Principal::Player { account, .. } | Principal::Human { account, .. } if account.owner == *owner);
            self.clients.values().any(owns)
        };
        let now = self.now();
        self.handed.retain(|_, at| now.saturating_sub(*at) < HANDED_MS);
        for seat in self.live.game().abandoned_seats(now, here) {
            if !self.handed.contains_key(&seat) {
                self.release(&seat);
            }
        }
    }

    /// Ends the waits of agents that went away, before anything could wake them: an event told to nobody would be lost
    /// to the agent's next call, and a dead wait would keep its place.
    fn drop_gone_callers(&mut self, now: Millis) {
        self.live.cancel_waits(|caller| matches!(caller, Caller::Agent(reply) if reply.is_closed()), now);
    }

    /// A client's connection dropped or came back.
    fn mark_client(&mut self, client: SessionId, connected: bool) {
        let Some(state) = self.clients.get_mut(&client) else { return };
        state.connected = connected;
        if let Some(account) = state.principal.account().cloned() {
            self.mark_joined(&account.owner);
        }
    }

    /// The host left: another player who is here is the host now.
    fn pass_host_on(&mut self, left: &OwnerId) {
        if self.host.as_ref() == Some(left) {
            let next = self.players().map(|account| &account.owner).find(|owner| *owner != left).cloned();
            self.host = next;
        }
    }

    fn players(&self) -> impl Iterator<Item = &Account> {
        self.clients.values().filter_map(|client| match &client.principal {
            Principal::Player { account, .. } => Some(account),
            Principal::Human { .. } | Principal::Spectator { .. } | Principal::Observer { .. } => None,
        })
    }

    /// The host's name, as people read it.
    pub(crate) fn host_display(&self) -> Option<&str> {
        let host = self.host.as_ref()?;
        self.players().find(|account| account.owner == *host).map(|account| &*account.display)
    }

    /// Ends the waits and streams of a client that is gone: their answers have nowhere to go.
    fn forget_asks_of(&mut self, client: SessionId, now: Millis) {
        for (seat, _) in self.streams.extract_if(.., |_, reader| *reader == client) {
            self.live.game_mut().stop_stream(&seat, Right::Owner);
        }
        let is_its =
            |caller: &Caller| matches!(caller, Caller::Client { client: waits, .. } if *waits == client);
        self.live.cancel_waits(is_its, now);
    }

    /// Drops everything of a client that is gone or let go, and returns what it was, once.
    pub(crate) fn forget(&mut self, client: SessionId, now: Millis) -> Option<Principal> {
        self.forget_asks_of(client, now);
        self.admission.credentials.disconnect(client);
        let Client { principal, .. } = self.clients.remove(&client)?;
        if let Some(team) = principal.side() {
            self.live.game_mut().unsubscribe(team);
        }
        if let Some(account) = principal.account() {
            self.mark_joined(&account.owner);
            if self.players().all(|player| player.owner != account.owner) {
                self.agents.commanders().unlisten(&self.surface, &account.owner, &self.match_id);
            }
        }
        Some(principal)
    }

    /// A match whose agents play on outlives its last client, and ends once they are gone too. One whose end observers are
    /// still to be shown stays until they may know it (§20.9), and a persistent session does not end (§18).
    fn keep_for_those_to_come(&mut self, cx: &mut Cx<'_, Self>) {
        let (game, now) = (self.live.game(), self.now());
        let awaited = match game.is_over() {
            true => !game.end_is_released() && self.admission.is_observed(now),
            false => game.has_present_agent(now),
        };
        let busy = awaited || self.world.is_some();
        cx.set_auto_dispose(if busy { AutoDispose::Never } else { AutoDispose::WhenEmpty });
        if !busy && cx.seats() == 0 {
            cx.disconnect(CloseReason::Consented);
        }
    }

    /// Whether the owner of a seat may tell its agent anything: not who sees more of the match than its side (§20.9).
    fn may_coach(&self, seat: &Seat) -> bool {
        let owner = self.live.game().owner(seat);
        owner.is_some_and(|owner| self.admission.may_command(owner, &seat.team).is_ok())
    }

    /// The first player starts the clock of a realtime match.
    fn start_clock(&mut self, cx: &mut Cx<'_, Self>) {
        if self.tick.is_none() && self.surface.game.clock() == Clock::Realtime {
            let period = Duration::from_secs(1) / self.surface.manifest.tick_rate;
            self.tick = Some(cx.set_fixed_step(period, playerthree_host::TICKS_OWED_MAX));
        }
    }
}

impl Room for MatchRoom {
    type Event = Event;
    type Auth = Option<Account>;

    fn on_reserve(
        &mut self,
        cx: &mut Cx<'_, Self>,
        client: SessionId,
        options: &Value,
        auth: &Option<Account>,
    ) -> Result<(), Refusal> {
        let part = options::part(&self.join_schema, options).map_err(|_| Refusal::bad_options())?;
        // Watchers leave a place for every seat, so that no number of them keeps a player out.
        let kept_for_players = self.live.game().seat_count();
        if !part.is_player() && cx.seats() + kept_for_players >= cx.max_clients() {
            return Err(Refusal::room_full());
        }
        let now = self.now();
        self.admission.reserve(self.live.game(), client, &part, auth.as_ref(), now)?;
        self.list(cx);
        Ok(())
    }

    fn on_unreserve(&mut self, cx: &mut Cx<'_, Self>, client: SessionId) {
        self.admission.unreserve(client);
        self.list(cx);
    }

    fn on_join(
        &mut self,
        cx: &mut Cx<'_, Self>,
        client: SessionId,
        join: Join<Option<Account>>,
    ) -> Result<(), Refusal> {
        let part = options::part(&self.join_schema, &join.options).map_err(|_| Refusal::bad_options())?;
        let admitted = self.admission.admit(self.live.game(), client, part, join.auth, self.now())?;
        let principal = self.seat(admitted)?;
        if let Some(team) = principal.side().cloned()
            && self.live.game_mut().subscribe(&team).is_err()
        {
            if let Principal::Player { seat, .. } = &principal {
                self.release(&seat.clone());
            }
            self.admission.credentials.disconnect(client);
            return Err(Refusal::join_refused("the game has no view to show"));
        }
        if let Principal::Player { account, .. } = &principal {
            self.start_clock(cx);
            self.host.get_or_insert_with(|| account.owner.clone());
            let (owner, door) = (account.owner.clone(), Arc::clone(&self.door));
            self.agents.commanders().listen(&self.surface, &owner, &self.match_id, door);
        }
        self.clients.insert(client, Client { principal, connected: true });
        self.mark_client(client, true);
        self.welcome(cx, client);
        self.live.seats_changed(self.now());
        self.flush(cx);
        Ok(())
    }

    fn on_message(
        &mut self,
        cx: &mut Cx<'_, Self>,
        client: SessionId,
        message: Message<'_>,
    ) -> Result<(), BadMessage> {
        let MessageType::Name(kind) = message.kind else { return Err(BadMessage::UnknownType) };
        let Some(name) = kind.strip_prefix("playerthree:") else { return Err(BadMessage::UnknownType) };
        let body = ops::body(&message.payload);
        self.drop_gone_callers(self.now());
        self.end_credentials(cx);
        self.operate(cx, client, name, body);
        self.flush(cx);
        Ok(())
    }

    fn on_drop(&mut self, cx: &mut Cx<'_, Self>, client: SessionId, _: CloseReason) {
        // What it waited for has nowhere to go; its places are free for the connection that comes back.
        let now = self.now();
        self.forget_asks_of(client, now);
        self.mark_client(client, false);
        if self.admission.credentials.disconnect(client) {
            // A lease is its connection's (§20): there is nothing to come back to.
            return;
        }
        let observes = |client: &Client| matches!(client.principal, Principal::Observer { .. });
        if !self.clients.get(&client).is_some_and(observes) {
            cx.allow_reconnection(client, RECONNECTION_GRACE);
        }
    }

    fn on_reconnect(&mut self, cx: &mut Cx<'_, Self>, client: SessionId) {
        self.mark_client(client, true);
        self.welcome(cx, client);
        self.flush(cx);
    }

    fn on_leave(&mut self, cx: &mut Cx<'_, Self>, client: SessionId, _: CloseReason) {
        let now = self.now();
        let Some(principal) = self.forget(client, now) else { return };
        if let Principal::Player { seat, account } = &principal {
            if !self.is_played_on(seat, &account.owner) {
                self.release(seat);
            }
            self.release_abandoned();
            self.pass_host_on(&account.owner);
        }
        self.flush(cx);
        self.keep_for_those_to_come(cx);
    }

    fn on_event(&mut self, cx: &mut Cx<'_, Self>, event: Event) {
        let now = self.now();
        self.drop_gone_callers(now);
        match event {
            Event::Agent(call) if call.revoked.is_cancelled() => {
                _ = call.reply.send(Err(Code::BadToken.into()));
            }
            Event::Agent(AgentCall { seat, method, args, harness, ticks, reply, .. }) => {
                if let Some(harness) = harness {
                    self.live.game_mut().note_harness(&seat, &harness);
                }
                let asker = Asker { who: Caller::Agent(reply), ticks };
                self.live.call(&seat, Right::Agent, &method, &args, asker, now);
            }
            Event::Follow(commander, settings) => {
                self.live.game_mut().follow(&commander, &settings);
                self.live.seats_changed(now);
            }
            // A seat that changed hands meanwhile, or whose side its owner must not coach, gets no word.
            Event::Tell(commander, seat, message) => {
                if self.may_coach(&seat) {
                    _ = self.live.game_mut().tell_commander(&commander, &seat, &message, now);
                }
            }
            Event::Said(said) => self.send_said_in_lobby(cx, &said),
            Event::Owner(call) => self.operate_for(call),
            Event::Wake => self.live.take_in(now),
            Event::Answered(caller, answer) => self.answer(cx, caller, answer),
        }
        self.flush(cx);
        // An agent that just came must not lose the room to a client that leaves the next moment.
        self.keep_for_those_to_come(cx);
    }

    fn on_timer(&mut self, cx: &mut Cx<'_, Self>, timer: TimerId) {
        let now = self.now();
        self.drop_gone_callers(now);
        if timer == self.heartbeat {
            self.live.heartbeat(now);
            self.rates.forget_whole(now);
            self.release_abandoned();
            self.flush(cx);
            if self.unlisted {
                self.list(cx);
            }
            self.keep_for_those_to_come(cx);
        } else {
            self.live.tick(now);
            self.flush(cx);
        }
    }

    fn on_dispose(&mut self, _: &mut Cx<'_, Self>) {
        self.live.end_watching();
        self.matches.keep(&self.match_id, self.live.game());
    }
}

/// What others hold of a room ends with it, also where it failed and was never disposed of.
impl Drop for MatchRoom {
    fn drop(&mut self) {
        self.matches.close(&self.match_id);
        self.release_commanders();
        for player in self.players() {
            self.agents.commanders().unlisten(&self.surface, &player.owner, &self.match_id);
        }
        self.agents.revoke_match(&self.match_id);
    }
}

/// The bots that open seats get: the creator's choice, else the weakest tier in realtime and nobody in a game of turns.
pub(crate) fn bots_of(surface: &Surface, chosen: Bots) -> Option<Name> {
    match (chosen, surface.game.clock()) {
        (Bots::Tier(tier), _) => Some(tier),
        (Bots::Usual, Clock::Realtime) => surface.manifest.opponents.first().cloned(),
        (Bots::Usual, Clock::Turns) | (Bots::Nobody, _) => None,
    }
}
