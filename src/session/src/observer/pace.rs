//! When a frame is made (§20.9): on every tick of real time while somebody may want each, else once a second.
//!
//! Wall time alone counts, so that accelerated ticks neither flood a history nor shorten a delay.

use crate::Millis;

/// How long after a read a stream without delay is recorded in full.
const READ_RECENTLY: Millis = 5_000;

/// Between two frames that nobody waits for.
const IDLE_INTERVAL: Millis = 1_000;

/// Ticks come a little early or late; a frame this share of its interval early is on time.
const TOLERANCE: Millis = 4;

/// The rate of one match's frames.
#[derive(Debug)]
pub(super) struct Pace {
    /// Milliseconds between two frames at the full rate.
    interval: Millis,
    delayed: bool,
    recorded_at: Option<Millis>,
    read_at: Option<Millis>,
    /// Something happened that no frame shows yet.
    behind: bool,
}

impl Pace {
    /// At most `per_second` frames a second.
    pub(super) fn new(per_second: u32, delayed: bool) -> Self {
        let interval = 1_000 / Millis::from(per_second.max(1));
        Self { interval, delayed, recorded_at: None, read_at: None, behind: false }
    }

    /// Somebody reads.
    pub(super) fn read(&mut self, now: Millis) {
        self.read_at = Some(now);
    }

    /// Something happened: a frame is wanted, now or once the rate allows it.
    pub(super) fn touch(&mut self) {
        self.behind = true;
    }

    /// Whether a frame is wanted and may be made.
    pub(super) fn is_due(&self, now: Millis) -> bool {
        let read_recently = self.read_at.is_some_and(|at| now.saturating_sub(at) < READ_RECENTLY);
        let interval = if self.delayed || read_recently { self.interval } else { IDLE_INTERVAL };
        let earliest = |last: Millis| last + interval - interval / TOLERANCE;
        self.behind && self.recorded_at.is_none_or(|last| now >= earliest(last))
    }

    /// What there was to show has been shown.
    pub(super) fn recorded(&mut self, now: Millis) {
        self.recorded_at = Some(now);
        self.behind = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames made in two seconds of ticks that come every `step` milliseconds.
    fn frames(mut pace: Pace, step: usize) -> usize {
        let mut made = 0;
        for now in (0..2_000).step_by(step) {
            pace.touch();
            if pace.is_due(now) {
                pace.recorded(now);
                made += 1;
            }
        }
        made
    }

    fn read_at_start(delayed: bool) -> Pace {
        let mut pace = Pace::new(10, delayed);
        pace.read(0);
        pace
    }

    /// §20.9: a frame on every real-time tick while the stream is delayed or read, once a second otherwise.
    #[test]
    fn every_tick_makes_a_frame_while_the_stream_is_delayed_or_read() {
        assert_eq!(frames(Pace::new(10, true), 100), 20);
        assert_eq!(frames(read_at_start(false), 100), 20);
        assert!(frames(Pace::new(10, false), 100) <= 3);
    }

    /// §20.9: capped near the tick rate for accelerated matches.
    #[test]
    fn accelerated_ticks_make_frames_near_the_rate_of_real_time() {
        let accelerated = frames(Pace::new(10, true), 1);
        assert!((20..=27).contains(&accelerated), "{accelerated} frames");
    }

    #[test]
    fn what_came_too_early_for_a_frame_is_shown_later() {
        let mut pace = Pace::new(10, true);
        pace.touch();
        pace.recorded(0);
        assert!(!pace.is_due(500), "nothing happened since");
        pace.touch();
        assert!(!pace.is_due(10));
        assert!(pace.is_due(100));
    }
}
