//! §22: what the built-in bots do when a teammate asks them for something.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{Headless, all_sections, setup};
use playerthree_agent_command::AgentCommand;
use playerthree_game::{Game, Name, Seat, SignalBoard};
use serde_json::{Value, json};

/// A red side whose air is a bot and whose ground asks.
struct Asked {
    headless: Headless,
    board: SignalBoard,
    /// Whether a request was completed.
    completed: bool,
}

impl Asked {
    fn new() -> Self {
        let options = json!({ "start": { "alloy": 400 } });
        let headless = Headless::new(&setup(3, &["red", "blue"], Some(options)), |_| "commander");
        let manifest = AgentCommand.manifest().check().unwrap();
        let board = SignalBoard::new(&manifest, headless.game.signal_limits()).unwrap();
        Self { headless, board, completed: false }
    }

    fn ask(&mut self, signal: &Value) {
        self.ask_as("ground", signal);
    }

    fn ask_as(&mut self, role: &str, signal: &Value) {
        let intent = json!({ "kind": "signal", "signal": signal });
        self.board.apply(&Name::from(role), &intent, self.headless.game.tick()).unwrap();
    }

    fn tick(&mut self) -> Vec<Value> {
        self.tick_of("air")
    }

    /// One tick in which the bot of one of red's roles thinks, as a host lets it.
    fn tick_of(&mut self, role: &str) -> Vec<Value> {
        let seat = Seat::new("red", role);
        let game = &mut self.headless.game;
        let mut observation = game.observe(&seat, -1, &all_sections());
        observation["signals"] = self.board.slice(role);
        let (_, bot) = self.headless.bots.iter_mut().find(|(of, _)| *of == seat).unwrap();
        let intents = bot.think(&observation);
        for intent in &intents {
            if intent["kind"] == "signal_update" {
                self.board.apply(&seat.role, intent, game.tick()).unwrap();
                self.completed |= intent["update"] == "done";
            } else {
                game.apply(&seat, intent, &common::context()).unwrap();
            }
        }
        game.step();
        self.board.turn_over(game.tick());
        intents
    }

    fn state(&self) -> String {
        let sent = self.board.slice("ground")["sent"].clone();
        sent[0]["state"].as_str().unwrap().to_owned()
    }
}

/// A scout is asked for, goes, and the request is completed when it is there.
#[test]
fn an_air_bot_looks_where_it_is_asked_to() {
    let mut asked = Asked::new();
    asked.ask(&json!({ "kind": "look", "x": 1600, "y": 1600, "to": "air" }));
    let intents = asked.tick();
    assert!(intents.iter().any(|intent| intent["kind"] == "move" && intent["x"] == 1600), "{intents:?}");
    assert_eq!(asked.state(), "working");
    for _ in 0..250 {
        if asked.state() == "working" {
            asked.tick();
        }
    }
    assert_eq!(asked.state(), "completed");
}

/// The economy builds what it is asked for when it can pay for it, and says so when it works.
#[test]
fn an_economy_bot_builds_what_it_is_asked_for() {
    let mut asked = Asked::new();
    asked.ask_as("air", &json!({ "kind": "supply", "building": "reactor", "to": "economy" }));
    let mut built = false;
    for _ in 0..600 {
        built |= asked.tick_of("economy").iter().any(|intent| intent["building"] == "reactor");
    }
    assert!(built);
    assert_eq!(asked.board.slice("air")["sent"], json!([]), "done, and off the board by now");
    assert!(asked.completed);
}

/// What a bot has no units for it declines at once, so that nobody waits for it.
#[test]
fn a_bot_declines_what_it_cannot_do() {
    let mut asked = Asked::new();
    asked.ask(&json!({ "kind": "strike", "target": "army", "x": 1600, "y": 1600, "to": "team" }));
    asked.tick();
    assert_eq!(asked.state(), "rejected");
}
