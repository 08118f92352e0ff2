//! Weapons: who shoots at whom, and what is destroyed.

use crate::events::{Event, Happening};
use crate::kinds::{Kind, Weapon};
use crate::map::Point;
use crate::world::{Id, Order, World};

/// Something that can be shot at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    side: usize,
    id: Id,
    pub(super) at: Point,
}

/// A hit that lands at the end of the tick.
struct Hit {
    target: Target,
    damage: i32,
    shooter: usize,
}

impl World {
    /// Fires every weapon that is ready and has a target, then lets all hits land together.
    pub(super) fn shoot(&mut self) {
        let mut hits = Vec::new();
        for side in 0..self.sides.len() {
            for unit in 0..self.sides[side].units.len() {
                self.fire_unit(side, unit, &mut hits);
            }
            for building in 0..self.sides[side].buildings.len() {
                self.fire_building(side, building, &mut hits);
            }
        }
        for hit in &hits {
            self.land(hit);
        }
        if !hits.is_empty() {
            self.bury(&hits);
        }
    }

    fn fire_unit(&mut self, side: usize, index: usize, hits: &mut Vec<Hit>) {
        let unit = &mut self.sides[side].units[index];
        unit.cooldown = unit.cooldown.saturating_sub(1);
        let Some(weapon) = unit.kind.stats().weapon.filter(|_| unit.cooldown == 0) else { return };
        let (at, order) = (unit.at, unit.order);
        let chosen = match order {
            Order::Attack { target, .. } => self.target_in_range(side, at, target, weapon),
            _ => None,
        };
        let Some(target) = chosen.or_else(|| self.nearest_target(side, at, weapon.range, weapon)) else {
            return;
        };
        self.sides[side].units[index].cooldown = weapon.cooldown;
        hits.push(Hit { target, damage: weapon.damage, shooter: side });
    }

    fn fire_building(&mut self, side: usize, index: usize, hits: &mut Vec<Hit>) {
        let building = &mut self.sides[side].buildings[index];
        building.cooldown = building.cooldown.saturating_sub(1);
        let ready = building.cooldown == 0 && building.works();
        let Some(weapon) = building.kind.stats().weapon.filter(|_| ready) else { return };
        let at = building.at();
        let Some(target) = self.nearest_target(side, at, weapon.range, weapon) else { return };
        self.sides[side].buildings[index].cooldown = weapon.cooldown;
        hits.push(Hit { target, damage: weapon.damage, shooter: side });
    }

    /// The ordered target, if the weapon can hit it from here now.
    fn target_in_range(&self, side: usize, from: Point, id: Id, weapon: Weapon) -> Option<Target> {
        let (kind, at) = self.visible_enemy(side, id)?;
        let hit = reaches(weapon, kind) && from.is_within(at, weapon.range);
        let owner =
            self.sides.iter().position(|side| side.unit(id).is_some() || side.building(id).is_some())?;
        hit.then_some(Target { side: owner, id, at })
    }

    /// The nearest visible enemy within `range` that the weapon can hit; units before buildings.
    pub(super) fn nearest_target(
        &self,
        side: usize,
        from: Point,
        range: i32,
        weapon: Weapon,
    ) -> Option<Target> {
        let sight = &self.party_of(side).sight;
        let mut best: Option<((bool, i32, Id), Target)> = None;
        for enemy in (0..self.sides.len()).filter(|other| self.are_enemies(side, *other)) {
            let units = self.sides[enemy].units.iter().map(|unit| (false, unit.id, unit.kind, unit.at));
            let buildings = self.sides[enemy]
                .buildings
                .iter()
                .map(|building| (true, building.id, building.kind, building.at()));
            for (is_building, id, kind, at) in units.chain(buildings) {
                if !reaches(weapon, kind) || !from.is_within(at, range) || !sight.sees(at) {
                    continue;
                }
                let order = (is_building && kind != Kind::Turret, from.distance_squared(at), id);
                if best.is_none_or(|(other, _)| order < other) {
                    best = Some((order, Target { side: enemy, id, at }));
                }
            }
        }
        best.map(|(_, target)| target)
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
                if let Some(hit) = hits.iter().find(|hit| hit.target.id == *id) {
                    self.sides[hit.shooter].tally.destroyed += 1;
                }
            }
            if !fallen.is_empty() {
                self.sides[owner].units.retain(|unit| unit.hp > 0);
                self.sides[owner].buildings.retain(|building| building.hp > 0);
            }
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

fn reaches(weapon: Weapon, kind: Kind) -> bool {
    weapon.hits_air || !kind.stats().flies()
}
