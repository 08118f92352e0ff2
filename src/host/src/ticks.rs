//! How far a practice has come: a count that the practice's thread keeps and whoever asked for it may read meanwhile. It
//! tells a number of ticks and nothing of what is played.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Ticks that a practice has played. Its clones are one count.
#[derive(Clone, Debug, Default)]
pub struct Ticks(Arc<AtomicU64>);

impl Ticks {
    /// Ticks played so far; 0 before the first, and for a call that plays none.
    pub fn played(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// So many ticks are played now.
    pub fn reach(&self, played: u64) {
        self.0.store(played, Ordering::Relaxed);
    }
}
