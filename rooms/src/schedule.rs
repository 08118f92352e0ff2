//! What a room has to do later: expiries of its seats and timers of its own, in the order in which they are due.

use crate::cx::TimerId;
use crate::id::SessionId;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;
use tokio::time::Instant;

/// The longest time that is told apart from for ever: ten years. An instant further away may not exist.
pub(crate) const FAR: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// Something that is due at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// A seat's time for its present state is over: reserved, joining or held.
    Seat(SessionId),
    /// The clients are to be pinged.
    Pings,
    /// A state patch, and what waits for it.
    Patch,
    /// The state, for the clients that wait for it.
    Arrivals,
    /// Nobody claimed a seat in the new room.
    Unclaimed,
    Timer(TimerId),
}

/// Names one entry, to take it out again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Slot(Instant, u64);

struct Timer {
    slot: Slot,
    repeat: Option<Repeat>,
}

#[derive(Clone, Copy)]
struct Repeat {
    period: Duration,
    /// How many missed periods are made up for before the rest is skipped.
    catch_up: u32,
}

#[derive(Default)]
pub(crate) struct Schedule {
    entries: BTreeMap<Slot, Due>,
    timers: HashMap<TimerId, Timer>,
    next: u64,
}

impl Schedule {
    pub(crate) fn at(&mut self, when: Instant, due: Due) -> Slot {
        self.next += 1;
        let slot = Slot(when, self.next);
        self.entries.insert(slot, due);
        slot
    }

    pub(crate) fn remove(&mut self, slot: Slot) {
        self.entries.remove(&slot);
    }

    pub(crate) fn next_instant(&self) -> Option<Instant> {
        self.entries.first_key_value().map(|(slot, _)| slot.0)
    }

    /// Whether the time is over in which clients had to do something.
    pub(crate) fn has_deadline(&self, now: Instant) -> bool {
        let mut due = self.entries.range(..=Slot(now, u64::MAX)).map(|(_, due)| due);
        due.any(|due| matches!(due, Due::Seat(_) | Due::Unclaimed))
    }

    pub(crate) fn once(&mut self, now: Instant, delay: Duration) -> TimerId {
        self.start(now + delay.min(FAR), None)
    }

    /// A timer every `period`, at least a millisecond, on a grid that starts now. After a stall up to `catch_up`
    /// missed turns come at once, the rest are skipped; the grid stays.
    pub(crate) fn every(&mut self, now: Instant, period: Duration, catch_up: u32) -> TimerId {
        let period = period.clamp(Duration::from_millis(1), FAR);
        self.start(now + period, Some(Repeat { period, catch_up }))
    }

    fn start(&mut self, when: Instant, repeat: Option<Repeat>) -> TimerId {
        let id = TimerId(self.next + 1);
        let slot = self.at(when, Due::Timer(id));
        self.timers.insert(id, Timer { slot, repeat });
        id
    }

    pub(crate) fn cancel(&mut self, id: TimerId) {
        if let Some(timer) = self.timers.remove(&id) {
            self.entries.remove(&timer.slot);
        }
    }

    /// Takes the first entry that is due, and when it was. A repeating timer is entered again.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<(Instant, Due)> {
        let first = self.entries.first_entry()?;
        if first.key().0 > now {
            return None;
        }
        let Slot(when, _) = *first.key();
        let due = first.remove();
        if let Due::Timer(id) = due {
            self.repeat(id, when, now);
        }
        Some((when, due))
    }

    fn repeat(&mut self, id: TimerId, when: Instant, now: Instant) {
        let Some(Repeat { period, catch_up }) = self.timers.get(&id).and_then(|timer| timer.repeat) else {
            self.timers.remove(&id);
            return;
        };
        let missed = (now - when).as_nanos() / period.as_nanos();
        let skipped = u32::try_from(missed.saturating_sub(u128::from(catch_up))).unwrap_or(u32::MAX);
        let slot = self.at(when + period * skipped + period, Due::Timer(id));
        if let Some(timer) = self.timers.get_mut(&id) {
            timer.slot = slot;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Duration = Duration::from_millis(50);

    fn turns(schedule: &mut Schedule, now: Instant) -> usize {
        std::iter::from_fn(|| schedule.pop(now)).count()
    }

    #[test]
    fn entries_come_in_order_of_time_then_of_entry() {
        let start = Instant::now();
        let mut schedule = Schedule::default();
        let late = schedule.once(start, TICK * 2);
        let first = schedule.once(start, TICK);
        let second = schedule.once(start, TICK);
        let cancelled = schedule.once(start, TICK);
        schedule.cancel(cancelled);
        let mut pop = |after: Duration| schedule.pop(start + after).map(|(when, due)| (when - start, due));
        assert_eq!(pop(TICK - Duration::from_nanos(1)), None);
        assert_eq!(
            [pop(TICK), pop(TICK), pop(TICK)],
            [Some((TICK, Due::Timer(first))), Some((TICK, Due::Timer(second))), None]
        );
        assert_eq!(pop(TICK * 3), Some((TICK * 2, Due::Timer(late))));
    }

    #[test]
    fn a_time_that_never_comes_is_no_fault() {
        let mut schedule = Schedule::default();
        schedule.once(Instant::now(), Duration::MAX);
        schedule.every(Instant::now(), Duration::MAX, 0);
        assert_eq!(turns(&mut schedule, Instant::now() + TICK), 0);
    }

    // Field reports U55 and U58: the grid does not drift, and a stall gives a bounded number of turns.
    #[test]
    fn a_stall_skips_turns_and_keeps_the_grid() {
        let start = Instant::now();
        let mut schedule = Schedule::default();
        schedule.every(start, TICK, 0);
        assert_eq!(turns(&mut schedule, start + TICK), 1);
        assert_eq!(turns(&mut schedule, start + TICK * 100 + TICK / 2), 1);
        assert_eq!(schedule.next_instant(), Some(start + TICK * 101));
    }

    #[test]
    fn a_fixed_step_makes_up_for_a_bounded_number_of_turns() {
        let start = Instant::now();
        let mut schedule = Schedule::default();
        schedule.every(start, TICK, 20);
        assert_eq!(turns(&mut schedule, start + TICK * 5), 5);
        assert_eq!(turns(&mut schedule, start + TICK * 1005), 21);
        assert_eq!(schedule.next_instant(), Some(start + TICK * 1006));
    }
}
