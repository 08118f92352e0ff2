//! Prints random mutations of a state and of three views on it: one JSON line a patch, with what each view's client
//! is sent, what it must hold then, and the secrets of which no byte may be in what it is sent.
//!
//! `views SEED STEPS`; everything follows from the seed.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program for tests, which prints and may panic"
)]

mod world;

use fastrand::Rng;
use playerthree_rooms_state::{Dialect, Joining, Synced, Synchronized as _, View};
use serde_json::{Value, json};
use world::{Sight, World};

/// Clients, each with a view of its own.
const VIEWS: usize = 3;

fn hex(parts: &[&[u8]]) -> String {
    use std::fmt::Write as _;
    parts.iter().flat_map(|part| part.iter()).fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

/// Shows or hides something at random.
fn look(view: &mut View, world: &mut World, rng: &mut Rng) {
    let Some(id) = world.any_id(rng) else { return };
    let tag = [0, 0, 0, 1, 2][rng.usize(0..5)];
    match rng.u8(0..8) {
        0 => view.clear(),
        1..=2 => view.remove_tag(id, tag),
        _ => drop(view.add_tag(id, tag)),
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse().unwrap());
    let (seed, steps) = (arguments.next().unwrap_or(1), arguments.next().unwrap_or(200));
    let mut rng = Rng::with_seed(seed);
    let mut state = Synced::new(World::random(&mut rng));
    let reflection = |dialect| hex(&[&state.reflection(dialect).unwrap()]);
    println!("{}", json!({ "joined": reflection(Dialect::Joined), "apart": reflection(Dialect::Apart) }));
    let mut views: [View; VIEWS] = Default::default();
    state.patch().unwrap();
    for step in 0..steps {
        for _ in 0..rng.usize(0..4) {
            state.mutate(&mut rng);
        }
        for view in &mut views {
            for _ in 0..rng.usize(0..3) {
                look(view, &mut state, &mut rng);
            }
        }
        let patch = state.patch().unwrap();
        let clients: Vec<Value> = views
            .iter_mut()
            .map(|view| {
                let changed = view.is_changed().then(|| state.full(Joining::New).unwrap().1);
                let restricted = patch.restricted(view, changed.as_deref());
                let mut full = |joining| {
                    let (_, full) = state.full(joining).unwrap();
                    hex(&[full.shared(), &full.restricted(&mut view.clone())])
                };
                let (new, reconciling, additive) =
                    (full(Joining::New), full(Joining::Reconciling), full(Joining::Additive));
                let mut sight = Sight::new(view);
                let held = state.seen(&mut sight);
                json!({
                    "patch": hex(&[patch.shared(), &restricted]),
                    "full": new,
                    "reconciling": reconciling,
                    "additive": additive,
                    "state": held,
                    "structures": sight.structures,
                    "secrets": sight.secrets,
                })
            })
            .collect();
        println!("{}", json!({ "step": step, "clients": clients }));
    }
}
