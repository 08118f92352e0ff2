//! Moving about in one replay (§17 "Replay scrubbing"): a cursor that goes on forwards, and checkpoints behind it where the
//! game can be copied. Everything in it is isolated from the match that was recorded.

use super::envelope::Replay;
use super::error::ReplayError;
use super::execution::{Watch, replay_match};
use super::position::Position;
use crate::Surface;
use std::collections::BTreeMap;

/// Ticks between two checkpoints, before any are thinned out.
pub const CHECKPOINT_TICKS: u64 = 500;

/// Checkpoints of one timeline: a fourth of the 80 that §17 allows four timelines.
pub const CHECKPOINTS_MAX: usize = 20;

/// Bytes that the checkpoints of one timeline take by estimate: a fourth of the 256 MiB that §17 allows four timelines.
pub const CHECKPOINT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Bytes of memory that a byte of a game's JSON stands for. A conservative guess: a number of three digits is at most
/// eight bytes, and most of a game is behind names that its JSON repeats.
const BYTES_PER_JSON_BYTE: usize = 8;

struct Checkpoint {
    position: Position,
    bytes: usize,
}

/// The places in one replay that are at hand.
#[derive(Default)]
pub struct Timeline {
    /// Where backward seeks begin when no checkpoint is near: the oldest checkpoint of a window. Nothing: a fresh game.
    base: Option<Position>,
    cursor: Option<Position>,
    checkpoints: BTreeMap<u64, Checkpoint>,
}

impl Timeline {
    /// A timeline whose earliest place is this one, for the replay of a window (§18).
    pub fn from_checkpoint(base: Position) -> Self {
        Self { base: Some(base), ..Self::default() }
    }

    /// Goes to a tick, with the inputs recorded at it, from the nearest place before it. The replay is always the same one
    /// or a longer one of the same match.
    ///
    /// # Errors
    /// Like [`replay_match`]. The checkpoints that were reached stay.
    pub fn seek(
        &mut self,
        surface: &Surface,
        replay: &Replay,
        target: u64,
        watch: Watch<'_>,
    ) -> Result<&Position, ReplayError> {
        replay.check_target(target)?;
        let mut at = match self.nearest(target) {
            Some(position) => position,
            None => Position::start(surface, replay)?,
        };
        loop {
            let stop = (at.tick() / CHECKPOINT_TICKS + 1).saturating_mul(CHECKPOINT_TICKS).min(target);
            at = replay_match(surface, replay, stop, Some(at), watch)?;
            self.keep(surface, &at);
            if stop == target {
                return Ok(self.cursor.insert(at));
            }
        }
    }

    /// Checkpoints at hand.
    pub fn checkpoints(&self) -> impl Iterator<Item = u64> {
        self.checkpoints.keys().copied()
    }

    /// The latest place that is not past the target. The cursor is taken for good, others are copied.
    fn nearest(&mut self, target: u64) -> Option<Position> {
        let checkpoint = self.checkpoints.range(..=target).next_back().map(|(_, kept)| &kept.position);
        let base = self.base.as_ref().filter(|base| base.tick() <= target);
        let behind = checkpoint.or(base);
        let cursor = self.cursor.take().filter(|cursor| cursor.tick() <= target);
        match (cursor, behind) {
            (Some(cursor), Some(behind)) if behind.tick() > cursor.tick() => behind.copy().or(Some(cursor)),
            (Some(cursor), _) => Some(cursor),
            (None, behind) => behind.and_then(Position::copy),
        }
    }

    /// Keeps a copy of a place at a checkpoint's tick, and lets others go where they are densest (§17).
    fn keep(&mut self, surface: &Surface, at: &Position) {
        let tick = at.tick();
        if tick == 0 || !tick.is_multiple_of(CHECKPOINT_TICKS) || self.checkpoints.contains_key(&tick) {
            return;
        }
        let Some(position) = at.copy() else { return };
        let bytes = position.json_bytes(surface).saturating_mul(BYTES_PER_JSON_BYTE);
        self.checkpoints.insert(tick, Checkpoint { position, bytes });
        while self.is_too_large() {
            self.thin_out();
        }
    }

    fn is_too_large(&self) -> bool {
        let bytes: usize = self.checkpoints.values().map(|checkpoint| checkpoint.bytes).sum();
        self.checkpoints.len() > CHECKPOINTS_MAX || bytes > CHECKPOINT_BYTES_MAX
    }

    /// Drops the checkpoint whose neighbours are nearest to each other; the beginning is a neighbour of the first one, and
    /// the last one goes only when it is alone.
    fn thin_out(&mut self) {
        let ticks: Vec<u64> = std::iter::once(0).chain(self.checkpoints()).collect();
        let densest = ticks.windows(3).min_by_key(|three| three[2] - three[0]).map(|three| three[1]);
        if let Some(tick) = densest.or_else(|| ticks.last().copied()) {
            self.checkpoints.remove(&tick);
        }
    }
}
