//! The start of a match (§4 "Lobby phase", §20 "Start readiness"): what holds it before its first tick, who is ready,
//! and what lets it begin. A match that nothing holds runs from the moment it is made.
//!
//! While a match is held no tick passes and no intent reaches the game, whoever sends it.

use crate::game_match::Match;
use crate::policy_slot::Problem;
use crate::seat::{Right, SeatState};
use crate::{CallError, Code, Millis};
use playerthree_game::{Controller, Seat};
use serde_json::{Value, json};

/// Longest ready check, in seconds (§8).
pub const READY_SECONDS_MAX: u64 = 600;

/// What a match or a reservation waits for (§4 `startsWhen`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartKind {
    /// Nothing seats the agent.
    Seat,
    /// The lobby's host or the game starts it.
    Host,
    /// It starts once every seat is ready, or at the deadline.
    Ready,
    /// It starts when a countdown ends.
    Countdown,
}

/// When a match starts, as its agents and people are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartsWhen {
    /// What it waits for.
    pub kind: StartKind,
    /// The moment, where it is known.
    pub at: Option<Millis>,
}

impl StartsWhen {
    /// Nothing seats the agent.
    pub const SEAT: Self = Self { kind: StartKind::Seat, at: None };

    /// `{kind, inSeconds?}`: the seconds of wall time that are left, rounded up.
    pub fn to_json(self, now: Millis) -> Value {
        let kind = match self.kind {
            StartKind::Seat => "seat",
            StartKind::Host => "host",
            StartKind::Ready => "ready",
            StartKind::Countdown => "countdown",
        };
        match self.at {
            None => json!({ "kind": kind }),
            Some(at) => json!({ "kind": kind, "inSeconds": at.saturating_sub(now).div_ceil(1000) }),
        }
    }
}

/// The host's own gate (`holdStart`): no readiness and no deadline opens it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HostGate {
    /// There is none.
    Open,
    /// Only the host's word opens it.
    Shut,
    /// It opens, and the match starts, at this moment: the host counts down.
    ShutUntil(Millis),
}

/// What holds a match before its first tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hold {
    /// The ready check's deadline: from then on it waits for people alone. Nothing: nobody is asked.
    check: Option<Millis>,
    gate: HostGate,
    told: Option<StartsWhen>,
}

impl Hold {
    const NONE: Self = Self { check: None, gate: HostGate::Open, told: None };

    fn starts_when(self) -> StartsWhen {
        self.told.unwrap_or(match (self.gate, self.check) {
            (HostGate::ShutUntil(at), _) => StartsWhen { kind: StartKind::Countdown, at: Some(at) },
            (HostGate::Open, Some(deadline)) => StartsWhen { kind: StartKind::Ready, at: Some(deadline) },
            (HostGate::Shut, _) | (HostGate::Open, None) => StartsWhen { kind: StartKind::Host, at: None },
        })
    }
}

/// Where a match stands with its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Start {
    /// Nothing ever held it; before its first tick something still may.
    #[default]
    Free,
    /// It is held.
    Held(Hold),
    /// It was held and has begun.
    Begun,
}

impl Start {
    fn hold(self) -> Option<Hold> {
        match self {
            Self::Held(hold) => Some(hold),
            Self::Free | Self::Begun => None,
        }
    }
}

/// How ready a seat is (§20.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Readiness {
    Ready,
    Online,
    Waiting,
    Absent,
    /// The seat does not run the policy that it was given.
    Policy(Problem),
}

impl Readiness {
    fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Online => "online",
            Self::Waiting => "waiting",
            Self::Absent => "absent",
            Self::Policy(problem) => problem.as_str(),
        }
    }
}

/// What counts toward a start at one seat. Everything in it ends with the seat's assignment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StartMarks {
    /// The agent called `ready`.
    pub(crate) agent: bool,
    /// The person's client is in the room, by its authenticated join.
    pub(crate) joined: bool,
    /// The person met the game's own ready rule.
    pub(crate) person: bool,
}

impl SeatState {
    fn readiness(&self, now: Millis) -> Readiness {
        let of = |present: bool, marked: bool| match (present, marked) {
            (true, true) => Readiness::Ready,
            (true, false) => Readiness::Online,
            (false, _) => Readiness::Absent,
        };
        let plays_policy = matches!(self.controller, Controller::Agent | Controller::Policy);
        if let Some(problem) = self.policy.problem().filter(|_| plays_policy) {
            // Such a seat must not report ready, and its owner must see why (§20.5).
            return Readiness::Policy(problem);
        }
        match self.controller {
            Controller::Human => of(self.marks.joined, self.marks.person),
            Controller::Agent => of(self.agent_present(now), self.marks.agent),
            Controller::Policy if self.policy.active.is_none() => Readiness::Waiting,
            Controller::Policy | Controller::Bot | Controller::None => Readiness::Ready,
        }
    }
}

impl Match {
    /// Whether something holds the match before its first tick.
    pub fn is_held(&self) -> bool {
        self.start.hold().is_some()
    }

    /// Asks every seat whether it is ready before the first tick (§20 `readySeconds`). From `seconds` after `now` on,
    /// agents and policies are waited for no longer; people still are.
    /// Fails `invalid` for more than [`READY_SECONDS_MAX`] seconds and for a match that runs.
    pub fn check_ready(&mut self, seconds: u64, now: Millis) -> Result<(), CallError> {
        if seconds == 0 || seconds > READY_SECONDS_MAX {
            return Err(Code::Invalid.into());
        }
        let deadline = now.saturating_add(seconds * 1000);
        self.hold_with(|hold| hold.check = Some(deadline))
    }

    /// Adds the gate that only [`Self::start`] opens (§20 `holdStart`). Fails `invalid` for a match that runs.
    pub fn hold_start(&mut self) -> Result<(), CallError> {
        self.hold_with(|hold| hold.gate = HostGate::Shut)
    }

    /// The host's gate opens at `at` and the match starts then. Fails `invalid` unless the host holds the match.
    pub fn count_down(&mut self, at: Millis) -> Result<(), CallError> {
        let Start::Held(hold) = &mut self.start else { return Err(Code::Invalid.into()) };
        if hold.gate == HostGate::Open {
            return Err(Code::Invalid.into());
        }
        hold.gate = HostGate::ShutUntil(at);
        self.changes.status = true;
        Ok(())
    }

    /// Describes the start to agents and people otherwise than by what holds the match (§4 `setLobbyStart`); nothing
    /// takes the description back. It is words: it starts nothing. Fails `invalid` for a match that runs.
    pub fn set_lobby_start(&mut self, told: Option<StartsWhen>) -> Result<(), CallError> {
        let Start::Held(hold) = &mut self.start else { return Err(Code::Invalid.into()) };
        hold.told = told;
        self.changes.status = true;
        Ok(())
    }

    /// A pre-match summary (§4 `match`), of the manifest's `lobby`, in place of the one that the game gives. Fails `invalid` for a game that declares
    /// none, for a value out of its schema and for a match that runs.
    pub fn set_lobby(&mut self, summary: Value) -> Result<(), CallError> {
        let schema = self.surface.manifest.lobby.as_ref().ok_or(Code::Invalid)?;
        schema.validate(&summary)?;
        if !self.is_held() {
            return Err(Code::Invalid.into());
        }
        self.lobby = Some(summary);
        self.changes.status = true;
        Ok(())
    }

    /// Starts the match on the trusted word of its host, whoever is ready (§20 `start`, `skipReadyCheck`). A match that
    /// runs stays as it is.
    pub fn start(&mut self, now: Millis) {
        if !self.is_held() {
            return;
        }
        self.start = Start::Begun;
        self.changes.status = true;
        for state in self.seats.values_mut() {
            state.agent_lane.started();
            state.owner_lane.started();
        }
        self.round.seats_changed();
        self.notice_acting(now);
        self.settle_waits(now);
    }

    /// The match ends before its start: nothing holds it any more, and nobody enters it.
    pub(crate) fn give_start_up(&mut self) {
        if !self.is_held() {
            return;
        }
        self.start = Start::Begun;
        for state in self.seats.values_mut() {
            state.agent_lane.told_its_seat();
            state.owner_lane.told_its_seat();
        }
    }

    /// A person's client came into the room for exactly this seat, or left it (§20 "Human readiness").
    pub fn set_joined(&mut self, seat: &Seat, joined: bool, now: Millis) -> Result<(), CallError> {
        self.mark(seat, now, |marks| marks.joined = joined)
    }

    /// A person met the game's own ready rule, or takes that back. Fails `forbidden` for a seat that nobody holds in
    /// person.
    pub fn person_ready(&mut self, seat: &Seat, ready: bool, now: Millis) -> Result<(), CallError> {
        if !self.seat(seat)?.human_held {
            return Err(Code::Forbidden.into());
        }
        self.mark(seat, now, |marks| marks.person = ready)
    }

    /// The agent declares itself ready (§4 `ready`), and the answer to it: the lobby state, or the match's phase once it
    /// runs. Fails `forbidden` for an owner, who is ready by the game's own rule.
    pub fn agent_ready(&mut self, seat: &Seat, right: Right, now: Millis) -> Result<Value, CallError> {
        if right == Right::Owner {
            return Err(Code::Forbidden.into());
        }
        self.mark(seat, now, |marks| marks.agent = true)?;
        if self.is_held() {
            return self.lobby_state(seat, right, now);
        }
        Ok(json!({ "phase": "match", "you": { "ready": true } }))
    }

    /// Whether the seat's agent is marked ready.
    pub fn is_agent_ready(&self, seat: &Seat) -> bool {
        self.seats.get(seat).is_some_and(|state| state.marks.agent)
    }

    /// What an agent or owner is told while the match is held (§4 "Lobby phase"). It names the seat, so that no wait has
    /// to tell of it any more.
    pub(crate) fn lobby_state(&mut self, seat: &Seat, right: Right, now: Millis) -> Result<Value, CallError> {
        let hold = self.start.hold().ok_or(Code::Internal)?;
        let state = self.seat_mut(seat)?;
        state.lane(right).told_its_seat();
        let marks = state.marks;
        let ready = match right {
            Right::Agent => marks.agent,
            Right::Owner => marks.person,
        };
        Ok(lobby_state(Some(seat), self.lobby.as_ref(), ready, hold.starts_when(), now))
    }

    /// `{mode, pending, deadline?, seats: [{team, role, kind, state}]}` (§20.5): who is waited for. `deadline` is in
    /// milliseconds since 1970.
    pub fn readiness(&self, now: Millis) -> Value {
        let seats: Vec<Value> = self
            .seats
            .values()
            .map(|state| {
                json!({
                    "team": state.seat.team,
                    "role": state.seat.role,
                    "kind": state.controller,
                    // Once the match runs, presence suffices.
                    "state": match state.readiness(now) {
                        Readiness::Online if !self.is_held() => Readiness::Ready,
                        readiness => readiness,
                    }.as_str(),
                })
            })
            .collect();
        let mode = if self.is_held() { "start" } else { "none" };
        let mut readiness = json!({ "mode": mode, "pending": self.is_held(), "seats": seats });
        if let Some(deadline) = self.start.hold().and_then(|hold| hold.check) {
            readiness["deadline"] = json!(self.observers.wall(deadline));
        }
        readiness
    }

    /// Starts a held match whose time has come.
    pub(crate) fn settle_start(&mut self, now: Millis) {
        let Start::Held(hold) = self.start else { return };
        let due = match hold.gate {
            HostGate::Shut => false,
            HostGate::ShutUntil(at) => now >= at,
            HostGate::Open => {
                let timed_out = hold.check.is_some_and(|deadline| now >= deadline);
                let ready = |state: &SeatState| {
                    let waited_for = state.controller == Controller::Human || !timed_out;
                    !waited_for || state.readiness(now) == Readiness::Ready
                };
                // Nobody's match does not start by itself: its people are still on their way.
                let somebodys = self.seats.values().any(|state| state.owner().is_some());
                somebodys && self.seats.values().all(ready)
            }
        };
        if due {
            self.start(now);
        }
    }

    fn mark(
        &mut self,
        seat: &Seat,
        now: Millis,
        change: impl FnOnce(&mut StartMarks),
    ) -> Result<(), CallError> {
        let marks = &mut self.seat_mut(seat)?.marks;
        let before = *marks;
        change(marks);
        if *marks != before && self.is_held() {
            self.changes.status = true;
            self.settle_start(now);
        }
        Ok(())
    }

    fn hold_with(&mut self, change: impl FnOnce(&mut Hold)) -> Result<(), CallError> {
        let mut hold = match self.start {
            Start::Held(hold) => hold,
            Start::Free if self.tick() == 0 => Hold::NONE,
            Start::Free | Start::Begun => return Err(Code::Invalid.into()),
        };
        change(&mut hold);
        self.start = Start::Held(hold);
        self.changes.status = true;
        Ok(())
    }
}

/// The lobby state (§4): `{phase, seat, match?, you, startsWhen, instruction}`.
pub(crate) fn lobby_state(
    seat: Option<&Seat>,
    summary: Option<&Value>,
    ready: bool,
    starts_when: StartsWhen,
    now: Millis,
) -> Value {
    let instruction = match (seat, ready) {
        (None, _) => {
            "Nothing seats you yet. Read the briefing and skills meanwhile, and call game_wait again."
        }
        (Some(_), false) => {
            "You have a seat. Read the briefing and its topics, call game_ready, then game_wait."
        }
        (Some(_), true) => "You are ready. Call game_wait until phase is match.",
    };
    let mut state = json!({
        "phase": "lobby",
        "seat": seat,
        "you": { "ready": ready },
        "startsWhen": starts_when.to_json(now),
        "instruction": instruction,
    });
    if let Some(summary) = summary {
        state["match"] = summary.clone();
    }
    state
}
