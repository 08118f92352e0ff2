//! Properties of the verifier: legal games verify, and no damage to a log goes unnoticed.
#![allow(clippy::unwrap_used, reason = "a test that cannot set up has nothing else to do")]

mod common;

use std::collections::HashMap;

use common::{Script, lines};
use playerthree_pipes::verify::{Bounds, LogError, Request, verify};
use proptest::prelude::*;
use serde_json::{Value, json};

fn report(bodies: &[String]) -> Value {
    verify(lines(bodies).as_bytes(), Request::default()).unwrap().to_json()
}

/// A second opinion on the state after each move: walks every line of the board.
fn state_of(cells: &HashMap<(u64, u64), &'static str>, rows: u64, cols: u64, need: u64) -> &'static str {
    for row in 0..rows as i64 {
        for col in 0..cols as i64 {
            for (dr, dc) in [(0, 1), (1, 0), (1, 1), (1, -1)] {
                let at = |n: i64| (row + dr * n, col + dc * n);
                let mark = |n: i64| cells.get(&(u64::try_from(at(n).0).ok()?, u64::try_from(at(n).1).ok()?));
                if mark(0).is_some() && (0..need as i64).all(|n| mark(n) == mark(0)) {
                    return "win";
                }
            }
        }
    }
    if cells.len() as u64 == rows * cols { "draw" } else { "in_progress" }
}

prop_compose! {
    /// A legal game with its true claims, played until it ends, is resigned, or stops.
    fn legal_game()(
        rows in 1u64..5, cols in 1u64..5, need in 1u64..5,
        order in Just((0..16u64).collect::<Vec<_>>()).prop_shuffle(),
        claims in proptest::collection::vec(any::<bool>(), 16),
        stop in 0usize..24, resigns in any::<bool>(),
    ) -> (Script, &'static str) {
        let mut script = Script::new("g", rows, cols, need);
        let mut cells = HashMap::new();
        let mut state = "in_progress";
        let order = order.into_iter().filter(|at| *at < rows * cols);
        for (at, claims) in order.zip(claims).take(stop) {
            cells.insert((at / cols, at % cols), script.next_player());
            state = state_of(&cells, rows, cols, need);
            script.place(at / cols, at % cols, claims.then_some(state));
            if state != "in_progress" {
                break;
            }
        }
        if state == "in_progress" && resigns {
            script.resign();
            state = "win";
        }
        (script, state)
    }
}

fn first_fault(report: &Value) -> Option<(i64, String)> {
    let verdict = &report["verdict"];
    (verdict["ok"] == false)
        .then(|| (verdict["seq"].as_i64().unwrap_or(-1), verdict["reason"].as_str().unwrap().to_owned()))
}

proptest! {
    #[test]
    fn any_legal_game_verifies_with_its_true_state((script, state) in legal_game()) {
        let report = report(&script.bodies);
        prop_assert_eq!(&report["verdict"], &json!({"ok": true}));
        prop_assert_eq!(&report["games"][0]["status"], state);
        prop_assert_eq!(&report["games"][0]["events"], script.bodies.len());
    }

    #[test]
    fn a_deleted_event_is_caught_at_the_next_one((script, _) in legal_game(), at in any::<prop::sample::Index>()) {
        prop_assume!(script.bodies.len() > 1);
        let at = at.index(script.bodies.len() - 1);
        let mut bodies = script.bodies;
        bodies.remove(at);
        let expected = if at == 0 { (1, "missing_genesis".to_owned()) } else { (at as i64 + 1, "wrong_prev_hash".to_owned()) };
        prop_assert_eq!(first_fault(&report(&bodies)), Some(expected));
    }

    #[test]
    fn two_swapped_events_are_caught_at_the_first_that_does_not_fit(
        (script, _) in legal_game(), one in any::<prop::sample::Index>(), other in any::<prop::sample::Index>(),
    ) {
        let len = script.bodies.len();
        prop_assume!(len > 1);
        let (one, other) = (one.index(len), other.index(len));
        prop_assume!(one != other);
        let (one, other) = (one.min(other), one.max(other));
        let mut bodies = script.bodies;
        bodies.swap(one, other);
        let expected = if one == 0 { "missing_genesis" } else { "wrong_prev_hash" };
        prop_assert_eq!(first_fault(&report(&bodies)), Some((other as i64, expected.to_owned())));
    }

    #[test]
    fn an_edited_event_is_caught_at_the_next_one((script, _) in legal_game(), at in any::<prop::sample::Index>()) {
        prop_assume!(script.bodies.len() > 1);
        let at = at.index(script.bodies.len() - 1);
        let mut bodies = script.bodies;
        let mut event: Value = serde_json::from_str(&bodies[at]).unwrap();
        event["edited"] = json!(true);
        bodies[at] = event.to_string();
        prop_assert_eq!(first_fault(&report(&bodies)), Some((at as i64 + 1, "wrong_prev_hash".to_owned())));
    }

    #[test]
    fn a_rival_slipped_in_is_caught_when_the_real_event_is_built_upon(
        (script, _) in legal_game(), at in any::<prop::sample::Index>(),
    ) {
        prop_assume!(script.bodies.len() > 2);
        let at = 1 + at.index(script.bodies.len() - 2);
        let mut bodies = script.bodies;
        let mut rival: Value = serde_json::from_str(&bodies[at]).unwrap();
        rival["inserted"] = json!(1);
        bodies.insert(at, rival.to_string());
        let report = report(&bodies);
        // The real event lost the race; its answer is the first that no longer fits.
        prop_assert_eq!(&report["ignored"][0]["reason"], "race_lost");
        prop_assert_eq!(first_fault(&report), Some((at as i64 + 1, "wrong_prev_hash".to_owned())));
    }

    #[test]
    fn a_repeated_event_is_a_note_and_never_a_fault(
        (script, _) in legal_game(), at in any::<prop::sample::Index>(), later in any::<prop::sample::Index>(),
    ) {
        let at = at.index(script.bodies.len());
        let later = at + 1 + later.index(script.bodies.len() - at);
        let mut bodies = script.bodies;
        bodies.insert(later.min(bodies.len()), bodies[at].clone());
        let report = report(&bodies);
        prop_assert_eq!(&report["verdict"], &json!({"ok": true}));
        prop_assert_eq!(&report["ignored"][0]["reason"], "duplicate_event");
    }

    #[test]
    fn games_in_one_inbox_never_touch_each_other(
        (one, _) in legal_game(), (other, _) in legal_game(), order in proptest::collection::vec(any::<bool>(), 64),
    ) {
        let mut other_bodies = other.bodies.iter().map(|body| body.replace("\"game\":\"g\"", "\"game\":\"h\""));
        let mut one_bodies = one.bodies.iter().cloned();
        // The second game's pointers were made for another id, so it breaks at its second event and the first stands.
        let mut mixed = Vec::new();
        for first in order {
            let next = if first { one_bodies.next() } else { other_bodies.next() };
            mixed.extend(next);
        }
        mixed.extend(one_bodies.chain(other_bodies));
        let report = report(&mixed);
        let games = report["games"].as_array().unwrap();
        let game = games.iter().find(|game| game["gameId"] == "g").unwrap();
        prop_assert!(game["fault"].is_null());
        prop_assert_eq!(&game["events"], one.bodies.len());
    }

    #[test]
    fn no_bytes_make_the_verifier_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        _ = verify(bytes.as_slice(), Request::default());
    }

    #[test]
    fn no_body_makes_the_verifier_panic(body in "\\PC{0,80}|\\{\"game\":\"g\",\"seq\":[0-9.e+-]{1,20},\"action\":\"(start|move)\"\\}") {
        _ = report(&[body]);
    }
}

#[test]
fn junk_of_one_game_leaves_counts_and_nothing_else() {
    let junk = "{\"game\":\"g\",\"seq\":5,\"prevHash\":\"x\"}\n".repeat(100_000);
    let bounds = Bounds { listed_rows: 10, ..Bounds::default() };
    let report = verify(junk.as_bytes(), Request { bounds, ..Request::default() }).unwrap();
    assert_eq!((report.fault_count, report.faults.len()), (100_000, 10));
    assert_eq!(report.to_json()["counts"]["faults"], 100_000);
}

#[test]
fn every_bound_ends_the_reading_with_its_own_error() {
    let bodies: Vec<String> =
        (0..10).map(|n| Script::new(&format!("g{n}"), 3, 3, 3).bodies.remove(0)).collect();
    let log = lines(&bodies);
    let run = |limit: fn(&mut Bounds)| {
        let mut bounds = Bounds::default();
        limit(&mut bounds);
        verify(log.as_bytes(), Request { bounds, ..Request::default() })
    };
    assert!(run(|_| {}).is_ok());
    assert!(matches!(run(|b| b.games = 9), Err(LogError::TooManyGames)));
    assert!(run(|b| b.games = 10).is_ok());
    assert!(matches!(run(|b| b.accepted_events = 9), Err(LogError::TooManyEvents)));
    assert!(run(|b| b.accepted_events = 10).is_ok());
    assert!(matches!(run(|b| b.capture_bytes = 140), Err(LogError::CaptureTooLarge)));
    // A single inbox in order needs no holding back: past the bound it is streamed.
    assert!(run(|b| b.held_bytes = 400).is_ok());
}

#[test]
fn several_inboxes_and_newest_first_listings_are_held_only_up_to_the_bound() {
    let mut script = Script::new("g", 3, 3, 3);
    script.place(0, 0, None);
    script.place(1, 1, None);
    let row = |n: usize| json!({"Seq": n + 1, "Id": n.to_string(), "Body": script.bodies[n]});
    let small = Request { bounds: Bounds { held_bytes: 300, ..Bounds::default() }, ..Request::default() };
    let merged = json!({"inboxes": [{"captures": [row(0), row(2)]}, {"captures": [row(1)]}]}).to_string();
    assert!(verify(merged.as_bytes(), Request::default()).unwrap().is_valid());
    assert!(matches!(verify(merged.as_bytes(), small.clone()), Err(LogError::TooLargeToHold)));
    let reversed = json!({"Requests": [row(2), row(1), row(0)]}).to_string();
    assert!(verify(reversed.as_bytes(), Request::default()).unwrap().is_valid());
    assert!(matches!(verify(reversed.as_bytes(), small.clone()), Err(LogError::TooLargeToHold)));
    let late = json!({"inboxes": [{"captures": [row(0), row(1), row(2)]}], "options": {}}).to_string();
    assert!(verify(late.as_bytes(), Request::default()).unwrap().is_valid());
    // serde_json sorts members, so the options are put behind by hand.
    let late =
        format!("{{\"inboxes\":[{{\"captures\":[{},{},{}]}}],\"options\":{{}}}}", row(0), row(1), row(2));
    assert!(matches!(verify(late.as_bytes(), small), Err(LogError::LateOptions)));
}

#[test]
fn a_run_as_long_as_the_game_is_judged_without_walking_it() {
    // Two rows filled side by side: a walk along the line at each mark would take 50 million steps.
    let mut script = Script::new("g", 2, 1 << 40, 1 << 40);
    for col in 0..5_000 {
        script.place(0, col, None);
        script.place(1, col, None);
    }
    let report = verify(lines(&script.bodies).as_bytes(), Request::default()).unwrap();
    assert!(report.is_valid());
}
