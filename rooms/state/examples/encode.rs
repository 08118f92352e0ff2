//! What a patch costs: 100 and 1,000 entities in a map, of which all, a tenth and none move; and 1,000 of which each of
//! 20 clients sees 50. `tests/state/bench.mjs` runs it beside the official encoder.
//!
//! Prints one JSON line a case: bytes of a patch, of all clients where they have views; microseconds of processor time
//! from the first change of a tick to the finished patch; and what the same changes take without a state around them.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program for measurements, which prints and may panic"
)]

use playerthree_rooms_state::{Id, Joining, Map, State, Synced, Synchronized as _, View, ViewMap};
use rustix::time::{ClockId, clock_gettime};
use std::collections::HashMap;
use std::hint::black_box;

/// Clients with views, and how many entities each sees.
const VIEWS: usize = 20;
const SEEN: usize = 50;

#[derive(State, Clone, Copy)]
struct Entity {
    x: f32,
    y: f32,
}

#[derive(State)]
struct World {
    entities: Map<Entity>,
}

#[derive(State)]
struct Fog {
    entities: ViewMap<Entity>,
}

fn entities(count: u16) -> impl Iterator<Item = (String, Entity)> {
    (0..count).map(|index| (format!("e{index}"), Entity { x: index.into(), y: index.into() }))
}

fn step(entity: &mut Entity) {
    entity.x += 1.5;
    entity.y -= 0.5;
}

/// Processor time of this process, in microseconds.
fn cpu_us() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 * 1e6 + now.tv_nsec as f64 / 1e3
}

/// The time of one round, and the most bytes of one.
fn measure(rounds: usize, mut tick: impl FnMut() -> usize) -> (f64, usize) {
    let bytes = (0..rounds / 2).map(|_| tick()).max().unwrap();
    let before = cpu_us();
    for _ in 0..rounds {
        tick();
    }
    ((cpu_us() - before) / rounds as f64, bytes)
}

fn shared(count: u16, label: &str, moving: u16) {
    let keys: Vec<String> = entities(moving).map(|(key, _)| key).collect();
    let rounds = 2_000_000 / keys.len().max(10);
    let mut world = Synced::new(World { entities: entities(count).collect() });
    world.patch().unwrap();
    let (us, bytes) = measure(rounds, || {
        if moving == count {
            world.entities.values_mut().for_each(step);
        } else if moving > 0 {
            let entities = &mut world.entities;
            keys.iter().for_each(|key| step(entities.get_mut(key).unwrap()));
        }
        black_box(world.patch().unwrap()).shared().len()
    });
    let mut plain: HashMap<String, Entity> = entities(count).collect();
    let (game_us, _) = measure(rounds, || {
        if moving == count {
            plain.values_mut().for_each(step);
        } else {
            keys.iter().for_each(|key| step(plain.get_mut(key).unwrap()));
        }
        black_box(&mut plain).len()
    });
    println!(
        "{{\"entities\":{count},\"moving\":\"{label}\",\"us\":{us:.4},\"gameUs\":{game_us:.4},\"bytes\":{bytes}}}"
    );
}

/// A tenth moves; where the views go on, each client loses sight of one entity and sees another.
fn viewed(label: &str, goes_on: bool) {
    const COUNT: u16 = 1_000;
    let keys: Vec<String> = entities(COUNT).map(|(key, _)| key).collect();
    let mut fog = Synced::new(Fog { entities: entities(COUNT).collect() });
    let ids: Vec<Id> = keys.iter().map(|key| fog.entities.id(key).unwrap()).collect();
    let mut views: Vec<View> = vec![View::default(); VIEWS];
    for (place, view) in views.iter_mut().enumerate() {
        ids[place * SEEN..][..SEEN].iter().for_each(|id| assert!(view.add(*id)));
    }
    let (_, full) = fog.full(Joining::New).unwrap();
    views.iter_mut().for_each(|view| drop(full.restricted(view)));
    let mut turn = 0;
    let (us, bytes) = measure(5_000, || {
        let entities = &mut fog.entities;
        keys.iter().step_by(10).for_each(|key| step(entities.get_mut(key).unwrap()));
        turn += 1;
        if goes_on {
            for (place, view) in views.iter_mut().enumerate() {
                let first = place * SEEN + turn;
                view.remove(ids[(first - 1) % ids.len()]);
                view.add(ids[(first + SEEN - 1) % ids.len()]);
            }
        }
        let (patch, full) = if goes_on {
            let (patch, full) = fog.full(Joining::New).unwrap();
            (patch, Some(full))
        } else {
            (fog.patch().unwrap(), None)
        };
        let own = |view: &mut View| patch.shared().len() + patch.restricted(view, full.as_deref()).len();
        black_box(views.iter_mut().map(own).sum())
    });
    println!("{{\"entities\":{COUNT},\"moving\":\"{label}\",\"us\":{us:.4},\"gameUs\":0,\"bytes\":{bytes}}}");
}

fn main() {
    for count in [100, 1_000] {
        for (label, moving) in [("all", count), ("a tenth", count / 10), ("none", 0)] {
            shared(count, label, moving);
        }
    }
    viewed("a tenth, in 20 views", false);
    viewed("a tenth, in 20 views that go on", true);
}
