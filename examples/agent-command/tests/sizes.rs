//! Observations stay short: the budgets that the game's README declares, at every moment of a match between strong sides.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test fails by panicking")]

mod common;

use common::measure::{sizes, strong_match};
use common::{ROLES, setup, start};
use playerthree_game::{Seat, ViewKind};

/// Most bytes of an observation in its role's own detail, in a duel and in an alliance.
const OWN: [usize; 2] = [14_000, 20_000];
/// Most bytes with every section in full.
const FULL: [usize; 2] = [18_000, 26_000];
/// Most bytes of the match data; the contract allows 131,072 (§10).
const MATCH_DATA: usize = 8_000;

#[test]
fn observations_keep_their_budgets() {
    for (index, teams) in [vec!["red", "blue"], vec!["red", "blue", "green", "gold"]].iter().enumerate() {
        let mut game = strong_match(3, teams);
        while !game.is_over() && game.game.tick() < 3_000 {
            game.step();
            if game.game.tick().is_multiple_of(50) {
                for size in sizes(&*game.game, &game.teams) {
                    assert!(size.own <= OWN[index], "{} {} at {}", size.role, size.own, game.game.tick());
                    assert!(size.full <= FULL[index], "{} {} at {}", size.role, size.full, game.game.tick());
                }
            }
        }
    }
}

#[test]
fn match_data_keeps_its_budget_on_the_largest_map() {
    let game = start(&setup(1, &common::SIDES, Some(serde_json::json!({ "size": 40 }))));
    for role in ROLES {
        let data = game.match_data(&Seat::new("gold", role)).unwrap().to_string();
        assert!(data.len() <= MATCH_DATA, "{}", data.len());
    }
    assert!(game.view("gold", ViewKind::Snapshot).to_string().len() <= 2 * MATCH_DATA);
}
