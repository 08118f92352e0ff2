//! Prints random mutations of a state for real decoders to follow: one JSON line a patch, with what clients must see.
//!
//! `mutations SEED STEPS` prints the handshakes, then for each step the patch, the state in full for one who joins
//! now or comes back, and the expected state. Everything follows from the seed.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    reason = "a program for tests, which prints, may panic, and rounds random numbers"
)]

mod model;
mod world;

use fastrand::Rng;
use model::{Model as _, Pooled as _};
use playerthree_rooms_state::{Dialect, Joining, Synced, Synchronized as _};
use serde_json::json;
use world::{Hero, World};

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse().unwrap());
    let (seed, steps) = (arguments.next().unwrap_or(1), arguments.next().unwrap_or(200));
    let mut rng = Rng::with_seed(seed);
    let mut state = Synced::new(World::random(&mut rng));
    let reflection = |dialect| hex(&state.reflection(dialect).unwrap());
    println!("{}", json!({ "joined": reflection(Dialect::Joined), "apart": reflection(Dialect::Apart) }));
    for step in 0..steps {
        for _ in 0..rng.usize(0..6) {
            state.mutate(&mut rng);
        }
        if rng.bool() {
            Hero::mutate_any(&mut rng);
        }
        let patch = state.patch().unwrap();
        assert!(state.patch().unwrap().is_empty(), "a second patch of the same state");
        let mut full = |joining| hex(state.full(joining).unwrap().1.shared());
        let (new, reconciling, additive) =
            (full(Joining::New), full(Joining::Reconciling), full(Joining::Additive));
        let line = json!({
            "step": step,
            "patch": hex(patch.shared()),
            "full": new,
            "reconciling": reconciling,
            "additive": additive,
            "structures": model::structures(&*state),
            "state": state.json(),
        });
        println!("{line}");
    }
}
