//! How much one client may send: a bucket of messages and one of bytes, each refilled by the second's worth.

use tokio::time::Instant;

pub(crate) struct Rate {
    messages: Bucket,
    bytes: Bucket,
    filled: Instant,
}

struct Bucket {
    per_second: f64,
    left: f64,
}

impl Bucket {
    fn new(per_second: u32) -> Self {
        Self { per_second: f64::from(per_second), left: f64::from(per_second) }
    }

    fn refill(&mut self, seconds: f64) {
        self.left = (self.left + seconds * self.per_second).min(self.per_second);
    }

    fn take(&mut self, amount: f64) -> bool {
        self.left -= amount;
        self.left >= 0.0
    }
}

impl Rate {
    pub(crate) fn new(messages_per_second: u32, bytes_per_second: u32, now: Instant) -> Self {
        Self { messages: Bucket::new(messages_per_second), bytes: Bucket::new(bytes_per_second), filled: now }
    }

    /// Accounts for one message. False once the client sent too much.
    #[expect(clippy::cast_precision_loss, reason = "messages are far smaller than 2^53 bytes")]
    pub(crate) fn allows(&mut self, bytes: usize, now: Instant) -> bool {
        let seconds = now.saturating_duration_since(self.filled).as_secs_f64();
        self.filled = now;
        self.messages.refill(seconds);
        self.bytes.refill(seconds);
        self.messages.take(1.0) && self.bytes.take(bytes as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_second_holds_a_seconds_worth() {
        let now = Instant::now();
        let mut rate = Rate::new(10, 1000, now);
        assert!((0..10).all(|_| rate.allows(1, now)));
        assert!(!rate.allows(1, now));
        let mut rate = Rate::new(10, 1000, now);
        assert!(rate.allows(1000, now));
        assert!(!rate.allows(1, now));
    }

    #[test]
    fn a_pause_gives_back_no_more_than_a_second() {
        let now = Instant::now();
        let mut rate = Rate::new(10, 1000, now);
        assert!((0..10).all(|_| rate.allows(0, now)));
        let later = now + Duration::from_millis(200);
        assert!((0..2).all(|_| rate.allows(0, later)));
        assert!(!rate.allows(0, later));
        let mut rate = Rate::new(10, 1000, now);
        let much_later = now + Duration::from_secs(3600);
        assert!((0..10).all(|_| rate.allows(0, much_later)));
        assert!(!rate.allows(0, much_later));
    }
}
