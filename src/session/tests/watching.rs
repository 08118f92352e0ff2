//! §4 view streams and §15.3 fog: who is shown what, and when.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::needless_pass_by_value,
    reason = "a test fails by panicking"
)]

mod common;

use common::drill::Drill;
use common::*;
use playerthree_game::{Clock, Seat};
use playerthree_session::{Config, Match, Observe, ObserverPolicy, Right, ViewMessage};
use serde_json::Value;
use std::collections::BTreeSet;

/// Applies one message to a reader's copy, strictly.
fn read(copy: &mut Option<(u64, Value)>, message: &ViewMessage) {
    *copy = Some(match message {
        ViewMessage::Keyframe { version, view } => (*version, view.value().clone()),
        ViewMessage::Delta { version, delta } => {
            let (before, view) = copy.take().unwrap();
            assert_eq!(*version, before + 1);
            (*version, playerthree_delta::apply(view, delta).unwrap())
        }
    });
}

/// A match of bots: something to see on every tick.
fn battle(observers: ObserverPolicy) -> Match {
    agent_command(Config { bots: Some("commander".into()), observers, ..config() })
}

/// §4: at every version the rebuilt view equals a fresh guarded snapshot.
#[test]
fn a_view_rebuilt_from_keyframe_and_deltas_equals_the_fresh_view_at_every_version() {
    let mut game = battle(ObserverPolicy::Closed);
    game.subscribe("red").unwrap();
    let mut copy = None;
    for message in game.view_messages("red", None) {
        read(&mut copy, &message);
    }
    let mut versions = 0;
    for now in 1..=600 {
        tick(&mut game, now * 100);
        for (team, message) in game.take_changes().views {
            assert_eq!(&*team, "red", "nothing is computed for a side that nobody watches");
            read(&mut copy, &message);
            versions += 1;
            assert_eq!(copy.as_ref().unwrap().1, *game.view("red").unwrap().value());
        }
    }
    assert!(versions > 500, "only {versions} versions");
}

/// §4: a team's view is built once a version, however many read it.
#[test]
fn a_thousand_readers_of_a_side_are_one_message() {
    let versions = |readers: usize| {
        let mut game = battle(ObserverPolicy::Closed);
        for _ in 0..readers {
            game.subscribe("red").unwrap();
        }
        let mut messages = Vec::new();
        for now in 1..=20 {
            tick(&mut game, now * 100);
            messages.extend(game.take_changes().views.into_iter().map(|(_, message)| message.version()));
        }
        messages
    };
    assert_eq!(versions(1_000), versions(1));
    assert_eq!(versions(1_000), (2..=21).collect::<Vec<_>>(), "one message a version, none twice");
}

/// §4: a step of several ticks adds one version, on its last tick; and views are no faster than ten a second.
#[test]
fn several_ticks_at_once_are_one_version() {
    let mut game = battle(ObserverPolicy::Closed);
    game.subscribe("red").unwrap();
    let before = game.view_version("red");
    for now in 1..=20 {
        tick(&mut game, now * 100);
    }
    let views = game.take_changes().views;
    assert_eq!((views.len(), game.view_version("red")), (1, before + 1));
    let mut copy = None;
    for message in game.view_messages("red", None) {
        read(&mut copy, &message);
    }
    assert_eq!(copy.unwrap().1, *game.view("red").unwrap().value());
}

/// §4 `viewHz`: at most ten views a second, also where the tick rate is no multiple of ten.
#[test]
fn views_come_at_most_ten_times_a_second_at_any_tick_rate() {
    let in_ten_seconds = [(10, 100), (11, 55), (15, 75), (19, 95), (20, 100), (25, 83), (60, 100)];
    for (tick_rate, expected) in in_ten_seconds {
        let (mut game, _) = drill(Drill { tick_rate, ..Drill::new(Clock::Realtime) }, config());
        game.subscribe("a").unwrap();
        let mut views = 0;
        for now in 1..=u64::from(10 * tick_rate) {
            tick(&mut game, now);
            views += game.take_changes().views.len();
        }
        assert_eq!(views, expected, "{tick_rate} ticks a second");
    }
}

/// §4: a reader within the batch gets deltas, one further behind a keyframe.
#[test]
fn a_late_reader_gets_contiguous_deltas_or_a_keyframe() {
    let mut game = battle(ObserverPolicy::Closed);
    game.subscribe("red").unwrap();
    let mut copy = None;
    read(&mut copy, &game.view_messages("red", None)[0]);
    for now in 1..=10 {
        tick(&mut game, now * 100);
        game.take_changes();
    }
    let messages = game.view_messages("red", Some(copy.as_ref().unwrap().0));
    assert!(messages.iter().all(|message| matches!(message, ViewMessage::Delta { .. })));
    for message in &messages {
        read(&mut copy, message);
    }
    assert_eq!(copy.as_ref().unwrap().1, *game.view("red").unwrap().value());
    for now in 11..=100 {
        tick(&mut game, now * 100);
        game.take_changes();
    }
    let messages = game.view_messages("red", Some(copy.as_ref().unwrap().0));
    assert!(matches!(messages[..], [ViewMessage::Keyframe { .. }]));
    // A version that was never given out is answered with a keyframe too, never with a guess.
    let messages = game.view_messages("red", Some(u64::MAX));
    assert!(matches!(messages[..], [ViewMessage::Keyframe { .. }]));
}

/// §4: a stream that stopped goes on with a keyframe, since versions between are missing.
#[test]
fn a_stream_that_nobody_read_starts_again_with_a_keyframe() {
    let mut game = battle(ObserverPolicy::Closed);
    game.subscribe("red").unwrap();
    let before = game.view_version("red");
    game.unsubscribe("red");
    for now in 1..=20 {
        tick(&mut game, now * 100);
    }
    assert!(game.take_changes().views.is_empty());
    game.subscribe("red").unwrap();
    let messages = game.view_messages("red", Some(before));
    assert!(matches!(messages[..], [ViewMessage::Keyframe { version, .. }] if version > before));
}

/// Ids of a side's units and buildings in the unfogged truth.
fn ids_of(game: &Match, side: &str) -> BTreeSet<String> {
    let truth = game.debug_view().unwrap();
    let sides = truth["sides"].as_array().unwrap();
    let side = sides.iter().find(|entry| entry["side"] == side).unwrap();
    let things = ["units", "buildings"].into_iter().flat_map(|kind| side[kind].as_array().unwrap());
    things.map(|thing| thing["id"].as_str().unwrap().to_owned()).collect()
}

/// §15.3: a hidden unit is in no payload of the other side, until it is seen.
#[test]
fn an_unseen_enemy_is_in_no_view_observation_or_match_data() {
    let mut game = battle(ObserverPolicy::Closed);
    let seats = [Seat::new("red", "ground"), Seat::new("red", "air")];
    let mut hidden = 0;
    let mut ever_seen = BTreeSet::new();
    for now in 0..300 {
        let view = game.view("red").unwrap().into_value();
        for list in ["units", "buildings"] {
            let things = view[list].as_array().unwrap().iter();
            ever_seen.extend(things.filter_map(|thing| thing["id"].as_str()).map(str::to_owned));
        }
        let mut payloads = vec![view.to_string()];
        for seat in &seats {
            let request = Observe { since: Some(-1), ..Observe::default() };
            payloads.push(game.observe(seat, Right::Agent, &request).unwrap().to_string());
            payloads.push(game.match_data(seat).unwrap().to_string());
        }
        // Kept events may tell of what was seen once; what was never seen may stand nowhere.
        for id in ids_of(&game, "blue").difference(&ever_seen) {
            let told = payloads.iter().any(|payload| payload.contains(&format!("\"{id}\"")));
            assert!(!told, "tick {now} tells of {id}");
            hidden += 1;
        }
        tick(&mut game, now * 100);
    }
    assert!(hidden > 300, "only {hidden} hidden things were looked for");
}
