//! The rules as a seat meets them: gathering, building, producing, walking, fighting.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test fails by panicking")]

mod common;

use common::{all_sections, build, context, setup, start, tile_of};
use playerthree_game::{GameMatch, Outcome, Seat, ViewKind};
use serde_json::{Value, json};

/// The match option that sets the starting stock.
const START: &str = "start";

fn economy() -> Seat {
    Seat::new("red", "economy")
}

fn ground() -> Seat {
    Seat::new("red", "ground")
}

fn observe(game: &dyn GameMatch) -> Value {
    game.observe(&ground(), -1, &all_sections())
}

/// An order of the economy's commander.
fn order(game: &mut dyn GameMatch, intent: &Value) {
    game.apply(&economy(), intent, &context()).unwrap();
}

fn run(game: &mut dyn GameMatch, ticks: u32) {
    for _ in 0..ticks {
        game.step();
    }
}

fn kinds(game: &dyn GameMatch, seat: &Seat) -> Vec<String> {
    game.events(seat, -1).iter().map(|event| event["kind"].as_str().unwrap().to_owned()).collect()
}

/// The number of the patch that lies nearest to red's base.
fn nearest_patch(game: &dyn GameMatch) -> usize {
    let data = game.match_data(&economy()).unwrap();
    let base = observe(game)["buildings"][0].clone();
    let from_base = |patch: &Value| -> i64 {
        ["x", "y"]
            .map(|axis| (patch[axis].as_i64().unwrap() - base[axis].as_i64().unwrap()).pow(2))
            .iter()
            .sum()
    };
    let places = data["patchPlaces"].as_array().unwrap();
    (0..places.len()).min_by_key(|patch| from_base(&places[*patch])).unwrap()
}

/// A worker brings five alloy a round and starts the next round by itself; the patch loses as much.
#[test]
fn workers_gather_again_and_again() {
    let mut game = start(&setup(1, &["red", "blue"], Some(json!({ START: { "alloy": 0, "workers": 1 } }))));
    let worker = observe(&*game)["economy"]["units"][0]["id"].clone();
    let patch = nearest_patch(&*game);
    order(&mut *game, &json!({ "kind": "gather", "units": [worker], "patch": format!("p_{patch}") }));
    run(&mut *game, 200);
    let observed = observe(&*game);
    let alloy = observed["alloy"].as_i64().unwrap();
    assert!((15..=40).contains(&alloy) && alloy % 5 == 0, "{alloy}");
    assert!(observed["economy"]["patches"][patch].as_i64().unwrap() <= 1000 - alloy);
    assert_eq!(game.report("red")["gathered"], alloy);
}

/// A building is paid when the worker arrives, rises by itself and then produces for its price and time.
#[test]
fn a_factory_rises_and_makes_soldiers() {
    let mut game = start(&setup(1, &["red", "blue"], Some(json!({ START: { "alloy": 210 } }))));
    let worker = observe(&*game)["economy"]["units"][0]["id"].clone();
    let factory = build(&*game, "red", &worker, "factory", (8, 8));
    order(&mut *game, &factory);
    assert_eq!(observe(&*game)["alloy"], 210);
    run(&mut *game, 350);
    let observed = observe(&*game);
    assert_eq!(observed["alloy"], 60);
    let factory = &observed["buildings"][2];
    assert_eq!((&factory["kind"], &factory["done"]), (&json!("factory"), &json!(100)));
    let produce = json!({ "kind": "produce", "building": factory["id"], "unit": "soldier" });
    game.apply(&ground(), &produce, &context()).unwrap();
    assert_eq!(observe(&*game)["alloy"], 0);
    run(&mut *game, 99);
    assert_eq!(observe(&*game)["ground"]["count"], 2);
    run(&mut *game, 1);
    assert_eq!(observe(&*game)["ground"]["count"], 3);
    assert_eq!(kinds(&*game, &ground()), ["built", "produced"]);
}

/// What needs a building is refused without it, and allowed as soon as it works.
#[test]
fn technology_is_a_building_in_work() {
    let options = json!({ START: { "alloy": 2000, "energy": 1000 } });
    let mut game = start(&setup(1, &["red", "blue"], Some(options)));
    let air = Seat::new("red", "air");
    let observed = observe(&*game);
    let [worker, other] = [0, 1].map(|index| observed["economy"]["units"][index]["id"].clone());
    let gunship = json!({ "kind": "produce", "building": observed["buildings"][1]["id"], "unit": "gunship" });
    assert_eq!(game.apply(&air, &gunship, &context()), Err("needs_building"));
    let [turret, reactor] = [(&other, "turret", 10), (&worker, "reactor", 8)]
        .map(|(unit, what, col)| build(&*game, "red", unit, what, (col, 8)));
    assert_eq!(game.apply(&economy(), &turret, &context()), Err("needs_building"));
    order(&mut *game, &reactor);
    run(&mut *game, 100);
    assert_eq!(game.apply(&air, &gunship, &context()), Err("needs_building"), "it still rises");
    run(&mut *game, 200);
    assert_eq!(game.apply(&air, &gunship, &context()), Ok(()));
}

/// Of two workers with money for one building, the second is told that it was blocked.
#[test]
fn a_building_that_cannot_be_paid_on_arrival_is_blocked() {
    let mut game = start(&setup(1, &["red", "blue"], Some(json!({ START: { "alloy": 150 } }))));
    let units = observe(&*game)["economy"]["units"].clone();
    for (index, tile) in [(8, 8), (8, 10)].into_iter().enumerate() {
        let factory = build(&*game, "red", &units[index]["id"], "factory", tile);
        order(&mut *game, &factory);
    }
    run(&mut *game, 100);
    assert_eq!(kinds(&*game, &ground()), ["blocked"]);
    assert_eq!(observe(&*game)["buildings"].as_array().unwrap().len(), 3);
}

/// Ground units reach any place around rocks without standing on one.
#[test]
fn ground_units_walk_around_rocks() {
    for seed in 0..5 {
        let mut game = start(&setup(seed, &["red", "blue"], Some(json!({ "size": 40 }))));
        let rows = game.match_data(&ground()).unwrap()["terrain"].clone();
        let worker = observe(&*game)["economy"]["units"][0]["id"].clone();
        order(&mut *game, &json!({ "kind": "move", "units": [worker], "x": 3450, "y": 850 }));
        for _ in 0..600 {
            game.step();
            let observed = observe(&*game);
            let unit = &observed["economy"]["units"][0];
            let [col, row] = ["x", "y"].map(|axis| unit[axis].as_u64().unwrap() as usize / 100);
            assert_eq!(&rows[row].as_str().unwrap()[col..=col], ".", "seed {seed}");
        }
        let observed = observe(&*game);
        let unit = &observed["economy"]["units"][0];
        assert_eq!((&unit["x"], &unit["y"], &unit["order"]), (&json!(3450), &json!(850), &json!("idle")));
    }
}

/// Gunships destroy an undefended base; the side without one is out, and its things are gone.
#[test]
fn destroying_the_base_wins() {
    let options = json!({ START: { "alloy": 2000, "energy": 1000 } });
    let mut game = start(&setup(1, &["red", "blue"], Some(options)));
    let air = Seat::new("red", "air");
    let airfield = observe(&*game)["buildings"][1]["id"].clone();
    let worker = observe(&*game)["economy"]["units"][0]["id"].clone();
    let reactor = build(&*game, "red", &worker, "reactor", (8, 8));
    order(&mut *game, &reactor);
    run(&mut *game, 300);
    for _ in 0..5 {
        game.apply(&air, &json!({ "kind": "produce", "building": airfield, "unit": "gunship" }), &context())
            .unwrap();
    }
    let sixth = json!({ "kind": "produce", "building": airfield, "unit": "gunship" });
    assert_eq!(game.apply(&air, &sixth, &context()), Err("queue_full"));
    run(&mut *game, 1000);
    let observed = game.observe(&air, -1, &all_sections());
    let ships: Vec<&Value> = observed["air"]["units"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|unit| unit["kind"] == "gunship")
        .collect();
    let ids: Vec<&Value> = ships.iter().map(|unit| &unit["id"]).collect();
    let [x, y] = <[i64; 2]>::from(tile_of(&*game, "blue", (5, 5))).map(|tile| tile * 100 + 50);
    game.apply(&air, &json!({ "kind": "advance", "units": ids, "x": x, "y": y }), &context()).unwrap();
    while game.outcome("blue") == Outcome::Running && game.tick() < 3000 {
        game.step();
    }
    assert_eq!((game.outcome("red"), game.outcome("blue")), (Outcome::Win, Outcome::Loss));
    assert_eq!(game.report("blue")["units"], 0);
    let events = kinds(&*game, &Seat::new("blue", "ground"));
    for kind in ["contact", "attacked", "lost", "eliminated", "ended"] {
        assert!(events.iter().any(|other| other == kind), "{kind} in {events:?}");
    }
    let blue = Seat::new("blue", "ground");
    let stop = json!({ "kind": "stop", "units": ["e_1"] });
    assert_eq!(game.apply(&blue, &stop, &context()), Err("out_of_play"));
}

/// §10: a later view leaves out only the member that never changes.
#[test]
fn periodic_views_leave_out_the_map_alone() {
    let game = start(&setup(1, &["red", "blue"], None));
    let mut whole = game.view("red", ViewKind::Snapshot);
    assert!(whole.as_object_mut().unwrap().remove("map").is_some());
    assert_eq!(game.view("red", ViewKind::Periodic), whole);
}

/// §10: newer events only, oldest first.
#[test]
fn events_are_told_once_to_who_asks_since_the_last() {
    let mut game = start(&setup(1, &["red", "blue"], Some(json!({ START: { "alloy": 500 } }))));
    let base = observe(&*game)["buildings"][0]["id"].clone();
    for _ in 0..3 {
        order(&mut *game, &json!({ "kind": "produce", "building": base, "unit": "worker" }));
    }
    run(&mut *game, 301);
    let ticks = |since| -> Vec<u64> {
        game.events(&ground(), since).iter().map(|event| event["tick"].as_u64().unwrap()).collect()
    };
    assert_eq!(ticks(-1), [100, 200, 300]);
    assert_eq!(ticks(100), [200, 300]);
    assert_eq!(ticks(300), [0; 0]);
}
