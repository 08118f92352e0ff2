//! One thread that answers for sandbox threads that do not answer themselves (§11).
//!
//! It must never wait for a sandbox thread, and it holds at most one deadline for each running call.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// Something with a call that may have to be answered for.
pub(crate) trait Watched: Send + Sync {
    /// Answers for the call of this deadline, unless it has been answered.
    fn expire(&self, deadline: Deadline);
}

/// One call's deadline; no two calls share one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Deadline {
    pub(crate) at: Instant,
    serial: u64,
}

#[derive(Default)]
struct Watchdog {
    calls: Mutex<Calls>,
    changed: Condvar,
}

#[derive(Default)]
struct Calls {
    serial: u64,
    due: BTreeMap<Deadline, Weak<dyn Watched>>,
    /// When the thread looks next by itself; nothing while it sleeps until it is told.
    looks_at: Option<Instant>,
}

static WATCHDOG: LazyLock<Watchdog> = LazyLock::new(|| {
    #[expect(
        clippy::expect_used,
        reason = "a process that cannot start its one watchdog cannot run policies"
    )]
    thread::Builder::new()
        .name("policy-watchdog".to_owned())
        .spawn(|| WATCHDOG.run())
        .expect("the watchdog starts");
    Watchdog::default()
});

/// Starts the thread, with the priority of the caller, unless it runs.
pub(crate) fn start() {
    LazyLock::force(&WATCHDOG);
}

/// Expires `watched` this much later, unless [`forget`] comes first.
pub(crate) fn watch(watched: Weak<dyn Watched>, after: Duration) -> Deadline {
    let mut calls = WATCHDOG.lock();
    calls.serial += 1;
    let deadline = Deadline { at: Instant::now() + after, serial: calls.serial };
    calls.due.insert(deadline, watched);
    // Nearly every call is answered long before its deadline, so that the thread has an earlier one to look at already.
    let looks_too_late = calls.looks_at.is_none_or(|at| deadline.at < at);
    drop(calls);
    if looks_too_late {
        WATCHDOG.changed.notify_one();
    }
    deadline
}

/// Takes a deadline back: its call has been answered.
pub(crate) fn forget(deadline: Deadline) {
    WATCHDOG.lock().due.remove(&deadline);
}

impl Watchdog {
    fn lock(&self) -> MutexGuard<'_, Calls> {
        // Every change to the map is one step, so a panic elsewhere leaves it whole.
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Terminates never: it sleeps until the next deadline, or until there is one.
    fn run(&self) {
        loop {
            let (deadline, watched) = self.next_due();
            if let Some(watched) = watched.upgrade() {
                expire(&watched, deadline);
            }
        }
    }

    fn next_due(&self) -> (Deadline, Weak<dyn Watched>) {
        let mut calls = self.lock();
        loop {
            let next = calls.due.first_key_value().map(|(next, _)| next.at);
            calls.looks_at = next;
            calls = match next.map(|at| at.saturating_duration_since(Instant::now())) {
                Some(Duration::ZERO) => match calls.due.pop_first() {
                    Some(due) => return due,
                    None => calls,
                },
                Some(wait) => {
                    self.changed.wait_timeout(calls, wait).unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(calls).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

fn expire(watched: &Arc<dyn Watched>, deadline: Deadline) {
    // An owner's callback that panics must not end the one watchdog of the process.
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| watched.expire(deadline)));
}
