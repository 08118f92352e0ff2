//! §6: which calls need which scope, whatever carries them, and which need none.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use playerthree_agent_command::AgentCommand;
use playerthree_game::Seat;
use playerthree_host::{Answer, Live, PolicyPlaces};
use playerthree_sandbox::Workers;
use playerthree_session::{CallError, Code, Config, Match, Occupant, OwnerId, Right, Surface};
use serde_json::{Value, json};
use std::sync::Arc;

/// The workers of these tests are this test program, started with this test's name as its filter.
#[test]
fn sandbox_worker() {
    playerthree_sandbox::serve_if_worker();
}

/// A duel in which Ann's agent holds a seat.
fn live() -> (Live<()>, Seat) {
    let config = Config { teams: Some(vec!["red".into(), "blue".into()]), ..Config::of(7) };
    let surface = Arc::new(Surface::new(Arc::new(AgentCommand)).unwrap());
    let mut game = Match::new(surface, config, 0).unwrap();
    let seat = Seat::new("red", "ground");
    game.assign(&seat, Occupant::Agent { owner: OwnerId("ann".into()), display: "Ann".into() }).unwrap();
    (Live::new(game, PolicyPlaces::new(1, Workers::of_this_program()), Arc::new(|| {})), seat)
}

/// The answer that is there at once, if one is.
fn ask(live: &mut Live<()>, seat: &Seat, (method, args): &(&str, Value)) -> Option<Answer> {
    live.call(seat, Right::Agent, method, args, (), 0);
    live.take_answers().pop().map(|(_, answer)| answer)
}

/// Each scoped call without its scope alone is out of scope, and with its scope alone it is not.
#[test]
fn every_scoped_call_needs_its_scope_and_no_other() {
    let stop = json!([{ "kind": "stop", "units": [] }]);
    let js = json!({ "runtime": "js", "code": "function think() { return [] }" });
    let scoped = [
        ("act", ("act", json!({ "intents": stop }))),
        ("act", ("sequence", json!({ "steps": [{ "in": 0, "intents": stop }] }))),
        ("policy", ("policyRollback", json!({ "version": 1 }))),
        ("policy", ("policyDeploy", js)),
        ("practice", ("practice", json!({ "opponent": "recruit", "ticks": 1 }))),
        ("publish", ("publish", json!({}))),
        ("say", ("say", json!({ "text": "hello" }))),
    ];
    for (scope, call) in scoped {
        let is_out = |others: bool| {
            let (mut live, seat) = live();
            let scopes: Vec<&str> = ["act", "policy", "practice", "publish", "say"]
                .into_iter()
                .filter(|other| (*other == scope) != others)
                .collect();
            live.game_mut().set_scopes(&seat, &json!(scopes)).unwrap();
            match ask(&mut live, &seat, &call) {
                Some(Err(error)) => error == CallError::from(Code::OutOfScope),
                Some(Ok(answer)) => answer.to_string().contains("\"out_of_scope\""),
                None => false,
            }
        };
        assert!(is_out(true), "{} with every scope but {scope}", call.0);
        assert!(!is_out(false), "{} with {scope} alone", call.0);
    }
}

/// Reading, waiting and readiness need no scope.
#[test]
fn reading_and_waiting_need_no_scope() {
    let (mut live, seat) = live();
    live.game_mut().set_scopes(&seat, &json!([])).unwrap();
    let skill = json!({ "name": "playerthree-commander", "path": "SKILL.md" });
    for call in [
        ("briefing", json!({})),
        ("observe", json!({})),
        ("wait", json!({ "seconds": 0 })),
        ("ready", json!({})),
        ("skill", skill),
        ("policyStatus", json!({})),
    ] {
        assert!(ask(&mut live, &seat, &call).unwrap().is_ok(), "{}", call.0);
    }
}
