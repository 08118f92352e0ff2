//! Energy, construction, production and gathering.

use super::REACH;
use crate::events::{Event, Happening};
use crate::kinds::{Kind, MAX_BUILDINGS, TILE};
use crate::map::{Point, Tile};
use crate::world::{Gathering, Order, World};

/// Ticks between two payments of energy.
const ENERGY_TICKS: u64 = 10;
/// Energy of each payment.
const BASE_ENERGY: i32 = 1;
const REACTOR_ENERGY: i32 = 2;
/// Alloy that a worker carries, and the ticks that it takes to dig out.
const LOAD: u16 = 5;
const MINING_TICKS: u8 = 25;
/// How near to a base a worker unloads, in points.
const UNLOAD: i32 = 2 * TILE;

impl World {
    /// Pays energy, goes on with construction and production.
    pub(super) fn make(&mut self) {
        for side in 0..self.sides.len() {
            if self.tick.is_multiple_of(ENERGY_TICKS) {
                self.pay_energy(side);
            }
            for building in 0..self.sides[side].buildings.len() {
                self.work_in(side, building);
            }
        }
    }

    fn pay_energy(&mut self, side: usize) {
        let working = self.sides[side].buildings.iter().filter(|building| building.works());
        let energy = working
            .map(|building| match building.kind {
                Kind::Base => BASE_ENERGY,
                Kind::Reactor => REACTOR_ENERGY,
                _ => 0,
            })
            .sum();
        self.sides[side].earn(0, energy);
    }

    fn work_in(&mut self, side: usize, index: usize) {
        let tick = self.tick;
        let owner = &mut self.sides[side];
        let building = &mut owner.buildings[index];
        if building.unfinished > 0 {
            building.unfinished -= 1;
            if building.works() {
                owner.tally.built += 1;
                let event =
                    Event::new(tick, Happening::Built).about(building.id, building.kind, building.at());
                owner.log.push(event);
            }
            return;
        }
        let Some(kind) = building.queue.front().copied() else { return };
        building.remaining = building.remaining.saturating_sub(1);
        if building.remaining == 0 {
            building.queue.pop_front();
            building.remaining = building.queue.front().map_or(0, |next| next.stats().ticks);
            let from = building.at();
            self.deliver(side, kind, from);
        }
    }

    /// A finished unit appears beside its maker, each at another place around it, so that none hides another.
    fn deliver(&mut self, side: usize, kind: Kind, from: Point) {
        const AROUND: [(i32, i32); 8] =
            [(90, 0), (60, 60), (0, 90), (-60, 60), (-90, 0), (-60, -60), (0, -90), (60, -60)];
        let owner = &self.sides[side];
        let place = AROUND[owner.tally.produced as usize % AROUND.len()];
        let at = self.map.nearest_free(from.offset(place, owner.corner));
        let id = self.muster(side, kind, at);
        let owner = &mut self.sides[side];
        owner.tally.produced += 1;
        owner.log.push(Event::new(self.tick, Happening::Produced).about(id, kind, at));
    }

    /// One tick of a worker's round between a patch and the nearest base.
    pub(super) fn gather(&mut self, side: usize, unit: usize, patch: usize, stage: Gathering) {
        let at = self.sides[side].units[unit].at;
        let place = self.map.patches()[patch].centre();
        let next = match stage {
            Gathering::Out if at.is_within(place, REACH) => Some(Gathering::Mining(MINING_TICKS)),
            Gathering::Out => {
                self.walk(side, unit, self.map.nearest_free(place));
                Some(Gathering::Out)
            }
            Gathering::Mining(0) => self.dig(side, unit, patch).then_some(Gathering::Home),
            Gathering::Mining(left) => Some(Gathering::Mining(left - 1)),
            Gathering::Home => self.bring_home(side, unit),
        };
        self.sides[side].units[unit].order = match next {
            Some(stage) => Order::Gather { patch, stage },
            None => Order::Idle,
        };
    }

    /// Loads the worker, or says that the patch is empty.
    fn dig(&mut self, side: usize, unit: usize, patch: usize) -> bool {
        let left = &mut self.patches[patch];
        let dug = LOAD.min(*left);
        *left -= dug;
        let emptied = dug > 0 && *left == 0;
        self.sides[side].units[unit].load += i32::from(dug);
        if emptied {
            self.report_depleted(patch);
        }
        dug > 0
    }

    fn report_depleted(&mut self, patch: usize) {
        let at = self.map.patches()[patch].centre();
        let seers: Vec<bool> = (0..self.sides.len()).map(|side| self.sees(side, at)).collect();
        let event = Event::new(self.tick, Happening::Depleted).at(at);
        for (side, _) in self.sides.iter_mut().zip(seers).filter(|(_, sees)| *sees) {
            side.log.push(event.clone());
        }
    }

    /// Walks to the nearest base and unloads there; without a base the round ends.
    fn bring_home(&mut self, side: usize, unit: usize) -> Option<Gathering> {
        let owner = &self.sides[side];
        let at = owner.units[unit].at;
        let bases = owner.buildings.iter().filter(|building| building.kind == Kind::Base && building.works());
        let base = bases.map(|base| base.at()).min_by_key(|base| (at.distance_squared(*base), *base))?;
        if !at.is_within(base, UNLOAD) {
            self.walk(side, unit, base);
            return Some(Gathering::Home);
        }
        let owner = &mut self.sides[side];
        let load = std::mem::take(&mut owner.units[unit].load);
        owner.earn(load, 0);
        owner.tally.gathered += load.unsigned_abs();
        Some(Gathering::Out)
    }

    /// Walks to the site and starts the building, which then rises by itself. What the mandate reserved stays untouched.
    pub(super) fn construct(&mut self, (side, unit): (usize, usize), kind: Kind, site: Tile, reserve: i32) {
        if !self.sides[side].units[unit].at.is_within(site.centre(), REACH) {
            self.walk(side, unit, site.centre());
            return;
        }
        self.sides[side].units[unit].order = Order::Idle;
        let owner = &self.sides[side];
        let possible = owner.buildings.len() < MAX_BUILDINGS && owner.knows(kind) && self.is_site_free(site);
        if possible && self.sides[side].pay(kind, reserve) {
            self.place(side, kind, site, kind.stats().ticks);
        } else {
            self.sides[side].log.push(Event::new(self.tick, Happening::Blocked).of(kind, site.centre()));
        }
    }
}
