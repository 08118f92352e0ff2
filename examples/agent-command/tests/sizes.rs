//! Observations stay short: the budgets that the game's README declares, at every moment of random matches.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test fails by panicking")]

mod common;

use common::measure::sizes;
use common::random::{Random, random_match};
use common::{Headless, ROLES, setup, start};
use playerthree_game::{Seat, ViewKind};

/// Most bytes of an observation in its role's own detail, in a duel and in a match of more sides.
const OWN: [usize; 2] = [14_000, 20_000];
/// Most bytes with every section in full.
const FULL: [usize; 2] = [18_000, 26_000];
/// Most bytes of the match data; the contract allows 131,072 (§10).
const MATCH_DATA: usize = 8_000;

/// Whoever meets whom, with whatever stock, and in every tier.
#[test]
fn observations_keep_their_budgets() {
    let mut random = Random::new(2);
    for round in 0..6 {
        let setup = random_match(&mut random);
        let budget = usize::from(setup.teams.len() > 2);
        let tiers = ["commander", "veteran", "commander"];
        let mut game = Headless::new(&setup, |_| tiers[round % 3]);
        while !game.is_over() && game.game.tick() < 2_500 {
            game.step();
            if game.game.tick().is_multiple_of(50) {
                for size in sizes(&*game.game, &game.teams) {
                    let at = game.game.tick();
                    assert!(size.own <= OWN[budget], "{} {} at {at}", size.role, size.own);
                    assert!(size.full <= FULL[budget], "{} {} at {at}", size.role, size.full);
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
