//! One tick of the world, in a fixed order: make, move and gather, shoot, judge, look. Whoever is out sees nothing more.
//!
//! Shots of one tick all land together, so no side profits from being stepped first.

mod combat;
mod economy;
mod movement;
mod spotting;
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
        let first = self.spotted_by(party).min_by_key(|enemy| enemy.id);
        let before = std::mem::replace(&mut self.parties[party].contact, first.is_some());
        if let Some(enemy) = first.filter(|_| !before) {
            let owner = &self.sides[enemy.side].name;
            let event =
                Event::new(self.tick, Happening::Contact).about(enemy.id, enemy.kind, enemy.at).side(owner);
            for member in self.sides.iter_mut().filter(|side| side.party == party) {
                member.log.push(event.clone());
            }
        }
    }
}

/// How near a worker must come to a patch or a building site, in points.
const REACH: i32 = TILE + TILE / 4;
