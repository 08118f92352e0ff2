//! What leaves after the next state patch: frames that clients must not see before the state they speak of.
//!
//! Frames keep their order. Those that would take more than a client's queue may hold do not wait: all that is queued
//! leaves at once, so that nothing is lost and nothing grows.

use crate::core::Core;
use crate::frame::Frame;
use crate::id::SessionId;
use crate::message::MessageType;
use crate::pack::EncodeError;
use crate::room::Room;
use crate::schedule::FAR;
use serde::Serialize;
use std::time::Duration;
use tokio::time::Instant;

/// Between two state patches of a room that asks for nothing else.
const PATCH_INTERVAL: Duration = Duration::from_millis(50);

/// A frame that waits, and who gets it.
pub(crate) enum Later {
    To(SessionId, Frame),
    ToAll(Frame, Vec<SessionId>),
}

impl Later {
    fn size(&self) -> usize {
        match self {
            Self::To(_, frame) | Self::ToAll(frame, _) => frame.size(),
        }
    }
}

/// The frames that wait for a patch, and when patches are due.
pub(crate) struct Patches {
    start: Instant,
    interval: Duration,
    waiting: Vec<Later>,
    bytes: usize,
    /// Whether the next patch is in the room's schedule.
    scheduled: bool,
}

impl Patches {
    pub(crate) fn new(start: Instant) -> Self {
        Self { start, interval: PATCH_INTERVAL, waiting: Vec::new(), bytes: 0, scheduled: false }
    }

    pub(crate) fn set_interval(&mut self, interval: Duration) {
        self.interval = interval.clamp(Duration::from_millis(1), FAR);
    }

    /// When the next patch is due, on a grid that starts with the room; `None` where it is in the schedule already.
    pub(crate) fn schedule(&mut self, now: Instant) -> Option<Instant> {
        if std::mem::replace(&mut self.scheduled, true) {
            return None;
        }
        let turns = (now - self.start).as_nanos() / self.interval.as_nanos();
        Some(self.start + self.interval * u32::try_from(turns + 1).unwrap_or(u32::MAX))
    }

    /// Whether `limit` bytes have room for one more.
    pub(crate) fn fits(&self, later: &Later, limit: usize) -> bool {
        self.bytes + later.size() <= limit
    }

    pub(crate) fn push(&mut self, later: Later) {
        self.bytes += later.size();
        self.waiting.push(later);
    }

    /// The patch that was scheduled is due.
    pub(crate) fn begin(&mut self) {
        self.scheduled = false;
    }

    pub(crate) fn take(&mut self) -> Vec<Later> {
        self.bytes = 0;
        std::mem::take(&mut self.waiting)
    }
}

/// Sends after the next state patch: see [`Cx::after_patch`](crate::Cx::after_patch).
pub struct AfterPatch<'c, R: Room> {
    core: &'c mut Core<R::Event>,
}

impl<'c, R: Room> AfterPatch<'c, R> {
    pub(crate) fn new(core: &'c mut Core<R::Event>) -> Self {
        Self { core }
    }

    /// As [`Cx::send`](crate::Cx::send).
    ///
    /// # Errors
    /// As [`Frame::message`]; nothing is sent then.
    pub fn send<'k>(
        &mut self,
        client: SessionId,
        kind: impl Into<MessageType<'k>>,
        payload: &(impl Serialize + ?Sized),
    ) -> Result<(), EncodeError> {
        self.core.later(Later::To(client, Frame::message(kind, payload)?));
        Ok(())
    }

    /// As [`Cx::send_frame`](crate::Cx::send_frame).
    pub fn send_frame(&mut self, client: SessionId, frame: &Frame) {
        self.core.later(Later::To(client, frame.clone()));
    }

    /// As [`Cx::broadcast`](crate::Cx::broadcast), to the clients that are connected when it leaves.
    ///
    /// # Errors
    /// As [`Frame::message`]; nothing is sent then.
    pub fn broadcast<'k>(
        &mut self,
        kind: impl Into<MessageType<'k>>,
        payload: &(impl Serialize + ?Sized),
        except: &[SessionId],
    ) -> Result<(), EncodeError> {
        self.core.later(Later::ToAll(Frame::message(kind, payload)?, except.to_vec()));
        Ok(())
    }

    /// As [`Cx::broadcast_frame`](crate::Cx::broadcast_frame), to the clients that are connected when it leaves.
    pub fn broadcast_frame(&mut self, frame: &Frame, except: &[SessionId]) {
        self.core.later(Later::ToAll(frame.clone(), except.to_vec()));
    }
}
