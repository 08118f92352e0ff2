//! Pausing (§18): a seat whose owner chose `whenAbsent: "pause"` holds the whole session while its agent is absent.
//!
//! What holds is decided between ticks alone, never while one executes. Pausing must never touch the simulation: a paused
//! match does not step, whoever asks, and nothing else about it differs.

use crate::Millis;
use crate::game_match::Match;
use crate::mandate::WhenAbsent;
use crate::replay::{Input, PAUSE_REASON, ResumeReason};
use crate::seat::SeatState;
use playerthree_game::{Controller, Seat};
use serde_json::{Value, json};

/// A seat's hold of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pause {
    tick: u64,
    since: Millis,
    /// When the longest pause that the game allows has run out; none: it never does.
    until: Option<Millis>,
}

/// Where a seat stands with pausing for its absent agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SeatPause {
    /// It holds nothing.
    #[default]
    None,
    /// It holds the session.
    Holding(Pause),
    /// It held the session for as long as the game allows, and acts as `policy` says until its agent is present again or
    /// its owner changes the seat.
    Spent,
}

impl SeatState {
    fn holds_session(&self) -> bool {
        matches!(self.pause, SeatPause::Holding(_))
    }

    /// What the seat's hold comes to now; `fresh` is one that begins now. Nothing: it is as it was.
    fn settle_pause(&mut self, is_in_play: bool, fresh: Pause) -> Option<Input> {
        let now = fresh.since;
        let asked_for = is_in_play
            && self.controller == Controller::Agent
            && self.mandate.when_absent() == WhenAbsent::Pause;
        let (next, reason) = if !asked_for {
            (SeatPause::None, ResumeReason::Owner)
        } else if self.agent_present(now) {
            (SeatPause::None, ResumeReason::Present)
        } else {
            match self.pause {
                SeatPause::Holding(Pause { until: Some(until), .. }) if now >= until => {
                    (SeatPause::Spent, ResumeReason::Timeout)
                }
                SeatPause::None => {
                    self.pause = SeatPause::Holding(fresh);
                    return Some(Input::Pause);
                }
                SeatPause::Holding(_) | SeatPause::Spent => return None,
            }
        };
        let held = self.holds_session();
        self.pause = next;
        held.then_some(Input::Resume(reason))
    }

    /// The owner changed the seat: a pause that ran out may begin anew.
    pub(crate) fn renew_pause(&mut self) {
        if self.pause == SeatPause::Spent {
            self.pause = SeatPause::None;
        }
    }
}

impl Match {
    /// Whether the session stands still: some seat holds it. Never so before the start, and never once it is over.
    pub fn is_paused(&self) -> bool {
        self.paused_since.is_some()
    }

    /// `{tick, since, seats: [{team, role, reason, tick, since, until?}]}` while the session is paused: the seats that hold
    /// it, with wall-clock milliseconds since 1970 (§18 `paused()`).
    pub fn paused(&self) -> Option<Value> {
        let since = self.paused_since?;
        let seats: Vec<Value> = self
            .seats
            .values()
            .filter_map(|state| {
                let mut held = self.pause_json(state)?;
                held["team"] = json!(state.seat.team);
                held["role"] = json!(state.seat.role);
                Some(held)
            })
            .collect();
        Some(json!({ "tick": self.tick(), "since": self.observers.wall(since), "seats": seats }))
    }

    /// Decides what holds the session. The caller asks after each change of a seat by its owner; ticks, agents' calls and
    /// heartbeats ask by themselves. While a tick executes nothing is decided: the next one asks again.
    pub fn settle_pause(&mut self, now: Millis) {
        let Some(limits) = self.surface.manifest.control.pausable.as_ref() else { return };
        if self.round.is_open() || self.is_held() {
            return;
        }
        let longest = limits.max_pause_seconds.map(|seconds| u64::from(seconds) * 1000);
        let until = longest.map(|longest| now.saturating_add(longest));
        let fresh = Pause { tick: self.tick(), since: now, until };
        let mut changes: Vec<(Seat, Input)> = Vec::new();
        for state in self.seats.values_mut() {
            let is_in_play = !self.outcomes.get(&state.seat.team).is_some_and(|outcome| outcome.is_final());
            let change = state.settle_pause(is_in_play, fresh);
            changes.extend(change.map(|change| (state.seat.clone(), change)));
        }
        for (seat, change) in changes {
            self.note_pause(&seat, change);
        }
        let holds = self.seats.values().any(SeatState::holds_session);
        match (self.paused_since, holds) {
            (None, true) => self.paused_since = Some(now),
            (Some(_), false) => self.go_on(now),
            (None, false) | (Some(_), true) => {}
        }
    }

    /// The session runs again. A concession that came while a game of turns stood still is its next tick.
    fn go_on(&mut self, now: Millis) {
        self.paused_since = None;
        self.changes.status = true;
        if std::mem::take(&mut self.concession_due) && !self.is_over() {
            self.step(now);
        }
    }

    /// The seat's occupant is detached: what it held the session for is gone with it.
    pub(crate) fn end_pause(&mut self, seat: &Seat) {
        if self.seats.get(seat).is_some_and(SeatState::holds_session) {
            self.note_pause(seat, Input::Resume(ResumeReason::Owner));
        }
    }

    /// A seat began or ceased to hold the session: it is recorded, everybody is told, and in a game of turns somebody may
    /// have to move now.
    fn note_pause(&mut self, seat: &Seat, change: Input) {
        match &change {
            Input::Resume(reason) => tracing::info!(%seat, reason = reason.as_str(), "resume"),
            _ => tracing::info!(%seat, reason = PAUSE_REASON, "pause"),
        }
        self.record(seat, change);
        self.changes.seats = true;
        self.changes.status = true;
        self.round.seats_changed();
    }

    /// The seat with what it holds the session by, for whoever sees the match live.
    pub(crate) fn with_pause(&self, state: &SeatState, mut shown: Value) -> Value {
        if let Some(pause) = self.pause_json(state) {
            shown["pause"] = pause;
        }
        shown
    }

    /// `{reason, tick, since, until?}` of a seat that holds the session.
    fn pause_json(&self, state: &SeatState) -> Option<Value> {
        let SeatPause::Holding(Pause { tick, since, until }) = state.pause else { return None };
        let mut pause = json!({ "reason": PAUSE_REASON, "tick": tick, "since": self.observers.wall(since) });
        if let Some(until) = until {
            pause["until"] = json!(self.observers.wall(until));
        }
        Some(pause)
    }
}
