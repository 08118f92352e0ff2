//! What each party has in sight within a tick: its enemies, listed once for all who ask.

use crate::kinds::Kind;
use crate::map::Point;
use crate::world::{Id, World};

/// An enemy in sight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spotted {
    pub(super) side: usize,
    pub(super) id: Id,
    pub(super) kind: Kind,
    pub(super) at: Point,
}

impl World {
    /// The enemies in sight of every party: where they stand now, by what was in sight after the last tick.
    pub(super) fn spotted_by_each_party(&self) -> Vec<Vec<Spotted>> {
        (0..self.parties.len()).map(|party| self.spotted_by(party).collect()).collect()
    }

    /// The enemies in sight of a party.
    pub(super) fn spotted_by(&self, party: usize) -> impl Iterator<Item = Spotted> {
        let sight = &self.parties[party].sight;
        let enemies = self.sides.iter().enumerate().filter(move |(_, side)| side.party != party);
        let things = enemies.flat_map(|(index, side)| {
            let units = side.units.iter().map(|unit| (unit.id, unit.kind, unit.at));
            let buildings = side.buildings.iter().map(|building| (building.id, building.kind, building.at()));
            units.chain(buildings).map(move |(id, kind, at)| Spotted { side: index, id, kind, at })
        });
        things.filter(|enemy| sight.sees(enemy.at))
    }
}
