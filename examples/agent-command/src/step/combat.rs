//! Weapons: who shoots at whom, and what is destroyed.

use super::spotting::Spotted;
use crate::events::{Event, Happening};
use crate::kinds::{Kind, Weapon};
use crate::map::Point;
use crate::world::{Id, Order, World};

/// A hit that lands at the end of the tick.
struct Hit {
    target: Spotted,
    damage: i32,
    shooter: usize,
}

impl World {
    /// Fires every weapon that is ready and has a target, then lets all hits land together.
    pub(super) fn shoot(&mut self) {
        let spotted = self.spotted_by_each_party();
        let mut hits = Vec::new();
        for side in 0..self.sides.len() {
            let enemies = &spotted[self.sides[side].party];
            for unit in 0..self.sides[side].units.len() {
                self.fire_unit((side, unit), enemies, &mut hits);
            }
            for building in 0..self.sides[side].buildings.len() {
                self.fire_building((side, building), enemies, &mut hits);
            }
        }
        for hit in &hits {
            self.land(hit);
        }
        if !hits.is_empty() {
            self.bury(&hits);
        }
    }

    fn fire_unit(&mut self, (side, index): (usize, usize), enemies: &[Spotted], hits: &mut Vec<Hit>) {
        let unit = &mut self.sides[side].units[index];
        unit.cooldown = unit.cooldown.saturating_sub(1);
        let Some(weapon) = unit.kind.stats().weapon.filter(|_| unit.cooldown == 0) else { return };
        let ordered = match unit.order {
            Order::Attack { target, .. } => enemies.iter().find(|enemy| enemy.id == target),
            _ => None,
        };
        let ordered =
            ordered.filter(|enemy| reaches(weapon, enemy.kind) && unit.at.is_within(enemy.at, weapon.range));
        let nearest = || nearest_target(enemies, unit.at, weapon.range, weapon);
        let Some(target) = ordered.copied().or_else(nearest) else { return };
        unit.cooldown = weapon.cooldown;
        hits.push(Hit { target, damage: weapon.damage, shooter: side });
    }

    fn fire_building(&mut self, (side, index): (usize, usize), enemies: &[Spotted], hits: &mut Vec<Hit>) {
        let building = &mut self.sides[side].buildings[index];
        building.cooldown = building.cooldown.saturating_sub(1);
        let ready = building.cooldown == 0 && building.works();
        let Some(weapon) = building.kind.stats().weapon.filter(|_| ready) else { return };
        let Some(target) = nearest_target(enemies, building.at(), weapon.range, weapon) else { return };
        building.cooldown = weapon.cooldown;
        hits.push(Hit { target, damage: weapon.damage, shooter: side });
    }

    fn land(&mut self, hit: &Hit) {
        let tick = self.tick;
        let side = &mut self.sides[hit.target.side];
        if let Some(unit) = side.units.iter_mut().find(|unit| unit.id == hit.target.id) {
            unit.hp -= hit.damage;
            side.log.push(Event::new(tick, Happening::Attacked).about(unit.id, unit.kind, unit.at));
        } else if let Some(building) = side.buildings.iter_mut().find(|building| building.id == hit.target.id)
        {
            building.hp -= hit.damage;
            side.log.push(Event::new(tick, Happening::Attacked).about(
                building.id,
                building.kind,
                building.at(),
            ));
        }
    }

    /// Removes what has no hit points left, and tells those who see it.
    fn bury(&mut self, hits: &[Hit]) {
        for owner in 0..self.sides.len() {
            let units = self.sides[owner].units.iter().filter(|unit| unit.hp <= 0);
            let buildings = self.sides[owner].buildings.iter().filter(|building| building.hp <= 0);
            let fallen: Vec<(Id, Kind, Point)> = units
                .map(|unit| (unit.id, unit.kind, unit.at))
                .chain(buildings.map(|building| (building.id, building.kind, building.at())))
                .collect();
            for (id, kind, at) in &fallen {
                self.report_fallen(owner, (*id, *kind, *at));
                self.credit(hits, *id);
            }
            if !fallen.is_empty() {
                self.sides[owner].units.retain(|unit| unit.hp > 0);
                self.sides[owner].buildings.retain(|building| building.hp > 0);
            }
        }
    }

    /// Counts a fallen thing for every side that hit it when it fell.
    fn credit(&mut self, hits: &[Hit], fallen: Id) {
        for (index, side) in self.sides.iter_mut().enumerate() {
            let took_part = hits.iter().any(|hit| hit.target.id == fallen && hit.shooter == index);
            side.tally.destroyed += u32::from(took_part);
        }
    }

    fn report_fallen(&mut self, owner: usize, (id, kind, at): (Id, Kind, Point)) {
        self.sides[owner].tally.lost += 1;
        let name = self.sides[owner].name.clone();
        let seers: Vec<bool> =
            (0..self.sides.len()).map(|side| self.are_enemies(side, owner) && self.sees(side, at)).collect();
        for (index, (side, sees)) in self.sides.iter_mut().zip(seers).enumerate() {
            if index == owner {
                side.log.push(Event::new(self.tick, Happening::Lost).about(id, kind, at));
            } else if sees {
                side.log.push(Event::new(self.tick, Happening::Destroyed).about(id, kind, at).side(&name));
            }
        }
    }
}

/// The nearest of these enemies within `range` that the weapon can hit; units and turrets before other buildings, and of
/// equally near ones the first, because ids decide nothing.
pub(super) fn nearest_target(
    enemies: &[Spotted],
    from: Point,
    range: i32,
    weapon: Weapon,
) -> Option<Spotted> {
    let stands = |kind: Kind| kind.stats().speed == 0 && kind != Kind::Turret;
    let possible =
        enemies.iter().filter(|enemy| from.is_within(enemy.at, range) && reaches(weapon, enemy.kind));
    possible.min_by_key(|enemy| (stands(enemy.kind), from.distance_squared(enemy.at))).copied()
}

fn reaches(weapon: Weapon, kind: Kind) -> bool {
    weapon.hits_air || !kind.stats().flies()
}
