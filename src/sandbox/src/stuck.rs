//! Threads that go on running after somebody else has answered for them.
//!
//! Compiling a module cannot be interrupted, and a thread cannot be killed. Such a thread must never take CPU time from
//! the threads that still serve somebody, and there must never be more than a few of them.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::limits::MAX_STUCK_THREADS;

static STUCK: AtomicUsize = AtomicUsize::new(0);

/// Whether so many threads are stuck that no more policies may be loaded.
pub(crate) fn too_many() -> bool {
    STUCK.load(Ordering::Relaxed) >= MAX_STUCK_THREADS
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

    /// Gives the thread the lowest priority. On Linux a priority belongs to a thread, not to its process.
    fn demote(self) {
        const LOWEST: i32 = 19;
        // Lowering needs no privilege; where it fails all the same, the thread merely competes as before.
        let _ = rustix::process::setpriority_process(Some(self.0), LOWEST);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{AnsweredBy, Artifact, Instance, Limits, PolicyErrorCode, Runtime, Setup, Workers};

    const MODULE: &str = r#"(module (memory (export "memory") 1 1)
        (func (export "alloc") (param i32) (result i32) (i32.const 0))
        (func (export "think") (param i32 i32) (result i64) (i64.const 0)))"#;

    fn load() -> (Result<(), PolicyErrorCode>, AnsweredBy) {
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
        let answer = Instance::load_blocking(&Workers::of_this_program(), setup).1;
        (answer.result.map(|_| ()).map_err(|error| error.code), answer.by)
    }

    // Issue "Policies": what cannot be interrupted cannot pile up without a bound.
    #[test]
    fn no_policy_is_loaded_while_too_many_threads_are_stuck() {
        let stuck: Vec<_> = (0..MAX_STUCK_THREADS).map(|_| Stuck::count(ThreadId::current())).collect();
        assert_eq!(load(), (Err(PolicyErrorCode::Timeout), AnsweredBy::Host));
        drop(stuck);
        assert_eq!(load(), (Ok(()), AnsweredBy::Engine));
    }
}
