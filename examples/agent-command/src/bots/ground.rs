//! The army's commander: factories that never stand still, and fighters that gather before they attack.

use super::plan::Purse;
use super::sense::{MatchData, Observation, OwnUnit, Spot};
use super::{Doctrine, produce, send};
use crate::intent::MAX_UNITS;
use crate::kinds::Kind;
use serde_json::Value;

/// The tick from which a match has lasted long.
const LATE: u64 = 2_500;

pub(super) fn think(doctrine: &Doctrine, data: &MatchData, observation: &Observation) -> Vec<Value> {
    let mut out = make_fighters(doctrine, observation);
    out.extend(command_army(doctrine, data, observation));
    out
}

fn make_fighters(doctrine: &Doctrine, observation: &Observation) -> Vec<Value> {
    let mut purse = Purse::of(doctrine, observation);
    let kind = next_fighter(doctrine, observation);
    let factories = observation.buildings.iter().filter(|building| building.kind == "factory");
    let free = factories.filter(|factory| factory.done == 100 && factory.queue == 0);
    free.filter(|_| purse.pay(kind, 0)).map(|factory| produce(factory, kind)).collect()
}

fn next_fighter(doctrine: &Doctrine, observation: &Observation) -> Kind {
    let (soldiers, tanks) = (observation.units("soldier").count(), observation.units("tank").count());
    let ratio = doctrine.soldiers_per_tank;
    let tank = ratio > 0
        && soldiers > ratio * (tanks + 1)
        && observation.has("reactor")
        && observation.energy >= i64::from(Kind::Tank.stats().energy);
    if tank { Kind::Tank } else { Kind::Soldier }
}

/// Meets enemies near home, else attacks with a full group.
fn command_army(doctrine: &Doctrine, data: &MatchData, observation: &Observation) -> Option<Value> {
    let army = &observation.ground.units;
    let home = observation.home(data)?;
    let idle = army.iter().filter(|unit| unit.order == "idle");
    if let Some(threat) = observation.threat_near(home, doctrine.guard) {
        let is_near = |unit: &&OwnUnit| unit.order == "idle" || unit.at().is_within(home, doctrine.guard);
        return advance(army.iter().filter(is_near), threat);
    }
    let group = if observation.tick < LATE { doctrine.group } else { doctrine.late_group };
    let target = data.target(observation, home).filter(|_| idle.clone().count() >= group)?;
    advance(idle, target)
}

fn advance<'u>(units: impl Iterator<Item = &'u OwnUnit>, to: Spot) -> Option<Value> {
    let ids: Vec<&str> = units.map(|unit| &*unit.id).take(MAX_UNITS).collect();
    (!ids.is_empty()).then(|| send("advance", &ids, to))
}
