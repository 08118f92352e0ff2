//! §10, §22.4: a match records every input that reached its game, in order and in the envelope's form, and nothing else.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use common::drill::Drill;
use common::*;
use playerthree_game::{Clock, Controller};
use playerthree_session::{Ack, Ending, Match, NotKept, Right, Tell};
use serde_json::{Value, json};

fn envelope(game: &Match) -> Value {
    serde_json::from_str(&game.replay().unwrap().to_text()).unwrap()
}

fn entries(game: &Match) -> Vec<Value> {
    envelope(game)["entries"].as_array().unwrap().clone()
}

/// What was recorded after the seats of the fresh match were told to its game.
fn later(game: &Match) -> Vec<Value> {
    entries(game).split_off(game.seat_count())
}

/// §10: the envelope has exactly these members, and seats as the game was told them.
#[test]
fn an_envelope_says_what_the_match_was_created_from() {
    let game = tic_tac_toe(config());
    let seat = |team: &str| {
        let mandate = json!({ "autonomy": "autonomous", "directive": {}, "whenAbsent": "hold" });
        json!([0, team, "player", "seat", { "controller": "none", "mandate": mandate }])
    };
    let manifest = &game.surface().manifest;
    let mut shown = envelope(&game);
    let mandate = shown["entries"][0][4]["mandate"]["directive"].clone();
    for entry in shown["entries"].as_array_mut().unwrap() {
        assert_eq!(entry[4]["mandate"]["directive"], mandate);
        entry[4]["mandate"]["directive"] = json!({});
    }
    let expected = json!({
        "format": "playerthree.replay", "version": 2, "game": manifest.id, "gameVersion": manifest.version,
        "seed": 7, "teams": ["x", "o"], "ticks": 0, "entries": [seat("x"), seat("o")],
        "outcomes": { "x": "running", "o": "running" },
    });
    assert_eq!(shown, expected);
}

/// §10: intents keep their source, an owner's also the roles it was delivered with, refused ones are kept, and what no
/// gate let through is not.
#[test]
fn every_intent_that_reaches_the_game_is_recorded_with_its_context() {
    let (mut game, _) = drill(Drill::new(Clock::Realtime), config());
    game.assign(&lead("a"), human("ann")).unwrap();
    game.assign(&wing("a"), human("ann")).unwrap();
    game.assign(&lead("b"), agent("bob")).unwrap();
    // Present, so that no bot stands in for it.
    game.agent_call_started(&lead("b"), 0);
    let seats = entries(&game).len();
    act(&mut game, &lead("a"), Right::Owner, mark(1));
    act(&mut game, &lead("b"), Right::Agent, mark(2));
    tick(&mut game, 0);
    let refuse = json!({ "kind": "refuse" });
    assert_eq!(act(&mut game, &lead("b"), Right::Agent, refuse), Ack::Game("no".into()));
    // Refused at a gate: neither reaches the game.
    act(&mut game, &lead("b"), Right::Owner, mark(3));
    act(&mut game, &lead("b"), Right::Agent, json!({ "kind": "mark", "n": 5000 }));
    let expected = [
        json!([0, "a", "lead", "intent", { "kind": "mark", "n": 1 }, "owner", ["lead", "wing"]]),
        json!([0, "b", "lead", "intent", { "kind": "mark", "n": 2 }, "agent"]),
        json!([1, "b", "lead", "intent", { "kind": "refuse" }, "agent"]),
    ];
    assert_eq!(entries(&game)[seats..], expected);
}

/// §10: bots and the bots that stand in for absent agents are told apart, and a changed controller is an entry of its own.
#[test]
fn automated_seats_record_what_acted_for_them() {
    let (mut game, _) = drill(Drill::new(Clock::Realtime), config());
    game.assign(&lead("a"), playerthree_session::Occupant::Bot("dummy".into())).unwrap();
    game.assign(&lead("b"), agent("bob")).unwrap();
    tick(&mut game, 0);
    game.set_controller(&lead("b"), Controller::Human).unwrap();
    let recorded: Vec<Value> =
        later(&game).iter().map(|entry| json!([entry[1], entry[3], entry[5]])).collect();
    let expected = [
        json!(["a", "seat", null]),
        json!(["b", "seat", null]),
        json!(["a", "intent", "bot"]),
        json!(["b", "intent", "fallback"]),
        json!(["b", "seat", null]),
    ];
    assert_eq!(recorded, expected);
}

/// §10 `forfeit`: the entry's role is the manifest's first one, and it stands before the step of its tick.
#[test]
fn a_forfeit_is_recorded_at_its_tick() {
    let (mut game, _) = drill(Drill::new(Clock::Turns), config());
    game.forfeit("b", 0).unwrap();
    game.forfeit("b", 0).unwrap();
    assert_eq!(later(&game), [json!([0, "b", "lead", "forfeit"])]);
    assert_eq!(envelope(&game)["ticks"], 1);
    assert_eq!(envelope(&game)["outcomes"]["b"], "loss");
}

/// §22.4: accepted signals are entries of their own kind, refused ones are none, and none of them is an intent.
#[test]
fn accepted_signals_are_recorded_and_refused_ones_are_not() {
    let mut game = agent_command(config());
    let ground = playerthree_game::Seat::new("red", "ground");
    game.assign(&ground, human("ann")).unwrap();
    let before = entries(&game).len();
    let look = json!({ "kind": "signal", "signal": { "kind": "look", "x": 1600, "y": 1500, "to": "air" } });
    assert_eq!(act(&mut game, &ground, Right::Owner, look.clone()), Ack::Ok);
    let unknown = json!({ "kind": "signal_update", "id": "sg_9", "update": "ack" });
    assert_eq!(act(&mut game, &ground, Right::Owner, unknown).code(), "unknown_signal");
    assert_eq!(entries(&game)[before..], [json!([0, "red", "ground", "signal", look])]);
}

/// §10: outcomes and ranks are in the envelope once the match is over, and it changes no more.
#[test]
fn the_end_is_recorded_and_closes_the_replay() {
    let (mut game, _) = drill(Drill::new(Clock::Realtime), config());
    assert_eq!(envelope(&game).get("ranks"), None);
    game.end(&Ending::Draw, 0).unwrap();
    let ended = envelope(&game);
    assert_eq!(ended["outcomes"], json!({ "a": "draw", "b": "draw", "c": "draw", "d": "draw" }));
    assert_eq!(ended["ranks"], json!({ "a": 1, "b": 1, "c": 1, "d": 1 }));
    let digest = game.replay().unwrap().digest();
    game.set_controller(&lead("a"), Controller::Human).unwrap();
    assert_eq!(game.replay().unwrap().digest(), digest);
}

/// §10, §12: no chat, no policy text, no policy log and no identity of an owner is in a replay.
#[test]
fn a_replay_holds_nothing_of_people_and_policies_but_what_the_game_was_told() {
    let mut game = agent_command(config());
    let ground = playerthree_game::Seat::new("red", "ground");
    game.assign(&ground, agent("SecretOwner")).unwrap();
    deploy(&mut game, &ground, "// SecretPolicy");
    let tell = Tell::parse(game.surface(), json!({ "roles": "all", "text": "SecretWords" })).unwrap();
    game.tell(&owner("SecretOwner"), "red", &tell, 0).unwrap();
    game.say(&ground, Right::Agent, "SecretReply", 0).unwrap();
    let thinks = game.begin_round(0, &|_| Some(Vec::new()));
    for think in thinks {
        game.thought(&think.seat, thought(&[json!({ "kind": "stop", "units": [] })]));
    }
    game.end_round(0);
    let text = game.replay().unwrap().to_text();
    assert!(text.contains("\"policy\""), "the policy acted: {text}");
    for secret in ["Secret", "its own log"] {
        assert!(!text.contains(secret), "{text}");
    }
}

/// A match that nobody will look back at, such as a practice, takes no memory for it.
#[test]
fn a_match_that_is_to_keep_no_replay_records_nothing() {
    let (mut game, _) = drill(Drill::new(Clock::Realtime), config());
    game.keep_no_replay();
    tick(&mut game, 0);
    assert_eq!(game.replay(), Err(NotKept));
}
