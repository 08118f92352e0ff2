//! Plays the bot tiers against each other and prints who won: `cargo run --release --example tournament -- 100`.
//!
//! The first table plays every seed twice with the sides exchanged, so neither side's place nor its colour favours a tier. The
//! second lets equal bots of every side meet. Games are the same every time.

#![allow(clippy::print_stdout, reason = "a table for a person is this program's whole purpose")]

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Headless, SIDES, setup, setup_allied};
use playerthree_game::{Outcome, Setup};

#[derive(Default)]
struct Score {
    wins: u32,
    losses: u32,
    draws: u32,
    ticks: u64,
}

fn play(setup: &Setup, tier_of: impl Fn(&str) -> &'static str) -> Headless {
    let mut game = Headless::new(setup, tier_of);
    while !game.is_over() {
        game.step();
    }
    game
}

fn duel(strong: &'static str, weak: &'static str, seeds: u32) -> Score {
    let mut score = Score::default();
    for seed in 0..seeds {
        for mine in ["red", "blue"] {
            let duel = setup(seed, &SIDES[..2], None);
            let game = play(&duel, |team| if team == mine { strong } else { weak });
            match game.game.outcome(mine) {
                Outcome::Win => score.wins += 1,
                Outcome::Loss => score.losses += 1,
                Outcome::Draw | Outcome::Running => score.draws += 1,
            }
            score.ticks += game.game.tick();
        }
    }
    score
}

fn print_tiers(seeds: u32) {
    println!("| stronger | weaker | won | lost | drawn | mean ticks |");
    println!("|---|---|---|---|---|---|");
    for (strong, weak) in [("veteran", "recruit"), ("commander", "veteran"), ("commander", "recruit")] {
        let Score { wins, losses, draws, ticks } = duel(strong, weak, seeds);
        let mean = ticks / u64::from(2 * seeds.max(1));
        println!("| {strong} | {weak} | {wins} | {losses} | {draws} | {mean} |");
    }
}

/// Games of equal bots, and how many each side won.
fn print_equals(games: u32) {
    println!("| match | tier | red | blue | green | gold | drawn | mean ticks |");
    println!("|---|---|---|---|---|---|---|---|");
    let matches = [("duel", 2, None), ("four armies", 4, None), ("2 v 2", 4, Some(2))];
    for ((name, sides, each), tier) in
        matches.into_iter().flat_map(|kind| ["recruit", "veteran", "commander"].map(|tier| (kind, tier)))
    {
        let (mut won, mut drawn, mut ticks) = ([0; SIDES.len()], 0, 0);
        for seed in 0..games {
            let game = play(&setup_allied(seed, &SIDES[..sides], None, each), |_| tier);
            let winners: Vec<usize> =
                (0..sides).filter(|side| game.game.outcome(SIDES[*side]) == Outcome::Win).collect();
            winners.iter().for_each(|side| won[*side] += 1);
            drawn += u32::from(winners.is_empty());
            ticks += game.game.tick();
        }
        let won: Vec<String> = (0..SIDES.len())
            .map(|side| if side < sides { won[side].to_string() } else { String::new() })
            .collect();
        println!("| {name} | {tier} | {} | {drawn} | {} |", won.join(" | "), ticks / u64::from(games.max(1)));
    }
}

fn main() {
    let seeds = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(20);
    print_tiers(seeds);
    println!();
    print_equals(2 * seeds);
}
