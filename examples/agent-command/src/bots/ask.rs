//! What a bot asks its fellow commanders for: only what the card of one of them answers, and only when it changes what
//! they would do by themselves.

use super::Doctrine;
use super::sense::{MatchData, Observation, OwnUnit, Request, Spot};
use crate::kinds::{Kind, Role};
use serde_json::{Value, json};

/// Enemies near home for which every unit of the side is called.
const ALARM: usize = 4;
/// How far from home an army is abroad, in points.
const ABROAD: i64 = 1_500;
/// How near to an army an enemy is in its way, in points.
const IN_THE_WAY: i64 = 700;
/// How far before the target a scout looks ahead, in points.
const LOOKOUT: i64 = 1_000;
/// Factories that the economy builds before anybody asks for a reactor.
const FACTORIES_FIRST: usize = 2;

/// The request that a commander has now, if any: one at a time.
pub(super) fn ask(
    role: Role,
    doctrine: &Doctrine,
    data: &MatchData,
    observation: &Observation,
) -> Option<Value> {
    if observation.signals.sent.iter().any(Request::is_open) {
        return None;
    }
    let home = observation.home(data)?;
    let request = match role {
        Role::Economy => guard(home, doctrine, observation),
        Role::Ground => strike(home, observation).or_else(|| look(home, doctrine, data, observation)),
        Role::Air => supply(doctrine, observation),
    };
    request.map(|request| json!({ "kind": "signal", "signal": request }))
}

/// Everybody to a place near home where more enemies are than those at home can be expected to beat.
fn guard(home: Spot, doctrine: &Doctrine, observation: &Observation) -> Option<Value> {
    let near = observation.threats().filter(|enemy| enemy.at().is_within(home, doctrine.guard));
    let at = observation.threat_near(home, doctrine.guard).filter(|_| near.count() >= ALARM)?;
    Some(json!({ "kind": "guard", "x": at.x, "y": at.y, "to": "team" }))
}

/// Gunships to where the army fights abroad.
fn strike(home: Spot, observation: &Observation) -> Option<Value> {
    let abroad = observation.ground.units.iter().map(OwnUnit::at).filter(|at| !at.is_within(home, ABROAD));
    let at = abroad.filter_map(|at| observation.threat_near(at, IN_THE_WAY)).min()?;
    Some(json!({ "kind": "strike", "target": "army", "x": at.x, "y": at.y, "to": "air" }))
}

/// A scout ahead of an army that is about to go.
fn look(home: Spot, doctrine: &Doctrine, data: &MatchData, observation: &Observation) -> Option<Value> {
    let idle = observation.ground.units.iter().filter(|unit| unit.order == "idle").count();
    let ready = idle * 4 >= doctrine.group * 3;
    let target = data.target(observation, home).filter(|_| ready)?;
    let at = target.towards(home, LOOKOUT);
    Some(json!({ "kind": "look", "x": at.x, "y": at.y, "to": "air" }))
}

/// A reactor, as soon as it would be the next building anyway unless the side is rich.
fn supply(doctrine: &Doctrine, observation: &Observation) -> Option<Value> {
    let due = doctrine.wing > 0 && observation.count_buildings(Kind::Factory.name()) >= FACTORIES_FIRST;
    let missing = observation.count_buildings(Kind::Reactor.name()) == 0;
    (due && missing).then(|| json!({ "kind": "supply", "building": Kind::Reactor.name(), "to": "economy" }))
}
