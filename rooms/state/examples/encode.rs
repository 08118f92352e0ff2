//! What a patch costs: 100 and 1,000 entities in a map, of which all, a tenth and none move. `tests/state/bench.mjs`
//! runs it beside the official encoder.
//!
//! Prints one JSON line a case: bytes of a patch, and microseconds of processor time from the first change of a tick
//! to the finished patch.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program for measurements, which prints and may panic"
)]

use playerthree_rooms_state::{Map, State, Synced, Synchronized as _};
use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;

#[derive(State)]
struct Entity {
    x: f32,
    y: f32,
}

#[derive(State)]
struct World {
    entities: Map<Entity>,
}

/// Processor time of this process, in microseconds.
fn cpu_us() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 * 1e6 + now.tv_nsec as f64 / 1e3
}

fn tick(world: &mut Synced<World>, moving: &[String]) -> usize {
    let step = |entity: &mut Entity| {
        entity.x += 1.5;
        entity.y -= 0.5;
    };
    if moving.len() == world.entities.len() {
        world.entities.values_mut().for_each(step);
    } else if !moving.is_empty() {
        let entities = &mut world.entities;
        moving.iter().for_each(|key| step(entities.get_mut(key).unwrap()));
    }
    black_box(world.patch().unwrap()).shared().len()
}

fn main() {
    for entities in [100_u16, 1_000] {
        for (label, moving) in [("all", entities), ("a tenth", entities / 10), ("none", 0)] {
            let keys: Vec<String> = (0..entities).map(|index| format!("e{index}")).collect();
            let mut world = Synced::new(World { entities: Map::new() });
            for (index, key) in (0_u16..).zip(&keys) {
                world.entities.insert(key.as_str(), Entity { x: index.into(), y: index.into() });
            }
            world.patch().unwrap();
            let moving = &keys[..moving.into()];
            let rounds = 2_000_000 / moving.len().max(10);
            let bytes = (0..rounds / 2).map(|_| tick(&mut world, moving)).max().unwrap();
            let before = cpu_us();
            for _ in 0..rounds {
                tick(&mut world, moving);
            }
            let us = (cpu_us() - before) / rounds as f64;
            println!("{{\"entities\":{entities},\"moving\":\"{label}\",\"us\":{us:.4},\"bytes\":{bytes}}}");
        }
    }
}
