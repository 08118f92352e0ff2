//! The observers' history of one match (§20.9): every perspective at the same moments, under one release clock.
//!
//! Release follows wall time alone, on a clock that never goes back. Nothing about a frame, its number included, leaves
//! before its `releaseAt`, and a history that outgrows its bound closes instead of skipping ahead.

use super::pace::Pace;
use super::track::{FrameContent, FrameKey, Track};
use super::{ObserverPerspective, ObserverPolicy, ObserverState};
use crate::guard::Guarded;
use crate::{CallError, Millis};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// How long a released frame is kept for readers that join or fall behind, in milliseconds.
const KEPT_AFTER_RELEASE: Millis = 60_000;

/// Most bytes of JSON that one match's history may hold. Past it the history closes (fail closed).
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// One released frame, the same for all its readers.
#[derive(Clone, Debug, PartialEq)]
pub struct ObserverFrame {
    /// Its number in its perspective.
    pub sequence: u64,
    /// The tick that it shows.
    pub tick: u64,
    /// When it was made, in milliseconds since 1970.
    pub recorded_at: Millis,
    /// When it was released at the earliest, in milliseconds since 1970.
    pub release_at: Millis,
    /// What it shows the match as.
    pub perspective: ObserverPerspective,
    /// The view, or what changed in it.
    pub content: FrameContent,
    /// How every side ended, on the last frame.
    pub outcomes: Option<Value>,
}

impl ObserverFrame {
    /// `{sequence, tick, recordedAt, releaseAt, perspective, world or delta, outcomes?}`.
    pub fn into_json(self) -> Value {
        let mut frame = json!({
            "sequence": self.sequence,
            "tick": self.tick,
            "recordedAt": self.recorded_at,
            "releaseAt": self.release_at,
            "perspective": self.perspective.as_str(),
        });
        match self.content {
            FrameContent::World(world) => frame["world"] = world,
            FrameContent::Delta(delta) => frame["delta"] = delta,
        }
        if let Some(outcomes) = self.outcomes {
            frame["outcomes"] = outcomes;
        }
        frame
    }
}

/// The history of one match.
#[derive(Debug)]
pub(crate) struct ObserverHistory {
    delay: Option<Millis>,
    /// Wall-clock milliseconds since the epoch at match time zero, to state times that readers can compare.
    epoch: Millis,
    /// The newest match time that was handed in.
    clock: Millis,
    tracks: BTreeMap<ObserverPerspective, Track>,
    pace: Pace,
    /// When a side's outcome became final last, and how many are.
    settled: Option<(Millis, usize)>,
    closed: bool,
}

impl ObserverHistory {
    /// An empty history of so many frames a second at most.
    pub(crate) fn new(
        policy: ObserverPolicy,
        perspectives: impl IntoIterator<Item = ObserverPerspective>,
        per_second: u32,
        epoch: Millis,
    ) -> Self {
        let delay = policy.delay();
        let kept = perspectives.into_iter().filter(|_| delay.is_some());
        Self {
            delay,
            epoch,
            clock: 0,
            tracks: kept.map(|perspective| (perspective, Track::default())).collect(),
            pace: Pace::new(per_second, delay.is_some_and(|delay| delay > 0)),
            settled: None,
            closed: false,
        }
    }

    /// A moment of the match as milliseconds since 1970.
    pub(crate) fn wall(&self, at: Millis) -> Millis {
        self.epoch.saturating_add(at)
    }

    /// All that there are; none where nobody may observe.
    pub(crate) fn perspectives(&self) -> Vec<ObserverPerspective> {
        self.tracks.keys().cloned().collect()
    }

    /// Something happened that the next frame has to show.
    pub(crate) fn touch(&mut self) {
        self.pace.touch();
    }

    /// Somebody reads.
    pub(crate) fn read_now(&mut self, now: Millis) {
        self.pace.read(now);
    }

    /// Takes note of how many sides are final, and tells whether a frame has to be made now; it is asked once for each. A new outcome always makes
    /// one: it is released by its own time.
    pub(crate) fn wants_frame(&mut self, now: Millis, finals: usize) -> bool {
        self.clock = self.clock.max(now);
        let settles = finals > self.settled.map_or(0, |(_, known)| known);
        if settles {
            self.settled = Some((self.clock, finals));
        }
        let records = !self.closed && !self.tracks.is_empty();
        let wants = records && (settles || self.pace.is_due(self.clock));
        if wants {
            self.pace.recorded(self.clock);
        }
        wants
    }

    /// Keeps a moment from every perspective.
    pub(crate) fn record(
        &mut self,
        tick: u64,
        worlds: Vec<(ObserverPerspective, Guarded)>,
        outcomes: Option<&Value>,
    ) {
        for (perspective, world) in worlds {
            if let Some(track) = self.tracks.get_mut(&perspective) {
                track.record(self.clock, tick, world, outcomes.cloned());
            }
        }
        if self.tracks.values().map(Track::bytes).sum::<usize>() > MAX_BYTES {
            self.close();
        }
    }

    /// Nothing is shown any more, for good: a part of what happened could not be kept (fail closed).
    pub(crate) fn close(&mut self) {
        self.closed = true;
        self.tracks.values_mut().for_each(Track::clear);
    }

    /// Releases what is due, and drops what was out long enough.
    pub(crate) fn release(&mut self, now: Millis) {
        self.clock = self.clock.max(now);
        let Some(until) = self.delay.and_then(|delay| self.clock.checked_sub(delay)) else { return };
        for track in self.tracks.values_mut() {
            track.release(until);
            track.forget(until.saturating_sub(KEPT_AFTER_RELEASE));
        }
    }

    /// Whether every outcome that is final may be told: at once where nobody observes, else by its own time, whatever
    /// became of its frame.
    pub(crate) fn outcomes_are_released(&self) -> bool {
        let Some((at, _)) = self.settled else { return true };
        self.delay.is_none_or(|delay| at.saturating_add(delay) <= self.clock)
    }

    pub(crate) fn state(&self, perspective: &ObserverPerspective) -> ObserverState {
        match self.tracks.get(perspective).filter(|_| !self.closed) {
            None => ObserverState::Closed,
            Some(track) if track.watermark().is_none() => ObserverState::Buffering,
            Some(_) => ObserverState::Ready,
        }
    }

    pub(crate) fn watermark(&self, perspective: &ObserverPerspective) -> Option<u64> {
        self.tracks.get(perspective)?.watermark()
    }

    pub(crate) fn since(
        &self,
        perspective: &ObserverPerspective,
        after: Option<u64>,
    ) -> Result<Vec<FrameKey>, CallError> {
        self.tracks.get(perspective).map_or(Ok(Vec::new()), |track| track.since(after))
    }

    pub(crate) fn frame(&self, perspective: &ObserverPerspective, key: FrameKey) -> Option<ObserverFrame> {
        let (frame, content) = self.tracks.get(perspective)?.read(key)?;
        Some(ObserverFrame {
            sequence: key.sequence(),
            tick: frame.tick,
            recorded_at: self.wall(frame.recorded_at),
            release_at: self.wall(frame.recorded_at).saturating_add(self.delay?),
            perspective: perspective.clone(),
            content,
            outcomes: frame.outcomes.clone(),
        })
    }
}
