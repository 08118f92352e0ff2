//! §22: what the built-in bots ask of each other, and what they do when a teammate asks them for something.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{Headless, all_sections, send, setup};
use playerthree_game::{Name, Seat};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// A red side of bots, one of whose seats asks.
struct Asked {
    headless: Headless,
    /// Whether a request was completed.
    completed: bool,
}

impl Asked {
    fn new() -> Self {
        let options = json!({ "start": { "alloy": 400 } });
        let headless = Headless::new(&setup(3, &["red", "blue"], Some(options)), |_| "commander");
        Self { headless, completed: false }
    }

    fn ask(&mut self, role: &str, signal: &Value) {
        let intent = json!({ "kind": "signal", "signal": signal });
        let tick = self.headless.game.tick();
        self.headless.boards.get_mut("red").unwrap().apply(&Name::from(role), &intent, tick).unwrap();
    }

    /// One tick in which the bot of one of red's roles thinks, as a host lets it.
    fn tick_of(&mut self, role: &str) -> Vec<Value> {
        let seat = Seat::new("red", role);
        let Headless { game, bots, boards, .. } = &mut self.headless;
        let board = boards.get_mut("red").unwrap();
        let mut observation = game.observe(&seat, -1, &all_sections());
        observation["signals"] = board.slice(role);
        let (_, bot) = bots.iter_mut().find(|(of, _)| *of == seat).unwrap();
        let intents = bot.think(&observation);
        for intent in &intents {
            assert!(send(&mut **game, board, &seat, intent), "{intent}");
            self.completed |= intent["update"] == "done";
        }
        game.step();
        board.turn_over(game.tick());
        intents
    }

    /// The state of the only request that a role has sent; nothing when it is off the board.
    fn state(&self, role: &str) -> Option<String> {
        let sent = self.headless.boards["red"].slice(role)["sent"].clone();
        sent[0]["state"].as_str().map(str::to_owned)
    }
}

/// A scout is asked for, goes, and the request is completed when it is there.
#[test]
fn an_air_bot_looks_where_it_is_asked_to() {
    let mut asked = Asked::new();
    asked.ask("ground", &json!({ "kind": "look", "x": 1600, "y": 1600, "to": "air" }));
    let intents = asked.tick_of("air");
    assert!(intents.iter().any(|intent| intent["kind"] == "move" && intent["x"] == 1600), "{intents:?}");
    assert_eq!(asked.state("ground").unwrap(), "working");
    for _ in 0..250 {
        if !asked.completed {
            asked.tick_of("air");
        }
    }
    assert_eq!(asked.state("ground").unwrap(), "completed");
}

/// The economy builds what it is asked for when it can pay for it, and says so when it works.
#[test]
fn an_economy_bot_builds_what_it_is_asked_for() {
    let mut asked = Asked::new();
    asked.ask("air", &json!({ "kind": "supply", "building": "reactor", "to": "economy" }));
    let mut built = false;
    for _ in 0..600 {
        built |= asked.tick_of("economy").iter().any(|intent| intent["building"] == "reactor");
    }
    assert!(built);
    assert_eq!(asked.state("air"), None, "done, and off the board by now");
    assert!(asked.completed);
}

/// What a bot has no units for it declines at once, so that nobody waits for it.
#[test]
fn a_bot_declines_what_it_cannot_do() {
    let mut asked = Asked::new();
    asked.ask("ground", &json!({ "kind": "strike", "target": "army", "x": 1600, "y": 1600, "to": "air" }));
    asked.tick_of("air");
    assert_eq!(asked.state("ground").unwrap(), "rejected");
}

/// A call to all is answered by one: the others leave it to whoever took it.
#[test]
fn bots_leave_a_call_to_all_to_whoever_took_it() {
    let mut asked = Asked::new();
    asked.ask("economy", &json!({ "kind": "guard", "x": 1600, "y": 1600, "to": "team" }));
    asked.tick_of("ground");
    assert_eq!(asked.state("economy").unwrap(), "working");
    let updates = asked.tick_of("air");
    assert!(updates.iter().all(|intent| intent["kind"] != "signal_update"), "{updates:?}");
    assert_eq!(asked.headless.boards["red"].to_json()[0]["by"], "ground");
}

/// Every request of a duel between two sides of a tier: its kind with the states that it was seen in.
fn requests(tier: &'static str, seed: u32) -> BTreeMap<String, BTreeSet<String>> {
    let mut game = Headless::new(&setup(seed, &["red", "blue"], None), |_| tier);
    let mut requests: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    while !game.is_over() && game.game.tick() < 4_000 {
        game.step();
        for board in game.boards.values() {
            for entry in board.to_json().as_array().unwrap() {
                let [kind, from, state] = ["kind", "from", "state"].map(|name| entry[name].as_str().unwrap());
                requests.entry(format!("{from} {kind}")).or_default().insert(state.to_owned());
            }
        }
    }
    requests
}

/// The commanders of a side of an upper tier ask each other for what the other planes can give, and get it.
#[test]
fn upper_tiers_ask_each_other_and_recruits_do_not() {
    assert_eq!(requests("recruit", 1), BTreeMap::new());
    let mut states: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for tier in ["veteran", "commander"] {
        let mut asked = BTreeSet::new();
        for (kind, seen) in (0..4).flat_map(|seed| requests(tier, seed)) {
            asked.insert(kind.clone());
            states.entry(kind).or_default().extend(seen);
        }
        let kinds = ["air supply", "economy guard", "ground look", "ground strike"];
        assert_eq!(asked, kinds.map(String::from).into(), "{tier}");
    }
    for (kind, seen) in states {
        assert!(seen.contains("completed"), "{kind} came to {seen:?}");
    }
}
