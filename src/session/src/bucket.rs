//! A token bucket over the time that its caller hands in.

use crate::Millis;

/// Allows `burst` at once and `per_second` in the long run.
#[derive(Clone, Debug)]
pub struct Bucket {
    per_second: f64,
    burst: f64,
    tokens: f64,
    filled_at: Millis,
}

impl Bucket {
    /// A full bucket.
    pub fn new(per_second: f64, burst: u32, now: Millis) -> Self {
        Self { per_second, burst: f64::from(burst), tokens: f64::from(burst), filled_at: now }
    }

    /// Takes one token, or says that there is none.
    pub fn take(&mut self, now: Millis) -> bool {
        self.tokens = self.tokens_at(now);
        self.filled_at = self.filled_at.max(now);
        if self.tokens < 1.0 {
            return false;
        }
        self.tokens -= 1.0;
        true
    }

    /// Whether nothing is missing, so that a new one would say the same.
    pub fn is_full(&self, now: Millis) -> bool {
        self.tokens_at(now) >= self.burst
    }

    fn tokens_at(&self, now: Millis) -> f64 {
        let elapsed = now.saturating_sub(self.filled_at);
        // Milliseconds since the last fill are far below 2^52, so the conversion is exact.
        #[expect(clippy::cast_precision_loss, reason = "bounded by the uptime of a process in milliseconds")]
        let refill = elapsed as f64 / 1000.0 * self.per_second;
        (self.tokens + refill).min(self.burst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_and_then_the_rate_holds() {
        let mut bucket = Bucket::new(2.0, 3, 0);
        assert_eq!((0..5).filter(|_| bucket.take(0)).count(), 3);
        assert!(!bucket.take(499));
        assert!(bucket.take(500));
        assert!(!bucket.take(501));
    }

    #[test]
    fn a_bucket_is_full_until_something_is_taken_and_once_it_came_back() {
        let mut bucket = Bucket::new(2.0, 3, 0);
        assert!(bucket.is_full(0));
        bucket.take(0);
        assert!(!bucket.is_full(499));
        assert!(bucket.is_full(500));
    }

    #[test]
    fn a_clock_that_stands_or_steps_back_refills_nothing() {
        let mut bucket = Bucket::new(1.0, 1, 10_000);
        assert!(bucket.take(10_000));
        assert!(!bucket.take(0));
        assert!(!bucket.take(10_000));
    }
}
