//! §18 "bounded memory for an endless run": a million ticks of a persistent session. A test program of its own, because it
//! measures the memory of its process.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::meadow::{Meadow, gardener, sow};
use common::*;
use playerthree_game::Clock;
use playerthree_session::{Config, Match, Persistent, Perspective, Right, Timeline, replay_match};
use serde_json::Value;
use std::ops::ControlFlow;

const TICKS: u64 = 1_000_000;
const CHECKPOINT_TICKS: u32 = 500;
const CHECKPOINTS: u32 = 5;

/// Ticks that the window reaches back at most: one interval more than it has to.
const WINDOW: usize = (CHECKPOINT_TICKS * CHECKPOINTS) as usize;

/// How much the process may grow between its hundred thousandth tick and its last window, in bytes. One byte kept of each tick
/// would be 900,000 already; an entry takes more than a hundred.
const GROWTH_MAX: u64 = 300_000;

/// Bytes of memory that the process has in use.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = statm.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}

#[test]
fn a_million_ticks_keep_a_flat_memory_and_scrub_everywhere_in_their_window() {
    let persistent = Some(Persistent::new(CHECKPOINT_TICKS, CHECKPOINTS).unwrap());
    let meadow = surface(Meadow { clock: Clock::Realtime, grafts: true });
    let mut game = Match::new(meadow, Config { persistent, ..config() }, 0).unwrap();
    game.assign(&gardener(), human("ann")).unwrap();
    let mut states: Vec<Value> = Vec::with_capacity(WINDOW);
    let (mut resident_early, mut resident_late) = (0, 0);
    while game.tick() < TICKS {
        let at = game.tick();
        if at.is_multiple_of(3) {
            let now = at * 100;
            game.act(&gardener(), Right::Owner, &[sow(at % 11)], now).unwrap();
        }
        if at >= TICKS - WINDOW as u64 {
            states.push(game.debug_view().unwrap());
        }
        tick(&mut game, at * 100);
        game.take_changes();
        if at == TICKS / 10 {
            resident_early = resident();
        }
        if at == TICKS - WINDOW as u64 - 1 {
            // From here on the test itself keeps states to compare with.
            resident_late = resident();
        }
    }
    let grown = resident_late.saturating_sub(resident_early);
    assert!(grown <= GROWTH_MAX, "{grown} bytes more than {resident_early}");

    let replay = game.replay().unwrap();
    let from = replay.window().unwrap().from;
    assert!(replay.entries().len() <= WINDOW / 3 + 1, "entries of the window alone");
    assert!(TICKS - from >= u64::from((CHECKPOINTS - 1) * CHECKPOINT_TICKS));
    let mut position = game.checkpoint(None);
    let first = TICKS - states.len() as u64;
    for target in from..TICKS {
        let reached =
            replay_match(game.surface(), &replay, target, position, &mut |_| ControlFlow::Continue(()));
        let reached = reached.unwrap();
        let shown = reached.show(game.surface(), &Perspective::God).unwrap();
        assert_eq!(shown, states[usize::try_from(target - first).unwrap()]);
        position = Some(reached);
    }
    let mut timeline = Timeline::from_checkpoint(game.checkpoint(None).unwrap());
    for target in (from..TICKS).rev().step_by(83) {
        let reached =
            timeline.seek(game.surface(), &replay, target, &mut |_| ControlFlow::Continue(())).unwrap();
        let shown = reached.show(game.surface(), &Perspective::God).unwrap();
        assert_eq!(shown, states[usize::try_from(target - first).unwrap()]);
    }
}
