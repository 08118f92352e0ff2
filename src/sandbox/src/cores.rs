//! How many engines compute at once: one for each core, so that policies wait for each other instead of the server for
//! them all. Tenants take turns, so that however many policies one of them has cost another no more than one call; of one
//! tenant's own, whoever is usually quick goes first. A tick waits for thinks and for no load, so a load goes after them, and
//! still has its turn.
//!
//! Nobody who holds a core may ever wait for another one.

use std::collections::HashMap;
use std::num::NonZero;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use crate::stuck::{Tenant, TenantId};

/// How many thinks begin in a row while a load waits.
const THINKS_IN_A_ROW: u32 = 32;

/// Tenants whose last turns are remembered. Past it the longest ago is forgotten, which changes no order: whoever had none
/// goes before all that had one.
const TURNS_MAX: usize = 1024;

/// The cores that engines may use. Clones are the same cores.
#[derive(Debug, Clone)]
pub struct Cores(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    free: usize,
    /// At most one for each instance. While a core is free, the one whose turn it is is awake.
    waiting: Vec<Waiting>,
    /// When tenants had their last turns, in the count of all that asked.
    turns: HashMap<TenantId, u64>,
    /// Of all that asked.
    serial: u64,
    /// Thinks that began while a load waited, since the last load.
    thinks_in_a_row: u32,
}

#[derive(Debug)]
struct Waiting {
    serial: u64,
    tenant: TenantId,
    work: Work,
    thread: Thread,
}

/// What a core is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// A think that usually takes so much.
    Think { usual: Duration },
    /// A load, which nobody's tick waits for.
    Load,
}

impl Cores {
    /// As many as this process may use.
    pub fn of_this_machine() -> Self {
        Self::of(thread::available_parallelism().map_or(1, NonZero::get))
    }

    /// So many. Without any no policy ever computes.
    pub fn of(number: usize) -> Self {
        Self(Arc::new(Mutex::new(State {
            free: number,
            waiting: Vec::new(),
            turns: HashMap::new(),
            serial: 0,
            thinks_in_a_row: 0,
        })))
    }

    /// A core for something else than policies, if one is free and none of them waits for it.
    pub fn try_take(&self) -> Option<Core> {
        let mut state = self.lock();
        if state.free == 0 || !state.waiting.is_empty() {
            return None;
        }
        state.free -= 1;
        Some(Core(self.clone()))
    }

    /// A core for the tenant's work, if the calling thread gets its turn in this time.
    pub(crate) fn take_within(&self, patience: Duration, tenant: &Tenant, work: Work) -> Option<Core> {
        let deadline = Instant::now() + patience;
        let mut state = self.lock();
        let serial = state.ask(tenant.id(), work);
        while state.next() != Some(serial) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            drop(state);
            thread::park_timeout(left);
            state = self.lock();
        }
        let core = state.take(serial).then(|| Core(self.clone()));
        state.wake_next();
        core
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change is whole before anything could panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// One more waits, which this number names.
    fn ask(&mut self, tenant: TenantId, work: Work) -> u64 {
        self.serial += 1;
        let (serial, thread) = (self.serial, thread::current());
        self.waiting.push(Waiting { serial, tenant, work, thread });
        serial
    }

    /// Whose turn it is, if a core is free.
    fn first(&self) -> Option<&Waiting> {
        let load_is_due = self.thinks_in_a_row >= THINKS_IN_A_ROW;
        let rank = |waiting: &Waiting| {
            let (is_load, usual) = match waiting.work {
                Work::Think { usual } => (false, usual),
                Work::Load => (true, Duration::ZERO),
            };
            (is_load != load_is_due, self.turns.get(&waiting.tenant).copied(), usual, waiting.serial)
        };
        self.waiting.iter().filter(|_| self.free > 0).min_by_key(|waiting| rank(waiting))
    }

    fn next(&self) -> Option<u64> {
        self.first().map(|waiting| waiting.serial)
    }

    /// One waits no longer. True if it was its turn and the core is taken.
    fn take(&mut self, serial: u64) -> bool {
        let its_turn = self.next() == Some(serial);
        let Some(place) = self.waiting.iter().position(|waiting| waiting.serial == serial) else {
            return false;
        };
        let Waiting { tenant, work, .. } = self.waiting.swap_remove(place);
        if !its_turn {
            return false;
        }
        self.free -= 1;
        self.serial += 1;
        if self.turns.len() >= TURNS_MAX && !self.turns.contains_key(&tenant) {
            let longest_ago = self.turns.iter().min_by_key(|(_, turn)| **turn).map(|(tenant, _)| *tenant);
            longest_ago.map(|tenant| self.turns.remove(&tenant));
        }
        self.turns.insert(tenant, self.serial);
        let a_load_waits = self.waiting.iter().any(|waiting| waiting.work == Work::Load);
        self.thinks_in_a_row = match work {
            Work::Think { .. } if a_load_waits => self.thinks_in_a_row + 1,
            Work::Think { .. } | Work::Load => 0,
        };
        true
    }

    fn wake_next(&self) {
        if let Some(next) = self.first() {
            next.thread.unpark();
        }
    }
}

/// One core, until it is dropped.
#[derive(Debug)]
pub struct Core(Cores);

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

    fn think(millis: u64) -> Work {
        Work::Think { usual: Duration::from_millis(millis) }
    }

    /// The order in which these, who all wait already, have the one core.
    fn order(cores: &Cores, waiters: &[(&Tenant, Work)]) -> Vec<usize> {
        let held = cores.try_take().unwrap();
        let (send, order) = channel();
        let threads: Vec<_> = waiters
            .iter()
            .enumerate()
            .map(|(number, (tenant, work))| {
                let (cores, tenant, work, send) = (cores.clone(), (*tenant).clone(), *work, send.clone());
                let theirs = cores.clone();
                let waiter = thread::spawn(move || {
                    let core = theirs.take_within(LONG, &tenant, work).unwrap();
                    send.send(number).unwrap();
                    drop(core);
                });
                while cores.lock().waiting.len() <= number {
                    thread::yield_now();
                }
                waiter
            })
            .collect();
        drop(held);
        let order = order.iter().take(waiters.len()).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(cores.lock().waiting.is_empty() && cores.try_take().is_some());
        order
    }

    #[test]
    fn a_core_is_held_by_one_engine_at_a_time() {
        let (cores, tenant) = (Cores::of(2), Tenant::default());
        let first = cores.take_within(Duration::ZERO, &tenant, think(1)).unwrap();
        let _second = cores.try_take().unwrap();
        assert!(cores.try_take().is_none());
        assert!(cores.take_within(Duration::ZERO, &tenant, think(1)).is_none());
        let waiting = {
            let cores = cores.clone();
            thread::spawn(move || cores.take_within(LONG, &tenant, think(1)).is_some())
        };
        drop(first);
        assert!(waiting.join().unwrap());
        assert!(cores.try_take().is_some());
    }

    #[test]
    fn of_one_tenant_whoever_is_usually_quick_goes_first() {
        let tenant = Tenant::default();
        let waiters = [30, 1, 20, 2].map(|usual| (&tenant, think(usual)));
        assert_eq!(order(&Cores::of(1), &waiters), [1, 3, 2, 0]);
    }

    // §15: nobody's many quick policies keep anybody else's slow one from its turn, now or the next time.
    #[test]
    fn tenants_take_turns_however_many_policies_each_has() {
        let cores = Cores::of(1);
        let (many, one) = (Tenant::default(), Tenant::default());
        let waiters = [(&many, think(1)), (&many, think(1)), (&many, think(1)), (&one, think(20))];
        assert_eq!(order(&cores, &waiters), [0, 3, 1, 2]);
        // Whoever waited longest for a turn of theirs is first now.
        assert_eq!(order(&cores, &waiters), [3, 0, 1, 2]);
    }

    // §11: a tick waits for a think and for no load; and still no load is kept waiting by thinks without an end.
    #[test]
    fn loads_go_after_thinks_and_have_their_turn() {
        let cores = Cores::of(1);
        let tenant = Tenant::default();
        let mut waiters = vec![(&tenant, Work::Load), (&tenant, think(1))];
        assert_eq!(order(&cores, &waiters), [1, 0]);
        let thinks = THINKS_IN_A_ROW as usize;
        waiters.extend(vec![(&tenant, think(2)); thinks + 2]);
        assert_eq!(order(&cores, &waiters).iter().position(|number| *number == 0), Some(thinks));
    }

    #[test]
    fn the_turns_of_many_tenants_are_forgotten_longest_ago_first() {
        let cores = Cores::of(1);
        let tenants: Vec<_> = (0..TURNS_MAX + 2).map(|_| Tenant::default()).collect();
        for tenant in &tenants {
            assert!(cores.take_within(LONG, tenant, think(1)).is_some());
        }
        let state = cores.lock();
        assert_eq!(state.turns.len(), TURNS_MAX);
        assert!(tenants[..2].iter().all(|tenant| !state.turns.contains_key(&tenant.id())));
    }
}
