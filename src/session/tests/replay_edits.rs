//! §10: whoever changes one thing in a replay has another replay: it is refused, or it has another digest and so names
//! another match. Edits are drawn from a seed, on the golden replays of both games.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use common::*;
use playerthree_agent_command::AgentCommand;
use playerthree_session::{Replay, ReplayError, Surface, replay_match};
use playerthree_tic_tac_toe::TicTacToe;
use serde_json::{Value, json};
use std::ops::ControlFlow;

/// Words that mean something somewhere in a replay.
const WORDS: [&str; 16] = [
    "red", "blue", "green", "x", "o", "ground", "air", "player", "owner", "agent", "bot", "policy", "win",
    "loss", "running", "intent",
];

/// What an edited replay comes to: its digest, its last state, or why it is refused.
fn execute(surface: &Surface, text: &str) -> Result<(String, String), ReplayError> {
    let replay = Replay::read(surface, text)?;
    let end = replay_match(surface, &replay, replay.ticks(), None, &mut |_| ControlFlow::Continue(()))?;
    Ok((replay.digest(), end.state_hash(surface)?))
}

/// A random place below this value, the deeper the likelier.
fn somewhere<'a>(value: &'a mut Value, random: &mut fastrand::Rng) -> &'a mut Value {
    let inner = match value {
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        _ => 0,
    };
    if inner == 0 || random.u8(..10) == 0 {
        return value;
    }
    let place = random.usize(..inner);
    match value {
        Value::Array(items) => somewhere(&mut items[place], random),
        Value::Object(members) => somewhere(members.values_mut().nth(place).unwrap(), random),
        leaf => leaf,
    }
}

/// One edit: another number or word, or an item or member more, less, twice, or elsewhere.
fn edit(value: &mut Value, random: &mut fastrand::Rng) {
    match value {
        Value::Number(number) => {
            let near = number.as_i64().unwrap_or(0) + random.i64(1..3) * if random.bool() { 1 } else { -1 };
            *value = json!(near);
        }
        Value::String(_) => *value = json!(WORDS[random.usize(..WORDS.len())]),
        Value::Array(items) if !items.is_empty() => {
            let place = random.usize(..items.len());
            match random.u8(..3) {
                0 => _ = items.remove(place),
                1 => items.insert(place, items[place].clone()),
                _ => items.swap(place, 0),
            }
        }
        Value::Object(members) => {
            let name = members.keys().nth(random.usize(..members.len().max(1))).cloned();
            match name {
                Some(name) if random.bool() => _ = members.remove(&name),
                _ => _ = members.insert(WORDS[random.usize(..WORDS.len())].to_owned(), json!(1)),
            }
        }
        _ => *value = json!(null),
    }
}

fn check(surface: &Surface, text: &str, edits: u32, seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    let (digest, state) = execute(surface, text).unwrap();
    let original: Value = serde_json::from_str(text).unwrap();
    let (mut refused, mut elsewhere) = (0, 0);
    for number in 0..edits {
        let mut edited = original.clone();
        edit(somewhere(&mut edited, &mut random), &mut random);
        if edited == original {
            continue;
        }
        match execute(surface, &edited.to_string()) {
            Err(_) => refused += 1,
            Ok((other, led_to)) => {
                assert_ne!(other, digest, "edit {number} of seed {seed} is another replay of the same name");
                elsewhere += u32::from(led_to != state);
            }
        }
    }
    assert!(refused > edits / 4, "{refused} of {edits}");
    assert!(elsewhere > 0, "some edit must lead a match elsewhere");
}

#[test]
fn any_edit_of_a_match_of_tic_tac_toe_is_refused_or_has_another_digest() {
    check(&surface(TicTacToe), include_str!("golden/tic-tac-toe.replay.json"), 2_000, 1);
}

#[test]
fn any_edit_of_a_match_of_agent_command_is_refused_or_has_another_digest() {
    check(&surface(AgentCommand), include_str!("golden/agent-command.replay.json"), 150, 2);
}
