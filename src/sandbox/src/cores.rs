//! How many engines compute at once: one for each core, so that policies wait for each other instead of the server for
//! them all. Whoever is usually quick goes first, so that many slow policies cost a quick one the rest of a call and not all of
//! theirs.
//!
//! Nobody who holds a core may ever wait for another one.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// The cores that engines may use.
#[derive(Debug)]
pub(crate) struct Cores(Mutex<State>);

#[derive(Debug)]
struct State {
    free: usize,
    /// In the order of their turns; at most one for each instance. While a core is free, the first of them is awake.
    waiting: BTreeMap<Rank, Thread>,
    serial: u64,
}

/// When one that waits has its turn: by what it usually takes, then by when it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    usual: Duration,
    serial: u64,
}

impl Cores {
    /// As many as this process may use.
    pub(crate) fn of_this_machine() -> Arc<Self> {
        Self::of(thread::available_parallelism().map_or(1, NonZero::get))
    }

    /// So many.
    pub(crate) fn of(number: usize) -> Arc<Self> {
        Arc::new(Self(Mutex::new(State { free: number, waiting: BTreeMap::new(), serial: 0 })))
    }

    /// A core, if one is free and nobody waits for it.
    pub(crate) fn try_take(self: &Arc<Self>) -> Option<Core> {
        let mut state = self.lock();
        if !state.waiting.is_empty() {
            return None;
        }
        state.free = state.free.checked_sub(1)?;
        Some(Core(Arc::clone(self)))
    }

    /// A core for work that usually takes so much, if the calling thread gets its turn in this time.
    pub(crate) fn take_within(self: &Arc<Self>, patience: Duration, usual: Duration) -> Option<Core> {
        let deadline = Instant::now() + patience;
        let mut state = self.lock();
        state.serial += 1;
        let rank = Rank { usual, serial: state.serial };
        state.waiting.insert(rank, thread::current());
        loop {
            let is_next = state.waiting.first_key_value().is_some_and(|(next, _)| *next == rank);
            let left = deadline.saturating_duration_since(Instant::now());
            if (is_next && state.free > 0) || left.is_zero() {
                break;
            }
            drop(state);
            thread::park_timeout(left);
            state = self.lock();
        }
        let is_next = state.waiting.first_key_value().is_some_and(|(next, _)| *next == rank);
        state.waiting.remove(&rank);
        let free = state.free.checked_sub(1).filter(|_| is_next);
        state.free = free.unwrap_or(state.free);
        state.wake_next();
        free.map(|_| Core(Arc::clone(self)))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change is whole before anything could panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn wake_next(&self) {
        if let Some((_, next)) = self.waiting.first_key_value().filter(|_| self.free > 0) {
            next.unpark();
        }
    }
}

/// One core, until it is dropped.
#[derive(Debug)]
pub(crate) struct Core(Arc<Cores>);

impl Drop for Core {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.free += 1;
        state.wake_next();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_core_is_held_by_one_engine_at_a_time() {
        let cores = Cores::of(2);
        let (first, _second) = (cores.try_take().unwrap(), cores.try_take().unwrap());
        assert!(cores.try_take().is_none());
        assert!(cores.take_within(Duration::ZERO, Duration::ZERO).is_none());
        let waiting = {
            let cores = Arc::clone(&cores);
            thread::spawn(move || cores.take_within(LONG, Duration::ZERO).is_some())
        };
        drop(first);
        assert!(waiting.join().unwrap());
        assert!(cores.try_take().is_some());
    }

    #[test]
    fn whoever_is_usually_quick_goes_first() {
        let cores = Cores::of(1);
        let held = cores.try_take().unwrap();
        let (send, order) = channel();
        let waiters: Vec<_> = [30, 1, 20, 2]
            .into_iter()
            .enumerate()
            .map(|(already, usual)| {
                let (theirs, send) = (Arc::clone(&cores), send.clone());
                let waiter = thread::spawn(move || {
                    let core = theirs.take_within(LONG, Duration::from_millis(usual)).unwrap();
                    send.send(usual).unwrap();
                    drop(core);
                });
                while cores.lock().waiting.len() <= already {
                    thread::yield_now();
                }
                waiter
            })
            .collect();
        drop(held);
        assert_eq!(order.iter().take(4).collect::<Vec<_>>(), [1, 2, 20, 30]);
        waiters.into_iter().for_each(|waiter| waiter.join().unwrap());
        assert!(cores.lock().waiting.is_empty() && cores.try_take().is_some());
    }
}
