//! The omniscient observers' history (§20.9): what the observer view was, and when each frame may be released.
//!
//! Release follows wall time alone. Nothing about a frame, its number included, leaves before its `releaseAt`, and a
//! history that outgrows its bound closes instead of skipping ahead.

use crate::Millis;
use crate::guard::Guarded;
use playerthree_delta::Delta;
use playerthree_game::{Name, Outcome};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};

/// The least delay of a public omniscient grant, in milliseconds of wall time.
pub const PUBLIC_DELAY_MIN: Millis = 180_000;

/// How long a released frame is kept for readers that join or fall behind, in milliseconds.
const KEPT_AFTER_RELEASE: Millis = 60_000;

/// Distance of the frames that are stored whole. The frames between are stored as deltas.
const KEYFRAME_EVERY: u64 = 64;

/// Most bytes of JSON that one match's history may hold. Past it the history closes (fail closed).
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// Who may observe a match, frozen when the match is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObserverPolicy {
    /// Nobody.
    Closed,
    /// Anybody without player history, this many milliseconds late: never under [`PUBLIC_DELAY_MIN`].
    Public(Millis),
    /// Whoever the private session admits, this many milliseconds late; 0 is immediate.
    Private(Millis),
}

impl ObserverPolicy {
    /// A public policy with the least delay enforced.
    pub fn public(delay: Millis) -> Self {
        Self::Public(delay.max(PUBLIC_DELAY_MIN))
    }

    /// Whether observers are admitted one by one.
    pub fn is_private(self) -> bool {
        matches!(self, Self::Private(_))
    }

    /// The delay, or nothing where nobody may observe.
    pub fn delay(self) -> Option<Millis> {
        match self {
            Self::Closed => None,
            Self::Public(delay) => Some(delay.max(PUBLIC_DELAY_MIN)),
            Self::Private(delay) => Some(delay),
        }
    }
}

/// The observer view of one moment.
#[derive(Debug)]
struct Frame {
    sequence: u64,
    tick: u64,
    recorded_at: Millis,
    /// The whole view as JSON, for every [`KEYFRAME_EVERY`]th frame.
    world: Option<String>,
    /// What changed since the frame before, as JSON; nothing on the first frame.
    delta: Option<String>,
    outcomes: Option<Value>,
    bytes: usize,
}

/// Whether a reader has frames to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObserverState {
    /// Nothing is due yet.
    Buffering,
    /// Frames flow.
    Ready,
    /// The history could not be retained, or nobody may observe.
    Closed,
}

/// The history of one match.
#[derive(Debug)]
pub(crate) struct ObserverHistory {
    delay: Option<Millis>,
    /// Wall-clock milliseconds since the epoch at match time zero, to state times that readers can compare.
    epoch: Millis,
    frames: VecDeque<Frame>,
    bytes: usize,
    next: u64,
    latest: Option<Guarded>,
    /// The newest sequence that [`Self::release`] gave out.
    watermark: Option<u64>,
    overflowed: bool,
}

impl ObserverHistory {
    /// A moment of the match as milliseconds since 1970.
    pub(crate) fn wall(&self, at: Millis) -> Millis {
        self.epoch.saturating_add(at)
    }

    pub(crate) fn new(policy: ObserverPolicy, epoch: Millis) -> Self {
        Self {
            delay: policy.delay(),
            epoch,
            frames: VecDeque::new(),
            bytes: 0,
            next: 0,
            latest: None,
            watermark: None,
            overflowed: false,
        }
    }

    pub(crate) fn is_recording(&self) -> bool {
        self.delay.is_some() && !self.overflowed
    }

    /// Whether the frame with the outcomes is out, or will never be.
    pub(crate) fn end_is_released(&self) -> bool {
        let released = |frame: &Frame| self.watermark.is_some_and(|seen| frame.sequence <= seen);
        !self.is_recording()
            || self.frames.back().is_some_and(|frame| frame.outcomes.is_some() && released(frame))
    }

    pub(crate) fn state(&self) -> ObserverState {
        match (self.is_recording(), self.watermark) {
            (false, _) => ObserverState::Closed,
            (true, None) => ObserverState::Buffering,
            (true, Some(_)) => ObserverState::Ready,
        }
    }

    /// Keeps what the observer view is now. An unchanged view makes no frame, unless it carries the outcomes.
    pub(crate) fn record(&mut self, now: Millis, tick: u64, world: Guarded, outcomes: Option<Value>) {
        let delta = match &self.latest {
            None => None,
            Some(latest) => match playerthree_delta::diff(latest.value(), world.value()) {
                None if outcomes.is_none() => return,
                changed => changed,
            },
        };
        let sequence = self.next;
        let whole = delta.is_none() || sequence.is_multiple_of(KEYFRAME_EVERY);
        let json = whole.then(|| world.value().to_string());
        // Text takes a fraction of the memory that parsed values would, and a frame is read once or never.
        let delta = delta.map(|delta| delta.as_wire().to_string());
        let bytes = json.as_ref().map_or(0, String::len) + delta.as_ref().map_or(0, String::len);
        self.bytes += bytes;
        self.next += 1;
        self.latest = Some(world);
        self.frames.push_back(Frame {
            sequence,
            tick,
            recorded_at: now,
            world: json,
            delta,
            outcomes,
            bytes,
        });
        self.forget(now);
        if self.bytes > MAX_BYTES {
            self.overflowed = true;
            self.frames.clear();
        }
    }

    /// Drops frames from the front in whole keyframe groups, once the next group's keyframe has been out long enough.
    fn forget(&mut self, now: Millis) {
        let Some(delay) = self.delay else { return };
        loop {
            let next_whole = self.frames.iter().skip(1).position(|frame| frame.world.is_some());
            let Some(group) = next_whole.map(|at| at + 1) else { return };
            let expired = self.frames[group].recorded_at + delay + KEPT_AFTER_RELEASE < now;
            if !expired {
                return;
            }
            self.bytes -= self.frames.drain(..group).map(|frame| frame.bytes).sum::<usize>();
        }
    }

    /// Frames that became due since the last call, oldest first, as the messages for readers at the old watermark.
    pub(crate) fn release(&mut self, now: Millis) -> Vec<Value> {
        let Some(delay) = self.delay.filter(|_| !self.overflowed) else { return Vec::new() };
        let due: Vec<&Frame> = self
            .frames
            .iter()
            .filter(|frame| self.watermark.is_none_or(|seen| frame.sequence > seen))
            .take_while(|frame| frame.recorded_at + delay <= now)
            .collect();
        let messages = due.iter().map(|frame| self.message(frame, delay, None)).collect();
        let newest = due.last().map(|frame| frame.sequence);
        self.watermark = newest.or(self.watermark);
        messages
    }

    /// The newest released frame as a keyframe, for a reader that joins or lost its place.
    pub(crate) fn keyframe(&self) -> Option<Value> {
        let delay = self.delay?;
        let watermark = self.watermark?;
        let at = self.frames.iter().position(|frame| frame.sequence == watermark)?;
        let whole = (0..=at).rev().find(|index| self.frames[*index].world.is_some())?;
        let mut world: Value = serde_json::from_str(self.frames[whole].world.as_ref()?).ok()?;
        for frame in self.frames.range(whole + 1..=at) {
            let delta = Delta::decode(serde_json::from_str(frame.delta.as_ref()?).ok()?).ok()?;
            world = playerthree_delta::apply(world, &delta).ok()?;
        }
        Some(self.message(&self.frames[at], delay, Some(world)))
    }

    fn message(&self, frame: &Frame, delay: Millis, keyframe: Option<Value>) -> Value {
        let mut message = json!({
            "sequence": frame.sequence,
            "tick": frame.tick,
            "recordedAt": self.epoch + frame.recorded_at,
            "releaseAt": self.epoch + frame.recorded_at + delay,
            "perspective": "all",
        });
        match (keyframe, &frame.delta, &frame.world) {
            (Some(world), _, _) => message["world"] = world,
            (None, Some(delta), _) => message["delta"] = stored(delta),
            (None, None, Some(world)) => message["world"] = stored(world),
            (None, None, None) => {}
        }
        if let Some(outcomes) = &frame.outcomes {
            message["outcomes"] = outcomes.clone();
        }
        message
    }
}

/// A value that this history wrote itself.
fn stored(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or(Value::Null)
}

/// Outcomes as they travel: team to outcome.
pub(crate) fn outcomes_json(outcomes: &BTreeMap<Name, Outcome>) -> Value {
    outcomes.iter().map(|(team, outcome)| (team.to_string(), json!(outcome))).collect()
}

/// The grant that an admitted observer holds, as it travels.
pub(crate) fn grant_json(teams: &[Name], delay: Millis) -> Value {
    json!({ "kind": "omniscient", "teams": teams, "delayMs": delay })
}
