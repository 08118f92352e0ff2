//! One tick of the world, in a fixed order: make, move and gather, shoot, judge, look. Whoever is out sees nothing more.
//!
//! Shots of one tick all land together, so no side profits from being stepped first.

mod combat;
mod economy;
mod movement;
mod verdict;

use crate::events::{Event, Happening};
use crate::kinds::TILE;
use crate::sight::Sight;
use crate::world::World;

impl World {
    /// Advances one tick. A world whose parties are all final only counts.
    pub(crate) fn step(&mut self) {
        self.tick += 1;
        if self.is_over() {
            return;
        }
        self.make();
        self.carry_out_orders();
        self.shoot();
        self.judge();
        self.look();
    }

    /// Recomputes what each party sees and remembers.
    pub(crate) fn look(&mut self) {
        for party in 0..self.parties.len() {
            let mut sight = Sight::default();
            for side in self.sides.iter().filter(|side| side.party == party) {
                for unit in &side.units {
                    sight.add(unit.at, unit.kind.stats().sight);
                }
                for building in &side.buildings {
                    sight.add(building.at(), building.kind.stats().sight);
                }
            }
            let remembered =
                self.map.patches().iter().zip(&self.patches).zip(&mut self.parties[party].patches);
            for ((tile, now), known) in remembered {
                if sight.sees_tile(*tile) {
                    *known = *now;
                }
            }
            self.parties[party].sight = sight;
            self.report_contact(party);
        }
    }

    fn report_contact(&mut self, party: usize) {
        let sight = &self.parties[party].sight;
        let enemies = self.sides.iter().filter(|side| side.party != party);
        let first = enemies
            .flat_map(|side| {
                let units = side.units.iter().map(|unit| (unit.id, unit.kind, unit.at));
                let buildings =
                    side.buildings.iter().map(|building| (building.id, building.kind, building.at()));
                units.chain(buildings).map(move |(id, kind, at)| (side, id, kind, at))
            })
            .filter(|(_, _, _, at)| sight.sees(*at))
            .min_by_key(|(_, id, _, _)| *id)
            .map(|(side, id, kind, at)| (side.name.clone(), id, kind, at));
        let before = std::mem::replace(&mut self.parties[party].contact, first.is_some());
        if let Some((side, id, kind, at)) = first.filter(|_| !before) {
            let event = Event::new(self.tick, Happening::Contact).about(id, kind, at).side(&side);
            for member in self.sides.iter_mut().filter(|side| side.party == party) {
                member.log.push(event.clone());
            }
        }
    }
}

/// How near a worker must come to a patch or a building site, in points.
const REACH: i32 = TILE + TILE / 4;
