//! The economy's commander: workers that never stand still, and the buildings of the plan.

use super::plan::{Purse, wanted};
use super::sense::{Enemy, MatchData, Observation, OwnBuilding, Spot};
use super::{Doctrine, produce, requests};
use crate::kinds::Kind;
use serde_json::{Value, json};

pub(super) fn think(doctrine: &Doctrine, data: &MatchData, observation: &Observation) -> Vec<Value> {
    let Some(base) = observation.base() else { return Vec::new() };
    let mut purse = Purse::of(doctrine, observation);
    let mut out = Vec::new();
    let building = build(doctrine, data, observation, &mut purse);
    let builder = building.as_ref().and_then(|intent| intent["unit"].as_str());
    out.extend(gather(data, observation, base, builder));
    let is_building = building.is_some();
    out.extend(building);
    // What a teammate waits for comes before another worker.
    let asked = requests::wanted(observation).filter(|_| !is_building);
    let left_over = asked.map_or(0, |kind| i64::from(kind.stats().alloy));
    let wants_worker = base.queue == 0 && observation.economy.units.len() < doctrine.workers;
    if wants_worker && purse.pay(Kind::Worker, left_over) {
        out.push(produce(base, Kind::Worker));
    }
    out
}

/// Sends a worker to build what the plan wants, unless one is on its way already.
fn build(
    doctrine: &Doctrine,
    data: &MatchData,
    observation: &Observation,
    purse: &mut Purse,
) -> Option<Value> {
    let workers = &observation.economy.units;
    if workers.iter().any(|worker| worker.order == "build") {
        return None;
    }
    let kind = requests::wanted(observation).or_else(|| wanted(doctrine, observation))?;
    let worker = workers.first()?;
    let (col, row) = site(data, observation)?;
    purse.pay(kind, 0).then(
        || json!({ "kind": "build", "unit": worker.id, "building": kind.name(), "col": col, "row": row }),
    )
}

/// A free tile near the base, rather towards the middle of the map.
fn site(data: &MatchData, observation: &Observation) -> Option<(i64, i64)> {
    let tile = data.tile.max(1);
    let base = observation.base()?;
    let (col, row) = (base.x / tile, base.y / tile);
    let own = observation.buildings.iter().map(OwnBuilding::at);
    let foreign = observation.ground.enemy_buildings.iter().map(Enemy::at);
    let patches = data.patch_places.iter().map(|patch| patch.at());
    let taken: Vec<Spot> = own.chain(foreign).chain(patches).collect();
    let is_open = |col: i64, row: i64| {
        let near = |at: &Spot| (at.x / tile - col).abs().max((at.y / tile - row).abs()) <= 1;
        data.is_free(col, row) && !taken.iter().any(near)
    };
    let tiles = (-6..=6).flat_map(|down: i64| (-6..=6).map(move |right: i64| (right, down)));
    tiles
        .filter(|(right, down)| right.abs().max(down.abs()) >= 3)
        .filter(|(right, down)| is_open(col + right, row + down))
        .min_by_key(|(right, down)| {
            let (off_col, off_row) = (2 * col + 1 - data.size, 2 * row + 1 - data.size);
            let off_middle = (off_col + 2 * right).abs() + (off_row + 2 * down).abs();
            // The same of two mirrored tiles from every corner, so that no corner is better off.
            let hand = off_col * down - off_row * right;
            (right.abs().max(down.abs()) * 6 + off_middle, hand)
        })
        .map(|(right, down)| (col + right, row + down))
}

/// Sends idle workers to the nearest patch that has alloy.
fn gather(
    data: &MatchData,
    observation: &Observation,
    base: &OwnBuilding,
    builder: Option<&str>,
) -> Option<Value> {
    let idle = observation.economy.units.iter().filter(|worker| worker.order == "idle");
    let idle: Vec<&str> = idle.map(|worker| &*worker.id).filter(|worker| Some(*worker) != builder).collect();
    let patches = data.patch_places.iter().zip(&observation.economy.patches);
    // Of two equally near patches the first: they are numbered alike from every corner.
    let (patch, _) = patches
        .filter(|(_, left)| **left > 0)
        .min_by_key(|(patch, _)| patch.at().distance_squared(base.at()))?;
    (!idle.is_empty()).then(|| json!({ "kind": "gather", "units": idle, "patch": patch.id }))
}
