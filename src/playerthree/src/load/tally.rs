//! What is counted while the load runs. Clients count into shards, so that they rarely meet; the shards are added up
//! once at the end. It decides nothing about what is counted when; that is the window's part.

use hdrhistogram::Histogram;
use playerthree_client::{Error, Traffic};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Independent parts of a board.
const SHARDS: usize = 16;

/// Longest latency that is told apart; longer ones count as this long.
const LONGEST: Duration = Duration::from_secs(120);

/// Significant digits of a latency.
const DIGITS: u8 = 3;

/// Most distinct labels of errors; later ones count as `other`.
const MAX_LABELS: usize = 64;

/// Durations in microseconds.
#[derive(Clone, Debug)]
pub(super) struct Latencies(Histogram<u32>);

impl Latencies {
    fn new() -> Self {
        let longest = u64::try_from(LONGEST.as_micros()).unwrap_or(u64::MAX);
        #[expect(clippy::expect_used, reason = "the bounds are constants that the histogram accepts")]
        Self(Histogram::new_with_bounds(1, longest, DIGITS).expect("constant bounds"))
    }

    pub(super) fn record(&mut self, duration: Duration) {
        self.0.saturating_record(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX).max(1));
    }

    fn add(&mut self, other: &Self) {
        // Both have the same bounds, so the sum always fits.
        let _ = self.0.add(&other.0);
    }

    pub(super) fn histogram(&self) -> &Histogram<u32> {
        &self.0
    }
}

/// What else is measured where a scenario has clients of several kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// An agent's act over MCP.
    AgentAct,
    /// An agent's observation over MCP.
    Observe,
    /// An owner's question after a policy.
    Owner,
    /// From one version of a view to the next, as a spectator gets them.
    Views,
    /// From one frame to the next, as an observer gets them.
    Frames,
}

impl Part {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::AgentAct => "agent_act",
            Self::Observe => "agent_observe",
            Self::Owner => "policy_status",
            Self::Views => "view_interval",
            Self::Frames => "frame_interval",
        }
    }
}

/// Everything that is counted.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    /// Joins that were completed.
    pub(super) joins: u64,
    /// Joins that failed.
    pub(super) failed_joins: u64,
    /// From asking for a seat to the handshake.
    pub(super) join_latencies: Latencies,
    /// What went through the sockets within the window.
    pub(super) traffic: Traffic,
    /// What the scenario measures.
    pub(super) latencies: Latencies,
    /// The latencies of the other kinds of clients.
    pub(super) parts: BTreeMap<Part, Latencies>,
    /// How late messages left.
    pub(super) lateness: Latencies,
    /// Answers and deliveries that were due for what was sent within the window.
    pub(super) expected: u64,
    /// Those that came.
    pub(super) arrived: u64,
    /// Messages that were due and never left, because this process or the socket did not keep up.
    pub(super) unsent: u64,
    /// Whole rounds of the scenario: a game, a join with its leave.
    pub(super) rounds: u64,
    /// What went wrong, by a closed label.
    pub(super) errors: BTreeMap<String, u64>,
}

impl Tally {
    fn new() -> Self {
        Self {
            joins: 0,
            failed_joins: 0,
            join_latencies: Latencies::new(),
            traffic: Traffic::default(),
            latencies: Latencies::new(),
            parts: BTreeMap::new(),
            lateness: Latencies::new(),
            expected: 0,
            arrived: 0,
            unsent: 0,
            rounds: 0,
            errors: BTreeMap::new(),
        }
    }

    pub(super) fn join(&mut self, latency: Duration) {
        self.joins += 1;
        self.join_latencies.record(latency);
    }

    pub(super) fn arrive(&mut self, latency: Duration) {
        self.arrived += 1;
        self.latencies.record(latency);
    }

    /// Counts a latency of another kind of client.
    pub(super) fn part(&mut self, part: Part, latency: Duration) {
        self.parts.entry(part).or_insert_with(Latencies::new).record(latency);
    }

    /// Counts an acknowledgement that refuses an intent.
    pub(super) fn ack(&mut self, ack: &Value) {
        if ack["ok"] != true {
            self.fault(format!("ack:{}", ack["code"].as_str().unwrap_or("none")));
        }
    }

    pub(super) fn traffic(&mut self, new: Traffic) {
        add_traffic(&mut self.traffic, new);
    }

    /// Counts an error under its closed code and the server's number for it.
    pub(super) fn error(&mut self, error: &Error) {
        self.fault(match (error, error.number()) {
            (Error::Call { code, .. }, _) => format!("call:{code}"),
            (_, Some(number)) => format!("{}:{number}", error.code()),
            (_, None) => error.code().to_owned(),
        });
    }

    /// Counts a fault under a label.
    pub(super) fn fault(&mut self, label: impl Into<String>) {
        let label = label.into();
        let is_known = self.errors.contains_key(&label) || self.errors.len() < MAX_LABELS;
        let label = if is_known { label } else { "other".to_owned() };
        *self.errors.entry(label).or_default() += 1;
    }

    fn add(&mut self, other: &Self) {
        self.joins += other.joins;
        self.failed_joins += other.failed_joins;
        self.join_latencies.add(&other.join_latencies);
        add_traffic(&mut self.traffic, other.traffic);
        self.latencies.add(&other.latencies);
        for (part, latencies) in &other.parts {
            self.parts.entry(*part).or_insert_with(Latencies::new).add(latencies);
        }
        self.lateness.add(&other.lateness);
        self.expected += other.expected;
        self.unsent += other.unsent;
        self.arrived += other.arrived;
        self.rounds += other.rounds;
        for (label, count) in &other.errors {
            *self.errors.entry(label.clone()).or_default() += count;
        }
    }
}

fn add_traffic(sum: &mut Traffic, part: Traffic) {
    sum.sent += part.sent;
    sum.sent_bytes += part.sent_bytes;
    sum.received += part.received;
    sum.received_bytes += part.received_bytes;
}

/// The tally of all clients, in shards.
pub(super) struct Board(Vec<Mutex<Tally>>);

impl Board {
    pub(super) fn new() -> Self {
        Self((0..SHARDS).map(|_| Mutex::new(Tally::new())).collect())
    }

    /// The shard that this client counts into. It is held for a few instructions and never across an await.
    pub(super) fn shard(&self, client: usize) -> MutexGuard<'_, Tally> {
        // Counters stay usable whatever happened to the thread that held them.
        self.0[client % SHARDS].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All shards added up.
    pub(super) fn total(&self) -> Tally {
        let mut total = Tally::new();
        for shard in 0..SHARDS {
            total.add(&self.shard(shard));
        }
        total
    }
}

/// Tells what is new in one socket's traffic.
#[derive(Debug)]
pub(super) struct Meter(Traffic);

impl Meter {
    /// Begins behind what went through already.
    pub(super) fn new(now: Traffic) -> Self {
        Self(now)
    }

    /// What went through since the last time.
    pub(super) fn take(&mut self, now: Traffic) -> Traffic {
        let before = std::mem::replace(&mut self.0, now);
        Traffic {
            sent: now.sent - before.sent,
            sent_bytes: now.sent_bytes - before.sent_bytes,
            received: now.received - before.received,
            received_bytes: now.received_bytes - before.received_bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_add_up() {
        let board = Board::new();
        for client in 0..100 {
            let mut tally = board.shard(client);
            tally.join(Duration::from_millis(3));
            tally.arrive(Duration::from_millis(5));
            tally.error(&Error::Closed { code: 4002 });
        }
        let total = board.total();
        assert_eq!((total.joins, total.arrived, total.errors["closed:4002"]), (100, 100, 100));
        assert_eq!((total.latencies.histogram().len(), total.join_latencies.histogram().len()), (100, 100));
    }

    #[test]
    fn a_latency_beyond_the_longest_still_counts() {
        let mut latencies = Latencies::new();
        latencies.record(Duration::from_secs(100_000));
        latencies.record(Duration::ZERO);
        assert_eq!(latencies.histogram().len(), 2);
        assert!(latencies.histogram().max() >= 119_000_000);
    }

    #[test]
    fn labels_are_bounded() {
        let mut tally = Tally::new();
        for label in 0..1000 {
            tally.fault(format!("refused:{label}"));
        }
        assert_eq!((tally.errors.len(), tally.errors["other"]), (MAX_LABELS + 1, 1000 - MAX_LABELS as u64));
    }
}
