//! §15.1, §10: a game that breaks its own schemas shows nothing. Whoever asked hears `internal`, whoever only listens hears
//! nothing, and no byte of the value leaves.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use common::drill::{Broken, Drill, LEAK};
use common::*;
use playerthree_game::Clock;
use playerthree_session::{
    CallError, CannotStart, Changes, Code, Config, Match, Observe, ObserverPerspective, ObserverPolicy, Right,
};
use serde_json::json;

/// A match with a reader of everything: an agent, a subscriber of its side's view, an observer without delay.
fn watched() -> (Match, Drill) {
    let config = Config { observers: ObserverPolicy::Private(0), ..config() };
    let (mut game, told) = drill(Drill::new(Clock::Realtime), config);
    game.assign(&lead("a"), agent("ann")).unwrap();
    game.subscribe("a").unwrap();
    tick(&mut game, 0);
    done(wait_for(&mut game, &lead("a"), Right::Agent, 0, &[], 0));
    game.take_changes();
    (game, told)
}

fn assert_internal<T: std::fmt::Debug>(result: Result<T, CallError>) {
    let error = result.unwrap_err();
    assert_eq!(error.to_json("code"), json!({ "code": "internal" }));
}

fn assert_clean(changes: &Changes) {
    assert!(!format!("{changes:?}").contains(LEAK));
}

/// Plays until views and frames are due, and gives what left the match.
fn play(game: &mut Match, from: u64) -> Changes {
    (from..from + 10).for_each(|now| tick(game, now * 100));
    let changes = game.take_changes();
    assert_clean(&changes);
    changes
}

/// §10: whoever asks for an output that broke its schema is told `internal`, and the good one again once the game
/// recovers.
#[test]
fn a_broken_output_is_internal_to_whoever_asks() {
    let (mut game, told) = watched();
    let seat = lead("a");
    let observe = |game: &mut Match| game.observe(&seat, Right::Agent, &Observe::default());
    told.breaks(Some(Broken::Observation));
    assert_internal(observe(&mut game));
    assert_internal(game.probe_observation(&seat, &[]));
    told.breaks(Some(Broken::View));
    assert_internal(game.view("a"));
    told.breaks(Some(Broken::Report));
    assert_internal(game.report("a"));
    for broken in [Broken::MatchData, Broken::NoMatchData, Broken::LongMatchData] {
        told.breaks(Some(broken));
        assert_internal(game.match_data(&seat));
    }
    told.breaks(None);
    observe(&mut game).unwrap();
    game.view("a").unwrap();
    game.report("a").unwrap();
    game.match_data(&seat).unwrap();
}

/// §10, §15.1: a stream carries no version and no frame of an output that broke its schema, and goes on after it.
#[test]
fn a_broken_output_reaches_no_stream() {
    let (mut game, told) = watched();
    told.breaks(Some(Broken::View));
    assert!(play(&mut game, 1).views.is_empty());
    told.breaks(Some(Broken::World));
    let shown = game.observer_watermark(&ObserverPerspective::All);
    play(&mut game, 11);
    assert_eq!(game.observer_watermark(&ObserverPerspective::All), shown);
    told.breaks(None);
    assert!(!play(&mut game, 21).views.is_empty());
    assert!(game.observer_watermark(&ObserverPerspective::All) > shown);
}

/// §10: an event that broke its schema wakes nobody; the wait that asked for it is told `internal`.
#[test]
fn a_broken_event_is_told_to_nobody() {
    let (mut game, told) = watched();
    told.breaks(Some(Broken::Event));
    let cry = json!({ "kind": "cry", "to": "a", "what": "alarm" });
    act(&mut game, &lead("a"), Right::Agent, cry);
    tick(&mut game, 100);
    let wait = playerthree_session::Wait { millis: 1_000, until: vec!["alarm".into()] };
    assert_internal(game.wait(&lead("a"), Right::Agent, wait, 100));
    told.breaks(None);
    let answer = done(wait_for(&mut game, &lead("a"), Right::Agent, 0, &["alarm"], 100));
    assert_eq!((&answer["wake"], &answer["events"][0]["kind"]), (&json!("event"), &json!("alarm")));
}

/// §10: a match whose first outputs break their schemas does not come to be; match data may have 131072 bytes.
#[test]
fn a_match_with_a_broken_first_output_is_not_made() {
    for broken in [
        Broken::Observation,
        Broken::View,
        Broken::World,
        Broken::MatchData,
        Broken::NoMatchData,
        Broken::LongMatchData,
    ] {
        let game = Drill::new(Clock::Realtime);
        game.breaks(Some(broken));
        let config = Config { observers: ObserverPolicy::Private(0), ..config() };
        let failed = Match::new(surface(game), config, 0).map(|_| ()).unwrap_err();
        assert!(matches!(failed, CannotStart::Output(_)), "{broken:?}");
        assert!(!format!("{failed:?} {failed}").contains(LEAK));
    }
}

/// §10: an agent that enters a match whose observation broke hears `internal`, and enters once the game recovers.
#[test]
fn an_entry_is_kept_for_when_the_game_recovers() {
    let (mut game, told) = drill(Drill::new(Clock::Realtime), config());
    game.assign(&lead("a"), agent("ann")).unwrap();
    told.breaks(Some(Broken::Observation));
    let wait = playerthree_session::Wait { millis: 0, until: Vec::new() };
    assert_eq!(game.wait(&lead("a"), Right::Agent, wait, 0).unwrap_err().code, Code::Internal);
    told.breaks(None);
    assert_eq!(done(wait_for(&mut game, &lead("a"), Right::Agent, 0, &[], 0))["observation"]["tick"], 0);
}
