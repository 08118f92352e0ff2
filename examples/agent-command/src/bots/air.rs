//! The air's commander: a scout on patrol, and gunships that fly together.

use super::plan::Purse;
use super::sense::{MatchData, Observation, OwnBuilding, OwnUnit, Spot};
use super::{Doctrine, produce, send};
use crate::kinds::Kind;
use serde_json::Value;

/// Alloy that is left to the ground army when a gunship is ordered.
const GROUND_SHARE: i64 = 120;

pub(super) fn think(doctrine: &Doctrine, data: &MatchData, observation: &Observation) -> Vec<Value> {
    let mut out: Vec<Value> = patrol(data, observation).into_iter().collect();
    if doctrine.wing > 0 {
        out.extend(make_gunship(doctrine, observation));
        out.extend(fly(doctrine, data, observation));
    }
    out
}

/// The scout goes round the corners of the inner square, from the one where it is to the next.
fn patrol(data: &MatchData, observation: &Observation) -> Option<Value> {
    const CORNERS: [(i64, i64); 4] = [(3, 3), (7, 3), (7, 7), (3, 7)];
    let scout = observation.units("scout").find(|scout| scout.order == "idle")?;
    let width = data.size * data.tile;
    let corners = CORNERS.map(|(x, y)| Spot { x: x * width / 10, y: y * width / 10 });
    let nearest = (0..corners.len()).min_by_key(|corner| corners[*corner].distance_squared(scout.at()))?;
    Some(send("move", &[&scout.id], corners[(nearest + 1) % corners.len()]))
}

fn make_gunship(doctrine: &Doctrine, observation: &Observation) -> Option<Value> {
    let mut airfields = observation.buildings.iter().filter(|building| building.kind == "airfield");
    let free = airfields.find(|airfield| airfield.done == 100 && airfield.queue == 0)?;
    let mut purse = Purse::of(doctrine, observation);
    let possible = observation.has("reactor") && purse.pay(Kind::Gunship, GROUND_SHARE);
    possible.then(|| produce(free, Kind::Gunship))
}

/// Gunships meet enemies near home, else attack once the wing is full.
fn fly(doctrine: &Doctrine, data: &MatchData, observation: &Observation) -> Option<Value> {
    let home = observation.base().map(OwnBuilding::at)?;
    let idle: Vec<&OwnUnit> = observation.units("gunship").filter(|unit| unit.order == "idle").collect();
    let target = match observation.threat_near(home, doctrine.guard) {
        Some(at) => Some(at),
        None if idle.len() >= doctrine.wing => data.target(observation, home),
        None => None,
    };
    let ids: Vec<&str> = idle.iter().map(|unit| &*unit.id).collect();
    target.filter(|_| !ids.is_empty()).map(|at| send("advance", &ids, at))
}
