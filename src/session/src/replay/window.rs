//! What a persistent session keeps of its past (§18): copies of its game, the newest few, and the entries that were recorded
//! since the oldest of them. Both have a bound, however long the session lasts.

use super::position::Position;
use crate::game_match::Match;
use crate::persistent::Persistent;
use std::collections::{BTreeSet, VecDeque};

/// The kept checkpoints, oldest first.
pub(crate) struct Past {
    limits: Persistent,
    kept: VecDeque<Position>,
}

impl Past {
    /// Nothing yet.
    pub(crate) fn new(limits: Persistent) -> Self {
        Self { limits, kept: VecDeque::new() }
    }

    /// The tick of the oldest checkpoint.
    pub(super) fn from(&self) -> Option<u64> {
        self.kept.front().map(Position::tick)
    }

    fn is_due(&self, tick: u64) -> bool {
        tick.is_multiple_of(u64::from(self.limits.checkpoint_ticks))
    }

    /// Keeps one more, and forgets the oldest where there are more than may be.
    fn keep(&mut self, checkpoint: Position) {
        self.kept.push_back(checkpoint);
        if self.kept.len() > self.limits.checkpoints as usize {
            self.kept.pop_front();
        }
    }

    /// The first entry that is still needed, once as many checkpoints are kept as may be. Until then the whole session is.
    fn first_needed(&self) -> Option<u64> {
        let is_full = self.kept.len() == self.limits.checkpoints as usize;
        self.kept.front().filter(|_| is_full).map(Position::next_entry)
    }
}

impl Match {
    /// An isolated copy of the newest kept checkpoint at or before a tick (none: the oldest one), from which the replay is
    /// played on (§18 `checkpoint`). Nothing where none is kept, as in a match that ends.
    pub fn checkpoint(&self, tick: Option<u64>) -> Option<Position> {
        let kept = &self.past.as_ref()?.kept;
        match tick {
            None => kept.front(),
            Some(tick) => kept.iter().rev().find(|checkpoint| checkpoint.tick() <= tick),
        }?
        .copy()
    }

    /// Right after a step: keeps a copy of the game where one is due, and drops what was recorded before the oldest.
    pub(crate) fn keep_checkpoint(&mut self) {
        let Some(past) = self.past.as_mut().filter(|past| past.is_due(self.game.tick())) else { return };
        let Some(game) = self.game.clone_match() else {
            // The game could be copied when the session began. Without a copy nothing may be dropped.
            tracing::error!("a persistent session's game cannot be copied any more");
            return;
        };
        if !self.recorder.is_keeping() {
            // Too much was recorded for the bound since the last checkpoint: the window begins anew with this one.
            past.kept.clear();
            self.recorder.begin_anew();
        }
        past.keep(Position {
            game,
            boards: self.boards.clone(),
            outcomes: self.outcomes.clone(),
            ranks: None,
            forfeited: BTreeSet::new(),
            paused: BTreeSet::new(),
            next: self.recorder.next(),
        });
        if let Some(first) = past.first_needed() {
            self.recorder.forget_before(first);
        }
    }
}
