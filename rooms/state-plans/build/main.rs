//! Writes random types of states as Rust source: a family that follows from one seed, `SCHEMA_SEED`.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a build may fail by panicking, and talks to cargo"
)]

mod source;
mod types;

use fastrand::Rng;
use std::path::PathBuf;
use std::{env, fs};

/// States without views, then states with views.
const MEMBERS: [usize; 2] = [20, 12];

fn main() {
    println!("cargo:rerun-if-env-changed=SCHEMA_SEED");
    println!("cargo:rerun-if-changed=build");
    let seed = env::var("SCHEMA_SEED").map_or(20_261_130, |seed| seed.parse().unwrap());
    let mut rng = Rng::with_seed(seed);
    let family = MEMBERS.into_iter().zip([types::Reach::Open, types::Reach::Viewed]);
    let members: Vec<_> = family
        .flat_map(|(count, reach)| (0..count).map(move |number| (number, reach)))
        .map(|(number, reach)| source::Member {
            name: format!("{}{number}", if reach == types::Reach::Open { "open" } else { "viewed" }),
            reach,
            types: types::random(&mut rng, reach),
        })
        .collect();
    let path = PathBuf::from(env::var_os("OUT_DIR").unwrap()).join("family.rs");
    fs::write(path, source::write(seed, &members)).unwrap();
}
