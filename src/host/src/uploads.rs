//! Replays that an operator sends in to look at (§17): of the same game and version alone, few and small. They are kept until
//! they are removed, and never written anywhere.

use playerthree_session::{Replay, ReplayError, Surface};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Replays that are kept at once.
pub const UPLOADS_MAX: usize = 4;

/// Bytes of the largest one.
pub const UPLOAD_BYTES_MAX: usize = 5 * 1024 * 1024;

/// Names one upload. No name comes twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UploadId(u64);

impl UploadId {
    /// What [`crate::Scrub::source`] calls it.
    pub fn source(self) -> String {
        format!("upload {}", self.0)
    }
}

/// Why a replay was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UploadError {
    /// More than [`UPLOAD_BYTES_MAX`] bytes.
    #[error("the replay is larger than what can be uploaded")]
    TooLarge,
    /// [`UPLOADS_MAX`] are kept already.
    #[error("as many uploads are kept as can be")]
    Full,
    /// The replay itself is refused.
    #[error(transparent)]
    Replay(#[from] ReplayError),
}

/// The uploads of one console.
#[derive(Debug, Default)]
pub struct Uploads(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    replays: Vec<(UploadId, Arc<Replay>)>,
    last: u64,
}

impl Uploads {
    /// Takes a replay of this game.
    ///
    /// # Errors
    /// Every bound has its own error, and so has every fault of the replay; nothing is kept then.
    pub fn add(&self, surface: &Surface, text: &str) -> Result<UploadId, UploadError> {
        if text.len() > UPLOAD_BYTES_MAX {
            return Err(UploadError::TooLarge);
        }
        if self.kept().replays.len() == UPLOADS_MAX {
            return Err(UploadError::Full);
        }
        let replay = Arc::new(Replay::read(surface, text)?);
        let mut kept = self.kept();
        // Another one may have come while this one was read.
        if kept.replays.len() == UPLOADS_MAX {
            return Err(UploadError::Full);
        }
        kept.last += 1;
        let id = UploadId(kept.last);
        kept.replays.push((id, replay));
        Ok(id)
    }

    /// The replay of this name, nothing once it was removed.
    pub fn get(&self, id: UploadId) -> Option<Arc<Replay>> {
        let kept = self.kept();
        kept.replays.iter().find(|(other, _)| *other == id).map(|(_, replay)| Arc::clone(replay))
    }

    /// Lets a replay go. Whether it was there.
    pub fn remove(&self, id: UploadId) -> bool {
        let mut kept = self.kept();
        let before = kept.replays.len();
        kept.replays.retain(|(other, _)| *other != id);
        kept.replays.len() < before
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
