//! Threads that go on running after somebody else has answered for them.
//!
//! Compiling a module cannot be interrupted, and a thread cannot be killed. Such a thread must never take CPU time from
//! the threads that still serve somebody, and there must never be more than a few of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::limits::{MAX_COMPILING, MAX_STUCK_THREADS};

static STUCK: AtomicUsize = AtomicUsize::new(0);

/// Whoever answers for policies: their loads take from each other before they take from anybody else's. Clones are the same
/// tenant.
#[derive(Clone, Debug, Default)]
pub struct Tenant(Arc<AtomicUsize>);

impl Tenant {
    /// Names the tenant, and after its end perhaps another one.
    pub(crate) fn id(&self) -> TenantId {
        TenantId(Arc::as_ptr(&self.0).addr())
    }

    /// Whether this is the tenant's only handle: no policy of theirs runs, and no thread of theirs is stuck.
    pub fn is_idle(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }
}

/// Which tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TenantId(usize);

/// A module that is being compiled, whoever still waits for it.
pub(crate) struct Compiling(Tenant);

impl Compiling {
    /// One more of this tenant's, unless they or everybody together have too many that cannot be interrupted.
    pub(crate) fn begin(tenant: &Tenant) -> Option<Self> {
        if STUCK.load(Ordering::Relaxed) >= MAX_STUCK_THREADS {
            return None;
        }
        let compiling = Self(tenant.clone());
        // Counted before it is judged: two that begin at once do not both find the last place.
        let before = tenant.0.fetch_add(1, Ordering::Relaxed);
        (before < MAX_COMPILING).then_some(compiling)
    }
}

impl Drop for Compiling {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// One thread that is counted as stuck, from when it is abandoned until it ends.
pub(crate) struct Stuck(());

impl Stuck {
    /// Counts the thread, and lets every other thread run before it.
    pub(crate) fn count(thread: ThreadId) -> Self {
        STUCK.fetch_add(1, Ordering::Relaxed);
        thread.demote();
        Self(())
    }
}

impl Drop for Stuck {
    fn drop(&mut self) {
        STUCK.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Lets everything else run before the calling thread, and before the threads and worker processes that it starts: for
/// work that nobody plays.
pub fn yield_to_everything() {
    ThreadId::current().demote();
}

/// A thread as the kernel knows it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ThreadId(rustix::process::Pid);

impl ThreadId {
    /// The calling thread.
    pub(crate) fn current() -> Self {
        Self(rustix::thread::gettid())
    }

    /// Lets the server's own threads run before the thread, which still gets its share of a busy machine.
    pub(crate) fn yield_to_the_server(self) {
        /// Enough to be preempted by whoever wakes up, and little enough that the hang guard is far.
        const NICE: i32 = 1;
        if rustix::process::getpriority_process(Some(self.0)).is_ok_and(|nice| nice < NICE) {
            self.set_nice(NICE);
        }
    }

    /// Gives the thread the lowest priority.
    fn demote(self) {
        self.set_nice(19);
    }

    /// On Linux a priority belongs to a thread, not to its process.
    fn set_nice(self, nice: i32) {
        // Lowering needs no privilege; where it fails all the same, the thread merely competes as before.
        let _ = rustix::process::setpriority_process(Some(self.0), nice);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnsweredBy, Artifact, Instance, Limits, PolicyErrorCode, Runtime, Setup, Workers};

    const MODULE: &str = r#"(module (memory (export "memory") 1 1)
        (func (export "alloc") (param i32) (result i32) (i32.const 0))
        (func (export "think") (param i32 i32) (result i64) (i64.const 0)))"#;

    fn load(tenant: &Tenant) -> (Result<(), PolicyErrorCode>, AnsweredBy) {
        let limits = Limits {
            ms_per_call: 1000,
            memory_bytes: 1 << 20,
            max_artifact_bytes: 1000,
            max_intents_per_call: 1,
            max_log_lines: 0,
            max_log_line_bytes: 1,
            runtimes: vec![Runtime::Wasm],
        };
        let module = wat::parse_str(MODULE).unwrap();
        let artifact = Arc::new(Artifact::from_stored(Runtime::Wasm, module));
        let setup = Setup { artifact, limits, match_data: "null".into(), seed: 0 };
        let workers = Workers::of_this_program().on_behalf_of(tenant);
        let answer = Instance::load_blocking(&workers, setup).1;
        (answer.result.map(|_| ()).map_err(|error| error.code), answer.by)
    }

    const NO_ROOM: (Result<(), PolicyErrorCode>, AnsweredBy) =
        (Err(PolicyErrorCode::Timeout), AnsweredBy::Host);
    const LOADED: (Result<(), PolicyErrorCode>, AnsweredBy) = (Ok(()), AnsweredBy::Engine);

    // Issue "Policies": what cannot be interrupted cannot pile up without a bound, and nobody takes all of it from others.
    #[test]
    fn what_cannot_be_interrupted_is_bounded_for_each_tenant_and_for_all() {
        let (busy, other) = (Tenant::default(), Tenant::default());
        let compiling: Vec<_> = (0..MAX_COMPILING).map(|_| Compiling::begin(&busy).unwrap()).collect();
        assert_eq!((load(&busy), load(&other)), (NO_ROOM, LOADED));
        assert!(!busy.is_idle());
        drop(compiling);
        assert_eq!(load(&busy), LOADED);

        let stuck: Vec<_> = (0..MAX_STUCK_THREADS).map(|_| Stuck::count(ThreadId::current())).collect();
        assert_eq!(load(&other), NO_ROOM);
        drop(stuck);
        assert_eq!(load(&other), LOADED);
    }
}
