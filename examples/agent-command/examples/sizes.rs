//! Prints what observations take in a match between strong sides: `cargo run --release --example sizes`.

#![allow(clippy::print_stdout, reason = "a table for a person is this program's whole purpose")]

#[path = "../tests/common/mod.rs"]
mod common;

use common::measure::{sizes, strong_match, tokens};

fn main() {
    println!("| match | tick | role | own detail, bytes | tokens | full detail, bytes | tokens |");
    println!("|---|---|---|---|---|---|---|");
    for teams in [vec!["red", "blue"], vec!["red", "blue", "green", "gold"]] {
        let mut game = strong_match(3, &teams);
        for tick in [10, 800, 2_400] {
            while game.game.tick() < tick && !game.is_over() {
                game.step();
            }
            for size in sizes(&*game.game, &game.teams) {
                let (role, own, full) = (&size.role, size.own, size.full);
                let (at, own_tokens, full_tokens) = (game.game.tick(), tokens(own), tokens(full));
                println!(
                    "| {} sides | {at} | {role} | {own} | {own_tokens} | {full} | {full_tokens} |",
                    teams.len()
                );
            }
        }
    }
}
