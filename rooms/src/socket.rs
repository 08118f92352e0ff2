//! A seat's socket as its room sees it, and the broadcasts of one turn.
//!
//! Frames wait here until the turn ends. A broadcast is kept once for all, so that it costs nothing per client until
//! then; a client's own frames and the broadcasts keep their order.

use crate::counters::Sent;
use crate::frame::Frame;
use crate::generation::Generation;
use crate::id::TokenDigest;
use crate::mail::{Connect, SocketId};
use crate::outbox::Outbox;
use crate::state::Knowledge;
use bytes::{Bytes, BytesMut};
use std::sync::Arc;

/// The most bytes of broadcasts, or of one client's frames, that wait for the end of a turn, unless one alone is
/// larger.
const TURN_BYTES: usize = 64 * 1024;

/// The frames that a socket keeps space for while it waits for the next.
const IDLE_FRAMES: usize = 4;

/// A WebSocket ping without payload.
const PING: Bytes = Bytes::from_static(&[0x89, 0]);

pub(crate) struct Socket {
    pub(crate) id: SocketId,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) token: TokenDigest,
    pub(crate) generation: Generation,
    pub(crate) knows: Knowledge,
    /// The client has acknowledged its join; before that its frames wait.
    acknowledged: bool,
    pending: Vec<Bytes>,
    pending_bytes: usize,
    /// How many of the turn's broadcasts are in `pending` or not for this client.
    seen: usize,
    /// Pings since the client was last heard.
    unanswered: u32,
}

/// A frame was put in.
pub(crate) enum Queued {
    /// It is the first that is due to this client.
    First,
    More,
}

/// More bytes wait for a client than may.
pub(crate) struct Overflow;

/// A client left too many pings unanswered.
pub(crate) struct Silent;

/// The broadcasts of the present turn, in their order.
#[derive(Default)]
pub(crate) struct Broadcasts {
    frames: Vec<Bytes>,
    bytes: usize,
    /// All of them in one piece.
    joined: Bytes,
}

impl Broadcasts {
    pub(crate) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Whether what is here should leave before `frame` comes in.
    pub(crate) fn is_full(&self, frame: &Frame) -> bool {
        !self.is_empty() && self.bytes + frame.size() > TURN_BYTES
    }

    pub(crate) fn push(&mut self, frame: &Frame) {
        self.bytes += frame.size();
        self.frames.push(frame.clone().into_bytes());
    }

    /// Makes one piece of them, for the clients that get them all. A single frame is not copied.
    pub(crate) fn join(&mut self) {
        self.joined = match &self.frames[..] {
            [frame] => frame.clone(),
            frames => {
                let mut joined = BytesMut::with_capacity(self.bytes);
                frames.iter().for_each(|frame| joined.extend_from_slice(frame));
                joined.freeze()
            }
        };
    }

    pub(crate) fn clear(&mut self) {
        self.frames.clear();
        self.bytes = 0;
        self.joined = Bytes::new();
    }
}

impl Socket {
    /// A new socket gets the broadcasts that come after it.
    pub(crate) fn new(connect: &Connect, token: TokenDigest, broadcasts: &Broadcasts) -> Self {
        Self {
            id: connect.socket,
            outbox: connect.outbox.clone(),
            token,
            generation: connect.generation,
            knows: connect.knows,
            acknowledged: false,
            pending: Vec::new(),
            pending_bytes: 0,
            seen: broadcasts.frames.len(),
            unanswered: 0,
        }
    }

    /// The client is ready for what waits. False where it said so before.
    pub(crate) fn acknowledge(&mut self) -> bool {
        !std::mem::replace(&mut self.acknowledged, true)
    }

    /// Whether the client has acknowledged its join, and with it been given the room's state.
    pub(crate) fn is_acknowledged(&self) -> bool {
        self.acknowledged
    }

    /// Whether what waits should leave before `frame` comes in: a turn may send more than a queue may hold.
    pub(crate) fn is_full(&self, frame: &Frame) -> bool {
        self.acknowledged && self.pending_bytes + frame.size() > TURN_BYTES
    }

    /// Puts in a frame for this client alone, ahead of all that waits.
    pub(crate) fn queue_first(&mut self, frame: Frame, limit: usize) -> Result<(), Overflow> {
        if self.pending_bytes + self.outbox.waiting() + frame.size() > limit {
            return Err(Overflow);
        }
        self.pending_bytes += frame.size();
        self.pending.insert(0, frame.into_bytes());
        Ok(())
    }

    /// Puts in a frame for this client alone.
    pub(crate) fn queue(
        &mut self,
        frame: Frame,
        broadcasts: &Broadcasts,
        limit: usize,
    ) -> Result<Queued, Overflow> {
        self.catch_up(broadcasts);
        if self.pending_bytes + self.outbox.waiting() + frame.size() > limit {
            return Err(Overflow);
        }
        let first = self.pending.is_empty();
        self.pending_bytes += frame.size();
        self.pending.push(frame.into_bytes());
        Ok(if first { Queued::First } else { Queued::More })
    }

    /// The last broadcast is not for this client.
    pub(crate) fn skip_last(&mut self, broadcasts: &Broadcasts) {
        let all = broadcasts.frames.len();
        if self.seen < all {
            self.take(&broadcasts.frames[self.seen..all - 1]);
            self.seen = all;
        }
    }

    fn catch_up(&mut self, broadcasts: &Broadcasts) {
        self.take(&broadcasts.frames[self.seen..]);
        self.seen = broadcasts.frames.len();
    }

    fn take(&mut self, frames: &[Bytes]) {
        self.pending_bytes += frames.iter().map(Bytes::len).sum::<usize>();
        self.pending.extend_from_slice(frames);
    }

    /// Ends a turn with broadcasts, which are joined: hands over all that is due to this client.
    pub(crate) fn deliver(&mut self, broadcasts: &Broadcasts, limit: usize) -> Result<Sent, Overflow> {
        if self.acknowledged && self.pending.is_empty() && self.seen == 0 {
            if self.outbox.waiting() + broadcasts.bytes > limit {
                return Err(Overflow);
            }
            self.outbox.push(std::slice::from_ref(&broadcasts.joined));
            return Ok(Sent { frames: broadcasts.frames.len(), bytes: broadcasts.bytes });
        }
        self.catch_up(broadcasts);
        self.seen = 0;
        if self.pending_bytes + self.outbox.waiting() > limit {
            return Err(Overflow);
        }
        Ok(self.hand_over())
    }

    /// Hands over all that is due by now, for the socket is to close.
    pub(crate) fn finish(&mut self, broadcasts: &Broadcasts) -> Sent {
        self.catch_up(broadcasts);
        self.hand_over()
    }

    /// Hands over the client's own frames, once it has acknowledged.
    pub(crate) fn hand_over(&mut self) -> Sent {
        if !self.acknowledged {
            return Sent::default();
        }
        let sent = Sent { frames: self.pending.len(), bytes: self.pending_bytes };
        self.outbox.push(&self.pending);
        self.pending.clear();
        self.pending.shrink_to(IDLE_FRAMES);
        self.pending_bytes = 0;
        sent
    }

    /// Pings the client, unless `misses` pings have been left unanswered.
    pub(crate) fn ping(&mut self, misses: u32) -> Result<(), Silent> {
        if self.outbox.was_heard() {
            self.unanswered = 0;
        }
        if self.unanswered >= misses {
            return Err(Silent);
        }
        self.unanswered += 1;
        self.outbox.push(&[PING]);
        Ok(())
    }
}
