//! What one call of a policy has used and logged so far, as seen from the sandbox's own thread.
//!
//! It must never count wall time against the CPU budget: a loaded machine does not fail a policy (§11).

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use crate::error::{PolicyError, PolicyErrorCode, cut};
use crate::instance::{Answer, AnsweredBy};
use crate::limits::{Budget, Limits};

/// The running call of one instance. The engines poll it.
#[derive(Debug)]
pub(crate) struct Call {
    meter: Cell<Option<Meter>>,
    /// Set once a poll told an engine to stop. The engine must not be entered again.
    interrupted: Cell<bool>,
    /// Set when the engine failed for want of something of the host's.
    without_room: Cell<bool>,
    /// Set from other threads when nobody waits for this instance any more.
    abandoned: Arc<AtomicBool>,
    logs: RefCell<Vec<String>>,
    max_log_lines: usize,
    max_log_line_bytes: usize,
}

#[derive(Debug, Clone, Copy)]
struct Meter {
    budget: Budget,
    cpu_at_start: Duration,
    started: Instant,
}

impl Call {
    pub(crate) fn new(limits: &Limits, abandoned: Arc<AtomicBool>) -> Self {
        Self {
            meter: Cell::new(None),
            interrupted: Cell::new(false),
            without_room: Cell::new(false),
            abandoned,
            logs: RefCell::new(Vec::new()),
            max_log_lines: limits.max_log_lines,
            max_log_line_bytes: limits.max_log_line_bytes,
        }
    }

    /// Runs one call under its budget. Must be called on the sandbox's thread, when it picks the call up.
    pub(crate) fn run<T>(&self, budget: Budget, work: impl FnOnce() -> Result<T, PolicyError>) -> Answer<T> {
        self.begin(budget);
        let result = work().and_then(|value| self.check().map(|()| value));
        let (cpu, logs) = self.end();
        let by = if self.without_room.take() { AnsweredBy::Host } else { AnsweredBy::Engine };
        Answer { result, logs, cpu, by }
    }

    /// The engine failed for want of something of the host's, which no policy is to blame for, nor is told of (§11).
    pub(crate) fn no_room(&self) -> PolicyError {
        self.without_room.set(true);
        PolicyErrorCode::Timeout.into()
    }

    fn begin(&self, budget: Budget) {
        self.meter.set(Some(Meter { budget, cpu_at_start: thread_cpu(), started: Instant::now() }));
    }

    /// Stops to count, and gives the CPU time that the call used and the lines that it logged.
    fn end(&self) -> (Duration, Vec<String>) {
        let cpu = self.meter.take().map_or(Duration::ZERO, |meter| meter.cpu_used());
        (cpu, self.logs.take())
    }

    /// Whether the engine must stop now. Between calls it never must.
    pub(crate) fn poll(&self) -> bool {
        let over =
            self.meter.get().is_some_and(|meter| meter.is_over()) || self.abandoned.load(Ordering::Relaxed);
        if over {
            self.interrupted.set(true);
        }
        over
    }

    /// Whether a poll has ever told the engine to stop.
    pub(crate) fn interrupted(&self) -> bool {
        self.interrupted.get()
    }

    /// Fails `timeout` when the budget is used up, even by work that never polled.
    pub(crate) fn check(&self) -> Result<(), PolicyError> {
        if self.interrupted() || self.poll() { Err(PolicyErrorCode::Timeout.into()) } else { Ok(()) }
    }

    /// Whether further log lines of this call are dropped.
    pub(crate) fn log_is_full(&self) -> bool {
        self.logs.borrow().len() >= self.max_log_lines
    }

    /// Most UTF-8 bytes of a log line.
    pub(crate) fn max_log_line_bytes(&self) -> usize {
        self.max_log_line_bytes
    }

    /// Keeps a line, cut to its bound, or drops it when the log is full.
    pub(crate) fn log(&self, line: &str) {
        if !self.log_is_full() {
            self.logs.borrow_mut().push(cut(line, self.max_log_line_bytes).to_owned());
        }
    }
}

impl Meter {
    fn cpu_used(&self) -> Duration {
        thread_cpu().saturating_sub(self.cpu_at_start)
    }

    fn is_over(&self) -> bool {
        self.cpu_used() >= self.budget.cpu || self.started.elapsed() >= self.budget.wall
    }
}

/// CPU time that the calling thread has used since it started.
fn thread_cpu() -> Duration {
    // The kernel never reports a negative time for this clock.
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call() -> Call {
        let limits = Limits {
            ms_per_call: 1,
            memory_bytes: 1 << 20,
            max_artifact_bytes: 1,
            max_intents_per_call: 1,
            max_log_lines: 2,
            max_log_line_bytes: 3,
            runtimes: vec![],
        };
        Call::new(&limits, Arc::default())
    }

    const LONG: Duration = Duration::from_secs(3600);

    // §11: the unit is CPU time of the thread, so a thread that waits uses nothing up.
    #[test]
    fn waiting_uses_no_budget() {
        let call = call();
        let cpu = Duration::from_millis(100);
        call.begin(Budget::alone(cpu, LONG));
        std::thread::sleep(2 * cpu);
        assert!(!call.poll());
        assert!(call.check().is_ok());
    }

    // §11: CPU time over the budget stops a call, and so does wall time over the hang guard.
    #[test]
    fn cpu_time_and_the_hang_guard_stop_a_call() {
        for budget in [Budget::alone(Duration::ZERO, LONG), Budget::alone(LONG, Duration::ZERO)] {
            let call = call();
            call.begin(budget);
            assert!(call.poll());
            assert!(call.interrupted());
            assert_eq!(call.check(), Err(PolicyErrorCode::Timeout.into()));
        }
    }

    // §11: the host's own trouble is said to be the host's, and only in the call that met it.
    #[test]
    fn a_want_of_room_is_the_hosts_answer() {
        let call = call();
        let failed = call.run(Budget::alone(LONG, LONG), || Err::<(), _>(call.no_room()));
        assert_eq!((failed.result, failed.by), (Err(PolicyErrorCode::Timeout.into()), AnsweredBy::Host));
        assert_eq!(call.run(Budget::alone(LONG, LONG), || Ok(())).by, AnsweredBy::Engine);
    }

    #[test]
    fn nothing_is_stopped_between_calls_unless_it_is_abandoned() {
        let call = call();
        assert!(!call.poll());
        call.abandoned.store(true, Ordering::Relaxed);
        assert!(call.poll());
    }

    // §11: per-call logs obey the manifest's caps.
    #[test]
    fn log_lines_are_bounded_in_number_and_length_for_each_call() {
        let call = call();
        for line in ["abcd", "aéé", "dropped"] {
            call.log(line);
        }
        assert!(call.log_is_full());
        assert_eq!(call.end().1, ["abc", "aé"]);
        assert!(!call.log_is_full());
    }
}
