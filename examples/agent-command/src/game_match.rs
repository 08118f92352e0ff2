//! One running match as the host sees it (§10): a thin layer that turns names and JSON into calls on the world.

use crate::command::Commander;
use crate::intent::Intent;
use crate::kinds::Role;
use crate::options::{Options, Signalling};
use crate::requests;
use crate::world::{Limits, SeatState, World};
use playerthree_game::{
    CannotCreate, Context, GameMatch, MatchSignals, Name, NoForfeit, Outcome, Seat, SeatInfo, Setup,
    SignalLimits, Source, ViewKind,
};
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
pub(crate) struct AgentCommandMatch {
    world: World,
    signalling: Signalling,
}

impl AgentCommandMatch {
    pub(crate) fn new(setup: &Setup) -> Result<Self, CannotCreate> {
        let parties = parties(setup)?;
        let allied: usize = parties.iter().map(Vec::len).sum();
        if !(2..=4).contains(&setup.teams.len()) || parties.len() < 2 || allied != setup.teams.len() {
            return Err(CannotCreate(
                "a match needs two to four sides, each in one alliance or all alone, and not all of them allied",
            ));
        }
        let options = Options::read(setup.options.as_ref())?;
        let world = World::new(setup.seed, &options, &setup.teams, &parties);
        Ok(Self { world, signalling: options.signalling })
    }

    /// The side and role of a seat of this match.
    fn seat(&self, seat: &Seat) -> Option<(usize, Role)> {
        Some((self.world.side_index(&seat.team)?, Role::from_name(&seat.role)?))
    }
}

/// The sides of each party as indices into `teams`: the alliances, or every side alone.
fn parties(setup: &Setup) -> Result<Vec<Vec<usize>>, CannotCreate> {
    let index = |team: &Name| {
        let found = setup.teams.iter().position(|other| other == team);
        found.ok_or(CannotCreate("an alliance names a side that does not play"))
    };
    match &setup.alliances {
        None => Ok((0..setup.teams.len()).map(|side| vec![side]).collect()),
        Some(alliances) => alliances.values().map(|members| members.iter().map(index).collect()).collect(),
    }
}

/// The restrictions that a mandate names (§7).
fn limits(mandate: &Value) -> Limits {
    let limits = mandate.get("limits").unwrap_or(&Value::Null);
    let number = |name: &str| limits.get(name).and_then(Value::as_u64);
    Limits {
        max_attackers: number("maxAttackers").and_then(|most| usize::try_from(most).ok()),
        reserve_alloy: number("reserveAlloy").and_then(|alloy| i32::try_from(alloy).ok()),
        no_build: limits.get("noBuild").and_then(Value::as_bool).unwrap_or(false),
    }
}

impl GameMatch for AgentCommandMatch {
    fn tick(&self) -> u64 {
        self.world.tick
    }

    fn step(&mut self) {
        self.world.step();
    }

    fn outcome(&self, team: &str) -> Outcome {
        self.world.side_index(team).map_or(Outcome::Running, |side| self.world.party_of(side).outcome)
    }

    fn view(&self, team: &str, kind: ViewKind) -> Value {
        let side = self.world.side_index(team);
        side.map_or(Value::Null, |side| self.world.view(side, kind == ViewKind::Snapshot))
    }

    fn observe(&self, seat: &Seat, since: i64, detail: &[Name]) -> Value {
        let full: Vec<Role> = detail.iter().filter_map(|section| Role::from_name(section)).collect();
        self.seat(seat).map_or(Value::Null, |(side, role)| self.world.observe(side, role, since, &full))
    }

    fn apply(&mut self, seat: &Seat, intent: &Value, context: &Context) -> Result<(), &'static str> {
        let (side, role) = self.seat(seat).ok_or("out_of_play")?;
        let command = Intent::read(intent).ok_or("malformed")?;
        let owned = context.owner_roles.as_deref().unwrap_or_default();
        let mut roles = vec![role];
        roles.extend(owned.iter().filter_map(|role| Role::from_name(role)).filter(|other| *other != role));
        // A mandate binds those who act in the owner's place, not the owner.
        let limits = match context.source {
            Source::Owner => Limits::default(),
            Source::Agent | Source::Policy | Source::Bot | Source::Fallback => {
                self.world.sides[side].seat(role).limits
            }
        };
        self.world.command(Commander { side, role, roles: &roles, limits }, &command)
    }

    fn report(&self, team: &str) -> Value {
        self.world.side_index(team).map_or(Value::Null, |side| self.world.report(side))
    }

    fn events(&self, seat: &Seat, since: i64) -> Vec<Value> {
        let side = self.world.side_index(&seat.team).map(|side| &self.world.sides[side]);
        side.into_iter().flat_map(|side| side.log.since(since)).map(|event| event.to_value()).collect()
    }

    fn set_seat_info(&mut self, seat: &Seat, info: &SeatInfo) {
        if let Some((side, role)) = self.seat(seat) {
            let state = SeatState { controller: info.controller, limits: limits(&info.mandate) };
            *self.world.sides[side].seat_mut(role) = state;
        }
    }

    fn match_data(&self, seat: &Seat) -> Option<Value> {
        self.seat(seat).map(|(side, role)| self.world.match_data(side, role))
    }

    fn lobby(&self) -> Option<Value> {
        Some(self.world.lobby())
    }

    fn debug_view(&self) -> Option<Value> {
        Some(self.world.debug_view())
    }

    fn observer_view(&self) -> Option<Value> {
        Some(self.world.observer_view())
    }

    fn clone_match(&self) -> Option<Box<dyn GameMatch>> {
        Some(Box::new(self.clone()))
    }

    fn rank(&self, team: &str) -> Option<u32> {
        let party = self.world.party_of(self.world.side_index(team)?);
        party.outcome.is_final().then_some(party.rank)
    }

    fn end(&mut self, outcomes: &BTreeMap<Name, Outcome>, ranks: &BTreeMap<Name, u32>) {
        let sides: Vec<_> =
            outcomes.iter().map(|(team, outcome)| (self.world.side_index(team), team, outcome)).collect();
        let known = sides
            .into_iter()
            .filter_map(|(side, team, outcome)| Some((side?, *outcome, ranks.get(team).copied())));
        self.world.declare(known);
    }

    fn signal_limits(&self) -> MatchSignals {
        match self.signalling {
            Signalling::All => MatchSignals::Declared,
            Signalling::One => {
                MatchSignals::Narrowed(SignalLimits { burst: 1, max_open: 1, ..requests::LIMITS })
            }
            Signalling::None => MatchSignals::Off,
        }
    }

    fn forfeit(&mut self, team: &str) -> Result<(), NoForfeit> {
        if let Some(side) = self.world.side_index(team) {
            self.world.forfeit(side);
        }
        Ok(())
    }
}
