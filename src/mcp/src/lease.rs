//! The leases of claimed seat tokens (§20) and what each of them holds: its rate, its calls in flight, the observation
//! that it pages through. A lease is made by the claim and ends with its credential.

use crate::config::Limits;
use crate::pages::Snapshot;
use dashmap::DashMap;
use playerthree_host::{SeatGrant, Token};
use playerthree_session::{Bucket, Millis};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// One claimed seat token.
pub(crate) struct Lease {
    /// The seat.
    pub(crate) grant: Arc<SeatGrant>,
    opened: Instant,
    bucket: Mutex<Bucket>,
    calls: Semaphore,
    waits: Semaphore,
    snapshot: Mutex<Option<Arc<Snapshot>>>,
    cut: CancellationToken,
}

impl Lease {
    fn new(grant: Arc<SeatGrant>, limits: &Limits) -> Self {
        Self {
            grant,
            opened: Instant::now(),
            bucket: Mutex::new(Bucket::new(limits.calls_per_second, limits.calls_burst, 0)),
            calls: Semaphore::new(limits.calls_in_flight),
            waits: Semaphore::new(limits.waits_in_flight),
            snapshot: Mutex::new(None),
            cut: CancellationToken::new(),
        }
    }

    /// Counts a call against the rate, and says whether it may run.
    pub(crate) fn within_rate(&self) -> bool {
        let elapsed = Millis::try_from(self.opened.elapsed().as_millis()).unwrap_or(Millis::MAX);
        self.bucket.lock().unwrap_or_else(PoisonError::into_inner).take(elapsed)
    }

    /// A place in flight, held until it is dropped; nothing when all are taken.
    pub(crate) fn place(&self, method: &str) -> Option<SemaphorePermit<'_>> {
        let places = if method == "wait" { &self.waits } else { &self.calls };
        places.try_acquire().ok()
    }

    /// The observation that later pages are read from.
    pub(crate) fn snapshot(&self) -> Option<Arc<Snapshot>> {
        self.snapshot.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps the observation of the newest unpaged call, or nothing if it fitted one result (§4 `game_observe`).
    pub(crate) fn keep(&self, snapshot: Option<Snapshot>) {
        *self.snapshot.lock().unwrap_or_else(PoisonError::into_inner) = snapshot.map(Arc::new);
    }

    /// Fires when whatever is still open of this lease must be cut.
    pub(crate) fn cut(&self) -> &CancellationToken {
        &self.cut
    }
}

/// Every lease of this process. There are never more than claimed seat tokens.
pub(crate) struct Leases {
    /// By the address of the grant, which the lease keeps alive and therefore unique.
    open: Arc<DashMap<usize, Arc<Lease>>>,
    limits: Limits,
    shutdown: CancellationToken,
}

impl Leases {
    pub(crate) fn new(limits: Limits, shutdown: CancellationToken) -> Self {
        Self { open: Arc::default(), limits, shutdown }
    }

    /// Claims a seat token. Nothing if another call claimed it before.
    pub(crate) fn claim(&self, grant: &Arc<SeatGrant>) -> Option<(Token, Arc<Lease>)> {
        let session = grant.claim()?;
        let lease = Arc::new(Lease::new(Arc::clone(grant), &self.limits));
        self.open.insert(address(grant), Arc::clone(&lease));
        self.end_with_credential(Arc::clone(&lease));
        Some((session, lease))
    }

    /// The lease of a claimed seat token, if this is the session that holds it.
    pub(crate) fn find(&self, grant: &Arc<SeatGrant>, session: &str) -> Option<Arc<Lease>> {
        if !grant.is_session(session) {
            return None;
        }
        self.open.get(&address(grant)).map(|lease| Arc::clone(&lease))
    }

    /// Forgets the lease once its credential ends, and cuts what then is still open after the time to answer.
    /// Terminates when the credential is revoked or the server stops, whichever is first.
    fn end_with_credential(&self, lease: Arc<Lease>) {
        let (open, shutdown, cut_after) = (Arc::clone(&self.open), self.shutdown.clone(), self.limits.cut_after);
        tokio::spawn(async move {
            tokio::select! {
                () = lease.grant.revoked().cancelled() => {}
                () = shutdown.cancelled() => {}
            }
            open.remove(&address(&lease.grant));
            tokio::time::sleep(cut_after).await;
            lease.cut.cancel();
        });
    }
}

fn address(grant: &Arc<SeatGrant>) -> usize {
    Arc::as_ptr(grant).addr()
}
