//! Fog (§15): nothing that a side receives names what it cannot see.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test fails by panicking")]

mod common;

use common::{Headless, all_sections, seats, setup};
use playerthree_game::{GameMatch, ViewKind};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Ids of a side's things, out of the unfogged truth.
fn ids_of(truth: &Value, side: &str) -> BTreeSet<String> {
    let sides = truth["sides"].as_array().unwrap();
    let side = sides.iter().find(|other| other["side"] == side).unwrap();
    let things = ["units", "buildings"].into_iter().flat_map(|list| side[list].as_array().unwrap());
    things.map(|thing| thing["id"].as_str().unwrap().to_owned()).collect()
}

/// Everything that the side receives this tick, as one text.
fn received(game: &dyn GameMatch, side: &str) -> String {
    let mut text = game.view(side, ViewKind::Snapshot).to_string();
    text += &game.report(side).to_string();
    for seat in seats(&[side.into()]) {
        text += &game.observe(&seat, -1, &all_sections()).to_string();
        text += &game.match_data(&seat).unwrap().to_string();
        text += &Value::from(game.events(&seat, -1)).to_string();
    }
    text
}

/// Whether the side's own and its allies' sight covers a place, computed apart from the game: distances in tiles.
fn sees(truth: &Value, kinds: &Value, side: &str, x: i64, y: i64) -> bool {
    let sides = truth["sides"].as_array().unwrap();
    let me = sides.iter().find(|other| other["side"] == side).unwrap();
    ["units", "buildings"].into_iter().flat_map(|list| me[list].as_array().unwrap()).any(|eye| {
        let kind = kinds.as_array().unwrap().iter().find(|kind| kind["kind"] == eye["kind"]).unwrap();
        // The disc is half a tile wider than its radius.
        let twice = 2 * kind["sight"].as_i64().unwrap() + 1;
        let (dx, dy) =
            (x / 100 - eye["x"].as_i64().unwrap() / 100, y / 100 - eye["y"].as_i64().unwrap() / 100);
        4 * (dx * dx + dy * dy) <= twice * twice
    })
}

/// An id that the side never had in sight is in no byte that it receives, and one in sight is in its view.
#[test]
fn hidden_things_are_in_nothing_that_a_side_receives() {
    for (seed, teams) in [(1, vec!["red", "blue"]), (2, vec!["red", "blue", "green", "gold"])] {
        let options = json!({ "size": 32, "maxTicks": 1500, "start": { "alloy": 600, "energy": 200 } });
        let mut game = Headless::new(&setup(seed, &teams, Some(options)), |team| {
            if team == "red" { "veteran" } else { "recruit" }
        });
        let mut met: Vec<BTreeSet<String>> = vec![BTreeSet::new(); teams.len()];
        let mut hidden_seen = 0;
        while !game.is_over() {
            let truth = game.game.debug_view().unwrap();
            let observer = game.game.observer_view().unwrap();
            for (side, met) in teams.iter().zip(&mut met) {
                let view = game.game.view(side, ViewKind::Periodic);
                let shown: BTreeSet<&str> = ["units", "buildings"]
                    .into_iter()
                    .flat_map(|list| view[list].as_array().unwrap())
                    .map(|thing| thing["id"].as_str().unwrap())
                    .collect();
                for list in ["units", "buildings"] {
                    for thing in observer[list].as_array().unwrap() {
                        let (x, y) = (thing["x"].as_i64().unwrap(), thing["y"].as_i64().unwrap());
                        let visible = sees(&truth, &observer["map"]["kinds"], side, x, y);
                        let id = thing["id"].as_str().unwrap();
                        assert_eq!(shown.contains(id), visible, "{side} {id} at tick {}", game.game.tick());
                        if visible {
                            met.insert(id.to_owned());
                        }
                    }
                }
                if game.game.tick().is_multiple_of(25) {
                    let text = received(&*game.game, side);
                    for enemy in teams.iter().filter(|enemy| *enemy != side) {
                        for id in ids_of(&truth, enemy).difference(met) {
                            hidden_seen += 1;
                            assert!(!text.contains(id.as_str()), "{side} was told of {id}");
                        }
                    }
                }
            }
            game.step();
        }
        assert!(hidden_seen > 100, "the games must hide something");
    }
}

/// What one side does out of sight changes no byte that the other receives.
#[test]
fn hidden_acts_leave_the_other_side_unchanged() {
    let setup = setup(4, &["red", "blue"], None);
    let mut busy = Headless::new(&setup, |_| "commander");
    let mut idle = common::start(&setup);
    for _ in 0..40 {
        // Blue's workers and base act; its scout stays at home.
        for (seat, bot) in &mut busy.bots {
            if &*seat.team == "blue" && &*seat.role != "air" {
                for intent in bot.think(&busy.game.observe(seat, -1, &all_sections())) {
                    let _ = busy.game.apply(seat, &intent, &common::context());
                }
            }
        }
        busy.game.step();
        idle.step();
        assert_eq!(received(&*busy.game, "red"), received(&*idle, "red"));
    }
    assert_ne!(busy.game.debug_view(), idle.debug_view());
}

/// A target that exists but is hidden is refused exactly like one that does not exist.
#[test]
fn refusals_do_not_tell_hidden_from_absent() {
    use playerthree_game::Seat;
    let mut game = common::start(&setup(1, &["red", "blue"], None));
    let hidden = ids_of(&game.debug_view().unwrap(), "blue").into_iter().next().unwrap();
    let air = Seat::new("red", "air");
    let scout = game.observe(&air, -1, &all_sections())["air"]["units"][0]["id"].clone();
    let codes = [hidden.as_str(), "e_1"].map(|target| {
        let intent = json!({ "kind": "attack", "units": [scout], "target": target });
        game.apply(&air, &intent, &common::context())
    });
    assert_eq!(codes, [Err("no_such_target"), Err("no_such_target")]);
}
