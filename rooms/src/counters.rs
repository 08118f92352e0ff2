//! What the server counts, for pages, metrics and tests.

use crate::close::CloseReason;
use crate::generation::Generation;
use std::ops::AddAssign;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) rooms_created: AtomicU64,
    pub(crate) rooms_failed: AtomicU64,
    joins: [AtomicU64; Generation::ALL.len()],
    pub(crate) reconnections: AtomicU64,
    pub(crate) refusals: AtomicU64,
    pub(crate) messages_in: AtomicU64,
    pub(crate) bytes_in: AtomicU64,
    pub(crate) frames_out: AtomicU64,
    pub(crate) bytes_out: AtomicU64,
    pub(crate) bad_messages: AtomicU64,
    closes: [AtomicU64; CloseReason::ALL.len()],
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

impl Counters {
    pub(crate) fn sent(&self, sent: &Sent) {
        add(&self.frames_out, sent.frames as u64);
        add(&self.bytes_out, sent.bytes as u64);
    }

    pub(crate) fn joined(&self, generation: Generation) {
        let place = Generation::ALL.iter().position(|listed| *listed == generation).unwrap_or_default();
        count(&self.joins[place]);
    }

    pub(crate) fn closed(&self, reason: CloseReason) {
        count(&self.closes[reason.index()]);
    }

    pub(crate) fn snapshot(&self, rooms: usize, connections: usize) -> Snapshot {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Snapshot {
            rooms,
            connections,
            rooms_created: read(&self.rooms_created),
            rooms_failed: read(&self.rooms_failed),
            joins: Generation::ALL
                .iter()
                .zip(&self.joins)
                .map(|(generation, counter)| (generation.label(), read(counter)))
                .collect(),
            reconnections: read(&self.reconnections),
            refusals: read(&self.refusals),
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

/// The server's counts at one moment. All but `rooms` and `connections` only grow.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Snapshot {
    /// Rooms alive now.
    pub rooms: usize,
    /// Sockets open now, those in handshake counted.
    pub connections: usize,
    /// Rooms ever created.
    pub rooms_created: u64,
    /// Rooms that ended by a panic of theirs.
    pub rooms_failed: u64,
    /// Clients that joined, by [`Generation::label`].
    pub joins: Vec<(&'static str, u64)>,
    /// Seats taken back after a drop.
    pub reconnections: u64,
    /// Sockets that were refused a seat.
    pub refusals: u64,
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
