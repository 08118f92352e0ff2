//! §§4, 15: no refusal is an oracle. Two causes that a caller must not tell apart have the same answer to the last byte,
//! and every answer is one of the closed codes.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use common::*;
use playerthree_game::{Runtime, Seat};
use playerthree_session::{Artifact, CallError, Deploy, Match, Occupant, OwnerId, Right, Tell, Wait};
use serde_json::{Value, json};

fn ground() -> Seat {
    Seat::new("red", "ground")
}

fn air() -> Seat {
    Seat::new("red", "air")
}

/// Red's ground is Ann's and its air Bob's; blue is Cat's; nobody has green or gold, which do not play.
fn game() -> Match {
    let mut game = agent_command(config());
    for (seat, name) in [(ground(), "ann"), (air(), "bob")] {
        game.assign(&seat, agent(name)).unwrap();
    }
    for role in ["ground", "air"] {
        game.assign(&Seat::new("blue", role), agent("cat")).unwrap();
    }
    game
}

fn told<T: std::fmt::Debug>(result: Result<T, CallError>) -> Value {
    result.unwrap_err().to_json("code")
}

/// The same refusal, whatever the cause.
fn assert_alike(what: &str, answers: impl IntoIterator<Item = Value>) {
    let answers: Vec<Value> = answers.into_iter().collect();
    assert!(answers.len() > 1);
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{what}: {answers:?}");
}

/// Other people's seats, open seats, seats that do not play and seats that do not exist.
#[test]
fn a_message_to_a_seat_of_somebody_else_is_a_message_to_no_seat() {
    let mut game = game();
    game.assign(&Seat::new("blue", "air"), Occupant::Nobody).unwrap();
    let mut tell = |name: &str, team: &str, roles: Value| {
        let message = Tell::parse(game.surface(), json!({ "roles": roles, "text": "a" })).unwrap();
        told(game.tell(&owner(name), team, &message, 0))
    };
    assert_alike(
        "tell",
        [
            tell("ann", "red", json!(["air"])),
            tell("ann", "red", json!(["ground", "air"])),
            tell("ann", "blue", json!(["ground"])),
            tell("ann", "blue", json!(["air"])),
            tell("ann", "blue", json!("all")),
            tell("ann", "gold", json!(["air"])),
            tell("ann", "nowhere", json!("all")),
            tell("stranger", "red", json!("all")),
        ],
    );
}

/// Another team's signals, ids of the past and ids that never were.
#[test]
fn a_signal_of_another_team_is_a_signal_that_never_was() {
    let mut game = game();
    let look = json!({ "kind": "signal", "signal": { "kind": "look", "x": 1, "y": 2, "to": "air" } });
    act(&mut game, &Seat::new("blue", "ground"), Right::Agent, look);
    let mut update = |id: &str, update: &str| {
        let intent = json!({ "kind": "signal_update", "id": id, "update": update });
        act(&mut game, &air(), Right::Agent, intent).to_json()
    };
    assert_alike("signals", [update("sg_1", "ack"), update("sg_2", "ack"), update("sg_1", "cancel")]);
}

/// Enemies out of sight, one's own dead and ids that never were.
#[test]
fn a_hidden_unit_is_a_unit_that_never_was() {
    let mut game = game();
    let truth = game.debug_view().unwrap();
    let of = |side: usize| truth["sides"][side]["units"].as_array().unwrap();
    let (own, hidden) = (of(0)[0]["id"].clone(), of(1)[0]["id"].clone());
    let mut attack = |target: &Value| {
        let intent = json!({ "kind": "attack", "units": [own], "target": target });
        act(&mut game, &ground(), Right::Agent, intent).to_json()
    };
    assert_alike("units", [attack(&hidden), attack(&json!("e_999999"))]);
}

/// Another seat's pending request, a decided one and one that never was.
#[test]
fn an_approval_of_another_seat_is_an_approval_that_never_was() {
    let mut game = game();
    let mut request = |seat: &Seat| {
        let (_, mut mandate) = game.terms(seat).unwrap();
        mandate["autonomy"] = json!("supervised");
        game.set_mandate(seat, &mandate).unwrap();
        let artifact = Artifact { runtime: Runtime::Js, code: b"function think() {}".as_slice().into() };
        let Deploy::Approval(request) = game.deploy(seat, artifact).unwrap() else { panic!("supervised") };
        request["approval"]["id"].as_str().unwrap().to_owned()
    };
    let (replaced, mine, theirs) = (request(&ground()), request(&ground()), request(&air()));
    game.resolve_approval(&ground(), &mine, false).unwrap();
    let mut resolve = |id: &str| told(game.resolve_approval(&ground(), id, true));
    let never = resolve("ap_never");
    assert_eq!(never, json!({ "code": "approval_not_found" }));
    let answers = [never, resolve(&mine), resolve(""), resolve(&replaced)];
    assert_alike("approvals", answers);
    if theirs != mine {
        assert_eq!(resolve(&theirs), json!({ "code": "approval_not_found" }));
    }
}

/// Seats outside the match answer every call alike, whatever their names.
#[test]
fn a_seat_outside_the_match_is_no_seat() {
    let mut game = game();
    for seat in [Seat::new("gold", "air"), Seat::new("nowhere", "air"), Seat::new("red", "sea")] {
        let wait = Wait { millis: 0, until: Vec::new() };
        let answers = [
            told(game.wait(&seat, Right::Agent, wait, 0)),
            told(game.observe(&seat, Right::Agent, &playerthree_session::Observe::default())),
            told(game.terms(&seat)),
            told(game.policy_status(&seat)),
            told(game.say(&seat, Right::Agent, "a", 0)),
        ];
        assert_eq!(answers[0], json!({ "code": "not_in_match" }));
        assert_alike("calls", answers);
    }
    assert_eq!(game.owner(&Seat::new("gold", "air")), None::<&OwnerId>);
}
