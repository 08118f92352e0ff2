//! Prints what one observer is sent in a minute, in bytes as they travel: a keyframe and every frame after it.
//!
//! `cargo run --release -p playerthree-binding --example observer_minute`
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a measurement prints its table and ends where its expectation does"
)]

use playerthree_agent_command::AgentCommand;
use playerthree_game::{Clock, Game};
use playerthree_rooms::Frame;
use playerthree_session::{Config, Match, ObserverPerspective, ObserverPolicy, Surface};
use playerthree_tic_tac_toe::TicTacToe;
use serde_json::json;
use std::sync::Arc;

const MINUTE: u64 = 60_000;

/// Between two moves of a game of turns, in milliseconds.
const TURN: u64 = 3_000;

/// A match of bots whose observers are not late.
fn start(game: impl Game, bots: &str, teams: Option<Vec<playerthree_game::Name>>) -> Match {
    let surface = Arc::new(Surface::new(Arc::new(game)).unwrap());
    let config = Config {
        teams,
        bots: Some(bots.into()),
        observers: ObserverPolicy::Private(0),
        epoch: 1_800_000_000_000,
        ..Config::of(7)
    };
    Match::new(surface, config, 0).unwrap()
}

/// What a reader that came at the start of a minute has been sent.
#[derive(Default)]
struct Sent {
    at: Option<u64>,
    frames: usize,
    keyframes: usize,
    deltas: usize,
}

impl Sent {
    fn read(&mut self, game: &Match, perspective: &ObserverPerspective) {
        for key in game.observer_since(perspective, self.at).unwrap() {
            let frame = game.observer_frame(perspective, key).unwrap().into_json();
            let bytes = if frame.get("world").is_some() { &mut self.keyframes } else { &mut self.deltas };
            let body = json!({ "op": "observer", "state": "ready", "frame": frame });
            *bytes += Frame::message("playerthree:observer", &body).unwrap().size();
            self.frames += 1;
            self.at = Some(key.sequence());
        }
    }
}

/// Plays minutes and prints the last one, once for each perspective.
fn measure(title: &str, mut game: Match, minutes: u64) {
    let step = match game.surface().game.clock() {
        Clock::Realtime => 1_000 / u64::from(game.surface().manifest.tick_rate),
        Clock::Turns => TURN,
    };
    let perspectives = game.perspectives();
    let mut sent: Vec<Sent> = perspectives.iter().map(|_| Sent::default()).collect();
    for now in (step..=minutes * MINUTE).step_by(usize::try_from(step).unwrap()) {
        game.observers_read(now);
        game.begin_round(now, &|_| None);
        game.end_round(now);
        if now > (minutes - 1) * MINUTE {
            perspectives.iter().zip(&mut sent).for_each(|(perspective, sent)| sent.read(&game, perspective));
        }
    }
    for (perspective, sent) in perspectives.iter().zip(sent) {
        println!(
            "{title:<28} {:<6} {:>6} {:>10} {:>10} {:>10}",
            perspective.as_str(),
            sent.frames,
            sent.keyframes,
            sent.deltas,
            sent.keyframes + sent.deltas
        );
    }
}

fn main() {
    println!(
        "{:<28} {:<6} {:>6} {:>10} {:>10} {:>10}",
        "match, minute", "sees", "frames", "keyframes", "deltas", "bytes"
    );
    let duel = || Some(vec!["red".into(), "blue".into()]);
    for minutes in [1, 3] {
        let game = start(AgentCommand, "commander", duel());
        measure(&format!("agent-command duel, {minutes}"), game, minutes);
    }
    measure("agent-command all sides, 3", start(AgentCommand, "commander", None), 3);
    measure("tic-tac-toe, 1", start(TicTacToe, "random", None), 1);
}
