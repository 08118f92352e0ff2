//! The ground commander: an economy first, then an army that gathers before it attacks.

use super::sense::{Enemy, MatchData, Observation, OwnBuilding, OwnUnit, Spot};
use super::{Doctrine, send};
use crate::kinds::Kind;
use serde_json::{Value, json};

/// Alloy with which another factory is worth its price.
const RICH: i64 = 350;

/// Most units named in one intent.
const MAX_UNITS: usize = crate::intent::MAX_UNITS;

pub(super) fn think(doctrine: &Doctrine, data: &MatchData, observation: &Observation) -> Vec<Value> {
    let mut turn = Turn {
        doctrine,
        data,
        observation,
        alloy: observation.alloy,
        energy: observation.energy,
        out: vec![],
    };
    if let Some(base) = observation.base() {
        let builder = turn.build(base);
        turn.gather(base, builder);
        turn.produce(base);
    }
    turn.command_army();
    turn.out
}

/// One look at the field: what is left to spend, and the intents so far.
struct Turn<'a> {
    doctrine: &'a Doctrine,
    data: &'a MatchData,
    observation: &'a Observation,
    alloy: i64,
    energy: i64,
    out: Vec<Value>,
}

impl<'a> Turn<'a> {
    fn afford(&mut self, kind: Kind) -> bool {
        let price = kind.stats();
        let (alloy, energy) = (i64::from(price.alloy), i64::from(price.energy));
        let affordable = self.alloy >= alloy && self.energy >= energy;
        if affordable {
            self.alloy -= alloy;
            self.energy -= energy;
        }
        affordable
    }

    /// Sends a worker to build what is missing most; says which worker is taken.
    fn build(&mut self, base: &OwnBuilding) -> Option<&'a str> {
        let wanted = self.wanted()?;
        if let Some(builder) = self.observation.units("worker").find(|worker| worker.order == "build") {
            // Its price is still to be paid.
            self.afford(wanted);
            return Some(&builder.id);
        }
        let worker = self.observation.units("worker").next()?;
        let (col, row) = self.site(base)?;
        if !self.afford(wanted) {
            return None;
        }
        self.out.push(json!({
            "kind": "build", "unit": worker.id, "building": wanted.name(), "col": col, "row": row,
        }));
        Some(&worker.id)
    }

    fn wanted(&self) -> Option<Kind> {
        let has = |kind: Kind| self.observation.count_buildings(kind.name());
        let workers = self.observation.units("worker").count();
        if has(Kind::Factory) == 0 {
            return Some(Kind::Factory);
        }
        if workers * 2 < self.doctrine.workers {
            return None;
        }
        // A third factory only serves alloy that the first two cannot spend.
        let most_factories =
            if self.alloy >= RICH { self.doctrine.factories } else { self.doctrine.factories.min(2) };
        if has(Kind::Factory) < most_factories {
            return Some(Kind::Factory);
        }
        (has(Kind::Reactor) < self.doctrine.reactors).then_some(Kind::Reactor)
    }

    /// A free tile near the base, rather towards the middle of the map.
    fn site(&self, base: &OwnBuilding) -> Option<(i64, i64)> {
        let tile = self.data.tile.max(1);
        let (col, row) = (base.x / tile, base.y / tile);
        let observation = self.observation;
        let taken: Vec<Spot> = observation
            .buildings
            .iter()
            .map(OwnBuilding::at)
            .chain(observation.enemy_buildings.iter().map(Enemy::at))
            .chain(self.data.patch_places.iter().map(|patch| patch.at()))
            .collect();
        let is_open = |col: i64, row: i64| {
            let near = |at: &Spot| (at.x / tile - col).abs().max((at.y / tile - row).abs()) <= 1;
            self.data.is_free(col, row) && !taken.iter().any(near)
        };
        let tiles = (-6..=6).flat_map(|down: i64| (-6..=6).map(move |right: i64| (right, down)));
        tiles
            .filter(|(right, down)| right.abs().max(down.abs()) >= 3)
            .filter(|(right, down)| is_open(col + right, row + down))
            .min_by_key(|(right, down)| {
                let (off_col, off_row) = (2 * col + 1 - self.data.size, 2 * row + 1 - self.data.size);
                let off_middle = (off_col + 2 * right).abs() + (off_row + 2 * down).abs();
                // The same of two mirrored tiles from every corner, so that no corner is better off.
                let hand = off_col * down - off_row * right;
                (right.abs().max(down.abs()) * 6 + off_middle, hand)
            })
            .map(|(right, down)| (col + right, row + down))
    }

    /// Sends idle workers to the nearest patch that has alloy.
    fn gather(&mut self, base: &OwnBuilding, builder: Option<&str>) {
        let idle: Vec<&str> = self
            .observation
            .units("worker")
            .filter(|worker| worker.order == "idle" && Some(&*worker.id) != builder)
            .map(|worker| &*worker.id)
            .collect();
        let patches = self.data.patch_places.iter().zip(&self.observation.patches);
        // Of two equally near patches the first: they are numbered alike from every corner.
        let nearest = patches
            .filter(|(_, left)| **left > 0)
            .min_by_key(|(patch, _)| patch.at().distance_squared(base.at()));
        if let Some((patch, _)) = nearest.filter(|_| !idle.is_empty()) {
            self.out.push(json!({ "kind": "gather", "units": idle, "patch": patch.id }));
        }
    }

    fn produce(&mut self, base: &OwnBuilding) {
        let workers = self.observation.units("worker").count();
        if base.queue == 0 && workers < self.doctrine.workers && self.afford(Kind::Worker) {
            self.order(base, Kind::Worker);
        }
        let observation = self.observation;
        let factories = observation.buildings.iter().filter(|building| building.kind == "factory");
        for factory in factories.filter(|factory| factory.done == 100 && factory.queue == 0) {
            let kind = self.next_fighter();
            if self.afford(kind) {
                self.order(factory, kind);
            }
        }
    }

    fn next_fighter(&self) -> Kind {
        let (soldiers, tanks) =
            (self.observation.units("soldier").count(), self.observation.units("tank").count());
        let ratio = self.doctrine.soldiers_per_tank;
        let tank = ratio > 0
            && soldiers > ratio * (tanks + 1)
            && self.energy >= i64::from(Kind::Tank.stats().energy);
        if tank { Kind::Tank } else { Kind::Soldier }
    }

    fn order(&mut self, maker: &OwnBuilding, kind: Kind) {
        self.out.push(json!({ "kind": "produce", "building": maker.id, "unit": kind.name() }));
    }

    /// Meets enemies near home, else attacks with a full group.
    fn command_army(&mut self) {
        let observation = self.observation;
        let army: Vec<&OwnUnit> =
            observation.ground.units.iter().filter(|unit| unit.kind != "worker").collect();
        let home = self.home();
        let guard = self.doctrine.guard;
        let enemies = observation.ground.enemies.iter().chain(&observation.air.enemies);
        let threat = enemies
            .chain(&observation.enemy_buildings)
            .filter(|enemy| enemy.kind != "scout" && enemy.at().is_within(home, guard))
            .min_by_key(|enemy| (enemy.at().distance_squared(home), enemy.at()));
        if let Some(threat) = threat {
            let near = army.iter().filter(|unit| unit.order == "idle" || unit.at().is_within(home, guard));
            self.advance(near.copied(), threat.at());
            return;
        }
        let idle = || army.iter().filter(|unit| unit.order == "idle").copied();
        if idle().count() >= self.doctrine.group
            && let Some(target) = self.data.target(observation, home)
        {
            self.advance(idle(), target);
        }
    }

    fn advance<'u>(&mut self, units: impl Iterator<Item = &'u OwnUnit>, to: Spot) {
        let ids: Vec<&str> = units.map(|unit| &*unit.id).take(MAX_UNITS).collect();
        if !ids.is_empty() {
            self.out.push(send("advance", &ids, to));
        }
    }

    fn home(&self) -> Spot {
        let start = self.data.starts.iter().find(|start| start.side == self.data.side);
        let base = self.observation.base().map(OwnBuilding::at);
        base.or(start.map(|start| start.at())).unwrap_or(Spot { x: 0, y: 0 })
    }
}
