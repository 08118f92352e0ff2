//! §4 and §9: every intent passes every gate, acks come in order, and a refusal changes nothing and repeats nothing.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::needless_pass_by_value,
    reason = "a test fails by panicking"
)]

mod common;

use common::*;
use playerthree_game::{Controller, Outcome, Seat};
use playerthree_session::{Ack, Barred, Right};
use serde_json::json;

fn two_people() -> playerthree_session::Match {
    let mut game = tic_tac_toe(config());
    game.assign(&x(), human("ann")).unwrap();
    game.assign(&o(), human("bob")).unwrap();
    game
}

/// §4 `act`: acks in input order.
#[test]
fn acks_come_back_in_the_order_of_the_intents() {
    let mut game = two_people();
    let intents = [place(0, 0), place(0, 1), json!({ "kind": "dance" }), place(99, 0), place(9, 9)];
    let acks = game.act(&x(), Right::Owner, &intents, 0).unwrap();
    let codes: Vec<&str> = acks.iter().map(Ack::code).collect();
    assert_eq!(codes, ["ok", "not_your_turn", "invalid", "invalid", "out_of_bounds"]);
}

/// §10: a game of turns advances one tick for each accepted intent and none for a refused one.
#[test]
fn a_tick_is_a_move_in_a_game_of_turns() {
    let mut game = two_people();
    assert_eq!(act(&mut game, &x(), Right::Owner, place(1, 1)), Ack::Ok);
    assert_eq!(game.tick(), 1);
    assert_eq!(act(&mut game, &o(), Right::Owner, place(1, 1)).code(), "occupied");
    assert_eq!(game.tick(), 1);
}

/// §10 "Per-team terminal rule": a final side plays no more, and the ranks are fixed with the last side.
#[test]
fn a_won_game_is_over_with_outcomes_ranks_and_reports() {
    let mut game = two_people();
    for (seat, row, col) in [(x(), 0, 0), (o(), 1, 0), (x(), 0, 1), (o(), 1, 1), (x(), 0, 2)] {
        assert_eq!(act(&mut game, &seat, Right::Owner, place(row, col)), Ack::Ok);
    }
    assert!(game.is_over());
    assert_eq!((game.outcome("x"), game.outcome("o")), (Outcome::Win, Outcome::Loss));
    assert_eq!(game.status()["ranks"], json!({ "x": 1, "o": 2 }));
    assert_eq!(game.report("o").unwrap()["result"], "x");
    assert_eq!(act(&mut game, &o(), Right::Owner, place(2, 2)), Ack::Barred(Barred::GameOver));
    assert!(game.take_changes().status);
}

/// §9: schema, role, scope, controller and rate, each with its own code.
#[test]
fn each_gate_refuses_with_its_own_code() {
    let mut game = agent_command(config());
    let economy = Seat::new("red", "economy");
    game.assign(&economy, agent("ann")).unwrap();
    game.assign(&Seat::new("red", "air"), agent("ann")).unwrap();
    let stop = json!({ "kind": "stop", "units": [] });
    let gather = json!({ "kind": "gather", "units": ["e_1"], "patch": "p_0" });
    assert_eq!(act(&mut game, &Seat::new("red", "air"), Right::Agent, gather.clone()), Ack::ForbiddenRole);
    game.set_scopes(&economy, &json!(["policy"])).unwrap();
    assert_eq!(act(&mut game, &economy, Right::Agent, gather.clone()), Ack::Barred(Barred::OutOfScope));
    game.set_scopes(&economy, &json!(["act"])).unwrap();
    game.set_controller(&economy, Controller::Bot).unwrap();
    assert_eq!(act(&mut game, &economy, Right::Agent, gather.clone()), Ack::Barred(Barred::NotController));
    game.set_controller(&economy, Controller::Agent).unwrap();
    assert!(matches!(act(&mut game, &economy, Right::Agent, gather), Ack::Game(_)));
    // The owner minted this seat for an agent and does not hold it in person.
    assert_eq!(act(&mut game, &economy, Right::Owner, stop.clone()), Ack::Barred(Barred::NotController));
    let burst = game.surface().manifest.control.intents.burst as usize;
    let acks: Vec<Ack> =
        (0..burst + 1).map(|_| act(&mut game, &economy, Right::Agent, stop.clone())).collect();
    assert_eq!(acks.last(), Some(&Ack::RateLimited));
}

/// §4 "Results and errors": codes and declared names only.
#[test]
fn no_ack_repeats_any_part_of_a_refused_intent() {
    let mut game = two_people();
    let canary = "kanarienvogel";
    for intent in [
        json!({ "kind": canary }),
        json!({ "kind": "move", "row": canary, "col": 0 }),
        json!({ "kind": "move", "row": 0, "col": 0, canary: 1 }),
        json!(canary),
        json!([canary]),
        json!({ canary: canary }),
    ] {
        let ack = act(&mut game, &x(), Right::Owner, intent);
        assert_eq!(ack.code(), "invalid");
        assert!(!ack.to_json().to_string().contains(canary));
    }
    assert_eq!(game.tick(), 0);
}

/// §3: `-0`, `1.0` and numbers out of bounds have one stated treatment.
#[test]
fn whole_floats_are_integers_and_everything_else_is_refused() {
    let mut game = two_people();
    let out = |value: serde_json::Value| json!({ "kind": "move", "row": value, "col": 0 });
    for value in [json!(0.5), json!(-1), json!(1e300), json!(null), json!("0"), json!(true), json!([0])] {
        assert_eq!(act(&mut game, &x(), Right::Owner, out(value)).code(), "invalid");
    }
    assert_eq!(act(&mut game, &x(), Right::Owner, out(json!(1.0))), Ack::Ok);
}
