//! §22: signals pass the gates of any intent, reach a board that the game never sees, and are shown to their team alone.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use common::*;
use playerthree_game::Seat;
use playerthree_session::{Ack, Barred, Match, Observe, Right, Wait, Waiting};
use serde_json::{Value, json};

const WAIT: Wait = Wait { millis: 10_000, until: Vec::new() };

fn ground() -> Seat {
    Seat::new("red", "ground")
}

fn air() -> Seat {
    Seat::new("red", "air")
}

fn duel() -> Match {
    let mut game = agent_command(config());
    game.assign(&ground(), human("ann")).unwrap();
    game.assign(&air(), agent("ann")).unwrap();
    for role in ["ground", "air"] {
        game.assign(&Seat::new("blue", role), agent("bob")).unwrap();
    }
    for team in ["red", "blue"] {
        for role in ["ground", "air"] {
            let seat = Seat::new(team, role);
            assert!(matches!(game.wait(&seat, Right::Agent, WAIT, 0), Ok(Waiting::Done(_))));
        }
    }
    game
}

fn look() -> Value {
    json!({ "kind": "signal", "signal": { "kind": "look", "x": 1600, "y": 1500, "to": "air" } })
}

fn answer(id: &str, update: &str) -> Value {
    json!({ "kind": "signal_update", "id": id, "update": update })
}

fn signals(game: &mut Match, seat: &Seat) -> Value {
    game.observe(seat, Right::Agent, &Observe::default()).unwrap()["signals"].clone()
}

fn waits(game: &mut Match, seat: &Seat) -> Option<Value> {
    match game.wait(seat, Right::Agent, Wait { millis: 0, until: vec![] }, 0).unwrap() {
        Waiting::Done(answer) if answer.get("wake").is_some() => Some(answer),
        _ => None,
    }
}

/// §22.2, §22.3: an accepted signal is in the inbox of its recipient, in `sent` of its sender and on the team's view, and
/// the game is not asked.
#[test]
fn a_signal_reaches_the_team_and_never_the_game() {
    let mut game = duel();
    let before = game.debug_view();
    assert_eq!(act(&mut game, &ground(), Right::Owner, look()), Ack::Ok);
    assert_eq!(game.debug_view(), before);
    let entry = json!({
        "kind": "look", "x": 1600, "y": 1500, "to": "air", "id": "sg_1", "from": "ground", "tick": 0,
        "expires": 600, "state": "submitted",
    });
    assert_eq!(signals(&mut game, &air()), json!({ "inbox": [entry], "sent": [] }));
    assert_eq!(signals(&mut game, &ground()), json!({ "inbox": [], "sent": [entry] }));
    assert_eq!(game.view("red").unwrap().value()["signals"], json!([entry]));
    assert_eq!(act(&mut game, &air(), Right::Agent, answer("sg_1", "ack")), Ack::Ok);
    assert_eq!(game.view("red").unwrap().value()["signals"][0]["by"], "air");
    // Policies and deployment probes get what the seat gets.
    assert_eq!(game.probe_observation(&air(), &[]).unwrap()["signals"]["inbox"][0]["state"], "working");
}

/// §22.3: no observation, view, wait, ack or id ever reflects another team's signals.
#[test]
fn another_team_learns_nothing_from_a_signal() {
    let mut game = duel();
    let blue = Seat::new("blue", "air");
    let shown = |game: &mut Match| {
        (signals(game, &blue), game.view("blue").unwrap().into_value(), waits(game, &blue))
    };
    let before = shown(&mut game);
    assert_eq!(act(&mut game, &ground(), Right::Owner, look()), Ack::Ok);
    assert_eq!(shown(&mut game), before);
    let ack = act(&mut game, &blue, Right::Agent, answer("sg_1", "ack"));
    assert_eq!(ack.to_json(), json!({ "ok": false, "code": "signal", "signalCode": "unknown_signal" }));
    assert_eq!(act(&mut game, &Seat::new("blue", "ground"), Right::Agent, look()), Ack::Ok);
    assert_eq!(signals(&mut game, &blue)["inbox"][0]["id"], "sg_1", "ids count for each team");
}

/// §22.2: the gates of any intent come first, in their order, and the board's own refusals after them.
#[test]
fn signals_pass_every_gate_before_the_board() {
    let mut game = duel();
    let red = |game: &mut Match, right, intent| act(game, &air(), right, intent);
    assert_eq!(red(&mut game, Right::Agent, look()), Ack::ForbiddenRole, "the air sends no look");
    let supply =
        json!({ "kind": "signal", "signal": { "kind": "supply", "building": "reactor", "to": "economy" } });
    assert_eq!(red(&mut game, Right::Owner, supply.clone()), Ack::Barred(Barred::NotController));
    game.set_scopes(&air(), &json!(["policy"])).unwrap();
    assert_eq!(red(&mut game, Right::Agent, supply.clone()), Ack::Barred(Barred::OutOfScope));
    game.set_scopes(&air(), &json!(["act"])).unwrap();
    for malformed in [
        json!({ "kind": "signal", "signal": { "kind": "supply", "building": "base", "to": "economy" } }),
        json!({ "kind": "signal", "signal": { "kind": "supply", "building": "reactor", "to": "air" } }),
        json!({ "kind": "signal", "signal": { "kind": "supply", "building": "reactor" } }),
        json!({ "kind": "signal", "signal": { "kind": "note", "text": "hello" } }),
        json!({ "kind": "signal_update", "id": "e_1", "update": "ack" }),
        json!({ "kind": "signal_update", "id": "sg_1", "update": "hello" }),
    ] {
        assert_eq!(red(&mut game, Right::Agent, malformed).code(), "invalid");
    }
    let strike = json!({ "kind": "signal", "signal": { "kind": "strike", "target": "workers", "x": 1, "y": 1, "to": "ground" } });
    assert_eq!(red(&mut game, Right::Agent, strike).code(), "unsupported");
    for _ in 0..3 {
        assert_eq!(red(&mut game, Right::Agent, supply.clone()), Ack::Ok);
    }
    assert_eq!(red(&mut game, Right::Agent, supply.clone()).code(), "too_many_open");
    assert_eq!(red(&mut game, Right::Agent, answer("sg_1", "cancel")), Ack::Ok);
    assert_eq!(red(&mut game, Right::Agent, answer("sg_1", "cancel")).code(), "closed");
    assert_eq!(red(&mut game, Right::Agent, answer("sg_2", "ack")).code(), "not_recipient");
    assert_eq!(red(&mut game, Right::Agent, answer("sg_9", "ack")).code(), "unknown_signal");
    assert_eq!(red(&mut game, Right::Agent, supply.clone()), Ack::Ok);
    assert_eq!(red(&mut game, Right::Agent, answer("sg_4", "cancel")), Ack::Ok);
    assert_eq!(red(&mut game, Right::Agent, supply.clone()), Ack::RateLimited, "a burst of four");
    game.forfeit("red", 0).unwrap();
    tick(&mut game, 0);
    assert_eq!(red(&mut game, Right::Agent, supply), Ack::Barred(Barred::GameOver));
}

/// §22.3: a wait ends early when the seat's slice changed since its agent last observed or waited, once.
#[test]
fn a_wait_wakes_for_new_signals_and_new_states() {
    let mut game = duel();
    let Ok(Waiting::Pending(id)) = game.wait(&air(), Right::Agent, WAIT, 0) else { panic!("nothing yet") };
    assert_eq!(act(&mut game, &ground(), Right::Owner, look()), Ack::Ok);
    let woken = game.take_changes().waits;
    let [(woken, Ok(told))] = &woken[..] else { panic!("{woken:?}") };
    assert_eq!((*woken, &told["wake"]), (id, &json!("signal")));
    assert_eq!(told["signals"]["inbox"][0]["state"], "submitted");
    assert_eq!(waits(&mut game, &air()), None, "told once");
    assert_eq!(waits(&mut game, &ground()), None, "the sender knows what it sent");
    assert_eq!(act(&mut game, &air(), Right::Agent, answer("sg_1", "ack")), Ack::Ok);
    assert_eq!(waits(&mut game, &ground()).unwrap()["signals"]["sent"][0]["state"], "working");
    // What was observed needs no waking; an observation without the member has not shown it.
    assert_eq!(act(&mut game, &air(), Right::Agent, answer("sg_1", "done")), Ack::Ok);
    let without = Observe { fields: Some(vec!["tick".into()]), ..Observe::default() };
    game.observe(&ground(), Right::Agent, &without).unwrap();
    signals(&mut game, &air());
    assert_eq!(waits(&mut game, &air()), None);
    assert_eq!(waits(&mut game, &ground()).unwrap()["wake"], "signal");
}

/// §22.4: the board turns over right after each step, before any input of the new tick.
#[test]
fn signals_expire_with_the_ticks_of_the_match() {
    let mut game = duel();
    // Its agent is there and says nothing, so no bot answers for it.
    game.agent_call_started(&air(), 0);
    assert_eq!(act(&mut game, &ground(), Right::Owner, look()), Ack::Ok);
    for _ in 0..599 {
        tick(&mut game, 0);
    }
    assert_eq!(signals(&mut game, &ground())["sent"][0]["state"], "submitted");
    tick(&mut game, 0);
    assert_eq!(signals(&mut game, &ground())["sent"][0]["state"], "expired");
    assert_eq!(act(&mut game, &air(), Right::Agent, answer("sg_1", "done")).code(), "closed");
    for _ in 0..51 {
        tick(&mut game, 0);
    }
    assert_eq!(signals(&mut game, &ground())["sent"], json!([]));
}

/// §22.2: built-in bots answer through their own gate.
#[test]
fn a_bot_teammate_answers() {
    let mut game = agent_command(playerthree_session::Config { bots: Some("commander".into()), ..config() });
    game.assign(&ground(), human("ann")).unwrap();
    assert_eq!(act(&mut game, &ground(), Right::Owner, look()), Ack::Ok);
    for _ in 0..10 {
        tick(&mut game, 0);
    }
    let sent = game.observe(&ground(), Right::Owner, &Observe::default()).unwrap()["signals"]["sent"].clone();
    assert_eq!((&sent[0]["state"], &sent[0]["by"]), (&json!("working"), &json!("air")));
}

/// §22: a bot asks the agent beside it: the agent's wait ends with the request, which the side's view shows too.
#[test]
fn a_bot_asks_the_agent_beside_it() {
    let mut game = agent_command(playerthree_session::Config { bots: Some("veteran".into()), ..config() });
    game.assign(&air(), agent("ann")).unwrap();
    // An agent that is there: no bot answers in its place.
    game.agent_call_started(&air(), 0);
    assert!(matches!(game.wait(&air(), Right::Agent, WAIT, 0), Ok(Waiting::Done(_))));
    // The army asks for a scout before it goes.
    while game.view("red").unwrap().value()["signals"] == json!([]) && game.tick() < 3_000 {
        tick(&mut game, 0);
    }
    let asked = signals_woken(&mut game);
    assert_eq!(
        (&asked["kind"], &asked["from"], &asked["state"]),
        (&json!("look"), &json!("ground"), &json!("submitted"))
    );
    assert_eq!(game.view("red").unwrap().value()["signals"][0]["id"], asked["id"]);
}

/// The request that ended the wait of red's air.
fn signals_woken(game: &mut Match) -> Value {
    let woken = waits(game, &air()).unwrap();
    assert_eq!(woken["wake"], "signal");
    woken["signals"]["inbox"][0].clone()
}
