//! Equal seeds and inputs give equal matches, and a copy goes on like its original (§10).

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test fails by panicking")]

mod common;

use common::{Headless, all_sections, context, setup};
use playerthree_game::GameMatch;
use serde_json::Value;

/// Plays bots and notes every intent that was applied, by tick.
fn recorded(ticks: u64) -> (Vec<Value>, Vec<(u64, playerthree_game::Seat, Value)>) {
    let mut game = Headless::new(&setup(9, &["red", "blue", "gold"], None), |_| "commander");
    let (mut states, mut inputs) = (Vec::new(), Vec::new());
    for tick in 0..ticks {
        for (seat, bot) in &mut game.bots {
            for intent in bot.think(&game.game.observe(seat, -1, &all_sections())) {
                let _ = game.game.apply(seat, &intent, &context());
                inputs.push((tick, seat.clone(), intent));
            }
        }
        game.game.step();
        states.push(game.game.debug_view().unwrap());
    }
    (states, inputs)
}

fn replay(
    game: &mut dyn GameMatch,
    from: u64,
    inputs: &[(u64, playerthree_game::Seat, Value)],
    states: &[Value],
) {
    for (tick, state) in (0..).zip(states).skip(usize::try_from(from).unwrap()) {
        for (_, seat, intent) in inputs.iter().filter(|(at, _, _)| *at == tick) {
            let _ = game.apply(seat, intent, &context());
        }
        game.step();
        assert_eq!(&game.debug_view().unwrap(), state, "tick {tick}");
    }
}

/// Where the hashes stand that every build must come to. `UPDATE_GOLDEN=1` writes them anew.
const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/states.txt");

/// The state is the same in every build: debug and release, on whatever machine, come to the recorded hashes.
#[test]
fn every_build_comes_to_the_recorded_states() {
    let mut game = Headless::new(&setup(9, &common::SIDES, None), |_| "commander");
    let mut hashes = String::new();
    for _ in 0..15 {
        for _ in 0..100 {
            game.step();
        }
        let state = playerthree_schema::canonical(&game.game.debug_view().unwrap());
        let hash = playerthree_schema::sha256_hex(state.as_bytes());
        hashes += &format!("{} {hash}\n", game.game.tick());
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(GOLDEN, &hashes).unwrap();
    }
    assert_eq!(hashes, std::fs::read_to_string(GOLDEN).unwrap());
}

#[test]
fn the_same_seed_and_inputs_replay_exactly() {
    let (states, inputs) = recorded(400);
    let mut again = common::start(&setup(9, &["red", "blue", "gold"], None));
    replay(&mut *again, 0, &inputs, &states);
}

#[test]
fn a_clone_continues_like_its_original() {
    let (states, inputs) = recorded(300);
    let mut game = common::start(&setup(9, &["red", "blue", "gold"], None));
    replay(&mut *game, 0, &inputs, &states[..150]);
    let mut copy = game.clone_match().unwrap();
    replay(&mut *copy, 150, &inputs, &states);
    assert_eq!(game.tick(), 150, "the copy is independent");
    replay(&mut *game, 150, &inputs, &states);
}

#[test]
fn seeds_make_different_maps() {
    let rows = |seed| {
        common::start(&setup(seed, &["red", "blue"], None)).observer_view().unwrap()["map"]["terrain"].clone()
    };
    assert_ne!(rows(1), rows(2));
}

/// The map looks the same from each corner (issue: fair by symmetry).
#[test]
fn maps_are_symmetric_under_a_quarter_turn() {
    for seed in 0..20 {
        let game = common::start(&setup(seed, &["red", "blue"], None));
        let map = game.observer_view().unwrap()["map"].clone();
        let rows: Vec<Vec<char>> = map["terrain"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row.as_str().unwrap().chars().collect())
            .collect();
        let size = rows.len();
        for (y, row) in rows.iter().enumerate() {
            for (x, tile) in row.iter().enumerate() {
                assert_eq!(*tile, rows[x][size - 1 - y]);
            }
        }
    }
}

/// Both sides of a duel begin alike: what one has, the other has at the same places, half a turn round the map's middle.
#[test]
fn duellists_start_alike() {
    for seed in 0..20 {
        let game = common::start(&setup(seed, &["red", "blue"], None));
        let open = game.observer_view().unwrap();
        let edge = open["map"]["size"].as_i64().unwrap() * 100;
        let of = |side: &str, place: &dyn Fn(i64) -> i64| {
            let things = ["units", "buildings"].iter().flat_map(|list| open[*list].as_array().unwrap());
            let own = things.filter(|thing| thing["side"] == side).map(|thing| {
                let [x, y] = ["x", "y"].map(|axis| place(thing[axis].as_i64().unwrap()));
                (thing["kind"].to_string(), x, y)
            });
            own.collect::<std::collections::BTreeSet<_>>()
        };
        assert_eq!(of("red", &|at| at), of("blue", &|at| edge - at), "seed {seed}");
    }
}
