//! Prints random evolutions of JSON values with their deltas, one JSON object a line, for readers in other languages:
//! `evolve SEED VERSIONS`.
//!
//! - `{"start": value}` begins an evolution.
//! - `{"damaged": delta, "outcome": ...}` is no delta of it, but one damaged on its way, and what applying it to the
//!   newest version must give: `{"error": code}` or `{"value": text}`.
//! - `{"delta": delta, "next": text}` leads from the newest version to the next one.
//!
//! A text is canonical JSON (RFC 8785). The same seed prints the same lines.
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a tool for tests ends where something is wrong"
)]
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

#[path = "../tests/support/mod.rs"]
mod support;

use playerthree_delta::{Delta, apply, diff};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};
use support::{Change, change, evolve, tricky_list, value};

/// Changes in one evolution, after which another value is begun with.
const CHANGES: usize = 25;

fn main() {
    let mut args = std::env::args().skip(1);
    let mut number = || args.next().and_then(|arg| arg.parse::<u32>().ok()).expect("evolve SEED VERSIONS");
    let (seed, versions) = (number(), number());
    let mut source = Source::new(seed);
    let mut printed = 0;
    while printed < versions {
        let mut newest = source.draw(prop_oneof![value(), tricky_list()]);
        println!("{}", json!({"start": newest}));
        for _ in 0..CHANGES {
            let next = source.changed(&newest);
            if let Some(delta) = diff(&newest, &next) {
                print_damaged(&newest, &source.changed(delta.as_wire()));
                println!("{}", json!({"delta": delta, "next": canonical(&next)}));
                newest = next;
                printed += 1;
            }
        }
    }
}

fn print_damaged(newest: &Value, wire: &Value) {
    let outcome = match Delta::decode(wire.clone()).and_then(|delta| apply(newest.clone(), &delta)) {
        Ok(value) => json!({"value": canonical(&value)}),
        Err(error) => json!({"error": error.to_string()}),
    };
    println!("{}", json!({"damaged": wire, "outcome": outcome}));
}

fn canonical(value: &Value) -> String {
    serde_json_canonicalizer::to_string(value).expect("JSON has a canonical form")
}

/// A seeded source of random values.
struct Source(TestRunner);

impl Source {
    fn new(seed: u32) -> Self {
        let mut bytes = [0; 32];
        bytes[..4].copy_from_slice(&seed.to_le_bytes());
        Self(TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)))
    }

    fn draw<S: Strategy>(&mut self, strategy: S) -> S::Value {
        strategy.new_tree(&mut self.0).unwrap().current()
    }

    /// The value after a random change somewhere inside it.
    fn changed(&mut self, value: &Value) -> Value {
        let (path, change): (Vec<Index>, Change) =
            self.draw((prop::collection::vec(any::<Index>(), 0..4), change()));
        let mut changed = value.clone();
        evolve(&mut changed, &path, &change);
        changed
    }
}
