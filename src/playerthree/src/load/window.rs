//! When things count: the measured window, the phases of a run, and the schedule of one client's messages.

use std::time::{Duration, Instant};

/// How late a timer may fire by its own coarseness. Up to this much the due time moves along, for no server can be
/// blamed for it; any lateness beyond counts as latency.
const TIMER_SLACK: Duration = Duration::from_millis(2);

/// The measured time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) from: Instant,
    pub(super) until: Instant,
}

impl Window {
    pub(super) fn contains(self, at: Instant) -> bool {
        self.from <= at && at < self.until
    }
}

/// Where a run is. It only moves forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Clients join.
    Ramp,
    /// The scenario runs: warm-up until the window opens, then measured.
    Run(Window),
    /// Nothing is sent any more; what is on its way may arrive.
    Drain,
    /// Everybody leaves.
    Done,
}

impl Phase {
    /// The measured window, where something is measured.
    pub(super) fn window(self) -> Option<Window> {
        match self {
            Self::Run(window) => Some(window),
            Self::Ramp | Self::Drain | Self::Done => None,
        }
    }

    /// Whether clients are to begin, or go on, with what the scenario does.
    pub(super) fn is_running(self) -> bool {
        matches!(self, Self::Run(_))
    }
}

/// When one client's messages are due: at a fixed rate that waits for nobody.
#[derive(Debug)]
pub(super) struct Schedule {
    next: Instant,
    interval: Duration,
    until: Instant,
}

/// A message that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Due {
    /// From when its latency counts.
    pub(super) charged: Instant,
    /// How late it leaves.
    pub(super) late: Duration,
}

impl Schedule {
    /// Begins at `begin` and a part of the interval, 0 to 1, so that clients do not all send at once.
    pub(super) fn new(begin: Instant, until: Instant, per_second: f64, part: f64) -> Self {
        let interval = Duration::from_secs_f64(1.0 / per_second);
        Self { next: begin + interval.mul_f64(part), interval, until }
    }

    /// When the next message is due, unless the time is over.
    pub(super) fn next(&self) -> Option<Instant> {
        Some(self.next).filter(|next| *next < self.until)
    }

    /// How many messages were due by `now` and were not taken.
    pub(super) fn overdue(&self, now: Instant) -> u64 {
        let behind = now.min(self.until).checked_duration_since(self.next).filter(|behind| !behind.is_zero());
        let count = behind.map_or(0, |behind| behind.as_nanos().div_ceil(self.interval.as_nanos().max(1)));
        u64::try_from(count).unwrap_or(u64::MAX)
    }

    /// Takes the message that was due before `now`. Missed ones stay due, one after another.
    pub(super) fn take(&mut self, now: Instant) -> Due {
        let due = self.next;
        self.next += self.interval;
        Due { charged: now.min(due + TIMER_SLACK), late: now.saturating_duration_since(due) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_message_is_charged_from_when_it_was_due() {
        let begin = Instant::now();
        let at = |millis| begin + Duration::from_millis(millis);
        let mut schedule = Schedule::new(begin, at(1000), 10.0, 0.5);
        assert_eq!(schedule.next(), Some(at(50)));
        assert_eq!(schedule.take(at(51)), Due { charged: at(51), late: Duration::from_millis(1) });
        // A stall of 250 ms: the two messages that were due in it leave at once, each charged from its own time.
        assert_eq!(schedule.take(at(300)), Due { charged: at(152), late: Duration::from_millis(150) });
        assert_eq!(schedule.take(at(300)), Due { charged: at(252), late: Duration::from_millis(50) });
        assert_eq!(schedule.next(), Some(at(350)));
    }

    #[test]
    fn messages_that_never_left_are_counted_up_to_the_end() {
        let begin = Instant::now();
        let at = |millis| begin + Duration::from_millis(millis);
        let mut schedule = Schedule::new(begin, at(1000), 10.0, 0.0);
        assert_eq!(schedule.overdue(begin), 0);
        assert_eq!(schedule.overdue(at(250)), 3, "those of 0, 100 and 200 ms");
        schedule.take(at(250));
        assert_eq!(schedule.overdue(at(250)), 2);
        assert_eq!(schedule.overdue(at(90_000)), 9);
    }

    #[test]
    fn a_schedule_ends_with_its_time() {
        let begin = Instant::now();
        let mut schedule = Schedule::new(begin, begin + Duration::from_millis(150), 10.0, 0.0);
        let mut count = 0;
        while let Some(due) = schedule.next() {
            schedule.take(due);
            count += 1;
        }
        assert_eq!(count, 2);
    }

    #[test]
    fn the_window_excludes_what_is_before_and_after() {
        let from = Instant::now();
        let window = Window { from, until: from + Duration::from_secs(1) };
        let at = |millis: u64| from + Duration::from_millis(millis);
        assert!(window.contains(from) && window.contains(at(999)) && !window.contains(at(1000)));
    }
}
