//! A match in a room: the actor that owns a live match, carries clients' operations into it and delivers what comes
//! out. Rights are decided in `rights`, bodies are read in `ops`; nothing here knows a game.

use crate::ops::{self, Numbered, Op};
use crate::options::{self, Bots, Part};
use crate::push;
use playerthree_game::{Clock, Controller, Name, Seat};
use playerthree_host::{Account, AgentCall, Agents, Answer, CLAIM_WITHIN, Live, MatchDoor};
use playerthree_rooms::{
    AutoDispose, BadMessage, CloseReason, Cx, Join, Message, MessageType, PostError, Refusal, Room,
    RoomHandle, SessionId, TimerId, Visibility,
};
use playerthree_schema::Schema;
use playerthree_session::{
    Bucket, CallError, Code, Millis, ObserverState, Occupant, OwnerId, Right, Surface,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// How long a dropped client's seat is held.
pub const RECONNECTION_GRACE: Duration = Duration::from_secs(60);

/// How often waits, presence and observer frames are looked at between ticks.
const HEARTBEAT: Duration = Duration::from_millis(250);

/// Operations of one client: so many a second, and so many at once (§15.5).
const OPS_PER_SECOND: f64 = 20.0;
const OPS_BURST: u32 = 60;

/// People whose player history a match remembers. Past it nobody new may play, so that nobody is forgotten (§20.9).
const HISTORY_MAX: usize = 4_096;

/// What other tasks post into a match's room.
#[derive(Debug)]
pub enum Event {
    /// An agent calls.
    Agent(AgentCall),
    /// A policy answered.
    Wake,
}

/// The way in for agents.
struct Door(RoomHandle<Event>);

impl MatchDoor for Door {
    fn call(&self, call: AgentCall) -> Result<(), CallError> {
        self.0.try_post(Event::Agent(call)).map_err(|error| match error {
            PostError::Full(_) => Code::Busy.into(),
            PostError::Gone(_) => Code::BadToken.into(),
        })
    }
}

/// Who waits for an answer.
enum Caller {
    Client { client: SessionId, seq: u32 },
    Agent(oneshot::Sender<Answer>),
}

/// What a connected client is (§5): its rights follow from this alone.
enum Principal {
    Player { account: Account, seat: Seat },
    Spectator { team: Name },
    Observer { owner: OwnerId, reading: bool },
}

struct Client {
    principal: Principal,
    bucket: Bucket,
}

/// A match in a room.
pub struct MatchRoom {
    live: Live<Caller>,
    surface: Arc<Surface>,
    agents: Arc<Agents>,
    door: Arc<dyn MatchDoor>,
    match_id: Arc<str>,
    join_schema: Arc<Schema>,
    bots: Option<Name>,
    private: bool,
    clients: BTreeMap<SessionId, Client>,
    played: BTreeSet<OwnerId>,
    observed: BTreeSet<OwnerId>,
    clock: Instant,
    tick: Option<TimerId>,
    heartbeat: TimerId,
}

/// What a room is made from.
pub(crate) struct Parts {
    pub(crate) game: playerthree_session::Match,
    pub(crate) agents: Arc<Agents>,
    pub(crate) join_schema: Arc<Schema>,
    pub(crate) bots: Option<Name>,
    pub(crate) private: bool,
}

impl MatchRoom {
    pub(crate) fn new(cx: &mut Cx<'_, Self>, parts: Parts) -> Self {
        let handle = cx.handle();
        let wake = {
            let handle = handle.clone();
            // A full mailbox has the room's attention already; it looks for answers at every turn.
            Arc::new(move || _ = handle.try_post(Event::Wake))
        };
        let surface = Arc::clone(parts.game.surface());
        let mut room = Self {
            live: Live::new(parts.game, wake),
            surface,
            agents: parts.agents,
            door: Arc::new(Door(handle)),
            match_id: cx.room_id().to_string().into(),
            join_schema: parts.join_schema,
            bots: parts.bots,
            private: parts.private,
            clients: BTreeMap::new(),
            played: BTreeSet::new(),
            observed: BTreeSet::new(),
            clock: Instant::now(),
            tick: None,
            heartbeat: cx.set_interval(HEARTBEAT),
        };
        room.list(cx);
        room
    }

    fn now(&self) -> Millis {
        u64::try_from(self.clock.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Tells matchmaking and listings how the room stands. A room without an open seat is found by its id alone.
    fn list(&mut self, cx: &mut Cx<'_, Self>) {
        let game = self.live.game();
        let open = game.open_seats().count();
        let playable = open > 0 && !game.is_over() && !self.private;
        cx.set_visibility(if playable { Visibility::Public } else { Visibility::Private });
        cx.set_metadata(json!({
            "game": self.surface.manifest.id,
            "title": self.surface.manifest.title,
            "private": self.private,
            "openSeats": open,
            "over": game.is_over(),
            "seats": game.seats_json(self.now()),
        }));
    }

    // --- joining and leaving -------------------------------------------------------------------------------------

    fn admit(&mut self, part: Part, account: Option<Account>) -> Result<Principal, Refusal> {
        match part {
            Part::Spectator { team } => self.admit_spectator(team),
            Part::Observer => self.admit_observer(account.ok_or_else(log_in_first)?.owner),
            wish @ Part::Player { .. } => self.admit_player(&wish, account.ok_or_else(log_in_first)?),
        }
    }

    fn admit_spectator(&mut self, team: Option<Name>) -> Result<Principal, Refusal> {
        let teams = self.live.game().teams();
        let team = team.or_else(|| teams.first().cloned()).filter(|team| teams.contains(team));
        let team = team.ok_or_else(|| Refusal::join_refused("this side does not play"))?;
        Ok(Principal::Spectator { team })
    }

    /// Nobody who plays or played the running match sees it all (§20.9).
    fn admit_observer(&mut self, owner: OwnerId) -> Result<Principal, Refusal> {
        let closed =
            self.live.game().observer_policy().delay().is_none() || self.surface.manifest.observer.is_none();
        if closed {
            return Err(Refusal::join_refused("this match has no observers"));
        }
        if self.played.contains(&owner) {
            return Err(Refusal::join_refused("players do not observe their own match"));
        }
        if self.observed.len() >= HISTORY_MAX {
            return Err(Refusal::room_full());
        }
        self.observed.insert(owner.clone());
        Ok(Principal::Observer { owner, reading: false })
    }

    fn admit_player(&mut self, wish: &Part, account: Account) -> Result<Principal, Refusal> {
        if self.observed.contains(&account.owner) {
            return Err(Refusal::join_refused("observers do not play the match that they see"));
        }
        if self.played.len() >= HISTORY_MAX {
            return Err(Refusal::room_full());
        }
        let seat = self.live.game().open_seats().find(|seat| wish.fits(seat)).cloned();
        let seat = seat.ok_or_else(|| Refusal::join_refused("no open seat of that side and role"))?;
        // One person holds the seats of one side only: each side may know what the other may not (§20).
        if self.live.game().holds_in_person_elsewhere(&account.owner, &seat.team) {
            return Err(Refusal::join_refused("one person plays one side"));
        }
        let occupant = Occupant::Human { owner: account.owner.clone(), display: account.display.clone() };
        let taken = self.live.assign(&seat, occupant, self.now());
        taken.map_err(|_| {
            Refusal::join_refused("the side is out of play, or somebody else's practice opponent")
        })?;
        self.played.insert(account.owner.clone());
        Ok(Principal::Player { account, seat })
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
        let reads = match &state.principal {
            Principal::Player { seat, .. } => {
                welcome["as"] = json!("player");
                welcome["seat"] = json!(seat);
                Some(seat.team.clone())
            }
            Principal::Spectator { team } => {
                welcome["as"] = json!("spectator");
                welcome["team"] = json!(team);
                Some(team.clone())
            }
            Principal::Observer { .. } => {
                welcome["as"] = json!("observer");
                None
            }
        };
        push::send(cx, client, "playerthree:welcome", &welcome);
        if let Some(team) = reads {
            push::send(cx, client, "playerthree:status", &self.status());
            self.send_seats(cx, client);
            for message in self.live.game().view_messages(&team, None) {
                cx.send_frame(client, &push::view(&team, &message));
            }
        }
    }

    /// Frees the seat of a person who left. A side that nobody owns any more concedes.
    fn release(&mut self, seat: &Seat) {
        let now = self.now();
        let occupant = self.bots.clone().map_or(Occupant::Nobody, Occupant::Bot);
        self.agents.revoke_seat(&self.match_id, seat);
        let conceded = self.bots.is_none();
        if self.live.assign(seat, occupant, now).is_ok() && conceded && !self.live.game().is_owned(&seat.team)
        {
            // A game without `forfeit` simply goes on without the side.
            _ = self.live.game_mut().forfeit(&seat.team, now);
        }
        self.live.seats_changed(now);
    }

    // --- operations ----------------------------------------------------------------------------------------------

    fn operate(&mut self, cx: &mut Cx<'_, Self>, client: SessionId, name: &str, body: Value) {
        let now = self.now();
        let Some(state) = self.clients.get_mut(&client) else { return };
        let within_rate = state.bucket.take(now);
        if name == "observer" {
            self.observe(cx, client, body, within_rate);
            return;
        }
        match ops::parse(name, body) {
            Ok(Numbered { seq, .. }) if !within_rate => {
                push::result(cx, client, Some(seq), &Err(Code::RateLimited.into()))
            }
            Ok(Numbered { seq, op }) => {
                if let Some(answer) = self.carry_out(client, seq, op, now) {
                    push::result(cx, client, Some(seq), &answer);
                }
            }
            Err((seq, code)) => push::result(cx, client, seq, &Err(code.into())),
        }
    }

    /// Carries an operation out for whoever may. Nothing: the answer comes later.
    fn carry_out(&mut self, client: SessionId, seq: u32, op: Op, now: Millis) -> Option<Answer> {
        let Some(Client { principal: Principal::Player { account, seat }, .. }) = self.clients.get(&client)
        else {
            return Some(match op {
                Op::View => self.fresh_view(client),
                _ => Err(Code::Forbidden.into()),
            });
        };
        let (account, own) = (account.clone(), seat.clone());
        let caller = Caller::Client { client, seq };
        let answer = match op {
            Op::View => self.fresh_view(client),
            Op::Report => self.report(&own.team),
            Op::Call(call) => {
                // What a person may see ends at their own side, so a call never names another one.
                let wish = ops::SeatWish { team: None, role: call.role };
                match self.owned(&account, &own, &wish) {
                    Ok(seat) => {
                        self.live.call(&seat, Right::Owner, &call.method, &call.args, caller, now);
                        return None;
                    }
                    Err(error) => Err(error),
                }
            }
            Op::ResolveApproval(resolve) => {
                let wish = ops::SeatWish { team: resolve.team, role: resolve.role };
                match self.owned(&account, &own, &wish) {
                    Ok(seat) => {
                        self.live.resolve_approval(&seat, &resolve.id, resolve.approve, caller);
                        return None;
                    }
                    Err(error) => Err(error),
                }
            }
            Op::Mandate(set) => self.owned(&account, &own, &set.wish).and_then(|seat| {
                self.live.game_mut().set_mandate(&seat, &set.value)?;
                Ok(json!({}))
            }),
            Op::Scopes(set) => self.owned(&account, &own, &set.wish).and_then(|seat| {
                self.live.game_mut().set_scopes(&seat, &set.value)?;
                Ok(json!({}))
            }),
            Op::Controller(set) => {
                self.owned(&account, &own, &set.wish).and_then(|seat| self.set_controller(&seat, &set.value))
            }
            Op::Mint(wish) => self.mint(&account, &own, &wish),
        };
        self.live.seats_changed(now);
        Some(answer)
    }

    /// A seat that this person owns, of their own side where none is named.
    fn owned(&self, account: &Account, own: &Seat, wish: &ops::SeatWish) -> Result<Seat, CallError> {
        let seat = Seat::new(wish.team.as_deref().unwrap_or(&own.team), &wish.role);
        // Unknown seats and other people's are refused alike.
        if self.live.game().owner(&seat) == Some(&account.owner) {
            Ok(seat)
        } else {
            Err(Code::Forbidden.into())
        }
    }

    fn fresh_view(&self, client: SessionId) -> Answer {
        let team = match self.clients.get(&client).map(|client| &client.principal) {
            Some(Principal::Player { seat, .. }) => &seat.team,
            Some(Principal::Spectator { team }) => team,
            _ => return Err(Code::Forbidden.into()),
        };
        let version = self.live.game().view_version(team);
        Ok(json!({ "version": version, "view": self.live.game().view(team)?.into_value() }))
    }

    fn report(&self, team: &str) -> Answer {
        if !self.live.game().outcome(team).is_final() {
            return Err(Code::NotInMatch.into());
        }
        Ok(json!({ "team": team, "report": self.live.game().report(team)? }))
    }

    fn set_controller(&mut self, seat: &Seat, value: &Value) -> Answer {
        let controller: Controller = serde_json::from_value(value.clone()).map_err(|_| Code::Invalid)?;
        self.live.game_mut().set_controller(seat, controller)?;
        Ok(json!({}))
    }

    /// Gives the person a token for an agent of theirs: on a seat they own, or on an open one that becomes theirs.
    fn mint(&mut self, account: &Account, own: &Seat, wish: &ops::SeatWish) -> Answer {
        let seat = Seat::new(wish.team.as_deref().unwrap_or(&own.team), &wish.role);
        if self.live.game().open_seats().any(|open| *open == seat) {
            let occupant = Occupant::Agent { owner: account.owner.clone(), display: account.display.clone() };
            self.live.assign(&seat, occupant, self.now())?;
        } else if self.live.game().owner(&seat) != Some(&account.owner) {
            return Err(Code::Forbidden.into());
        }
        let surface = Arc::clone(&self.surface);
        let token =
            self.agents.mint(Arc::clone(&self.match_id), seat.clone(), surface, Arc::clone(&self.door));
        let expires = push::unix_millis() + u64::try_from(CLAIM_WITHIN.as_millis()).unwrap_or(u64::MAX);
        Ok(
            json!({ "team": seat.team, "role": seat.role, "token": token.reveal(), "expiresAt": expires, "mcpPath": "/mcp" }),
        )
    }

    // --- observers -----------------------------------------------------------------------------------------------

    /// An observer asks for frames: the newest released one whole, then every later one as it is released (§20.9).
    fn observe(&mut self, cx: &mut Cx<'_, Self>, client: SessionId, body: Value, within_rate: bool) {
        let game = self.live.game();
        let Some(Client { principal: Principal::Observer { reading, .. }, .. }) =
            self.clients.get_mut(&client)
        else {
            push::result(cx, client, None, &Err(Code::Forbidden.into()));
            return;
        };
        let request = ops::parse_observer(body).filter(|request| request.perspective == "all");
        let Some(request) = request.filter(|_| within_rate) else {
            let code = if within_rate { Code::BadMessage } else { Code::RateLimited };
            push::result(cx, client, None, &Err(code.into()));
            return;
        };
        let keyframe = game.observer_keyframe();
        let watermark = keyframe.as_ref().and_then(|frame| frame["sequence"].as_u64());
        let ahead = request.after.is_some_and(|after| watermark.is_none_or(|released| after > released));
        let state = if ahead { ObserverState::Closed } else { game.observer_state() };
        *reading = state != ObserverState::Closed;
        let mut answer = json!({ "op": "observer", "state": push::observer_state(state) });
        if let Some(grant) = game.observer_grant() {
            answer["grant"] = grant;
        }
        if let Some(keyframe) =
            keyframe.filter(|_| state == ObserverState::Ready && request.after != watermark)
        {
            answer["frame"] = keyframe;
        }
        push::send(cx, client, "playerthree:observer", &answer);
    }

    fn send_frames(&self, cx: &mut Cx<'_, Self>, frames: Vec<Value>) {
        let may_read = |client: &Client| match &client.principal {
            // Reauthorized at each delivery: a person who plays sees nothing of this any more.
            Principal::Observer { owner, reading } => *reading && !self.played.contains(owner),
            _ => false,
        };
        let readers: Vec<SessionId> =
            self.clients.iter().filter(|(_, client)| may_read(client)).map(|(id, _)| *id).collect();
        for frame in frames {
            let message = json!({ "op": "observer", "state": "ready", "frame": frame });
            push::to_all(cx, &readers, "playerthree:observer", &message);
        }
    }

    // --- delivery ------------------------------------------------------------------------------------------------

    fn status(&self) -> Value {
        let mut status = self.live.game().status();
        status["op"] = json!("status");
        status
    }

    fn send_seats(&self, cx: &mut Cx<'_, Self>, client: SessionId) {
        let game = self.live.game();
        let seats = match self.clients.get(&client).map(|client| &client.principal) {
            Some(Principal::Player { account, .. }) => game.seats_json_for(&account.owner, self.now()),
            Some(Principal::Spectator { .. }) => game.seats_json(self.now()),
            _ => return,
        };
        push::send(cx, client, "playerthree:seats", &json!({ "op": "seats", "seats": seats }));
    }

    /// Readers of a side's live view. Observers are never among them.
    fn readers(&self, side: Option<&str>) -> Vec<SessionId> {
        let reads = |client: &Client| match &client.principal {
            Principal::Player { seat, .. } => side.is_none_or(|side| *seat.team == *side),
            Principal::Spectator { team } => side.is_none_or(|side| **team == *side),
            Principal::Observer { .. } => false,
        };
        self.clients.iter().filter(|(_, client)| reads(client)).map(|(id, _)| *id).collect()
    }

    /// Delivers everything that the last event led to.
    fn flush(&mut self, cx: &mut Cx<'_, Self>) {
        let changes = self.live.take_changes(self.now());
        for (team, message) in &changes.views {
            let frame = push::view(team, message);
            for reader in self.readers(Some(team)) {
                cx.send_frame(reader, &frame);
            }
        }
        if changes.status {
            let readers = self.readers(None);
            push::to_all(cx, &readers, "playerthree:status", &self.status());
        }
        if changes.seats || changes.status {
            for reader in self.readers(None) {
                self.send_seats(cx, reader);
            }
            self.list(cx);
            self.keep_for_agents(cx);
        }
        self.send_frames(cx, changes.frames);
        for (caller, answer) in self.live.take_answers() {
            match caller {
                Caller::Client { client, seq } => push::result(cx, client, Some(seq), &answer),
                // A caller that went away misses its answer; nobody else may have it.
                Caller::Agent(reply) => _ = reply.send(answer),
            }
        }
    }

    /// A match whose agents play on outlives its last client.
    fn keep_for_agents(&mut self, cx: &mut Cx<'_, Self>) {
        let busy = !self.live.game().is_over() && self.live.game().has_present_agent(self.now());
        cx.set_auto_dispose(if busy { AutoDispose::Never } else { AutoDispose::WhenEmpty });
        if !busy && cx.seats() == 0 {
            cx.disconnect(CloseReason::Consented);
        }
    }

    /// The first player starts the clock of a realtime match.
    fn start_clock(&mut self, cx: &mut Cx<'_, Self>) {
        if self.tick.is_none() && self.surface.game.clock() == Clock::Realtime {
            let period = Duration::from_secs(1) / self.surface.manifest.tick_rate;
            self.tick = Some(cx.set_fixed_step(period, playerthree_host::TICKS_OWED_MAX));
        }
    }
}

fn log_in_first() -> Refusal {
    Refusal::new(401, "log in first: POST /demo/login with a name, then join with its token")
}

impl Room for MatchRoom {
    type Event = Event;
    type Auth = Option<Account>;

    fn on_join(
        &mut self,
        cx: &mut Cx<'_, Self>,
        client: SessionId,
        join: Join<Option<Account>>,
    ) -> Result<(), Refusal> {
        let part = options::part(&self.join_schema, &join.options).map_err(|_| Refusal::bad_options())?;
        let principal = self.admit(part, join.auth)?;
        if let Principal::Player { seat: Seat { team, .. }, .. } | Principal::Spectator { team } = &principal
        {
            let team = team.clone();
            self.live
                .game_mut()
                .subscribe(&team)
                .map_err(|_| Refusal::join_refused("the game has no view to show"))?;
        }
        if matches!(principal, Principal::Player { .. }) {
            self.start_clock(cx);
        }
        let bucket = Bucket::new(OPS_PER_SECOND, OPS_BURST, self.now());
        self.clients.insert(client, Client { principal, bucket });
        self.welcome(cx, client);
        let now = self.now();
        self.live.seats_changed(now);
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
        let body = message.payload.decode().unwrap_or(Value::Null);
        self.operate(cx, client, name, body);
        self.flush(cx);
        Ok(())
    }

    fn on_drop(&mut self, cx: &mut Cx<'_, Self>, client: SessionId, _: CloseReason) {
        cx.allow_reconnection(client, RECONNECTION_GRACE);
    }

    fn on_reconnect(&mut self, cx: &mut Cx<'_, Self>, client: SessionId) {
        self.welcome(cx, client);
    }

    fn on_leave(&mut self, cx: &mut Cx<'_, Self>, client: SessionId, _: CloseReason) {
        let now = self.now();
        self.live.cancel_waits(
            |caller| matches!(caller, Caller::Client { client: gone, .. } if *gone == client),
            now,
        );
        match self.clients.remove(&client).map(|client| client.principal) {
            Some(Principal::Player { seat, .. }) => {
                self.live.game_mut().unsubscribe(&seat.team);
                self.release(&seat);
            }
            Some(Principal::Spectator { team }) => self.live.game_mut().unsubscribe(&team),
            Some(Principal::Observer { .. }) | None => {}
        }
        self.flush(cx);
    }

    fn on_event(&mut self, cx: &mut Cx<'_, Self>, event: Event) {
        let now = self.now();
        match event {
            Event::Agent(call) if call.revoked.is_cancelled() => {
                _ = call.reply.send(Err(Code::BadToken.into()))
            }
            Event::Agent(AgentCall { seat, method, args, reply, .. }) => {
                self.live.call(&seat, Right::Agent, &method, &args, Caller::Agent(reply), now);
            }
            Event::Wake => self.live.take_in(now),
        }
        self.flush(cx);
    }

    fn on_timer(&mut self, cx: &mut Cx<'_, Self>, timer: TimerId) {
        let now = self.now();
        if timer == self.heartbeat {
            self.live.cancel_waits(|caller| matches!(caller, Caller::Agent(reply) if reply.is_closed()), now);
            self.live.heartbeat(now);
        } else {
            self.live.tick(now);
        }
        self.flush(cx);
    }

    fn on_dispose(&mut self, _: &mut Cx<'_, Self>) {
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
