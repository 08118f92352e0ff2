//! How many engines compute at once: one for each core, so that policies wait for each other instead of the server for
//! them all.
//!
//! Nobody who holds a core may ever wait for another one.

use std::num::NonZero;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The cores that engines may use.
#[derive(Debug)]
pub(crate) struct Cores {
    free: Mutex<usize>,
    freed: Condvar,
}

impl Cores {
    /// As many as this process may use.
    pub(crate) fn of_this_machine() -> Arc<Self> {
        Self::of(thread::available_parallelism().map_or(1, NonZero::get))
    }

    fn of(number: usize) -> Arc<Self> {
        Arc::new(Self { free: Mutex::new(number), freed: Condvar::new() })
    }

    /// A core, if one is free.
    pub(crate) fn try_take(self: &Arc<Self>) -> Option<Core> {
        self.take(&mut self.lock())
    }

    /// A core, if one gets free in this time.
    pub(crate) fn take_within(self: &Arc<Self>, patience: Duration) -> Option<Core> {
        let none_free = |free: &mut usize| *free == 0;
        let waited = self.freed.wait_timeout_while(self.lock(), patience, none_free);
        self.take(&mut waited.unwrap_or_else(PoisonError::into_inner).0)
    }

    fn take(self: &Arc<Self>, free: &mut usize) -> Option<Core> {
        *free = free.checked_sub(1)?;
        Some(Core(Arc::clone(self)))
    }

    fn lock(&self) -> MutexGuard<'_, usize> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One core, until it is dropped.
#[derive(Debug)]
pub(crate) struct Core(Arc<Cores>);

impl Drop for Core {
    fn drop(&mut self) {
        *self.0.lock() += 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_is_held_by_one_engine_at_a_time() {
        let cores = Cores::of(2);
        let (first, _second) = (cores.try_take().unwrap(), cores.try_take().unwrap());
        assert!(cores.try_take().is_none());
        assert!(cores.take_within(Duration::ZERO).is_none());
        let waiting = {
            let cores = Arc::clone(&cores);
            thread::spawn(move || cores.take_within(Duration::from_secs(60)).is_some())
        };
        drop(first);
        assert!(waiting.join().unwrap());
        assert!(cores.try_take().is_some());
    }
}
