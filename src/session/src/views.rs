//! One side's view stream (§4 "Team views travel as a view stream"): consecutive versions of its guarded view, as
//! keyframes and deltas. Deltas come from this side's own versions alone, so they disclose nothing a keyframe would not.
//!
//! Nothing is computed while nobody subscribes, and nothing is added while the view stays the same.

use crate::guard::Guarded;
use playerthree_delta::Delta;
use std::collections::VecDeque;
use std::sync::Arc;

/// Deltas kept for readers that fall behind. A reader further behind gets a keyframe.
pub const BATCH: usize = 32;

/// One message of a side's stream, to be encoded once and shared by every reader.
#[derive(Clone, Debug)]
pub enum ViewMessage {
    /// The whole view.
    Keyframe {
        /// The version that the view is.
        version: u64,
        /// The view.
        view: Arc<Guarded>,
    },
    /// What changed since the version before.
    Delta {
        /// The version that applying it yields.
        version: u64,
        /// The change.
        delta: Arc<Delta>,
    },
}

impl ViewMessage {
    /// The version a reader is at once it has this message.
    pub fn version(&self) -> u64 {
        match self {
            Self::Keyframe { version, .. } | Self::Delta { version, .. } => *version,
        }
    }
}

/// The stream of one side.
#[derive(Debug, Default)]
pub(crate) struct ViewStream {
    subscribers: usize,
    version: u64,
    latest: Option<Arc<Guarded>>,
    deltas: VecDeque<Arc<Delta>>,
}

impl ViewStream {
    pub(crate) fn is_watched(&self) -> bool {
        self.subscribers > 0
    }

    pub(crate) fn subscribe(&mut self) {
        self.subscribers += 1;
    }

    /// Once the last reader leaves the stream forgets its view: versions made later would not be consecutive to it.
    pub(crate) fn unsubscribe(&mut self) {
        self.subscribers = self.subscribers.saturating_sub(1);
        if self.subscribers == 0 {
            self.latest = None;
            self.deltas.clear();
        }
    }

    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    pub(crate) fn latest(&self) -> Option<&Arc<Guarded>> {
        self.latest.as_ref()
    }

    /// Adds the view as the next version if it differs from the latest, and returns what a current reader needs.
    pub(crate) fn push(&mut self, view: Guarded) -> Option<ViewMessage> {
        let delta = match &self.latest {
            None => None,
            Some(latest) => Some(Arc::new(playerthree_delta::diff(latest.value(), view.value())?)),
        };
        self.version += 1;
        let view = Arc::new(view);
        self.latest = Some(Arc::clone(&view));
        let Some(delta) = delta else { return Some(ViewMessage::Keyframe { version: self.version, view }) };
        self.deltas.push_back(Arc::clone(&delta));
        if self.deltas.len() > BATCH {
            self.deltas.pop_front();
        }
        Some(ViewMessage::Delta { version: self.version, delta })
    }

    /// What brings a reader at `after` (none: a fresh reader) to the latest version: newer deltas in order, or a keyframe.
    pub(crate) fn since(&self, after: Option<u64>) -> Vec<ViewMessage> {
        let Some(view) = &self.latest else { return Vec::new() };
        let behind =
            after.and_then(|after| self.version.checked_sub(after)).and_then(|n| usize::try_from(n).ok());
        match behind {
            Some(behind) if behind <= self.deltas.len() => {
                let oldest = self.version - self.deltas.len() as u64 + 1;
                let skip = self.deltas.len() - behind;
                let numbered = (oldest..).zip(&self.deltas).skip(skip);
                numbered
                    .map(|(version, delta)| ViewMessage::Delta { version, delta: Arc::clone(delta) })
                    .collect()
            }
            _ => vec![ViewMessage::Keyframe { version: self.version, view: Arc::clone(view) }],
        }
    }
}
