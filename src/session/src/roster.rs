//! Who holds which seat of a match (§4 "Mid-match seat assignment", §20): handing seats over, and the owner's settings.
//!
//! Whatever belongs to an owner's hold ends with it; nobody opposes a side from within.

use crate::game_match::Match;
use crate::mandate::{self, Mandate, WhenAbsent};
use crate::seat::{Handover, Occupant, OwnerId, SeatState};
use crate::waiting::WaitId;
use crate::{CallError, Code, Millis, Surface};
use playerthree_game::{Clock, Controller, Name, Seat, SeatInfo};
use serde_json::Value;

impl Match {
    /// Seats of the match, taken or not.
    pub fn seat_count(&self) -> usize {
        self.seats.len()
    }

    /// Seats that whoever joins may take, in manifest order.
    pub fn open_seats(&self) -> impl Iterator<Item = &Seat> {
        self.seats.values().filter(|state| state.is_open()).map(|state| &state.seat)
    }

    /// The owner of a seat.
    pub fn owner(&self, seat: &Seat) -> Option<&OwnerId> {
        self.seats.get(seat)?.owner.as_ref()
    }

    /// Whether this owner holds a seat in person on another side than this one.
    pub fn holds_in_person_elsewhere(&self, owner: &OwnerId, team: &str) -> bool {
        let held = |state: &&SeatState| state.human_held && state.owner.as_ref() == Some(owner);
        self.seats.values().filter(held).any(|state| &*state.seat.team != team)
    }

    /// Whether the seat's owner holds it in person, whoever controls it now.
    pub fn is_held_in_person(&self, seat: &Seat) -> bool {
        self.seats.get(seat).is_some_and(|state| state.human_held)
    }

    /// Whether anybody owns a seat of the side.
    pub fn is_owned(&self, team: &str) -> bool {
        self.seats.values().any(|state| &*state.seat.team == team && state.owner.is_some())
    }

    /// Whether an agent is present on any seat that an agent controls.
    pub fn has_present_agent(&self, now: Millis) -> bool {
        self.seats.values().any(|state| state.controller == Controller::Agent && state.agent_present(now))
    }

    /// Gives a seat to an occupant at this tick boundary (§4 "Mid-match seat assignment"). Calls of another owner's
    /// agent that wait there end with `bad_token`.
    /// Fails `invalid` for a seat outside the match or a side that is out, and `forbidden` where owners would oppose
    /// each other from within one side.
    pub fn assign(&mut self, seat: &Seat, occupant: Occupant) -> Result<Handover, CallError> {
        if self.outcome(&seat.team).is_final() {
            return Err(Code::Invalid.into());
        }
        if occupant.owner().is_some_and(|owner| !self.may_own(owner, &seat.team)) {
            return Err(Code::Forbidden.into());
        }
        let state = self.seat_mut(seat)?;
        let handover =
            if state.owner.as_ref() == occupant.owner() { Handover::SameOwner } else { Handover::NewOwner };
        if handover == Handover::NewOwner {
            // Mandate, scopes, policies, buckets, presence and what was read belonged to the hold that ends.
            let ended: Vec<WaitId> =
                state.agent_lane.end_waits().chain(state.owner_lane.end_waits()).collect();
            let fresh = fresh_seat(&self.surface, seat.clone(), self.seat(seat)?.bot_level.clone());
            *self.seat_mut(seat)? = fresh;
            // What was made for the earlier holder must not reach the next one, nor the earlier one any more.
            self.changes.observations.retain(|pushed| pushed.seat != *seat);
            self.changes.waits.extend(ended.into_iter().map(|id| (id, Err(Code::BadToken.into()))));
        }
        self.seat_mut(seat)?.seat_occupant(occupant);
        self.seat_changed(seat);
        Ok(handover)
    }

    /// Seats that somebody who joins may take, in manifest order: open, on a side that still plays, and on no side
    /// that they would oppose from within. `None` is a stranger.
    pub fn joinable_seats(&self, owner: Option<&OwnerId>) -> impl Iterator<Item = &Seat> {
        let stranger = OwnerId("".into());
        let who = owner.cloned().unwrap_or(stranger);
        self.seats.values().map(|state| &state.seat).filter(move |seat| {
            let open = self.seats.get(*seat).is_some_and(SeatState::is_open);
            open && !self.outcome(&seat.team).is_final()
                && self.may_own(&who, &seat.team)
                && !self.holds_in_person_elsewhere(&who, &seat.team)
        })
    }

    /// Seats whose owner is gone by the caller's word and whose agent is absent.
    pub fn abandoned_seats(&self, now: Millis, is_here: impl Fn(&OwnerId) -> bool) -> Vec<Seat> {
        let gone = |state: &&SeatState| state.owner.as_ref().is_some_and(|owner| !is_here(owner));
        let abandoned = self.seats.values().filter(gone).filter(|state| !state.agent_present(now));
        abandoned.map(|state| state.seat.clone()).collect()
    }

    /// Whether this owner may own seats of a side. One owner may own seats of two sides only where each of the two is
    /// theirs alone: whoever shares a side sees what that side sees, and must not play against it (§20).
    pub fn may_own(&self, owner: &OwnerId, team: &str) -> bool {
        let owned =
            || self.seats.values().filter_map(|state| Some((&*state.seat.team, state.owner.as_ref()?)));
        let elsewhere = |who: &OwnerId| owned().any(|(side, other)| other == who && side != team);
        let mates =
            || owned().filter(|(side, other)| *side == team && *other != owner).map(|(_, other)| other);
        let shares_elsewhere =
            || owned().any(|(side, other)| other != owner && side != team && owns_in(owned(), owner, side));
        match elsewhere(owner) {
            true => mates().next().is_none() && !shares_elsewhere(),
            false => !mates().any(elsewhere),
        }
    }

    /// Changes who controls a seat, on its owner's word. `policy` needs an active policy.
    pub fn set_controller(&mut self, seat: &Seat, controller: Controller) -> Result<(), CallError> {
        let state = self.seat_mut(seat)?;
        if controller == Controller::Policy && state.policy.active.is_none() {
            return Err(Code::Invalid.into());
        }
        state.controller = controller;
        self.seat_changed(seat);
        Ok(())
    }

    /// Replaces a seat's mandate on its owner's word (§7).
    pub fn set_mandate(&mut self, seat: &Seat, mandate: &Value) -> Result<(), CallError> {
        let mandate = Mandate::parse(&self.surface.manifest, mandate)?;
        self.seat_mut(seat)?.mandate = mandate;
        self.seat_changed(seat);
        Ok(())
    }

    /// Replaces a seat's scopes on its owner's word (§6).
    pub fn set_scopes(&mut self, seat: &Seat, scopes: &Value) -> Result<(), CallError> {
        let scopes = mandate::parse_scopes(&self.surface.manifest, scopes)?;
        self.seat_mut(seat)?.scopes = scopes;
        self.seat_changed(seat);
        Ok(())
    }

    /// An agent's call began; [`Self::agent_call_ended`] must follow. Both are presence (§8).
    pub fn agent_call_started(&mut self, seat: &Seat, now: Millis) {
        if let Some(state) = self.seats.get_mut(seat) {
            state.call_started(now);
            self.notice_acting(now);
        }
    }

    /// An agent's call ended.
    pub fn agent_call_ended(&mut self, seat: &Seat, now: Millis) {
        if let Some(state) = self.seats.get_mut(seat) {
            state.call_ended(now);
        }
    }

    /// What everybody may know of every seat.
    pub fn seats_json(&self, now: Millis) -> Vec<Value> {
        self.seats.values().map(|state| state.public_json(now)).collect()
    }

    /// The seats as this owner sees them: their own with mandate, scopes, policy and approval.
    pub fn seats_json_for(&self, owner: &OwnerId, now: Millis) -> Vec<Value> {
        let seats = self.seats.values();
        let mine = |state: &SeatState| state.owner.as_ref() == Some(owner);
        seats.map(|state| if mine(state) { state.owner_json(now) } else { state.public_json(now) }).collect()
    }

    pub(crate) fn seat_mut(&mut self, seat: &Seat) -> Result<&mut SeatState, CallError> {
        self.seats.get_mut(seat).ok_or_else(|| Code::NotInMatch.into())
    }

    pub(crate) fn seat(&self, seat: &Seat) -> Result<&SeatState, CallError> {
        self.seats.get(seat).ok_or_else(|| Code::NotInMatch.into())
    }

    pub(crate) fn seat_changed(&mut self, seat: &Seat) {
        if let Some(state) = self.seats.get_mut(seat) {
            state.drop_unauthorized_sequence();
            let info = SeatInfo { controller: state.controller, mandate: state.mandate.to_json().clone() };
            self.game.set_seat_info(seat, &info);
        }
        self.round.seats_changed();
        self.changes.seats = true;
        self.views_stale = true;
    }

    pub(crate) fn tell_game_all_seats(&mut self) {
        for seat in self.seats.keys().cloned().collect::<Vec<_>>() {
            self.seat_changed(&seat);
        }
    }

    /// Tells everybody when what acts for a seat changed, presence included.
    pub(crate) fn notice_acting(&mut self, now: Millis) {
        for state in self.seats.values_mut() {
            let acting = state.decide(now);
            if acting != state.acting {
                state.acting = acting;
                self.changes.seats = true;
                // In a game of turns somebody else may have to move now.
                self.round.seats_changed();
            }
        }
    }
}

fn owns_in<'a>(mut owned: impl Iterator<Item = (&'a str, &'a OwnerId)>, owner: &OwnerId, side: &str) -> bool {
    owned.any(|(owned_side, other)| owned_side == side && other == owner)
}

/// A seat as nobody has held it: the default mandate, every scope, full buckets.
pub(crate) fn fresh_seat(surface: &Surface, seat: Seat, bot_level: Name) -> SeatState {
    let manifest = &surface.manifest;
    // A game of turns waits for an absent player; a realtime one cannot.
    let when_absent = match surface.game.clock() {
        Clock::Turns => WhenAbsent::Hold,
        Clock::Realtime => WhenAbsent::Policy,
    };
    let mandate = Mandate::default_for(manifest, when_absent);
    SeatState::new(seat, bot_level, mandate, mandate::default_scopes(manifest), manifest.control.intents)
}
