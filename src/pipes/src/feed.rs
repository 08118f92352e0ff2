//! The live rows of an inbox, for a room or any other subscriber, and the right to them.
//!
//! A feed keeps a cursor and no rows of its own: a slow reader falls behind on disk, never in memory.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::watch;

use crate::error::PipesError;
use crate::inbox::{Inbox, Listing};
use crate::keys;
use crate::service::Pipes;

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

/// The right to follow an inbox. A seat's ends with the seat, so whoever keeps one asks [`Follower::is_good`] before it
/// hands on what came later.
#[derive(Clone)]
pub struct Follower {
    inbox: Arc<Inbox>,
    digest: String,
}

impl std::fmt::Debug for Follower {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Follower").field("inbox", &self.inbox).finish()
    }
}

impl Follower {
    /// The inbox.
    #[must_use]
    pub fn inbox(&self) -> &Arc<Inbox> {
        &self.inbox
    }

    /// Whether the token that gave this right still reads the inbox.
    #[must_use]
    pub fn is_good(&self) -> bool {
        !self.inbox.is_expired() && self.inbox.meta().may_read(&self.digest, self.inbox.now_ms())
    }
}

impl Pipes {
    /// The right to follow the inbox that a read token, a seat's token or the host's token reads.
    ///
    /// # Errors
    /// [`PipesError::NotFound`]; [`PipesError::RateLimited`] when too many inboxes are open.
    pub async fn follower(self: &Arc<Self>, token: &str) -> Result<Follower, PipesError> {
        Ok(Follower { inbox: self.reader(token).await?, digest: keys::digest(token) })
    }
}
