//! How much one credential may ask for: calls a second, calls, waits and streams in flight, reads a second (§15, §17).

use crate::config::Limits;
use playerthree_session::{Bucket, Millis};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use tokio::time::Instant;

/// Where a call in flight is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place<'a> {
    /// It answers at once.
    Call,
    /// It is held open until something happens to this role.
    Wait(&'a str),
}

/// What one credential has left.
pub(crate) struct Quota {
    opened: Instant,
    bucket: Mutex<Bucket>,
    calls: Semaphore,
    waits: BTreeMap<Arc<str>, Semaphore>,
    reads: Mutex<Bucket>,
    streams: Arc<Semaphore>,
    used: Mutex<Instant>,
    /// After so long without a call the bucket is full again.
    refill: Duration,
}

impl Quota {
    /// A full quota. Waits have places for each of these roles.
    pub(crate) fn new(limits: &Limits, roles: impl IntoIterator<Item = Arc<str>>) -> Self {
        let now = Instant::now();
        let places = |role| (role, Semaphore::new(limits.waits_in_flight));
        Self {
            opened: now,
            bucket: Mutex::new(Bucket::new(limits.calls_per_second, limits.calls_burst, 0)),
            calls: Semaphore::new(limits.calls_in_flight),
            waits: roles.into_iter().map(places).collect(),
            reads: Mutex::new(Bucket::new(limits.reads_per_second, limits.reads_burst, 0)),
            streams: Arc::new(Semaphore::new(limits.streams_in_flight)),
            used: Mutex::new(now),
            refill: Duration::try_from_secs_f64(f64::from(limits.calls_burst) / limits.calls_per_second)
                .unwrap_or(Duration::MAX),
        }
    }

    /// Counts a call against the rate, and says whether it may run.
    pub(crate) fn within_rate(&self) -> bool {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        self.take(&self.bucket)
    }

    /// Counts a list, a read or a new stream against their rate, and says whether it may run.
    pub(crate) fn may_read(&self) -> bool {
        self.take(&self.reads)
    }

    fn take(&self, bucket: &Mutex<Bucket>) -> bool {
        let elapsed = Millis::try_from(self.opened.elapsed().as_millis()).unwrap_or(Millis::MAX);
        bucket.lock().unwrap_or_else(PoisonError::into_inner).take(elapsed)
    }

    /// A place in flight, held until it is dropped; nothing when all are taken.
    pub(crate) fn place(&self, place: Place<'_>) -> Option<SemaphorePermit<'_>> {
        let places = match place {
            Place::Call => &self.calls,
            Place::Wait(role) => self.waits.get(role)?,
        };
        places.try_acquire().ok()
    }

    /// A place for a stream, held until it is dropped; nothing when all are taken.
    pub(crate) fn stream(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.streams).try_acquire_owned().ok()
    }

    /// Whether its rate is as good as new, so that nobody gains anything when it is forgotten.
    pub(crate) fn is_rested(&self) -> bool {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).elapsed() >= self.refill
    }
}
