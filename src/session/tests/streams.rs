//! §9: stream mode pushes observations at the pace that was asked for and never faster than `maxHz`, and caps the intents
//! of a tick.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::needless_pass_by_value,
    reason = "a test fails by panicking"
)]

mod common;

use common::drill::Drill;
use common::*;
use playerthree_game::{Clock, Detail};
use playerthree_session::{Ack, Barred, Code, Match, Right, StreamRequest};
use serde_json::{Value, json};

fn request(every_ticks: u32) -> StreamRequest {
    StreamRequest { every_ticks, detail: Detail::default() }
}

fn played(clock: Clock) -> Match {
    let (mut game, _) = drill(Drill::new(clock), config());
    game.assign(&lead("a"), human("ann")).unwrap();
    game
}

/// The ticks of what has been pushed since the last call.
fn pushed(game: &mut Match) -> Vec<u64> {
    game.take_changes().observations.iter().map(|pushed| pushed.tick).collect()
}

/// §9: every so many ticks; zero stops. `maxHz` 5 at 10 ticks a second is every second tick at most.
#[test]
fn observations_come_at_the_pace_asked_for_and_no_faster_than_max_hz() {
    for (asked, every, ticks) in [(1, 2, vec![1, 3, 5, 7]), (3, 3, vec![1, 4, 7])] {
        let mut game = played(Clock::Realtime);
        assert_eq!(game.stream(&lead("a"), Right::Owner, &request(asked)).unwrap(), every);
        (0..8).for_each(|now| tick(&mut game, now));
        assert_eq!(pushed(&mut game), ticks);
        assert_eq!(game.stream(&lead("a"), Right::Owner, &request(0)).unwrap(), 0);
        (0..8).for_each(|now| tick(&mut game, now));
        assert!(pushed(&mut game).is_empty());
    }
}

/// §9: neither stopping and starting nor a heartbeat beats `maxHz`.
#[test]
fn a_stream_that_is_started_again_is_no_faster() {
    let mut game = played(Clock::Realtime);
    for now in 0..6 {
        game.stream(&lead("a"), Right::Owner, &request(0)).unwrap();
        game.stream(&lead("a"), Right::Owner, &request(1)).unwrap();
        game.heartbeat(now);
        tick(&mut game, now);
        game.heartbeat(now);
    }
    assert_eq!(pushed(&mut game), [0, 2, 4, 6]);
}

/// §9: moves of a game of turns can come at once, so there `maxHz` counts wall time, and a push that was held back comes later.
#[test]
fn in_a_game_of_turns_max_hz_counts_wall_time() {
    let mut game = played(Clock::Turns);
    game.stream(&lead("a"), Right::Owner, &request(1)).unwrap();
    let moves = |game: &mut Match, now| game.act(&lead("a"), Right::Owner, &[mark(1)], now).unwrap();
    moves(&mut game, 0);
    moves(&mut game, 1);
    moves(&mut game, 199);
    assert_eq!(pushed(&mut game), [1]);
    game.heartbeat(200);
    assert_eq!(pushed(&mut game), [3]);
    game.heartbeat(1_000);
    assert!(pushed(&mut game).is_empty(), "no new tick, nothing new to see");
}

/// §9: the stream's detail is the role's defaults and what was asked for; unknown and repeated sections are invalid.
#[test]
fn a_streams_detail_applies_to_every_observation() {
    let mut game = played(Clock::Realtime);
    let read = |game: &Match, args: Value| StreamRequest::parse(game.surface(), &args);
    let asked = read(&game, json!({ "everyTicks": 2, "detail": ["far"] })).unwrap();
    game.stream(&lead("a"), Right::Owner, &asked).unwrap();
    (0..3).for_each(|now| tick(&mut game, now));
    for pushed in game.take_changes().observations {
        assert_eq!(pushed.observation["full"], json!(["near", "far"]));
    }
    for args in [
        json!({}),
        json!({ "everyTicks": -1 }),
        json!({ "everyTicks": 0.5 }),
        json!({ "everyTicks": 1, "detail": ["middle"] }),
        json!({ "everyTicks": 1, "detail": "near" }),
        json!({ "everyTicks": 1, "more": 1 }),
        json!(null),
    ] {
        assert_eq!(read(&game, args.clone()).unwrap_err().code, Code::Invalid, "{args}");
    }
    let twice = read(&game, json!({ "everyTicks": 2, "detail": ["far", "far"] }));
    let refused = twice.and_then(|twice| game.stream(&lead("a"), Right::Owner, &twice));
    assert_eq!(refused.unwrap_err().code, Code::Invalid);
}

/// §9: at most `intentsPerTick` of a holder who streams; a refused one costs nothing and the next tick has room again.
#[test]
fn a_holder_who_streams_sends_so_many_intents_a_tick() {
    let mut game = played(Clock::Realtime);
    let codes = |game: &mut Match| -> Vec<String> {
        let acks = game.act(&lead("a"), Right::Owner, &vec![mark(1); 4], 0).unwrap();
        acks.iter().map(|ack| ack.code().to_owned()).collect()
    };
    assert_eq!(codes(&mut game), ["ok"; 4], "the cap is the stream's");
    game.stream(&lead("a"), Right::Owner, &request(1)).unwrap();
    assert_eq!(codes(&mut game), ["ok", "ok", "rate_limited", "rate_limited"]);
    game.stream(&lead("a"), Right::Owner, &request(2)).unwrap();
    assert_eq!(codes(&mut game), ["rate_limited"; 4], "asking again makes no room");
    tick(&mut game, 0);
    assert_eq!(codes(&mut game)[..3], ["ok", "ok", "rate_limited"]);
}

/// §6, §9: the same authority as any intent.
#[test]
fn streaming_gives_no_authority_to_act() {
    let mut game = played(Clock::Realtime);
    game.assign(&wing("a"), agent("ann")).unwrap();
    game.set_scopes(&wing("a"), &json!(["policy"])).unwrap();
    game.stream(&wing("a"), Right::Agent, &request(1)).unwrap();
    assert_eq!(act(&mut game, &wing("a"), Right::Agent, mark(1)), Ack::Barred(Barred::OutOfScope));
    tick(&mut game, 0);
    assert_eq!(pushed(&mut game), [1], "to observe needs no scope");
}

/// §4: a stream ends with the hold that asked for it, and nothing of it reaches anybody any more.
#[test]
fn a_stream_ends_with_its_hold() {
    let mut game = played(Clock::Realtime);
    game.stream(&lead("a"), Right::Owner, &request(1)).unwrap();
    tick(&mut game, 0);
    game.assign(&lead("a"), human("bob")).unwrap();
    (0..4).for_each(|now| tick(&mut game, now));
    assert!(pushed(&mut game).is_empty());
}

/// §3: a mode that the game lacks is unavailable.
#[test]
fn a_game_without_streams_has_none() {
    let mut game = Drill::new(Clock::Realtime);
    game.control.stream = None;
    let (mut game, _) = drill(game, config());
    game.assign(&lead("a"), human("ann")).unwrap();
    let refused = game.stream(&lead("a"), Right::Owner, &request(1)).unwrap_err();
    assert_eq!(refused.code, Code::ModeUnavailable);
    let refused = StreamRequest::parse(game.surface(), &json!({ "everyTicks": 1 })).unwrap_err();
    assert_eq!(refused.code, Code::ModeUnavailable);
}
