//! §17: the status of a seat says where it stands without taking anything from its waits, and holds no free text.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use common::drill::Drill;
use common::*;
use playerthree_game::{Clock, PauseLimits, Seat};
use playerthree_session::{Deploy, Match, Right, Tell};
use serde_json::{Value, json};

fn status(game: &Match, seat: &Seat) -> Value {
    game.seat_status(seat).unwrap().to_json(game.tick())
}

fn tell(game: &mut Match, text: &str) {
    let surface = game.surface().clone();
    let tell = Tell::parse(&surface, json!({ "roles": "all", "text": text })).unwrap();
    game.tell(&owner("ann"), "red", &tell, 0).unwrap();
}

/// §17: phase, side, tick, outcome and the number of unread messages, which reading leaves for the wait.
#[test]
fn a_status_counts_what_is_unread_and_takes_nothing() {
    let mut game = agent_command(config());
    let seat = Seat::new("red", "ground");
    game.assign(&seat, agent("ann")).unwrap();
    done(wait_for(&mut game, &seat, Right::Agent, 0, &[], 0));
    let running =
        json!({ "phase": "match", "team": "red", "tick": 0, "outcome": "running", "unreadOwnerMessages": 0 });
    assert_eq!(status(&game, &seat), running);
    tell(&mut game, "CANARY hold the bridge");
    tell(&mut game, "CANARY and wait");
    for _ in 0..3 {
        let shown = status(&game, &seat);
        assert_eq!(shown["unreadOwnerMessages"], 2);
        assert!(!shown.to_string().contains("CANARY"), "{shown}");
    }
    let waited = done(wait_for(&mut game, &seat, Right::Agent, 0, &[], 0));
    assert_eq!(waited["messages"].as_array().unwrap().len(), 2);
    assert_eq!(status(&game, &seat)["unreadOwnerMessages"], 0);
}

/// §17, §4: before the start the phase is the lobby, and the seat has its side and no outcome.
#[test]
fn a_held_seat_is_in_the_lobby_until_its_match_runs() {
    let (mut game, _) = drill(Drill::new(Clock::Realtime), config());
    game.assign(&lead("a"), agent("ann")).unwrap();
    game.hold_start().unwrap();
    let held = json!({ "phase": "lobby", "team": "a", "tick": 0, "unreadOwnerMessages": 0 });
    assert_eq!(status(&game, &lead("a")), held);
    game.start(0);
    tick(&mut game, 100);
    let now = status(&game, &lead("a"));
    assert_eq!(
        (&now["phase"], &now["tick"], &now["outcome"]),
        (&json!("match"), &json!(1), &json!("running"))
    );
    assert_eq!(game.seat_status(&Seat::new("a", "nobody")), None);
}

/// §17, §7: the newest approval request, and what became of it.
#[test]
fn a_status_shows_the_newest_approval() {
    let mut game = agent_command(config());
    let seat = Seat::new("red", "ground");
    game.assign(&seat, agent("ann")).unwrap();
    let (_, mut mandate) = game.terms(&seat).unwrap();
    mandate["autonomy"] = json!("supervised");
    game.set_mandate(&seat, &mandate).unwrap();
    assert!(status(&game, &seat).get("approval").is_none());
    let Deploy::Approval(request) = game.deploy(&seat, js("return []")).unwrap() else {
        panic!("not supervised")
    };
    let id = request["approval"]["id"].as_str().unwrap();
    let pending = json!({ "id": id, "kind": "policyDeploy", "version": 1, "status": "pending" });
    assert_eq!(status(&game, &seat)["approval"], pending);
    game.resolve_approval(&seat, id, false).unwrap();
    assert_eq!(status(&game, &seat)["approval"]["status"], "rejected");
}

/// §17, §18: which seats hold the session, while they do.
#[test]
fn a_status_says_what_holds_a_paused_session() {
    let mut game = Drill::new(Clock::Realtime);
    game.control.pausable = Some(PauseLimits { max_pause_seconds: None });
    let (mut game, _) = drill(game, config());
    game.assign(&lead("a"), agent("ann")).unwrap();
    game.assign(&lead("b"), agent("bob")).unwrap();
    let (_, mut mandate) = game.terms(&lead("a")).unwrap();
    mandate["whenAbsent"] = json!("pause");
    game.set_mandate(&lead("a"), &mandate).unwrap();
    assert!(status(&game, &lead("b")).get("paused").is_none());
    tick(&mut game, 100);
    let paused = status(&game, &lead("b"))["paused"].clone();
    assert_eq!(Some(&paused), game.paused().as_ref());
    assert_eq!((&paused["seats"][0]["team"], &paused["seats"][0]["role"]), (&json!("a"), &json!("lead")));
}
