//! The frames of one perspective (§20.9): what was recorded, what of it is released, and what brings a reader up to it.
//!
//! Frames are kept as text, detached from everything that changes. A frame after the watermark is as if it were not.

use crate::guard::Guarded;
use crate::{CallError, Code, Millis};
use playerthree_delta::Delta;
use serde_json::Value;
use std::collections::VecDeque;

/// Frames that a reader may be behind the newest released one and still get each. Further behind it gets a keyframe.
pub const OBSERVER_BATCH: u64 = 64;

/// Distance of the frames that are stored whole. The frames between are stored as deltas.
const KEYFRAME_EVERY: u64 = 64;

/// Which message a reader needs: the same key is the same bytes for everybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FrameKey {
    /// The whole view at this sequence.
    Keyframe(u64),
    /// What a reader at the sequence before needs.
    Next(u64),
}

impl FrameKey {
    /// The sequence a reader is at once it has the frame.
    pub fn sequence(self) -> u64 {
        match self {
            Self::Keyframe(sequence) | Self::Next(sequence) => sequence,
        }
    }
}

/// What a frame says of its view.
#[derive(Clone, Debug, PartialEq)]
pub enum FrameContent {
    /// The whole view.
    World(Value),
    /// A structural delta from the frame before, in wire form.
    Delta(Value),
}

/// The view of one moment.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) tick: u64,
    pub(super) recorded_at: Millis,
    /// The whole view as JSON, for every [`KEYFRAME_EVERY`]th frame and where nothing changed.
    world: Option<Box<str>>,
    /// What changed since the frame before, as JSON; nothing on the first frame and where nothing changed.
    delta: Option<Box<str>>,
    pub(super) outcomes: Option<Value>,
}

impl Stored {
    /// What it takes: a match may have many frames in which little changed.
    fn bytes(&self) -> usize {
        let bytes = |text: Option<&str>| text.map_or(0, str::len);
        size_of::<Self>() + bytes(self.world.as_deref()) + bytes(self.delta.as_deref())
    }
}

/// One perspective's frames, numbered without a gap.
#[derive(Debug, Default)]
pub(super) struct Track {
    frames: VecDeque<Stored>,
    next: u64,
    latest: Option<Guarded>,
    watermark: Option<u64>,
    /// The first frame that is sent by its number. Those before it stay only where later ones are told as changes of them.
    kept_from: u64,
    bytes: usize,
}

impl Track {
    /// Bytes that its frames take, as JSON and around it.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The newest released sequence.
    pub(super) fn watermark(&self) -> Option<u64> {
        self.watermark
    }

    /// Keeps what the view is now. An unchanged view makes no frame, unless it carries the outcomes.
    pub(super) fn record(&mut self, now: Millis, tick: u64, world: Guarded, outcomes: Option<Value>) {
        let delta = match &self.latest {
            None => None,
            Some(latest) => match playerthree_delta::diff(latest.value(), world.value()) {
                None if outcomes.is_none() => return,
                changed => changed,
            },
        };
        let whole = delta.is_none() || self.next.is_multiple_of(KEYFRAME_EVERY);
        let frame = Stored {
            tick,
            recorded_at: now,
            world: whole.then(|| world.value().to_string().into()),
            // Text takes a fraction of the memory that parsed values would, and a frame is read once or never.
            delta: delta.map(|delta| delta.as_wire().to_string().into()),
            outcomes,
        };
        self.bytes += frame.bytes();
        self.next += 1;
        self.latest = Some(world);
        self.frames.push_back(frame);
    }

    /// Releases every frame that was recorded at `until` or before. Nothing takes a release back.
    pub(super) fn release(&mut self, until: Millis) {
        let mut next = self.watermark.map_or(self.oldest(), |newest| newest + 1);
        while self.position(next).is_some_and(|at| self.frames[at].recorded_at <= until) {
            self.watermark = Some(next);
            next += 1;
        }
    }

    /// Sends no frame by its number any more that has been out since `before`, and drops them from the front in whole
    /// keyframe groups.
    pub(super) fn forget(&mut self, before: Millis) {
        let old = self.frames.partition_point(|frame| frame.recorded_at < before);
        // The newest one is what there is to see, however old.
        self.kept_from = (self.oldest() + old as u64).min(self.watermark.unwrap_or(0));
        while let Some(group) = self.frames.iter().skip(1).position(|frame| frame.world.is_some()) {
            let group = group + 1;
            if self.frames[group].recorded_at >= before {
                return;
            }
            self.bytes -= self.frames.drain(..group).map(|frame| frame.bytes()).sum::<usize>();
        }
    }

    /// Drops everything, for good.
    pub(super) fn clear(&mut self) {
        (self.frames, self.latest, self.watermark, self.bytes) = (VecDeque::new(), None, None, 0);
    }

    /// What brings a reader at `after` (none: a fresh reader) to the watermark: newer frames in order, or a keyframe.
    ///
    /// # Errors
    /// `invalid` for a cursor that is no released frame, or one after which a frame is retained no more. It is the same
    /// whether there is such a frame yet.
    pub(super) fn since(&self, after: Option<u64>) -> Result<Vec<FrameKey>, CallError> {
        let Some(after) = after else {
            return Ok(self.watermark.map(FrameKey::Keyframe).into_iter().collect());
        };
        let newest = self.watermark.filter(|newest| after <= *newest).ok_or(Code::Invalid)?;
        if after + 1 < self.kept_from {
            return Err(Code::Invalid.into());
        }
        if newest - after > OBSERVER_BATCH {
            return Ok(vec![FrameKey::Keyframe(newest)]);
        }
        Ok((after + 1..=newest).map(FrameKey::Next).collect())
    }

    /// A released frame with what a reader of this key is sent: the view, or what changed.
    pub(super) fn read(&self, key: FrameKey) -> Option<(&Stored, FrameContent)> {
        let sequence = key.sequence();
        let at = self.position(sequence).filter(|_| Some(sequence) <= self.watermark)?;
        let frame = &self.frames[at];
        let content = match (key, &frame.delta, &frame.world) {
            (FrameKey::Keyframe(_), ..) => FrameContent::World(self.whole(at)?),
            (FrameKey::Next(_), Some(delta), _) => FrameContent::Delta(serde_json::from_str(delta).ok()?),
            (FrameKey::Next(_), None, Some(world)) => FrameContent::World(serde_json::from_str(world).ok()?),
            (FrameKey::Next(_), None, None) => return None,
        };
        Some((frame, content))
    }

    /// The view at a frame, from the nearest whole one before it.
    fn whole(&self, at: usize) -> Option<Value> {
        let base = (0..=at).rev().find(|index| self.frames[*index].world.is_some())?;
        let mut world: Value = serde_json::from_str(self.frames[base].world.as_ref()?).ok()?;
        for frame in self.frames.range(base + 1..=at) {
            let delta = Delta::decode(serde_json::from_str(frame.delta.as_ref()?).ok()?).ok()?;
            world = playerthree_delta::apply(world, &delta).ok()?;
        }
        Some(world)
    }

    fn oldest(&self) -> u64 {
        self.next - self.frames.len() as u64
    }

    fn position(&self, sequence: u64) -> Option<usize> {
        let at = usize::try_from(sequence.checked_sub(self.oldest())?).ok()?;
        (at < self.frames.len()).then_some(at)
    }
}
