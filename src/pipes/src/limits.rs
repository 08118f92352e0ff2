//! Every bound of the inboxes in one place, the token bucket, and the clock that is handed in.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds in an hour.
pub(crate) const HOUR_MS: u64 = 3_600_000;

/// A refill rate with the burst that it allows.
#[derive(Debug, Clone, Copy)]
pub struct Rate {
    /// Permits gained a second.
    pub per_second: u32,
    /// Permits that may be saved up; at least 1.
    pub burst: u32,
}

/// The bounds of the inboxes. All are finite.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Bytes of one posted body.
    pub body_bytes: usize,
    /// Captures of an anonymous inbox.
    pub anonymous_captures: u64,
    /// Captures of a signed inbox.
    pub signed_captures: u64,
    /// How long an anonymous inbox lives; after that it is gone and its file deleted.
    pub anonymous_life_ms: u64,
    /// How long a signed inbox lives.
    pub signed_life_ms: u64,
    /// Posts to one inbox.
    pub post_rate: Rate,
    /// Inboxes opened, over the whole server.
    pub open_rate: Rate,
    /// Pairing codes tried, over the whole server.
    pub redeem_rate: Rate,
    /// Logs verified for callers, over the whole server.
    pub verify_rate: Rate,
    /// Bytes of a log that a caller may have verified.
    pub verify_bytes: usize,
    /// Agents that exist; past it the oldest one without a seat makes room.
    pub agents: usize,
    /// How long an agent's token lives.
    pub agent_life_ms: u64,
    /// Agents minted, over the whole server.
    pub agent_rate: Rate,
    /// Inboxes that exist.
    pub inboxes: usize,
    /// Inboxes that are open (a file handle and an index each); idle ones make room.
    pub open_inboxes: usize,
    /// Seats of one inbox, the host's too; revoked seats count, their refs stay taken.
    pub seats: usize,
    /// Pairing codes of one inbox that are neither used nor expired.
    pub codes: usize,
    /// Rows of one listing.
    pub page_rows: usize,
    /// Bytes of one listing; a single larger row is still listed.
    pub page_bytes: usize,
    /// Calls that may wait on one inbox at a time.
    pub waiters: usize,
    /// How long a listing may wait for its first row.
    pub wait_ms: u64,
    /// Posts queued for one inbox.
    pub mailbox: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 32 << 10,
            anonymous_captures: 250,
            signed_captures: 100_000,
            anonymous_life_ms: 24 * HOUR_MS,
            signed_life_ms: 30 * 24 * HOUR_MS,
            post_rate: Rate { per_second: 20, burst: 100 },
            open_rate: Rate { per_second: 2, burst: 50 },
            redeem_rate: Rate { per_second: 2, burst: 50 },
            verify_rate: Rate { per_second: 4, burst: 20 },
            verify_bytes: 4 << 20,
            agents: 4096,
            agent_life_ms: 30 * 24 * HOUR_MS,
            agent_rate: Rate { per_second: 2, burst: 50 },
            inboxes: 10_000,
            open_inboxes: 512,
            seats: 16,
            codes: 8,
            page_rows: 100,
            page_bytes: 1 << 20,
            waiters: 64,
            wait_ms: 25_000,
            mailbox: 1024,
        }
    }
}

/// Permits that refill with time.
#[derive(Debug)]
pub(crate) struct Bucket {
    rate: Rate,
    /// Thousandths of a permit, so that a millisecond is never rounded away.
    millis: u64,
    refilled_ms: u64,
}

impl Bucket {
    pub(crate) fn new(rate: Rate, now_ms: u64) -> Self {
        Self { rate, millis: u64::from(rate.burst.max(1)) * 1000, refilled_ms: now_ms }
    }

    /// Takes a permit, or says in how many seconds there will be one.
    pub(crate) fn take(&mut self, now_ms: u64) -> Result<(), u64> {
        let gained = now_ms.saturating_sub(self.refilled_ms).saturating_mul(u64::from(self.rate.per_second));
        let full = u64::from(self.rate.burst.max(1)) * 1000;
        self.millis = self.millis.saturating_add(gained).min(full);
        self.refilled_ms = self.refilled_ms.max(now_ms);
        if self.millis >= 1000 {
            self.millis -= 1000;
            return Ok(());
        }
        let missing = 1000 - self.millis;
        Err(missing.div_ceil(u64::from(self.rate.per_second.max(1)) * 1000))
    }
}

/// Where the time comes from: Unix milliseconds.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> u64 + Send + Sync>);

impl std::fmt::Debug for Clock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Clock")
    }
}

impl Clock {
    /// The machine's clock.
    #[must_use]
    pub fn system() -> Self {
        Self::new(|| {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
        })
    }

    /// A clock of one's own, for tests.
    pub fn new(now_ms: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(now_ms))
    }

    /// Unix milliseconds.
    #[must_use]
    pub fn now_ms(&self) -> u64 {
        (self.0)()
    }
}

/// A time as it is written everywhere: RFC 3339, UTC, milliseconds.
pub(crate) fn timestamp(ms: u64) -> String {
    i64::try_from(ms)
        .ok()
        .and_then(chrono::DateTime::from_timestamp_millis)
        .map(|time| time.to_rfc3339_opts(chrono::SecondsFormat::Millis, true))
        .unwrap_or_default()
}

/// Reads an RFC 3339 time.
pub(crate) fn parse_timestamp(text: &str) -> Option<u64> {
    let time = chrono::DateTime::parse_from_rfc3339(text).ok()?;
    u64::try_from(time.timestamp_millis()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_refills_to_its_burst_and_no_further() {
        let mut bucket = Bucket::new(Rate { per_second: 2, burst: 3 }, 0);
        assert!((0..3).all(|_| bucket.take(0).is_ok()));
        assert_eq!(bucket.take(0), Err(1));
        assert!(bucket.take(499).is_err());
        assert!(bucket.take(500).is_ok());
        assert!((0..3).all(|_| bucket.take(1_000_000).is_ok()));
        assert!(bucket.take(1_000_000).is_err());
        // A clock that steps back gives nothing.
        assert!(bucket.take(0).is_err());
    }

    #[test]
    fn times_are_written_and_read_alike() {
        assert_eq!(timestamp(1_767_607_200_123), "2026-01-05T10:00:00.123Z");
        assert_eq!(parse_timestamp("2026-01-05T10:00:00.123Z"), Some(1_767_607_200_123));
        assert_eq!(parse_timestamp("yesterday"), None);
    }
}
