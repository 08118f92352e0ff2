//! One match: its seats, its clock and its outcomes. Everything else a match does is in the files beside this one.
//!
//! Synchronous and deterministic inside a tick: time is handed in, policies think elsewhere and their answers are
//! handed in, and whatever must leave is collected in [`Changes`] for the caller to deliver.

use crate::ack::Ack;
use crate::calls::Observe;
use crate::guard::{Guarded, Outputs, Refused};
use crate::mandate::{self, Mandate, WhenAbsent};
use crate::observer::{self, ObserverHistory, ObserverPolicy, ObserverState};
use crate::policy::{Activation, Artifact, Deploy, PolicyError, Thought};
use crate::seat::{Handover, Occupant, OwnerId, Right, SeatState};
use crate::thinking::Round;
use crate::views::{ViewMessage, ViewStream};
use crate::waiting::WaitId;
use crate::{CallError, Code, Millis, Surface};
use indexmap::IndexMap;
use playerthree_game::{Clock, Controller, GameMatch, Name, Outcome, Seat, SeatInfo, Setup};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Views of a realtime match are pushed at most so many times a second of game time.
const VIEW_HZ: u32 = 10;

/// How a match is set up.
#[derive(Clone, Debug)]
pub struct Config {
    /// The only source of randomness.
    pub seed: u32,
    /// Match options as somebody sent them; checked here.
    pub options: Option<Value>,
    /// The sides that play; none: all that the manifest declares.
    pub teams: Option<Vec<Name>>,
    /// What plays open seats, and stands in for absent agents: a tier of `manifest.opponents`, or nothing.
    pub bots: Option<Name>,
    /// Who may observe.
    pub observers: ObserverPolicy,
    /// Milliseconds since the Unix epoch at match time zero.
    pub epoch: Millis,
}

/// A match could not be set up.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CannotStart {
    /// The options or sides are out of the manifest.
    #[error("{0}")]
    Refused(#[from] CallError),
    /// The game's first output broke its own schemas.
    #[error("{0}")]
    Output(#[from] Refused),
}

/// What has to leave the match, collected until [`Match::take_changes`].
#[derive(Debug, Default)]
pub struct Changes {
    /// A seat changed: everybody's seat list is out of date.
    pub seats: bool,
    /// An outcome became final: everybody's status is out of date.
    pub status: bool,
    /// New versions of watched views.
    pub views: Vec<(Name, ViewMessage)>,
    /// Observer frames that became due, oldest first.
    pub frames: Vec<Value>,
    /// Waits that ended.
    pub waits: Vec<(WaitId, Result<Value, CallError>)>,
    /// Seats whose policy is gone: their running instances must end.
    pub policies_ended: Vec<Seat>,
}

/// One running match.
pub struct Match {
    pub(crate) surface: Arc<Surface>,
    pub(crate) game: Box<dyn GameMatch>,
    teams: Vec<Name>,
    /// In manifest order: sides, then roles within a side.
    pub(crate) seats: IndexMap<Seat, SeatState>,
    outcomes: BTreeMap<Name, Outcome>,
    ranks: Option<BTreeMap<Name, u32>>,
    views: BTreeMap<Name, ViewStream>,
    observers: ObserverHistory,
    observer_policy: ObserverPolicy,
    pub(crate) round: Round,
    pub(crate) last_wait: u64,
    /// A seat changed since the last views.
    views_stale: bool,
    pub(crate) changes: Changes,
}

impl Match {
    /// Creates a match. Every seat is open; whatever the game shows first has passed the guard.
    pub fn new(surface: Arc<Surface>, config: Config, now: Millis) -> Result<Self, CannotStart> {
        let manifest = &surface.manifest;
        let teams = match_teams(&manifest.teams, config.teams.as_deref())?;
        if let Some(options) = &config.options {
            let schema = manifest.match_options.as_ref().ok_or(CallError::from(Code::Invalid))?;
            schema.validate(options).map_err(CallError::from)?;
        }
        if config.bots.as_ref().is_some_and(|level| !manifest.opponents.contains(level)) {
            return Err(CallError::from(Code::Invalid).into());
        }
        let setup =
            Setup { seed: config.seed, options: config.options, teams: teams.clone(), alliances: None };
        let game = surface.game.create(&setup).map_err(|_| CallError::from(Code::Invalid))?;
        let seats = open_seats(&surface, &teams, config.bots.as_ref());
        let mut fresh = Self {
            game,
            seats,
            outcomes: teams.iter().map(|team| (team.clone(), Outcome::Running)).collect(),
            ranks: None,
            views: teams.iter().map(|team| (team.clone(), ViewStream::default())).collect(),
            observers: ObserverHistory::new(config.observers, config.epoch),
            observer_policy: config.observers,
            teams,
            surface,
            round: Round::default(),
            last_wait: 0,
            views_stale: false,
            changes: Changes::default(),
        };
        fresh.check_first_outputs()?;
        fresh.tell_game_all_seats();
        fresh.record_observation(now)?;
        Ok(fresh)
    }

    /// Everything that a game shows before its first tick must conform, or the match does not exist.
    fn check_first_outputs(&self) -> Result<(), Refused> {
        for seat in self.seats.keys() {
            self.outputs().observation(seat, -1, &[])?;
            self.outputs().match_data(seat)?;
        }
        for team in &self.teams {
            self.outputs().snapshot(team)?;
        }
        Ok(())
    }

    /// Ticks stepped so far.
    pub fn tick(&self) -> u64 {
        self.game.tick()
    }

    /// The game that is played.
    pub fn surface(&self) -> &Arc<Surface> {
        &self.surface
    }

    /// The sides that play, in manifest order.
    pub fn teams(&self) -> &[Name] {
        &self.teams
    }

    /// How a side stands. A side that does not play has lost nothing and is still `running`.
    pub fn outcome(&self, team: &str) -> Outcome {
        self.outcomes.get(team).copied().unwrap_or(Outcome::Running)
    }

    /// Whether every side is final (§10).
    pub fn is_over(&self) -> bool {
        self.outcomes.values().all(|outcome| outcome.is_final())
    }

    /// What the caller must deliver since it last asked.
    pub fn take_changes(&mut self) -> Changes {
        // A realtime match shows a changed seat with its next tick; a game of turns may have no next one for long.
        if self.views_stale && self.surface.game.clock() == Clock::Turns {
            self.push_views();
        }
        std::mem::take(&mut self.changes)
    }

    /// `{tick, phase, outcomes, ranks?}`.
    pub fn status(&self) -> Value {
        let mut status = json!({
            "tick": self.tick(),
            "phase": "match",
            "outcomes": observer::outcomes_json(&self.outcomes),
        });
        if let Some(ranks) = &self.ranks {
            status["ranks"] = ranks.iter().map(|(team, rank)| (team.to_string(), json!(rank))).collect();
        }
        status
    }

    // --- seats ---------------------------------------------------------------------------------------------------

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

    fn seat_changed(&mut self, seat: &Seat) {
        if let Some(state) = self.seats.get(seat) {
            let info = SeatInfo { controller: state.controller, mandate: state.mandate.to_json().clone() };
            self.game.set_seat_info(seat, &info);
        }
        self.round.seats_changed();
        self.changes.seats = true;
        self.views_stale = true;
    }

    fn tell_game_all_seats(&mut self) {
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

    // --- what a seat is shown ------------------------------------------------------------------------------------

    /// What a seat sees, guarded, with the detail and fields that were asked for (§4 `observe`).
    pub fn observe(&mut self, seat: &Seat, right: Right, request: &Observe) -> Result<Value, CallError> {
        let lane_since = self.seat_mut(seat)?.lane(right).observed;
        let detail = self.detail_of(seat, &request.detail);
        let observation = self.outputs().observation(seat, request.since.unwrap_or(lane_since), &detail);
        let mut observation = observation.map_err(Code::from)?.into_value();
        let tick = i64::try_from(self.tick()).unwrap_or(i64::MAX);
        self.seat_mut(seat)?.lane(right).observed = tick;
        if let (Some(fields), Value::Object(members)) = (&request.fields, &mut observation) {
            members.retain(|name, _| fields.iter().any(|field| **field == **name));
        }
        Ok(observation)
    }

    /// The role's default sections united with those asked for, in manifest order (§3 "Observation scope").
    pub(crate) fn detail_of(&self, seat: &Seat, wanted: &[Name]) -> Vec<Name> {
        let Some(scope) = &self.surface.manifest.observation_scope else { return Vec::new() };
        let defaults = scope.defaults.get(&seat.role).map_or(&[][..], Vec::as_slice);
        let asked = |section: &&Name| defaults.contains(section) || wanted.contains(section);
        scope.sections.iter().filter(asked).cloned().collect()
    }

    /// The seat's guarded match data, null where the game declares none.
    pub fn match_data(&self, seat: &Seat) -> Result<Value, CallError> {
        Ok(self.outputs().match_data(seat).map_err(Code::from)?)
    }

    /// A side's after-action report.
    pub fn report(&self, team: &str) -> Result<Value, CallError> {
        Ok(self.outputs().report(team).map_err(Code::from)?.into_value())
    }

    /// The seat's own scopes and mandate, as its briefing states them.
    pub fn terms(&self, seat: &Seat) -> Result<(Vec<&'static str>, Value), CallError> {
        let state = self.seat(seat)?;
        Ok((state.scopes.iter().map(|scope| scope.as_str()).collect(), state.mandate.to_json().clone()))
    }

    /// The game's unfogged developer snapshot. Never for a player; tests and operators look for hidden things in it.
    pub fn debug_view(&self) -> Option<Value> {
        self.game.debug_view()
    }

    pub(crate) fn outputs(&self) -> Outputs<'_> {
        Outputs { surface: &self.surface, game: &*self.game }
    }

    // --- views ---------------------------------------------------------------------------------------------------

    /// A fresh guarded view of a side, outside its stream.
    pub fn view(&self, team: &str) -> Result<Guarded, CallError> {
        Ok(self.outputs().snapshot(team).map_err(Code::from)?)
    }

    /// Starts reading a side's stream. The first reader starts the stream.
    pub fn subscribe(&mut self, team: &str) -> Result<(), CallError> {
        let first = self.views.get(team).ok_or(Code::Invalid)?.latest().is_none();
        let snapshot = if first { Some(self.view(team)?) } else { None };
        let stream = self.views.get_mut(team).ok_or(Code::Invalid)?;
        stream.subscribe();
        if let Some(view) = snapshot {
            stream.push(view);
        }
        Ok(())
    }

    /// Stops reading a side's stream.
    pub fn unsubscribe(&mut self, team: &str) {
        if let Some(stream) = self.views.get_mut(team) {
            stream.unsubscribe();
        }
    }

    /// The messages that bring a reader at `after` (none: a fresh reader) to the latest version (§4 `viewMessages`).
    pub fn view_messages(&self, team: &str, after: Option<u64>) -> Vec<ViewMessage> {
        self.views.get(team).map(|stream| stream.since(after)).unwrap_or_default()
    }

    /// The latest version of a side's stream, 0 before the first.
    pub fn view_version(&self, team: &str) -> u64 {
        self.views.get(team).map_or(0, ViewStream::version)
    }

    fn push_views(&mut self) {
        self.views_stale = false;
        for team in self.teams.clone() {
            let Some(before) =
                self.views.get(&team).filter(|stream| stream.is_watched()).and_then(ViewStream::latest)
            else {
                continue;
            };
            match self.outputs().periodic(&team, before) {
                Ok(view) => {
                    let message = self.views.get_mut(&team).and_then(|stream| stream.push(view));
                    self.changes.views.extend(message.map(|message| (team, message)));
                }
                Err(refused) => _ = Code::from(refused),
            }
        }
    }

    // --- observers -----------------------------------------------------------------------------------------------

    /// Who may observe, and how late.
    pub fn observer_policy(&self) -> ObserverPolicy {
        self.observer_policy
    }

    /// The grant of an observer of this match, as it travels.
    pub fn observer_grant(&self) -> Option<Value> {
        Some(observer::grant_json(&self.teams, self.observer_policy.delay()?))
    }

    /// Whether observers have something to see.
    pub fn observer_state(&self) -> ObserverState {
        self.observers.state()
    }

    /// The newest released frame as a keyframe.
    pub fn observer_keyframe(&self) -> Option<Value> {
        self.observers.keyframe()
    }

    /// Whether the end of the match may be told outside the match: at once where nobody observes it late, else with
    /// its own frame (§20.9).
    pub fn end_is_released(&self) -> bool {
        self.is_over() && (self.surface.manifest.observer.is_none() || self.observers.end_is_released())
    }

    fn record_observation(&mut self, now: Millis) -> Result<(), Refused> {
        if !self.observers.is_recording() || self.surface.manifest.observer.is_none() {
            return Ok(());
        }
        let world = self.outputs().world()?;
        let outcomes = self.is_over().then(|| observer::outcomes_json(&self.outcomes));
        self.observers.record(now, self.game.tick(), world, outcomes);
        Ok(())
    }

    // --- the clock -----------------------------------------------------------------------------------------------

    /// Wall time passed: waits run out, agents become absent, frames become due.
    pub fn heartbeat(&mut self, now: Millis) {
        self.notice_acting(now);
        self.settle_waits(now);
        let released = self.observers.release(now);
        self.changes.frames.extend(released);
    }

    /// Steps the game once and settles everything that a new tick settles.
    pub(crate) fn step(&mut self, now: Millis) {
        self.game.step();
        self.round.stepped();
        self.settle(now);
    }

    /// Shows and records what the game is now.
    fn settle(&mut self, now: Millis) {
        self.settle_outcomes();
        let every = u64::from((self.surface.manifest.tick_rate / VIEW_HZ).max(1));
        let due =
            self.surface.game.clock() == Clock::Turns || self.tick().is_multiple_of(every) || self.is_over();
        if due {
            self.push_views();
        }
        if let Err(refused) = self.record_observation(now) {
            _ = Code::from(refused);
        }
        self.heartbeat(now);
    }

    /// Keeps the first final outcome of each side (§10 "Per-team terminal rule").
    fn settle_outcomes(&mut self) {
        for team in &self.teams {
            let outcome = self.game.outcome(team);
            if let Some(kept) = self.outcomes.get_mut(team)
                && !kept.is_final()
                && outcome.is_final()
            {
                *kept = outcome;
                self.changes.status = true;
                let seats = self.seats.keys().filter(|seat| seat.team == *team);
                self.changes.policies_ended.extend(seats.cloned());
            }
        }
        if self.ranks.is_none() && self.is_over() {
            self.ranks = Some(self.final_ranks());
        }
    }

    /// The game's ranks, or ranks by outcome where the game gives none (§10 `rank`).
    fn final_ranks(&self) -> BTreeMap<Name, u32> {
        let from_game: Option<BTreeMap<Name, u32>> =
            self.teams.iter().map(|team| Some((team.clone(), self.game.rank(team)?))).collect();
        if let Some(ranks) = from_game.filter(is_competition_ranking) {
            return ranks;
        }
        let place = |outcome: Outcome| match outcome {
            Outcome::Win => 0,
            Outcome::Draw | Outcome::Running => 1,
            Outcome::Loss => 2,
        };
        let better =
            |mine: Outcome| self.outcomes.values().filter(|other| place(**other) < place(mine)).count();
        let rank = |outcome: Outcome| u32::try_from(better(outcome) + 1).unwrap_or(u32::MAX);
        self.outcomes.iter().map(|(team, outcome)| (team.clone(), rank(*outcome))).collect()
    }

    /// A side concedes (§10 `forfeit`). Fails `invalid` for a game that has no such thing.
    pub fn forfeit(&mut self, team: &str, now: Millis) -> Result<(), CallError> {
        if self.outcome(team).is_final() {
            return Ok(());
        }
        self.game.forfeit(team).map_err(|_| Code::Invalid)?;
        match self.surface.game.clock() {
            Clock::Turns => self.step(now),
            Clock::Realtime => self.settle(now),
        }
        Ok(())
    }

    // --- policies ------------------------------------------------------------------------------------------------

    /// Takes an artifact for a seat (§7, §11).
    pub fn deploy(&mut self, seat: &Seat, artifact: Artifact) -> Result<Deploy, CallError> {
        self.still_plays(seat)?;
        let state = self.seat_mut(seat)?;
        let supervised = state.mandate.autonomy() == mandate::Autonomy::Supervised;
        let deploy = state.policy.deploy(artifact, supervised)?;
        self.changes.seats = true;
        Ok(deploy)
    }

    /// Takes a retained version back (§4 `policyRollback`).
    pub fn rollback(&mut self, seat: &Seat, version: u32) -> Result<Deploy, CallError> {
        self.still_plays(seat)?;
        let state = self.seat_mut(seat)?;
        let supervised = state.mandate.autonomy() == mandate::Autonomy::Supervised;
        let deploy = state.policy.rollback(version, supervised)?;
        self.changes.seats = true;
        Ok(deploy)
    }

    /// The owner's answer to an approval request (§7). An agreed one comes back as a probe to run.
    pub fn resolve_approval(
        &mut self,
        seat: &Seat,
        id: &str,
        approve: bool,
    ) -> Result<Option<Activation>, CallError> {
        self.still_plays(seat)?;
        let resolved = self.seat_mut(seat)?.policy.resolve(id, approve);
        self.changes.seats = true;
        // A refusal that changed no request wakes nobody.
        let ended = match &resolved {
            Ok(activation) => activation.is_none(),
            Err(error) => error.code == Code::ApprovalFailed,
        };
        if ended {
            self.approval_changed(seat)?;
        }
        resolved
    }

    /// A probe ended. A success makes the version active; either way waits learn of a resolved approval.
    pub fn activated(&mut self, seat: &Seat, activation: &Activation, probe: &Result<Thought, PolicyError>) {
        let tick = self.tick();
        let Some(state) = self.seats.get_mut(seat) else { return };
        state.policy.activated(activation, probe, tick);
        self.changes.seats = true;
        self.round.seats_changed();
        if activation.approval.is_some() {
            _ = self.approval_changed(seat);
        }
    }

    /// An activation could not be tried for want of a place. The seat may ask again.
    pub fn not_tried(&mut self, seat: &Seat, activation: &Activation) {
        if let Some(state) = self.seats.get_mut(seat) {
            state.policy.not_tried(activation);
        }
    }

    /// A side that is out of play has no use for a policy.
    fn still_plays(&self, seat: &Seat) -> Result<(), CallError> {
        if self.outcome(&seat.team).is_final() { Err(Code::NotInMatch.into()) } else { Ok(()) }
    }

    /// The seat's `PolicyStatus`.
    pub fn policy_status(&self, seat: &Seat) -> Result<Value, CallError> {
        Ok(self.seat(seat)?.policy.status())
    }

    fn approval_changed(&mut self, seat: &Seat) -> Result<(), CallError> {
        let state = self.seat_mut(seat)?;
        state.agent_lane.approval_changed();
        Ok(())
    }

    /// What an activated policy of this seat is probed on: its guarded observation at the role's default detail
    /// united with what the policy declares.
    pub fn probe_observation(&self, seat: &Seat, declared: &[Name]) -> Result<Value, CallError> {
        let detail = self.detail_of(seat, declared);
        Ok(self.outputs().observation(seat, -1, &detail).map_err(Code::from)?.into_value())
    }

    /// Whether a scope is granted to the seat's agents.
    pub fn grants(&self, seat: &Seat, scope: mandate::Scope) -> Result<bool, CallError> {
        Ok(self.seat(seat)?.scopes.contains(&scope))
    }

    /// The acks of a call as they travel.
    pub fn acks_json(acks: &[Ack]) -> Value {
        acks.iter().map(Ack::to_json).collect()
    }
}

/// 1, 2, 2, 4: each rank is one more than the number of sides before it (§10 `rank`).
fn is_competition_ranking(ranks: &BTreeMap<Name, u32>) -> bool {
    let before = |rank: u32| ranks.values().filter(|other| **other < rank).count();
    ranks.values().all(|rank| usize::try_from(*rank).is_ok_and(|rank_| rank_ == before(*rank) + 1))
}

fn owns_in<'a>(mut owned: impl Iterator<Item = (&'a str, &'a OwnerId)>, owner: &OwnerId, side: &str) -> bool {
    owned.any(|(owned_side, other)| owned_side == side && other == owner)
}

/// The wanted sides in manifest order: a nonempty subset without repeats.
fn match_teams(declared: &[Name], wanted: Option<&[Name]>) -> Result<Vec<Name>, CallError> {
    let Some(wanted) = wanted else { return Ok(declared.to_vec()) };
    let teams: Vec<Name> = declared.iter().filter(|team| wanted.contains(team)).cloned().collect();
    if teams.is_empty() || teams.len() != wanted.len() {
        return Err(Code::Invalid.into());
    }
    Ok(teams)
}

/// Every seat of the sides, held by bots of the given tier or by nobody.
fn open_seats(surface: &Surface, teams: &[Name], bots: Option<&Name>) -> IndexMap<Seat, SeatState> {
    let manifest = &surface.manifest;
    let level = bots.or(manifest.opponents.first()).cloned().unwrap_or_else(|| "".into());
    let seats = teams.iter().flat_map(|team| manifest.roles.iter().map(|role| Seat::new(team, role)));
    let state = |seat: Seat| {
        let mut state = fresh_seat(surface, seat, level.clone());
        if bots.is_some() {
            state.controller = Controller::Bot;
        }
        state
    };
    seats.map(|seat| (seat.clone(), state(seat))).collect()
}

/// A seat as nobody has held it: the default mandate, every scope, full buckets.
fn fresh_seat(surface: &Surface, seat: Seat, bot_level: Name) -> SeatState {
    let manifest = &surface.manifest;
    // A game of turns waits for an absent player; a realtime one cannot.
    let when_absent = match surface.game.clock() {
        Clock::Turns => WhenAbsent::Hold,
        Clock::Realtime => WhenAbsent::Policy,
    };
    let mandate = Mandate::default_for(manifest, when_absent);
    SeatState::new(seat, bot_level, mandate, mandate::default_scopes(manifest), manifest.control.intents)
}
