//! The frames of observers as they travel (§20.9). Each is encoded once, whoever reads it and however often, and holds
//! nothing of a reader.

use crate::push;
use playerthree_rooms::Frame;
use playerthree_session::{FrameKey, Match, OBSERVER_BATCH, ObserverPerspective, ObserverState};
use serde_json::Value;
use std::collections::BTreeMap;

/// The encoded frames of one match that a reader may still ask for.
#[derive(Default)]
pub(crate) struct Frames {
    /// At most a batch of frames and one keyframe of each perspective.
    encoded: BTreeMap<ObserverPerspective, BTreeMap<FrameKey, Frame>>,
    /// How each perspective stood at the last delivery.
    delivered: BTreeMap<ObserverPerspective, Standing>,
}

/// How a perspective stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// Released up to this sequence, or nothing yet.
    Released(Option<u64>),
    Closed,
}

/// What readers of a perspective have to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// Frames were released.
    Frames,
    /// There will be none any more.
    Closed,
}

impl Frames {
    /// A released frame for its readers.
    pub(crate) fn get(
        &mut self,
        game: &Match,
        perspective: &ObserverPerspective,
        key: FrameKey,
    ) -> Option<Frame> {
        self.get_or(perspective, key, || {
            let frame = game.observer_frame(perspective, key)?.into_json();
            let body =
                Value::from_iter([("op", "observer".into()), ("state", "ready".into()), ("frame", frame)]);
            Some(push::frame("playerthree:observer", &body))
        })
    }

    fn get_or(
        &mut self,
        perspective: &ObserverPerspective,
        key: FrameKey,
        encode: impl FnOnce() -> Option<Frame>,
    ) -> Option<Frame> {
        if let Some(frame) = self.encoded.get(perspective).and_then(|frames| frames.get(&key)) {
            return Some(frame.clone());
        }
        let frame = encode()?;
        self.encoded.entry(perspective.clone()).or_default().insert(key, frame.clone());
        Some(frame)
    }

    /// What happened to a perspective since the last delivery, told once. Frames that nobody can ask for any more are
    /// dropped.
    pub(crate) fn news(&mut self, game: &Match, perspective: &ObserverPerspective) -> Option<News> {
        let standing = match game.observer_state(perspective) {
            ObserverState::Closed => Standing::Closed,
            ObserverState::Buffering | ObserverState::Ready => {
                Standing::Released(game.observer_watermark(perspective))
            }
        };
        let before = self.delivered.insert(perspective.clone(), standing);
        if before.unwrap_or(Standing::Released(None)) == standing {
            return None;
        }
        match standing {
            Standing::Closed => {
                self.encoded.remove(perspective);
                Some(News::Closed)
            }
            Standing::Released(watermark) => {
                self.drop_old(perspective, watermark?);
                Some(News::Frames)
            }
        }
    }

    fn drop_old(&mut self, perspective: &ObserverPerspective, watermark: u64) {
        if let Some(frames) = self.encoded.get_mut(perspective) {
            frames.retain(|key, _| match key {
                FrameKey::Keyframe(sequence) => *sequence == watermark,
                FrameKey::Next(sequence) => sequence + OBSERVER_BATCH >= watermark,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// §20.9: the server builds and encodes each frame once and fans it out.
    #[test]
    fn a_thousand_readers_cost_one_encoding_of_each_frame() {
        let (mut frames, mut encodings) = (Frames::default(), 0);
        for key in [FrameKey::Keyframe(4), FrameKey::Next(5), FrameKey::Next(6)] {
            for _reader in 0..1_000 {
                let sent = frames.get_or(&ObserverPerspective::All, key, || {
                    encodings += 1;
                    Some(Frame::signal("playerthree:observer"))
                });
                assert!(sent.is_some());
            }
        }
        assert_eq!(encodings, 3);
    }
}
