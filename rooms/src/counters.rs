//! What the server counts, for pages, metrics and tests.

use crate::close::CloseReason;
use crate::generation::Generation;
use crate::refusal::Refusal;
use crate::sync::lock;
use prometheus_client::metrics::histogram::Histogram;
use std::collections::BTreeMap;
use std::ops::AddAssign;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Seconds by which timers are told apart in [`Counters::lateness`]. The clock itself counts milliseconds.
const LATENESS: [f64; 9] = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.0];

/// Reasons of refusals that are told apart. An application may add its own; those beyond count as `other`.
const MAX_REASONS: usize = 64;

pub(crate) struct Counters {
    pub(crate) rooms_created: AtomicU64,
    pub(crate) rooms_failed: AtomicU64,
    joins: [AtomicU64; Generation::ALL.len()],
    pub(crate) reconnections: AtomicU64,
    pub(crate) matchmaking_requests: AtomicU64,
    refusals: Mutex<BTreeMap<&'static str, u64>>,
    pub(crate) messages_in: AtomicU64,
    pub(crate) bytes_in: AtomicU64,
    pub(crate) frames_out: AtomicU64,
    pub(crate) bytes_out: AtomicU64,
    pub(crate) bad_messages: AtomicU64,
    closes: [AtomicU64; CloseReason::ALL.len()],
    /// How late timers fire.
    pub(crate) lateness: Histogram,
}

/// What a room handed to sockets in one turn.
#[derive(Default)]
pub(crate) struct Sent {
    pub(crate) frames: usize,
    pub(crate) bytes: usize,
}

impl AddAssign for Sent {
    fn add_assign(&mut self, other: Self) {
        self.frames += other.frames;
        self.bytes += other.bytes;
    }
}

/// Adds one.
pub(crate) fn count(counter: &AtomicU64) {
    add(counter, 1);
}

pub(crate) fn add(counter: &AtomicU64, amount: u64) {
    counter.fetch_add(amount, Ordering::Relaxed);
}

impl Default for Counters {
    fn default() -> Self {
        Self {
            rooms_created: AtomicU64::default(),
            rooms_failed: AtomicU64::default(),
            joins: Default::default(),
            reconnections: AtomicU64::default(),
            matchmaking_requests: AtomicU64::default(),
            refusals: Mutex::default(),
            messages_in: AtomicU64::default(),
            bytes_in: AtomicU64::default(),
            frames_out: AtomicU64::default(),
            bytes_out: AtomicU64::default(),
            bad_messages: AtomicU64::default(),
            closes: Default::default(),
            lateness: Histogram::new(LATENESS),
        }
    }
}

impl Counters {
    pub(crate) fn sent(&self, sent: &Sent) {
        add(&self.frames_out, sent.frames as u64);
        add(&self.bytes_out, sent.bytes as u64);
    }

    pub(crate) fn refused(&self, refusal: &Refusal) {
        let mut refusals = lock(&self.refusals);
        let is_told_apart = refusals.contains_key(refusal.reason) || refusals.len() < MAX_REASONS;
        *refusals.entry(if is_told_apart { refusal.reason } else { "other" }).or_default() += 1;
    }

    pub(crate) fn joined(&self, generation: Generation) {
        let place = Generation::ALL.iter().position(|listed| *listed == generation).unwrap_or_default();
        count(&self.joins[place]);
    }

    pub(crate) fn closed(&self, reason: CloseReason) {
        count(&self.closes[reason.index()]);
    }

    pub(crate) fn snapshot(&self, now: &Now) -> Snapshot {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Snapshot {
            rooms: now.rooms,
            clients: now.clients,
            seats: now.seats,
            connections: now.connections,
            queued_bytes: now.queued_bytes,
            queued_mail: now.queued_mail,
            rooms_created: read(&self.rooms_created),
            rooms_failed: read(&self.rooms_failed),
            joins: Generation::ALL
                .iter()
                .zip(&self.joins)
                .map(|(generation, counter)| (generation.label(), read(counter)))
                .collect(),
            reconnections: read(&self.reconnections),
            matchmaking_requests: read(&self.matchmaking_requests),
            refusals: lock(&self.refusals).iter().map(|(reason, count)| (*reason, *count)).collect(),
            messages_in: read(&self.messages_in),
            bytes_in: read(&self.bytes_in),
            frames_out: read(&self.frames_out),
            bytes_out: read(&self.bytes_out),
            bad_messages: read(&self.bad_messages),
            closes: CloseReason::ALL
                .iter()
                .zip(&self.closes)
                .map(|(reason, counter)| (reason.label(), read(counter)))
                .collect(),
        }
    }
}

/// What is counted at the moment it is asked for.
pub(crate) struct Now {
    pub(crate) rooms: usize,
    pub(crate) clients: usize,
    pub(crate) seats: usize,
    pub(crate) connections: usize,
    pub(crate) queued_bytes: usize,
    pub(crate) queued_mail: usize,
}

/// The server's counts at one moment. Those of what is there now come first; the others only grow.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Snapshot {
    /// Rooms alive now.
    pub rooms: usize,
    /// Clients in those rooms.
    pub clients: usize,
    /// Seats taken there: connected, reserved, or held for a reconnection.
    pub seats: usize,
    /// Sockets open now, those in handshake counted.
    pub connections: usize,
    /// Bytes that wait for clients to read them.
    pub queued_bytes: usize,
    /// Messages and events that wait for rooms.
    pub queued_mail: usize,
    /// Rooms ever created.
    pub rooms_created: u64,
    /// Rooms that ended by a panic of theirs or a state beyond its limits.
    pub rooms_failed: u64,
    /// Clients that joined, by [`Generation::label`].
    pub joins: Vec<(&'static str, u64)>,
    /// Seats taken back after a drop.
    pub reconnections: u64,
    /// Matchmaking requests over HTTP.
    pub matchmaking_requests: u64,
    /// Refused requests and sockets, by [`Refusal::reason`].
    pub refusals: Vec<(&'static str, u64)>,
    /// WebSocket messages received, pings counted.
    pub messages_in: u64,
    /// Payload bytes of those.
    pub bytes_in: u64,
    /// Frames that rooms handed to sockets.
    pub frames_out: u64,
    /// Bytes of those.
    pub bytes_out: u64,
    /// Messages that no room could take.
    pub bad_messages: u64,
    /// Closed sockets by [`CloseReason::label`].
    pub closes: Vec<(&'static str, u64)>,
}
