//! How much one credential may ask for: calls a second, calls in flight, waits in flight (§15).

use crate::config::Limits;
use playerthree_session::{Bucket, Millis};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

/// Where a call in flight is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// It answers at once.
    Call,
    /// It is held open until something happens.
    Wait,
}

/// What one credential has left.
pub(crate) struct Quota {
    opened: Instant,
    bucket: Mutex<Bucket>,
    calls: Semaphore,
    waits: Semaphore,
    used: Mutex<Instant>,
    /// After so long without a call the bucket is full again.
    refill: Duration,
}

impl Quota {
    /// A full quota. Waits have places for each role.
    pub(crate) fn new(limits: &Limits, roles: usize) -> Self {
        let now = Instant::now();
        Self {
            opened: now,
            bucket: Mutex::new(Bucket::new(limits.calls_per_second, limits.calls_burst, 0)),
            calls: Semaphore::new(limits.calls_in_flight),
            waits: Semaphore::new(limits.waits_in_flight * roles),
            used: Mutex::new(now),
            refill: Duration::try_from_secs_f64(f64::from(limits.calls_burst) / limits.calls_per_second)
                .unwrap_or(Duration::MAX),
        }
    }

    /// Counts a call against the rate, and says whether it may run.
    pub(crate) fn within_rate(&self) -> bool {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        let elapsed = Millis::try_from(self.opened.elapsed().as_millis()).unwrap_or(Millis::MAX);
        self.bucket.lock().unwrap_or_else(PoisonError::into_inner).take(elapsed)
    }

    /// A place in flight, held until it is dropped; nothing when all are taken.
    pub(crate) fn place(&self, place: Place) -> Option<SemaphorePermit<'_>> {
        let places = match place {
            Place::Call => &self.calls,
            Place::Wait => &self.waits,
        };
        places.try_acquire().ok()
    }

    /// Whether its rate is as good as new, so that nobody gains anything when it is forgotten.
    pub(crate) fn is_rested(&self) -> bool {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).elapsed() >= self.refill
    }
}
