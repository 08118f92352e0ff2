//! Random mutations of random states, for real decoders to follow: one JSON line a step, with what clients must hold.
//!
//! `list` prints the states there are. `NAME SEED STEPS` prints the handshakes of a state, then its steps. All follows
//! from the seed, and the types of the family from `SCHEMA_SEED` when this is built. The states `recorded …` go through
//! the mutations of a recording and need neither.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    reason = "a program for tests, which prints, may panic, and rounds random numbers"
)]

mod collections;
mod generated;
mod model;
mod plans;
mod recorded;
mod scalars;
mod shared;
mod sight;
mod viewed;
mod world;

use serde_json::{Value, json};

/// A state, and how its plan is run.
struct Member {
    name: &'static str,
    /// The types as JSON, for who writes classes of their own; empty where the test has them written by hand.
    types: &'static str,
    plan: fn(u64, u32),
}

/// The states whose types are written by hand.
const WRITTEN: &[Member] = &[
    Member { name: "open", types: "", plan: plans::open::<world::World> },
    Member { name: "viewed", types: "", plan: plans::viewed::<viewed::World> },
    Member { name: "recorded many-fields", types: "", plan: recorded::many_fields },
    Member { name: "recorded inheritance", types: "", plan: recorded::inheritance },
    Member { name: "recorded array-splice-insert", types: "", plan: recorded::array_splice_insert },
    Member { name: "recorded views", types: "", plan: recorded::views },
    Member { name: "recorded late-join", types: "", plan: recorded::late_join },
];

fn main() {
    let members = || WRITTEN.iter().chain(generated::FAMILY);
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["list"] => {
            println!("{}", json!({ "seed": generated::SCHEMA_SEED }));
            for Member { name, types, .. } in members() {
                let types: Value = serde_json::from_str(types).unwrap_or_default();
                println!("{}", json!({ "name": name, "types": types }));
            }
        }
        [name, seed, steps] => {
            let member = members().find(|member| member.name == name).unwrap();
            (member.plan)(seed.parse().unwrap(), steps.parse().unwrap());
        }
        _ => std::process::exit(2),
    }
}
