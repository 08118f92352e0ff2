//! The bot tiers differ: each beats the one below. The tournament example prints the whole table.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test fails by panicking")]

mod common;

use common::{Headless, setup};
use playerthree_game::Outcome;

/// Games of 4 that the stronger tier wins, over two seeds with the sides exchanged.
fn wins(strong: &'static str, weak: &'static str) -> usize {
    let games = [(0, "red"), (0, "blue"), (1, "red"), (1, "blue")];
    games
        .into_iter()
        .filter(|(seed, mine)| {
            let mut game = Headless::new(&setup(*seed, &["red", "blue"], None), |team| {
                if team == *mine { strong } else { weak }
            });
            while !game.is_over() {
                game.step();
            }
            game.game.outcome(mine) == Outcome::Win
        })
        .count()
}

#[test]
fn a_veteran_beats_a_recruit() {
    assert!(wins("veteran", "recruit") >= 3);
}

#[test]
fn a_commander_beats_a_veteran() {
    assert!(wins("commander", "veteran") >= 3);
}
