//! The air commander: a scout on patrol, and gunships that fly together.

use super::sense::{Enemy, MatchData, Observation, OwnBuilding, OwnUnit, Spot};
use super::{Doctrine, send};
use crate::kinds::Kind;
use serde_json::{Value, json};

/// Alloy that is left to the ground army before a gunship is ordered.
const GROUND_SHARE: i64 = 120;

pub(super) fn think(doctrine: &Doctrine, data: &MatchData, observation: &Observation) -> Vec<Value> {
    let mut out: Vec<Value> = patrol(data, observation).into_iter().collect();
    if doctrine.wing > 0 {
        out.extend(produce(observation));
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

fn produce(observation: &Observation) -> Option<Value> {
    let price = Kind::Gunship.stats();
    let affordable = observation.alloy >= i64::from(price.alloy) + GROUND_SHARE
        && observation.energy >= i64::from(price.energy);
    let airfields = observation.buildings.iter().filter(|building| building.kind == "airfield");
    let free = airfields.into_iter().find(|airfield| airfield.done == 100 && airfield.queue == 0);
    free.filter(|_| affordable)
        .map(|airfield| json!({ "kind": "produce", "building": airfield.id, "unit": "gunship" }))
}

/// Gunships meet enemies near home, else attack once the wing is full.
fn fly(doctrine: &Doctrine, data: &MatchData, observation: &Observation) -> Option<Value> {
    let home = observation.base().map(OwnBuilding::at)?;
    let idle: Vec<&OwnUnit> = observation.units("gunship").filter(|unit| unit.order == "idle").collect();
    let enemies = observation.ground.enemies.iter().chain(&observation.air.enemies);
    let threat = enemies
        .filter(|enemy| enemy.kind != "scout" && enemy.at().is_within(home, doctrine.guard))
        .min_by_key(|enemy| (enemy.at().distance_squared(home), enemy.at()));
    let target = match threat.map(Enemy::at) {
        Some(at) => Some(at),
        None if idle.len() >= doctrine.wing => data.target(observation, home),
        None => None,
    };
    let ids: Vec<&str> = idle.iter().map(|unit| &*unit.id).collect();
    target.filter(|_| !ids.is_empty()).map(|at| send("advance", &ids, at))
}
