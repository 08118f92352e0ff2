//! Clients that acknowledged their joins and are to be given the state.
//!
//! Who is given the state must hold what the others hold, so that these are told first what changed: early, off the
//! grid of patches. So that many joins are no flood of patches, clients that come soon after others come together.

use crate::id::SessionId;
use crate::mail::SocketId;
use std::collections::HashSet;
use std::time::Duration;
use tokio::time::Instant;

/// Between two times that the others are told early. No client waits longer for the state.
const PAUSE: Duration = Duration::from_millis(50);

/// Who waits for the state, and when others may be told early again.
pub(crate) struct Arrivals {
    waiting: HashSet<(SessionId, SocketId)>,
    next: Instant,
    /// Whether the time is in the room's schedule.
    scheduled: bool,
}

/// How long a client that arrives waits.
pub(crate) enum Wait {
    Over,
    /// Until a time that is to be entered into the room's schedule.
    Until(Instant),
    /// Until a time that is in there.
    Scheduled,
}

impl Arrivals {
    pub(crate) fn new(start: Instant) -> Self {
        Self { waiting: HashSet::new(), next: start, scheduled: false }
    }

    /// One more client is to be given the state.
    pub(crate) fn push(&mut self, session: SessionId, socket: SocketId) {
        self.waiting.insert((session, socket));
    }

    /// Whether the others may be told early now, which then is done.
    pub(crate) fn wait(&mut self, now: Instant) -> Wait {
        if self.next <= now {
            self.next = now + PAUSE;
            Wait::Over
        } else if std::mem::replace(&mut self.scheduled, true) {
            Wait::Scheduled
        } else {
            Wait::Until(self.next)
        }
    }

    /// The time that was to be entered into the schedule has come. Whether somebody still waits.
    pub(crate) fn begin(&mut self, now: Instant) -> bool {
        self.scheduled = false;
        if !self.waiting.is_empty() {
            self.next = now + PAUSE;
        }
        !self.waiting.is_empty()
    }

    /// Those that wait; none does afterwards.
    pub(crate) fn take(&mut self) -> HashSet<(SessionId, SocketId)> {
        std::mem::take(&mut self.waiting)
    }
}
