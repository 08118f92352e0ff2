//! An observer's frames (§20.9) rebuilt from whole worlds and deltas. Pure, and strict: a delta that does not follow the
//! latest frame by exactly one sequence discards it.

use super::ViewError;
use playerthree_delta::{Delta, apply};
use serde::Deserialize;
use serde_json::Value;

/// Where an observer's stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ObserverState {
    /// The first frame is not due yet.
    Buffering,
    /// Frames are sent as they are released.
    Ready,
    /// No frame will come.
    Closed,
}

/// One moment of the match, as observers see it.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Its place in the stream.
    pub sequence: u64,
    /// The tick that it shows.
    pub tick: u64,
    /// Whose eyes it is seen through: `all` or a side.
    pub perspective: String,
    /// When it was live, in milliseconds since 1970.
    pub recorded_at: u64,
    /// When it was released, in milliseconds since 1970.
    pub release_at: u64,
    /// What both sides see and do. Never changed in place.
    pub world: Value,
    /// Each side's outcome, in the last frame.
    pub outcomes: Option<Value>,
}

/// The frames that one connection follows: the latest one.
#[derive(Debug, Default)]
pub struct Frames {
    latest: Option<Frame>,
    /// What was asked for last. Frames of another perspective were on their way then.
    perspective: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    state: ObserverState,
    frame: Option<FrameMessage>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameMessage {
    sequence: u64,
    tick: u64,
    recorded_at: u64,
    release_at: u64,
    perspective: String,
    world: Option<Value>,
    delta: Option<Value>,
    outcomes: Option<Value>,
}

impl Frames {
    /// The latest frame.
    #[must_use]
    pub fn latest(&self) -> Option<&Frame> {
        self.latest.as_ref()
    }

    /// Follows a perspective from now on, and returns the sequence of the latest frame that is of it: what a request may
    /// go on after.
    pub fn follow(&mut self, perspective: &str) -> Option<u64> {
        self.perspective = Some(perspective.to_owned());
        self.latest.take_if(|frame| frame.perspective != perspective);
        self.latest.as_ref().map(|frame| frame.sequence)
    }

    /// Drops the latest frame, so that nothing goes on after it.
    pub fn forget(&mut self) {
        self.latest = None;
    }

    /// Takes an observer message and returns the state that it tells.
    ///
    /// # Errors
    /// [`ViewError::Shape`], which changes nothing; [`ViewError::Gap`] and [`ViewError::Delta`], after which there is
    /// no frame until a whole one comes.
    pub fn accept(&mut self, message: Value) -> Result<ObserverState, ViewError> {
        let Message { state, frame } = serde_json::from_value(message).map_err(|_| ViewError::Shape)?;
        let is_wanted = |frame: &FrameMessage| {
            self.perspective.as_ref().is_none_or(|perspective| *perspective == frame.perspective)
        };
        if let Some(frame) = frame.filter(is_wanted) {
            let world = match (frame.world, frame.delta) {
                (Some(world), None) => world,
                (None, Some(delta)) => self.advance(frame.sequence, delta)?,
                _ => return Err(ViewError::Shape),
            };
            let FrameMessage { sequence, tick, perspective, recorded_at, release_at, outcomes, .. } = frame;
            self.latest =
                Some(Frame { sequence, tick, perspective, recorded_at, release_at, world, outcomes });
        }
        Ok(state)
    }

    /// The world that a delta leads to. The old frame is taken out first, so that it is gone after any failure.
    fn advance(&mut self, sequence: u64, delta: Value) -> Result<Value, ViewError> {
        let old = self.latest.take().ok_or(ViewError::Gap)?;
        if old.sequence.checked_add(1) != Some(sequence) {
            return Err(ViewError::Gap);
        }
        Ok(apply(old.world, &Delta::decode(delta)?)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn message(sequence: u64, content: (&str, Value)) -> Value {
        let (member, content) = content;
        json!({ "op": "observer", "state": "ready", "frame": {
            "sequence": sequence, "tick": 7, "recordedAt": 1, "releaseAt": 2, "perspective": "all", member: content,
        } })
    }

    #[test]
    fn frames_follow_each_other_or_are_gone() {
        // §20.9: `delta` is against frame `sequence - 1`; a reader that misses one asks again.
        let mut frames = Frames::default();
        assert_eq!(
            frames.accept(json!({ "op": "observer", "state": "buffering" })),
            Ok(ObserverState::Buffering)
        );
        assert_eq!(frames.accept(message(3, ("world", json!({ "n": 1 })))), Ok(ObserverState::Ready));
        assert_eq!(frames.accept(message(4, ("delta", json!({ "n": 2 })))), Ok(ObserverState::Ready));
        assert_eq!(
            frames.latest().map(|frame| (frame.sequence, &frame.world)),
            Some((4, &json!({ "n": 2 })))
        );
        assert_eq!(frames.accept(message(6, ("delta", json!({ "n": 3 })))), Err(ViewError::Gap));
        assert_eq!(frames.latest(), None);
        assert_eq!(frames.accept(message(7, ("delta", json!({ "n": 3 })))), Err(ViewError::Gap));
    }

    #[test]
    fn frames_of_a_perspective_that_is_followed_no_more_are_passed_over() {
        let mut frames = Frames::default();
        assert_eq!(frames.follow("all"), None);
        frames.accept(message(3, ("world", json!({ "n": 1 })))).unwrap();
        assert_eq!(frames.follow("all"), Some(3), "a request may go on after it");
        assert_eq!(frames.follow("red"), None);
        assert_eq!(frames.accept(message(4, ("delta", json!({ "n": 2 })))), Ok(ObserverState::Ready));
        assert_eq!(frames.latest(), None);
    }

    #[test]
    fn what_is_no_observer_message_changes_nothing() {
        let mut frames = Frames::default();
        frames.accept(message(3, ("world", json!(1)))).unwrap();
        for other in [json!(null), json!({ "state": "open" }), json!({ "state": "ready", "frame": {} })] {
            assert_eq!(frames.accept(other), Err(ViewError::Shape));
        }
        assert_eq!(frames.latest().map(|frame| frame.sequence), Some(3));
    }
}
