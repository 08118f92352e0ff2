//! The live rows of an inbox, for a room or any other subscriber.
//!
//! A feed keeps a cursor and no rows of its own: a slow reader falls behind on disk, never in memory.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::watch;

use crate::error::PipesError;
use crate::inbox::{Inbox, Listing};

/// Live rows of one inbox.
#[derive(Debug)]
pub struct Feed {
    inbox: Arc<Inbox>,
    head: watch::Receiver<u64>,
    after: u64,
}

impl Feed {
    pub(crate) fn new(inbox: Arc<Inbox>, head: watch::Receiver<u64>, after: u64) -> Self {
        Self { inbox, head, after }
    }

    /// The next rows, waiting for them when there are none; never empty. A slow reader falls behind on disk, not in
    /// memory.
    ///
    /// Cancel safety: a call that is dropped loses nothing.
    ///
    /// # Errors
    /// [`PipesError::NotFound`] when the inbox has expired; [`PipesError::Unavailable`] when it cannot be read.
    pub async fn next(&mut self) -> Result<Vec<Bytes>, PipesError> {
        loop {
            self.head.mark_unchanged();
            let page = self.inbox.list(Listing { after: self.after, ..Listing::default() }).await?;
            if !page.rows.is_empty() {
                self.after = page.next;
                return Ok(page.rows);
            }
            self.head.changed().await.map_err(|_| PipesError::NotFound)?;
        }
    }

    /// The number of the last row handed out.
    #[must_use]
    pub fn cursor(&self) -> u64 {
        self.after
    }
}
