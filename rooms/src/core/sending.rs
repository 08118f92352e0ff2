//! What a room sends: to one client, to all, first, or after the next patch. Frames gather until a turn's end, or until
//! they are many; whoever cannot take them is let go as a slow reader.

use super::{Core, Member, Place};
use crate::close::CloseReason;
use crate::counters::Sent;
use crate::frame::Frame;
use crate::id::SessionId;
use crate::later::Later;
use crate::schedule::Due;
use crate::socket::{Overflow, Queued, Silent, Socket};
use tokio::time::Instant;

impl<E> Core<E> {
    pub(crate) fn socket(&mut self, session: SessionId) -> Option<&mut Socket> {
        match &mut self.members.get_mut(&session)?.place {
            Place::Connected(socket) => Some(socket),
            _ => None,
        }
    }

    /// Queues a frame for one client, or ends it as a slow reader.
    pub(crate) fn send(&mut self, session: SessionId, frame: Frame) {
        let limit = self.shared.config.outbound_queue_bytes;
        let Some(Member { place: Place::Connected(socket), .. }) = self.members.get_mut(&session) else {
            return;
        };
        if socket.is_full(&frame) {
            self.shared.counters.sent(&socket.hand_over());
        }
        match socket.queue(frame, &self.broadcasts, limit) {
            Ok(Queued::First) => self.dirty.push(session),
            Ok(Queued::More) => {}
            Err(Overflow) => self.depart(session, CloseReason::SlowReader),
        }
    }

    pub(crate) fn broadcast(&mut self, frame: &Frame, except: &[SessionId]) {
        if self.broadcasts.is_full(frame) {
            self.hand_over();
        }
        self.broadcasts.push(frame);
        for session in except {
            if let Some(Member { place: Place::Connected(socket), .. }) = self.members.get_mut(session) {
                socket.skip_last(&self.broadcasts);
            }
        }
    }

    /// Hands all that is due to the sockets, each client's frames in one write. True where that found slow readers,
    /// whose handlers are to run.
    pub(crate) fn flush(&mut self) -> bool {
        self.hand_over();
        !self.departures.is_empty()
    }

    fn hand_over(&mut self) {
        let mut sent = Sent::default();
        let mut slow = Vec::new();
        if self.broadcasts.is_empty() {
            let mut dirty = std::mem::take(&mut self.dirty);
            for session in dirty.drain(..) {
                if let Some(socket) = self.socket(session) {
                    sent += socket.hand_over();
                }
            }
            self.dirty = dirty;
        } else {
            let limit = self.shared.config.outbound_queue_bytes;
            self.broadcasts.join();
            for (session, member) in &mut self.members {
                let Place::Connected(socket) = &mut member.place else { continue };
                match socket.deliver(&self.broadcasts, limit) {
                    Ok(delivered) => sent += delivered,
                    Err(Overflow) => slow.push(*session),
                }
            }
            self.broadcasts.clear();
            self.dirty.clear();
        }
        self.shared.counters.sent(&sent);
        for session in slow {
            self.depart(session, CloseReason::SlowReader);
        }
    }

    /// Queues a frame for one client, ahead of all that waits for it.
    pub(crate) fn send_first(&mut self, session: SessionId, frame: Frame) {
        let limit = self.shared.config.outbound_queue_bytes;
        let queued = self.socket(session).map(|socket| socket.queue_first(frame, limit));
        if let Some(Err(Overflow)) = queued {
            self.depart(session, CloseReason::SlowReader);
        }
    }

    /// Queues a frame that leaves after the next patch, or with all that waits for it where there is no more room.
    pub(crate) fn later(&mut self, later: Later) {
        if !self.patches.fits(&later, self.shared.config.outbound_queue_bytes) {
            self.release();
        }
        self.patches.push(later);
        self.plan_patch();
    }

    /// Enters the next patch into the schedule, unless it is there.
    pub(crate) fn plan_patch(&mut self) {
        if let Some(due) = self.patches.schedule(Instant::now()) {
            self.schedule.at(due, Due::Patch);
        }
    }

    /// A state patch is due: what waited for it follows.
    pub(crate) fn patch(&mut self) {
        self.patches.begin();
        self.release();
    }

    fn release(&mut self) {
        for later in self.patches.take() {
            match later {
                Later::To(session, frame) => self.send(session, frame),
                Later::ToAll(frame, except) => self.broadcast(&frame, &except),
            }
        }
    }

    /// Pings every client, and ends those that left too many pings unanswered.
    pub(crate) fn ping(&mut self) {
        let misses = self.shared.config.ping_misses;
        let mut silent = Vec::new();
        for (session, member) in &mut self.members {
            if let Place::Connected(socket) = &mut member.place
                && let Err(Silent) = socket.ping(misses)
            {
                silent.push(*session);
            }
        }
        for session in silent {
            self.depart(session, CloseReason::PingTimeout);
        }
    }
}
