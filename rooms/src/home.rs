//! Where rooms live: on the runtime that creates them, or spread over runtimes that the host names.
//!
//! A room and its sockets share a home, so where each home is one thread, a message crosses none. No runtime is started
//! or ended here: they are the host's.

use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::runtime::Handle;

pub(crate) struct Homes {
    runtimes: Vec<Handle>,
    given: AtomicUsize,
}

impl Homes {
    pub(crate) fn new(runtimes: Vec<Handle>) -> Self {
        Self { runtimes, given: AtomicUsize::new(0) }
    }

    /// The home of a new room, in turn; `None` for the runtime that creates it.
    pub(crate) fn next(&self) -> Option<Handle> {
        let turn = self.given.fetch_add(1, Ordering::Relaxed).checked_rem(self.runtimes.len())?;
        self.runtimes.get(turn).cloned()
    }
}
