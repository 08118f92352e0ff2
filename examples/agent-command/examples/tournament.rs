//! Plays the bot tiers against each other and prints who won: `cargo run --release --example tournament -- 100`.
//!
//! Every seed is played twice with the sides exchanged, so neither side's corner nor its colour favours a tier. Games are
//! the same every time; only the last column depends on the machine: ticks of the simulation, its bots included, that one
//! core plays in a second.

#![allow(clippy::print_stdout, reason = "a table for a person is this program's whole purpose")]
#![allow(clippy::cast_precision_loss, reason = "a speed is read in three digits")]

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Headless, setup};
use playerthree_game::Outcome;
use std::time::Instant;

const SIDES: [&str; 2] = ["red", "blue"];

#[derive(Default)]
struct Score {
    wins: u32,
    losses: u32,
    draws: u32,
    /// Games that the first side won, whoever played it.
    red: u32,
    ticks: u64,
    seconds: f64,
}

fn play(seed: u32, red: &'static str, blue: &'static str) -> Headless {
    let mut game = Headless::new(&setup(seed, &SIDES, None), |team| if team == "red" { red } else { blue });
    while !game.is_over() {
        game.step();
    }
    game
}

fn duel(strong: &'static str, weak: &'static str, seeds: u32) -> Score {
    let mut score = Score::default();
    let began = Instant::now();
    for seed in 0..seeds {
        for (mine, red, blue) in [("red", strong, weak), ("blue", weak, strong)] {
            let game = play(seed, red, blue);
            match game.game.outcome(mine) {
                Outcome::Win => score.wins += 1,
                Outcome::Loss => score.losses += 1,
                Outcome::Draw | Outcome::Running => score.draws += 1,
            }
            score.red += u32::from(game.game.outcome("red") == Outcome::Win);
            score.ticks += game.game.tick();
        }
    }
    score.seconds = began.elapsed().as_secs_f64();
    score
}

fn main() {
    let seeds = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(20);
    println!("| stronger | weaker | won | lost | drawn | won by red | mean ticks | ticks/s |");
    println!("|---|---|---|---|---|---|---|---|");
    let pairs = [
        ("veteran", "recruit"),
        ("commander", "veteran"),
        ("commander", "recruit"),
        ("recruit", "recruit"),
        ("veteran", "veteran"),
        ("commander", "commander"),
    ];
    for (strong, weak) in pairs {
        let Score { wins, losses, draws, red, ticks, seconds } = duel(strong, weak, seeds);
        let mean = ticks / u64::from(2 * seeds.max(1));
        let speed = ticks as f64 / seconds;
        println!("| {strong} | {weak} | {wins} | {losses} | {draws} | {red} | {mean} | {speed:.0} |");
    }
}
