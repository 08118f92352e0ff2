//! Acting (§9): every intent of every source passes the same gates in the same order, and each gets one ack.
//!
//! A refused intent changes nothing, and no ack carries any part of the input.

use crate::ack::Ack;
use crate::calls::INTENTS_MAX;
use crate::game_match::Match;
use crate::mandate::Scope;
use crate::seat::{Acting, Right};
use crate::{CallError, Code, Millis};
use playerthree_game::{Checked, Clock, Context, Controller, Name, Seat, SignalBoard, Source, is_signal};
use serde_json::Value;

/// The first two gates, schema and role, which look at nothing but the intent.
pub(crate) fn admitted(manifest: &Checked, role: &Name, intent: &Value) -> Result<Value, Ack> {
    // Admitting turns `3.0` into `3`, so that a game reads integers as integers.
    let (intent, kind) = manifest.admit_intent(intent.clone()).map_err(Ack::Invalid)?;
    let sends =
        kind.allows(role) && (!is_signal(manifest, &intent) || SignalBoard::allows(manifest, role, &intent));
    if sends { Ok(intent) } else { Err(Ack::ForbiddenRole) }
}

/// Why somebody may not act for a seat, whatever they would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barred {
    /// The seat's scopes do not include `act`.
    OutOfScope,
    /// The sender does not control the seat.
    NotController,
    /// The side is out of play.
    GameOver,
}

impl Barred {
    /// The code on the wire.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::OutOfScope => "out_of_scope",
            Self::NotController => "not_controller",
            Self::GameOver => "game_over",
        }
    }
}

impl Match {
    /// Sends a person's or an agent's intents, in order: at most [`INTENTS_MAX`], else `invalid`. Fails `internal` when
    /// the game breaks its own contract, `paused` while the match is held or paused.
    pub fn act(
        &mut self,
        seat: &Seat,
        right: Right,
        intents: &[Value],
        now: Millis,
    ) -> Result<Vec<Ack>, CallError> {
        if self.surface.game.clock() == Clock::Turns {
            // A move is a tick, so what holds the session is decided before it.
            self.settle_pause(now);
        }
        if self.is_held() || self.is_paused() {
            return Err(Code::Paused.into());
        }
        if intents.len() > INTENTS_MAX {
            return Err(Code::Invalid.into());
        }
        let source = match right {
            Right::Owner => Source::Owner,
            Right::Agent => Source::Agent,
        };
        let acks = intents.iter().map(|intent| self.act_one(seat, source, intent, now)).collect();
        self.settle_waits(now);
        acks
    }

    /// One intent through schema, role, scope, controller, rate, and the game or the signal board.
    pub(crate) fn act_one(
        &mut self,
        seat: &Seat,
        source: Source,
        intent: &Value,
        now: Millis,
    ) -> Result<Ack, CallError> {
        let intent = match admitted(&self.surface.manifest, &seat.role, intent) {
            Err(refusal) => return Ok(refusal),
            Ok(intent) => intent,
        };
        let is_signal = is_signal(&self.surface.manifest, &intent);
        if let Some(barred) = self.barred(seat, source)? {
            return Ok(Ack::Barred(barred));
        }
        if !self.is_within_rate(seat, source, now)? {
            return Ok(Ack::RateLimited);
        }
        if is_signal {
            return Ok(self.signal(seat, &intent, now));
        }
        let context = Context { source, owner_roles: self.owner_roles(seat, source) };
        self.record_intent(seat, &intent, &context);
        match self.game.apply(seat, &intent, &context) {
            Ok(()) => {
                if self.surface.game.clock() == Clock::Turns {
                    self.step(now);
                }
                Ok(Ack::Ok)
            }
            Err(code) => {
                let declared = self.surface.manifest.errors.iter().find(|error| &***error == code);
                declared.cloned().map(Ack::Game).ok_or_else(|| Code::Internal.into())
            }
        }
    }

    /// What keeps the source from acting for the seat at all: scope, controller, and the end of the side's play.
    pub(crate) fn barred(&self, seat: &Seat, source: Source) -> Result<Option<Barred>, CallError> {
        let state = self.seat(seat)?;
        if source == Source::Agent && !state.scopes.contains(&Scope::Act) {
            return Ok(Some(Barred::OutOfScope));
        }
        let place = self.seats.get_index_of(seat);
        let acting = place.map_or(Acting::Held, |place| self.round.acting(place, state.controller));
        let controls = match source {
            Source::Owner => state.human_held,
            Source::Agent => state.controller == Controller::Agent,
            Source::Policy => matches!(acting, Acting::Live | Acting::Policy),
            // A gate of its own for each: absence gives nobody the authority of a bot that holds the seat (§8).
            Source::Bot => acting == Acting::Bot && state.controller == Controller::Bot,
            Source::Fallback => {
                acting == Acting::Bot && matches!(state.controller, Controller::Agent | Controller::Policy)
            }
        };
        if !controls {
            return Ok(Some(Barred::NotController));
        }
        Ok(self.outcome(&seat.team).is_final().then_some(Barred::GameOver))
    }

    /// Takes what one intent costs: a token of the sender's bucket and, for one who streams, a place in this tick (§9).
    fn is_within_rate(&mut self, seat: &Seat, source: Source, now: Millis) -> Result<bool, CallError> {
        let right = match source {
            Source::Owner => Right::Owner,
            Source::Agent => Right::Agent,
            // The cap on intents per call bounds these.
            Source::Policy | Source::Bot | Source::Fallback => return Ok(true),
        };
        let tick = self.tick();
        let limits = self.surface.manifest.control.stream;
        let state = self.seat_mut(seat)?;
        let stream = state.lane(right).stream.as_ref();
        let crowded = stream.zip(limits).is_some_and(|(stream, limits)| !stream.has_room(tick, limits));
        if crowded || !state.bucket(right).take(now) {
            return Ok(false);
        }
        if let Some(stream) = &mut state.lane(right).stream {
            stream.count_intent(tick);
        }
        Ok(true)
    }

    /// The roles of this side that the seat's owner holds in person, the acting one included (§4 "Owner control").
    fn owner_roles(&self, seat: &Seat, source: Source) -> Option<Vec<Name>> {
        if source != Source::Owner {
            return None;
        }
        let owner = self.owner(seat)?;
        let held = self
            .seats
            .values()
            .filter(|state| state.seat.team == seat.team && state.human_held && state.owner() == Some(owner));
        Some(held.map(|state| state.seat.role.clone()).collect())
    }
}
