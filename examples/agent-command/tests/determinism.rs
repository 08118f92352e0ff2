//! Equal seeds and inputs give equal matches, and a copy goes on like its original (§10).

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test fails by panicking")]

mod common;

use common::{Headless, all_sections, context, setup, setup_allied};
use playerthree_game::{GameMatch, Seat};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

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

type Place = (i64, i64);

/// Where each side begins.
fn places(game: &dyn GameMatch, teams: &[playerthree_game::Name]) -> BTreeMap<String, Place> {
    let data = game.match_data(&Seat::new(&teams[0], "economy")).unwrap();
    let of = |start: &Value| {
        let [x, y] = ["x", "y"].map(|axis| start[axis].as_i64().unwrap());
        (start["side"].as_str().unwrap().to_owned(), (x, y))
    };
    data["starts"].as_array().unwrap().iter().map(of).collect()
}

/// What a match came to.
struct Played {
    /// Who began where.
    places: BTreeMap<String, Place>,
    /// Which places were allied.
    alliances: BTreeSet<BTreeSet<Place>>,
    /// The report and rank of whoever began at each place, but not their name.
    results: BTreeMap<Place, Value>,
}

/// Plays on the map of one seed, with tiers of bots by place.
fn played(seed: u32, teams: &[&str], each: Option<usize>) -> Played {
    const TIERS: [&str; 4] = ["commander", "recruit", "veteran", "recruit"];
    let options = json!({ "seed": 5, "size": 24, "maxTicks": 1_200 });
    let setup = setup_allied(seed, teams, Some(options), each);
    let places = places(&*common::start(&setup), &setup.teams);
    let taken: BTreeSet<Place> = places.values().copied().collect();
    let tier_at = |place: Place| TIERS[taken.iter().position(|other| *other == place).unwrap()];
    let mut game = Headless::new(&setup, |team| tier_at(places[team]));
    while !game.is_over() {
        game.step();
    }
    let alliances = setup.teams.chunks(each.unwrap_or(1));
    let alliances = alliances.map(|sides| sides.iter().map(|side| places[&**side]).collect()).collect();
    let result = |(side, place): (&String, &Place)| {
        let mut report = game.game.report(side);
        report["side"] = Value::Null;
        report["rank"] = game.game.rank(side).into();
        (*place, report)
    };
    let results = places.iter().map(result).collect();
    Played { places, alliances, results }
}

/// Whoever stands in a place does what anybody would do there: sides that change places change their results, to the last
/// number. With places drawn by the seed, no side is likelier to win than another.
#[test]
fn sides_that_change_places_change_their_results() {
    for (teams, each) in [(2, None), (3, None), (4, None), (4, Some(2))] {
        let games: Vec<Played> = (0..6).map(|seed| played(seed, &common::SIDES[..teams], each)).collect();
        let mut changed = 0;
        for (number, one) in games.iter().enumerate() {
            let alike = games[..number].iter().filter(|other| other.alliances == one.alliances);
            for other in alike {
                assert_eq!(one.results, other.results, "{:?} and {:?}", one.places, other.places);
                changed += u32::from(one.places != other.places);
            }
        }
        assert!(changed > 0, "{teams} sides");
    }
}

/// Every side begins at every corner as often as every other side.
#[test]
fn the_seed_draws_places_evenly() {
    for (teams, each) in [(2, None), (3, None), (4, None), (4, Some(2))] {
        let mut counts: BTreeMap<(String, Place), u32> = BTreeMap::new();
        for seed in 0..120 {
            let small = Some(json!({ "size": 24 }));
            let setup = setup_allied(seed, &common::SIDES[..teams], small, each);
            for place in places(&*common::start(&setup), &setup.teams) {
                *counts.entry(place).or_default() += 1;
            }
        }
        assert_eq!(counts.len(), teams * 4, "every side at every corner");
        assert!(counts.values().all(|count| (15..=45).contains(count)), "{counts:?}");
    }
}

/// Allies begin side by side, whether they are two against two or two against one.
#[test]
fn allies_are_neighbours() {
    let alliances: [&[&[usize]]; 3] = [&[&[0, 1], &[2, 3]], &[&[0, 1], &[2]], &[&[0], &[1, 2]]];
    for (seed, groups) in (0..24).flat_map(|seed| alliances.map(|groups| (seed, groups))) {
        let teams = groups.iter().map(|group| group.len()).sum();
        let plain = setup(seed, &common::SIDES[..teams], None);
        let named = |(number, group): (usize, &&[usize])| {
            (format!("party-{number}"), group.iter().map(|side| plain.teams[*side].clone()).collect())
        };
        let alliances = Some(groups.iter().enumerate().map(named).collect());
        let setup = playerthree_game::Setup { alliances, ..plain.clone() };
        let places = places(&*common::start(&setup), &setup.teams);
        for group in groups.iter().filter(|group| group.len() == 2) {
            let [one, other] = [group[0], group[1]].map(|side| places[&*plain.teams[side]]);
            assert!(one.0 == other.0 || one.1 == other.1, "seed {seed}: {places:?}");
        }
    }
}
