//! What a seat observes: its side's stock and buildings, and a section for each role.
//!
//! A section always says how many; it says which only in full detail, which is what keeps an observation short for the
//! commander whose part it is not. Detail never widens the fog: both forms are made of the same things in sight.

use crate::kinds::Role;
use crate::render::{Detail, Members, Others, building, place, unit};
use crate::world::{Building, Order, Unit, World};
use serde_json::Value;

impl World {
    /// The observation of a seat, with the sections named in `full` listed.
    pub(crate) fn observe(&self, viewer: usize, role: Role, since: i64, full: &[Role]) -> Value {
        let side = &self.sides[viewer];
        let mut observation = self.head(viewer);
        observation.insert("role".into(), role.name().into());
        let own = side.buildings.iter().map(|own| building(own, None, Detail::Known));
        observation.insert("buildings".into(), own.collect());
        for role in Role::ALL {
            let is_full = full.contains(&role);
            let mut section = self.own_units_of(viewer, role, is_full);
            match role {
                Role::Economy => self.add_patches(viewer, is_full, &mut section),
                Role::Ground => {
                    self.add_strangers(viewer, |unit| !unit.kind.stats().flies(), is_full, &mut section);
                    self.add_buildings(viewer, is_full, &mut section);
                }
                Role::Air => {
                    self.add_strangers(viewer, |unit| unit.kind.stats().flies(), is_full, &mut section);
                }
            }
            observation.insert(role.name().into(), Value::Object(section));
        }
        let events = side.log.since(since).map(|event| event.to_value());
        observation.insert("events".into(), events.collect());
        Value::Object(observation)
    }

    fn own_units_of(&self, viewer: usize, role: Role, is_full: bool) -> Members {
        let own = || self.sides[viewer].units.iter().filter(move |unit| unit.kind.stats().role == role);
        let count = |holds: fn(&&Unit) -> bool| own().filter(holds).count().into();
        let mut section = Members::new();
        section.insert("count".into(), count(|_| true));
        section.insert("idle".into(), count(|unit| unit.order == Order::Idle));
        section.insert("hurt".into(), count(|unit| unit.hp * 2 < unit.kind.stats().hp));
        if is_full {
            section.insert("units".into(), own().map(|own| unit(own, None, Detail::Known)).collect());
        }
        section
    }

    fn add_patches(&self, viewer: usize, is_full: bool, section: &mut Members) {
        if is_full {
            section.insert("patches".into(), self.party_of(viewer).patches.clone().into());
        }
    }

    fn add_strangers(&self, viewer: usize, are: fn(&Unit) -> bool, is_full: bool, section: &mut Members) {
        let side = &self.sides[viewer];
        let home = side.buildings.first().map_or(self.map.start(side.corner).centre(), Building::at);
        let enemies = self.seen_units(viewer, Others::Enemies, are);
        section.insert("enemyCount".into(), enemies.len().into());
        let nearest = enemies.iter().min_by_key(|(_, unit)| (unit.at.distance_squared(home), unit.id));
        if let Some((enemy, unit)) = nearest {
            let mut members = place(unit.id, unit.kind, unit.at);
            members.insert("side".into(), (*enemy.name).into());
            section.insert("nearest".into(), Value::Object(members));
        }
        if is_full {
            let enemies = enemies.into_iter().map(|(side, seen)| unit(seen, Some(side), Detail::Seen));
            section.insert("enemies".into(), enemies.collect());
            section.insert("allies".into(), self.other_units(viewer, Others::Allies, are).into());
        }
    }

    fn add_buildings(&self, viewer: usize, is_full: bool, section: &mut Members) {
        let enemies = self.other_buildings(viewer, Others::Enemies);
        section.insert("enemyBuildingCount".into(), enemies.len().into());
        if is_full {
            section.insert("enemyBuildings".into(), enemies.into());
            section.insert("allyBuildings".into(), self.other_buildings(viewer, Others::Allies).into());
        }
    }
}
