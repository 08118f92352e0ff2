//! Acting (§9): every intent of every source passes the same gates in the same order, and each gets one ack.
//!
//! A refused intent changes nothing, and no ack carries any part of the input.

use crate::ack::Ack;
use crate::game_match::Match;
use crate::mandate::Scope;
use crate::seat::{Acting, Right};
use crate::{CallError, Code, Millis};
use playerthree_game::{Clock, Context, Controller, Name, Seat, SignalBoard, Source, is_signal};
use serde_json::Value;

impl Match {
    /// Sends a person's or an agent's intents, in order. Fails `internal` when the game breaks its own contract.
    pub fn act(
        &mut self,
        seat: &Seat,
        right: Right,
        intents: &[Value],
        now: Millis,
    ) -> Result<Vec<Ack>, CallError> {
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
        // Admitting turns `3.0` into `3`, so that a game reads integers as integers.
        let intent = match self.surface.manifest.admit_intent(intent.clone()) {
            Err(invalid) => return Ok(Ack::Invalid(invalid)),
            Ok((_, kind)) if !kind.roles.contains(&seat.role) => return Ok(Ack::ForbiddenRole),
            Ok((intent, _)) => intent,
        };
        let is_signal = is_signal(&self.surface.manifest, &intent);
        if is_signal && !SignalBoard::allows(&self.surface.manifest, &seat.role, &intent) {
            return Ok(Ack::ForbiddenRole);
        }
        if let Some(refusal) = self.check(seat, source, now)? {
            return Ok(refusal);
        }
        if is_signal {
            return Ok(self.signal(seat, &intent, now));
        }
        let context = Context { source, owner_roles: self.owner_roles(seat, source) };
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

    /// The gates between schema and game, in §9's order. Nothing: the intent may pass.
    fn check(&mut self, seat: &Seat, source: Source, now: Millis) -> Result<Option<Ack>, CallError> {
        let over = self.outcome(&seat.team).is_final();
        let acting = self.round.acting(seat, self.seat(seat)?.controller);
        let state = self.seat_mut(seat)?;
        if source == Source::Agent && !state.scopes.contains(&Scope::Act) {
            return Ok(Some(Ack::OutOfScope));
        }
        let controls = match source {
            Source::Owner => state.human_held,
            Source::Agent => state.controller == Controller::Agent,
            Source::Policy => matches!(acting, Acting::Live | Acting::Policy),
            Source::Bot | Source::Fallback => acting == Acting::Bot,
        };
        if !controls {
            return Ok(Some(Ack::NotController));
        }
        if over {
            return Ok(Some(Ack::GameOver));
        }
        let within_rate = match source {
            Source::Owner => state.bucket(Right::Owner).take(now),
            Source::Agent => state.bucket(Right::Agent).take(now),
            // The cap on intents per call bounds these.
            Source::Policy | Source::Bot | Source::Fallback => true,
        };
        Ok((!within_rate).then_some(Ack::RateLimited))
    }

    /// The roles of this side that the seat's owner holds in person, the acting one included (§4 "Owner control").
    fn owner_roles(&self, seat: &Seat, source: Source) -> Option<Vec<Name>> {
        if source != Source::Owner {
            return None;
        }
        let owner = self.owner(seat)?;
        let held = self.seats.values().filter(|state| {
            state.seat.team == seat.team && state.human_held && state.owner.as_ref() == Some(owner)
        });
        Some(held.map(|state| state.seat.role.clone()).collect())
    }
}
