//! §18: a live match that is paused owes no ticks, and an engine that steps it is told so.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::needless_pass_by_value,
    reason = "a test fails by panicking"
)]

#[path = "../../session/tests/common/drill.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the tests of sessions, which use more of it")]
mod drill;

use drill::Drill;
use playerthree_game::{Clock, PauseLimits, Seat};
use playerthree_host::{Answer, Live, PolicyPlaces, TICKS_OWED_MAX};
use playerthree_sandbox::Workers;
use playerthree_session::{Code, Config, Match, Occupant, OwnerId, PRESENCE_MS, Right, Surface};
use serde_json::{Value, json};
use std::sync::Arc;

fn seat() -> Seat {
    Seat::new("a", "lead")
}

/// A live match in which Ann's agent pauses the session while it is absent.
fn live(clock: Clock) -> Live<&'static str> {
    let mut game = Drill::new(clock);
    game.control.pausable = Some(PauseLimits { max_pause_seconds: Some(600) });
    let surface = Arc::new(Surface::new(Arc::new(game)).unwrap());
    let config = Config { bots: Some("dummy".into()), ..Config::of(7) };
    let game = Match::new(surface, config, 0).unwrap();
    let mut live = Live::new(game, PolicyPlaces::new(1, Workers::of_this_program()), Arc::new(|| {}));
    let ann = Occupant::Agent { owner: OwnerId("ann".into()), display: "Ann".into() };
    live.assign(&seat(), ann, 0).unwrap();
    let (_, mut mandate) = live.game().terms(&seat()).unwrap();
    mandate["whenAbsent"] = json!("pause");
    live.game_mut().set_mandate(&seat(), &mandate).unwrap();
    live
}

fn call(live: &mut Live<&'static str>, method: &str, args: Value, now: u64) -> Answer {
    live.call(&seat(), Right::Agent, method, &args, "the call", now);
    live.take_answers().pop().unwrap().1
}

fn stepped(live: &mut Live<&'static str>, ticks: u32, now: u64) -> Answer {
    live.step(ticks, "the engine", now);
    live.take_answers().pop().unwrap().1
}

/// §18: while paused a realtime session does not step, and it goes on without making up for the time.
#[test]
fn a_paused_match_owes_no_ticks() {
    let mut live = live(Clock::Realtime);
    call(&mut live, "observe", json!({}), 0).unwrap();
    for tick in 1..=5 {
        live.tick(tick * 100);
    }
    assert_eq!(live.game().tick(), 5);
    for tick in 0..u64::from(TICKS_OWED_MAX) * 4 {
        live.tick(PRESENCE_MS + tick * 100);
        live.heartbeat(PRESENCE_MS + tick * 100);
    }
    assert_eq!((live.game().tick(), live.game().is_paused()), (5, true));
    call(&mut live, "observe", json!({}), 60_000).unwrap();
    assert_eq!((live.game().tick(), live.game().is_paused()), (5, false), "the call makes up for nothing");
    live.tick(60_100);
    live.heartbeat(60_150);
    live.tick(60_200);
    assert_eq!(live.game().tick(), 7, "a tick for each that is due");
}

/// §18, §10: an engine's step is refused while the session is paused, at the call or at the first tick that finds it so.
#[test]
fn an_engine_steps_no_paused_match() {
    let mut live = live(Clock::Realtime);
    assert_eq!(stepped(&mut live, 3, 0).unwrap_err().code, Code::Paused);
    assert_eq!(live.game().tick(), 0);
    call(&mut live, "observe", json!({}), 100).unwrap();
    assert_eq!(stepped(&mut live, 3, 200), Ok(json!({ "tick": 3 })));
    // A plan is presence up to its last step, however long ago the agent called.
    let step = |after: u32| json!({ "in": after, "intents": [{ "kind": "mark", "n": 1 }] });
    let plan = json!({ "steps": [step(0), step(2)] });
    assert_eq!(call(&mut live, "sequence", plan, 300).unwrap()["ok"], true);
    let later = 300 + PRESENCE_MS;
    assert_eq!(stepped(&mut live, 100, later).unwrap_err().code, Code::Paused);
    assert_eq!((live.game().tick(), live.game().is_paused()), (6, true), "earlier ticks were stepped");
    assert_eq!(stepped(&mut live, 1, later).unwrap_err().code, Code::Paused);
    call(&mut live, "observe", json!({}), later).unwrap();
    assert_eq!(stepped(&mut live, 1, later), Ok(json!({ "tick": 7 })));
}

/// §18: what holds the session is decided with each change of a seat by its owner.
#[test]
fn an_owners_change_is_decided_at_once() {
    let mut live = live(Clock::Realtime);
    live.tick(0);
    assert!(live.game().is_paused());
    let (_, mut mandate) = live.game().terms(&seat()).unwrap();
    mandate["whenAbsent"] = json!("bot");
    live.game_mut().set_mandate(&seat(), &mandate).unwrap();
    live.seats_changed(10);
    assert!(!live.game().is_paused());
    mandate["whenAbsent"] = json!("pause");
    live.game_mut().set_mandate(&seat(), &mandate).unwrap();
    live.seats_changed(20);
    assert!(live.game().is_paused());
    live.assign(&seat(), Occupant::Nobody, 30).unwrap();
    assert!(!live.game().is_paused());
}

/// §18: in a game of turns bots move on once the agent is back, and not before.
#[test]
fn bots_of_a_paused_game_of_turns_wait_too() {
    let mut live = live(Clock::Turns);
    // They moved before the mandate was written.
    let before = live.game().tick();
    live.seats_changed(0);
    live.heartbeat(250);
    assert_eq!((live.game().tick(), live.game().is_paused()), (before, true));
    call(&mut live, "observe", json!({}), 500).unwrap();
    assert!(!live.game().is_paused() && live.game().tick() > before);
}
