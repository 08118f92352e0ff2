//! Who holds which seat of a match (§4 "Mid-match seat assignment", §20): handing seats over, and the owner's settings.
//!
//! Whatever belongs to an owner's hold ends with it; nobody opposes a side from within.

use crate::game_match::Match;
use crate::mandate::{self, Mandate, WhenAbsent};
use crate::seat::{Handover, Occupant, OwnerControl, OwnerId, SeatState};
use crate::waiting::WaitId;
use crate::{CallError, Code, Millis, Surface};
use playerthree_game::{Clock, Controller, Name, Seat, SeatInfo};
use serde_json::Value;
use std::sync::Arc;

impl Match {
    /// Seats of the match, taken or not.
    pub fn seats(&self) -> impl Iterator<Item = &Seat> {
        self.seats.keys()
    }

    /// How many seats the match has.
    pub fn seat_count(&self) -> usize {
        self.seats.len()
    }

    /// Seats that whoever joins may take, in manifest order.
    pub fn open_seats(&self) -> impl Iterator<Item = &Seat> {
        self.seats.values().filter(|state| state.is_open()).map(|state| &state.seat)
    }

    /// The owner of a seat.
    pub fn owner(&self, seat: &Seat) -> Option<&OwnerId> {
        self.seats.get(seat)?.owner()
    }

    /// Who was assigned to a seat last, whoever controls it now.
    pub fn occupant(&self, seat: &Seat) -> Option<&Occupant> {
        self.seats.get(seat).map(|state| &state.assigned)
    }

    /// The seats of an owner, in manifest order.
    pub fn seats_of(&self, owner: &OwnerId) -> Vec<Seat> {
        let owned = self.seats.values().filter(|state| state.owner() == Some(owner));
        owned.map(|state| state.seat.clone()).collect()
    }

    /// Whether this owner holds a seat in person on another side than this one.
    pub fn holds_in_person_elsewhere(&self, owner: &OwnerId, team: &str) -> bool {
        let held = |state: &&SeatState| state.human_held && state.owner() == Some(owner);
        self.seats.values().filter(held).any(|state| &*state.seat.team != team)
    }

    /// Whether the seat's owner holds it in person, whoever controls it now.
    pub fn is_held_in_person(&self, seat: &Seat) -> bool {
        self.seats.get(seat).is_some_and(|state| state.human_held)
    }

    /// Whether anybody owns a seat of the side.
    pub fn is_owned(&self, team: &str) -> bool {
        self.seats.values().any(|state| &*state.seat.team == team && state.owner().is_some())
    }

    /// Whether an agent is present on any seat that an agent controls.
    pub fn has_present_agent(&self, now: Millis) -> bool {
        self.seats.values().any(|state| state.is_played_by_agent(now))
    }

    /// Whether an agent is present on this seat, and controls it.
    pub fn is_played_by_agent(&self, seat: &Seat, now: Millis) -> bool {
        self.seats.get(seat).is_some_and(|state| state.is_played_by_agent(now))
    }

    /// Gives a seat to an occupant at this tick boundary, before the start or in the middle of the match (§4 "Mid-match
    /// seat assignment"). The occupant before is detached: its waits end with `bad_token`, and its mandate, scopes,
    /// policies, approval, ready mark and presence with them. The same occupant again changes nothing.
    ///
    /// Nothing changes either where it fails: `invalid` for a seat outside the match or a side that is out, `forbidden`
    /// where owners would oppose each other from within one side, where somebody would hold seats of two sides in
    /// person, and where commanders that share state would oppose each other.
    pub fn assign(&mut self, seat: &Seat, occupant: Occupant) -> Result<Handover, CallError> {
        self.assign_with(seat, occupant, OwnerControl::Kept)
    }

    /// [`Self::assign`], with the owner's hold of an automated seat (§4 "Owner control"). Fails `invalid` for a hold of a
    /// seat that nobody owns.
    pub fn assign_with(
        &mut self,
        seat: &Seat,
        occupant: Occupant,
        control: OwnerControl,
    ) -> Result<Handover, CallError> {
        self.check_assignment(seat, &occupant, control)?;
        let state = self.seat_mut(seat).map_err(|_| Code::Invalid)?;
        // Whoever controls the seat by their owner's word since is another occupant than the one that was assigned. A
        // named commander is the same one whoever does, and is in control again.
        let in_control = state.controller == occupant.controller();
        let is_same = state.assigned.is_same(&occupant) && (in_control || state.assigned.is_commander());
        let handover = if is_same {
            Handover::SameOccupant
        } else if state.owner() == occupant.owner() {
            Handover::SameOwner
        } else {
            Handover::NewOwner
        };
        let is_held_so = control == OwnerControl::Kept || state.human_held;
        if handover == Handover::SameOccupant && in_control && is_held_so {
            return Ok(handover);
        }
        if handover != Handover::SameOccupant {
            self.detach(seat, handover)?;
        }
        let (is_held, surface) = (self.is_held(), Arc::clone(&self.surface));
        let state = self.seat_mut(seat)?;
        state.human_held |= control == OwnerControl::Granted;
        state.controller = occupant.controller();
        if handover != Handover::SameOccupant {
            state.seat_occupant(occupant, &surface.hash);
            match is_held {
                true => state.agent_lane.enter_held(state.marks.agent),
                false => state.agent_lane.enter(),
            }
        }
        self.note_opposition();
        self.seat_changed(seat);
        Ok(handover)
    }

    /// Everything that an assignment can fail for, before anything changes.
    fn check_assignment(
        &self,
        seat: &Seat,
        occupant: &Occupant,
        control: OwnerControl,
    ) -> Result<(), CallError> {
        if !self.seats.contains_key(seat) || self.outcome(&seat.team).is_final() {
            return Err(Code::Invalid.into());
        }
        let Some(owner) = occupant.owner() else {
            return if control == OwnerControl::Granted { Err(Code::Invalid.into()) } else { Ok(()) };
        };
        let in_person = control == OwnerControl::Granted || matches!(occupant, Occupant::Human { .. });
        let refused = !self.may_own(owner, &seat.team)
            || (in_person && self.holds_in_person_elsewhere(owner, &seat.team))
            || self.opposes_shared_state(seat, occupant, owner);
        if refused { Err(Code::Forbidden.into()) } else { Ok(()) }
    }

    /// Whether the occupant would play against another commander of its owner's while one of the two shares state.
    fn opposes_shared_state(&self, seat: &Seat, occupant: &Occupant, owner: &OwnerId) -> bool {
        let is_agent = |who: &Occupant| matches!(who, Occupant::Agent { .. } | Occupant::Commander(_));
        is_agent(occupant)
            && self.seats.values().any(|state| {
                self.parties.oppose(&state.seat.team, &seat.team)
                    && state.owner() == Some(owner)
                    && is_agent(&state.assigned)
                    && !(state.assigned.is_isolated() && occupant.is_isolated())
            })
    }

    /// Ends what the seat's occupant had there. The same owner keeps their hold in person and their own waits.
    fn detach(&mut self, seat: &Seat, handover: Handover) -> Result<(), CallError> {
        let fresh = fresh_seat(&self.surface, seat.clone(), self.seat(seat)?.bot_level.clone());
        self.end_pause(seat);
        let state = self.seat_mut(seat)?;
        let mut before = std::mem::replace(state, fresh);
        state.holds = before.holds + 1;
        let mut ended: Vec<WaitId> = before.agent_lane.end_waits().collect();
        if handover == Handover::SameOwner {
            state.human_held = before.human_held;
            state.marks.joined = before.marks.joined;
            state.owner_bucket = before.owner_bucket;
            state.owner_lane = before.owner_lane;
        } else {
            ended.extend(before.owner_lane.end_waits());
        }
        self.round.forget(seat);
        // What was made for the earlier holder must not reach the next one, nor the earlier one any more.
        self.changes.observations.retain(|pushed| pushed.seat != *seat);
        self.changes.waits.extend(ended.into_iter().map(|id| (id, Err(Code::BadToken.into()))));
        Ok(())
    }

    /// Whether one owner ever held played seats of two sides that are no allies. Such a match is that owner's own
    /// practice and counts for nothing (§4 "Same-owner opposition").
    pub fn same_owner_opposed(&self) -> bool {
        self.opposed
    }

    pub(crate) fn note_opposition(&mut self) {
        let played = || self.seats.values().filter(|state| state.is_played());
        let opposes = |state: &SeatState| {
            let faces = |other: &&SeatState| self.parties.oppose(&other.seat.team, &state.seat.team);
            played().filter(faces).any(|other| other.owner() == state.owner())
        };
        let opposed = played().any(|state| state.owner().is_some() && opposes(state));
        if opposed && !self.opposed {
            self.opposed = true;
            self.changes.status = true;
        }
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
        let gone = |state: &&SeatState| state.owner().is_some_and(|owner| !is_here(owner));
        let abandoned = self.seats.values().filter(gone).filter(|state| !state.agent_present(now));
        abandoned.map(|state| state.seat.clone()).collect()
    }

    /// Whether this owner may own seats of a side. One owner may own seats of two sides only where each of the two is
    /// theirs alone: whoever shares a side sees what that side sees, and must not play against it (§20).
    pub fn may_own(&self, owner: &OwnerId, team: &str) -> bool {
        let owned = || self.seats.values().filter_map(|state| Some((&*state.seat.team, state.owner()?)));
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

    /// Changes who controls a seat, on its owner's word; [`Self::settle_pause`] has to follow. Fails `invalid` for a seat outside the match, and for `policy`
    /// without an active policy.
    pub fn set_controller(&mut self, seat: &Seat, controller: Controller) -> Result<(), CallError> {
        let state = self.match_seat(seat)?;
        if controller == Controller::Policy && state.policy.active.is_none() {
            return Err(Code::Invalid.into());
        }
        if state.controller != controller {
            state.controller = controller;
            state.renew_pause();
        }
        self.note_opposition();
        self.seat_changed(seat);
        Ok(())
    }

    /// Replaces a seat's mandate on its owner's word (§7); [`Self::settle_pause`] has to follow. Fails `invalid` for a seat
    /// outside the match too.
    pub fn set_mandate(&mut self, seat: &Seat, mandate: &Value) -> Result<(), CallError> {
        let mandate = Mandate::parse(&self.surface.manifest, mandate)?;
        self.match_seat(seat)?.take_mandate(mandate);
        self.seat_changed(seat);
        Ok(())
    }

    /// Replaces a seat's scopes on its owner's word (§6). Fails `invalid` for a seat outside the match too.
    pub fn set_scopes(&mut self, seat: &Seat, scopes: &Value) -> Result<(), CallError> {
        let scopes = mandate::parse_scopes(&self.surface.manifest, scopes)?;
        self.match_seat(seat)?.scopes = scopes;
        self.seat_changed(seat);
        Ok(())
    }

    /// An agent's call began; [`Self::agent_call_ended`] must follow. Both are presence (§8).
    pub fn agent_call_started(&mut self, seat: &Seat, now: Millis) {
        if let Some(state) = self.seats.get_mut(seat) {
            state.call_started(now);
            self.settle_start(now);
            self.settle_pause(now);
            self.notice_acting(now);
        }
    }

    /// An agent's call ended.
    pub fn agent_call_ended(&mut self, seat: &Seat, now: Millis) {
        if let Some(state) = self.seats.get_mut(seat) {
            state.call_ended(now);
        }
    }

    /// What everybody may know of every seat who sees the match live.
    pub fn seats_json(&self, now: Millis) -> Vec<Value> {
        self.seats.values().map(|state| self.with_pause(state, state.public_json(now))).collect()
    }

    /// What listings tell of every seat: who holds it, and nothing of what acts there at this moment or dates from a tick,
    /// for observers read them too (§20.9).
    pub fn listed_seats_json(&self, now: Millis) -> Vec<Value> {
        let mut seats: Vec<Value> = self.seats.values().map(|state| state.public_json(now)).collect();
        for members in seats.iter_mut().filter_map(Value::as_object_mut) {
            members.retain(|name, _| name != "mode" && name != "agentActive");
        }
        seats
    }

    /// The seats as this owner sees them: their own with mandate, scopes, policy and approval.
    pub fn seats_json_for(&self, owner: &OwnerId, now: Millis) -> Vec<Value> {
        let shown = |state: &SeatState| match state.owner() == Some(owner) {
            true => state.owner_json(now),
            false => state.public_json(now),
        };
        self.seats.values().map(|state| self.with_pause(state, shown(state))).collect()
    }

    /// The seats as the bearer of one seat's human token sees them: that one alone as its owner does (§20).
    pub fn seats_json_for_seat(&self, own: &Seat, now: Millis) -> Vec<Value> {
        let shown = |state: &SeatState| {
            if state.seat == *own { state.owner_json(now) } else { state.public_json(now) }
        };
        self.seats.values().map(|state| self.with_pause(state, shown(state))).collect()
    }

    pub(crate) fn seat_mut(&mut self, seat: &Seat) -> Result<&mut SeatState, CallError> {
        self.seats.get_mut(seat).ok_or_else(|| Code::NotInMatch.into())
    }

    /// A seat that a trusted caller names: one outside the match is their mistake (§20.1).
    fn match_seat(&mut self, seat: &Seat) -> Result<&mut SeatState, CallError> {
        self.seat_mut(seat).map_err(|_| Code::Invalid.into())
    }

    pub(crate) fn seat(&self, seat: &Seat) -> Result<&SeatState, CallError> {
        self.seats.get(seat).ok_or_else(|| Code::NotInMatch.into())
    }

    pub(crate) fn seat_changed(&mut self, seat: &Seat) {
        if let Some(state) = self.seats.get_mut(seat) {
            state.drop_unauthorized_sequence();
            let info = SeatInfo { controller: state.controller, mandate: state.mandate.to_json().clone() };
            self.record_seat(seat, &info);
            self.game.set_seat_info(seat, &info);
        }
        self.round.seats_changed();
        self.changes.seats = true;
        self.views_stale = true;
        self.observers.touch();
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
    let mandate = Mandate::default_for(manifest, usual_absence(surface));
    SeatState::new(seat, bot_level, mandate, mandate::default_scopes(manifest), manifest.control.intents)
}

/// A game of turns waits for an absent player; a realtime one cannot.
pub(crate) fn usual_absence(surface: &Surface) -> WhenAbsent {
    match surface.game.clock() {
        Clock::Turns => WhenAbsent::Hold,
        Clock::Realtime => WhenAbsent::Policy,
    }
}
