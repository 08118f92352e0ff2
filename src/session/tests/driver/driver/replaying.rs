//! What must hold of the replay of any match (§10): read back as a stranger would read it, it leads to the state that the
//! match is in, from its beginning, from where an earlier reading ended, and from a copy of that place.

use super::Driver;
use playerthree_session::{Position, Replay, replay_match};
use std::ops::ControlFlow;

/// Operations between two readings.
const EVERY: u32 = 61;

/// Where the last reading ended, and how many operations there were.
#[derive(Debug, Default)]
pub(super) struct Reading {
    operations: u32,
    at: Option<Position>,
}

impl Driver {
    /// Reads the replay now and then, and once when the match ends: what its game is told later is no part of it.
    pub(super) fn judge_replay(&mut self) {
        self.reading.operations += 1;
        let ended = self.reading.at.as_ref().is_some_and(|at| at.ranks().is_some());
        let due = self.reading.operations.is_multiple_of(EVERY) || self.game.is_over();
        if ended || !due {
            return;
        }
        let surface = self.game.surface();
        let replay = Replay::read(surface, &self.game.replay().unwrap().to_text()).unwrap();
        let live = self.game.state_hash().unwrap();
        let copy = self.reading.at.as_ref().and_then(Position::copy);
        let starts = [None, copy, self.reading.at.take()];
        for start in starts {
            let go_on = &mut |_| ControlFlow::Continue(());
            let end = replay_match(surface, &replay, replay.ticks(), start, go_on).unwrap();
            assert_eq!(end.state_hash(surface).unwrap(), live, "a replay leads elsewhere");
            self.reading.at = Some(end);
        }
        self.seen.saw(if self.game.is_over() { "replayed to its end" } else { "replayed" });
    }
}
