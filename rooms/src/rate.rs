//! Token buckets, and how much one client may send by them: a bucket of messages and one of bytes, each refilled by the
//! second's worth.

use tokio::time::Instant;

/// The longest header of a WebSocket frame from a client, in bytes: the largest message that a bucket of bytes is to
/// hold comes with one.
const FRAME_HEADER: f64 = 14.0;

/// How fast a bucket fills, in units a second, and how much it holds.
pub(crate) struct Flow {
    pub(crate) per_second: f64,
    pub(crate) most: f64,
}

/// What is left in a bucket, and since when it has been filling.
pub(crate) struct Bucket {
    left: f64,
    filled: Instant,
}

impl Bucket {
    pub(crate) fn full(flow: &Flow, now: Instant) -> Self {
        Self { left: flow.most, filled: now }
    }

    /// What it holds at `now`.
    pub(crate) fn level(&self, flow: &Flow, now: Instant) -> f64 {
        let seconds = now.saturating_duration_since(self.filled).as_secs_f64();
        (self.left + seconds * flow.per_second).min(flow.most)
    }

    /// Takes an amount out, which may leave less than nothing.
    pub(crate) fn take(&mut self, amount: f64, flow: &Flow, now: Instant) {
        self.left = self.level(flow, now) - amount;
        self.filled = now;
    }
}

/// A bucket with a flow of its own.
struct Metered {
    flow: Flow,
    bucket: Bucket,
}

impl Metered {
    fn new(per_second: u32, extra: f64, now: Instant) -> Self {
        let per_second = f64::from(per_second);
        let flow = Flow { per_second, most: per_second + extra };
        Self { bucket: Bucket::full(&flow, now), flow }
    }

    fn take(&mut self, amount: f64, now: Instant) {
        self.bucket.take(amount, &self.flow, now);
    }
}

pub(crate) struct Rate {
    messages: Metered,
    bytes: Metered,
}

impl Rate {
    pub(crate) fn new(messages_per_second: u32, bytes_per_second: u32, now: Instant) -> Self {
        Self {
            messages: Metered::new(messages_per_second, 0.0, now),
            bytes: Metered::new(bytes_per_second, FRAME_HEADER, now),
        }
    }

    pub(crate) fn count_message(&mut self, now: Instant) {
        self.messages.take(1.0, now);
    }

    /// Counts what was read, which need not be a whole message.
    #[expect(clippy::cast_precision_loss, reason = "one read is far smaller than 2^53 bytes")]
    pub(crate) fn count_bytes(&mut self, bytes: usize, now: Instant) {
        self.bytes.take(bytes as f64, now);
    }

    /// Whether the client sent too much.
    pub(crate) fn is_spent(&self) -> bool {
        self.messages.bucket.left < 0.0 || self.bytes.bucket.left < 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// How many messages come through at once, of a hundred.
    fn through(rate: &mut Rate, now: Instant) -> usize {
        (0..100)
            .take_while(|_| {
                rate.count_message(now);
                !rate.is_spent()
            })
            .count()
    }

    #[test]
    fn a_second_holds_a_seconds_worth() {
        let now = Instant::now();
        assert_eq!(through(&mut Rate::new(10, 1000, now), now), 10);
        let mut rate = Rate::new(10, 1000, now);
        rate.count_bytes(1014, now);
        assert!(!rate.is_spent(), "a message of 1000 bytes and its header");
        rate.count_bytes(1, now);
        assert!(rate.is_spent());
    }

    #[test]
    fn a_pause_gives_back_no_more_than_a_second() {
        let now = Instant::now();
        let mut rate = Rate::new(10, 1000, now);
        (0..10).for_each(|_| rate.count_message(now));
        assert_eq!(through(&mut rate, now + Duration::from_millis(200)), 2);
        let mut rate = Rate::new(10, 1000, now);
        (0..10).for_each(|_| rate.count_message(now));
        assert_eq!(through(&mut rate, now + Duration::from_secs(3600)), 10);
    }
}
