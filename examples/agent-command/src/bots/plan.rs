//! What a side of bots wants to build next. The three commanders of a side share their doctrine and what they see, so
//! that each can tell what the economy saves for.

use super::Doctrine;
use super::sense::Observation;
use crate::kinds::Kind;

/// Alloy with which a third factory is worth its price.
const RICH: i64 = 350;

/// The building that is missing most.
pub(super) fn wanted(doctrine: &Doctrine, observation: &Observation) -> Option<Kind> {
    let has = |kind: Kind| observation.count_buildings(kind.name());
    if has(Kind::Factory) == 0 {
        return Some(Kind::Factory);
    }
    if observation.economy.units.len() * 2 < doctrine.workers {
        return None;
    }
    // A third factory only serves alloy that the first two cannot spend.
    let factories = if observation.alloy >= RICH { doctrine.factories } else { doctrine.factories.min(2) };
    if has(Kind::Factory) < factories {
        return Some(Kind::Factory);
    }
    if has(Kind::Reactor) < doctrine.reactors {
        return Some(Kind::Reactor);
    }
    (has(Kind::Turret) < doctrine.turrets && observation.has("factory")).then_some(Kind::Turret)
}

/// What a side has left to spend in this look at the field.
pub(super) struct Purse {
    alloy: i64,
    energy: i64,
}

impl Purse {
    /// The side's stock without the price of a building that a worker is on its way to.
    pub(super) fn of(doctrine: &Doctrine, observation: &Observation) -> Self {
        let mut purse = Self { alloy: observation.alloy, energy: observation.energy };
        let is_building = observation.economy.units.iter().any(|worker| worker.order == "build");
        if let Some(kind) = wanted(doctrine, observation).filter(|_| is_building) {
            purse.alloy -= i64::from(kind.stats().alloy);
            purse.energy -= i64::from(kind.stats().energy);
        }
        purse
    }

    /// Takes the price of one, or nothing when it cannot be paid with this much alloy left over.
    pub(super) fn pay(&mut self, kind: Kind, left_over: i64) -> bool {
        let price = kind.stats();
        let (alloy, energy) = (i64::from(price.alloy), i64::from(price.energy));
        let affordable = self.alloy >= alloy + left_over && self.energy >= energy;
        if affordable {
            self.alloy -= alloy;
            self.energy -= energy;
        }
        affordable
    }
}
