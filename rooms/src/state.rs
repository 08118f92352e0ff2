//! A room's state on the wire: what a join says of its types, and which state frames which clients are sent.
//!
//! A client is given all of the state when it acknowledges its join, before anything else, and patches from then on.
//! A patch is encoded once for all; a client with a view gets one frame that has its own part behind the shared one.
//! What the state looks like inside is `playerthree-rooms-state`'s business.

use crate::actor::Actor;
use crate::arrivals::Wait;
use crate::close::CloseReason;
use crate::core::Core;
use crate::counters::count;
use crate::frame::Frame;
use crate::generation::Generation;
use crate::id::SessionId;
use crate::mail::SocketId;
use crate::refusal::Refusal;
use crate::room::Room;
use crate::schedule::Due;
use crate::wire;
use playerthree_rooms_state::{Dialect, Fault, Full, Joining, Patch, Synchronized, TooManyTypes, View};
use tokio::time::Instant;

/// What a client knows of a room's state before it joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Knowledge {
    /// Nothing: it wants to be told the types.
    Nothing,
    /// The types, from its own program.
    Types,
    /// The types, and the state as it was when the connection was lost.
    State,
}

impl Knowledge {
    /// From the parameter `skipHandshake` of a socket's address.
    pub(crate) fn of(skip_handshake: Option<&str>) -> Self {
        match skip_handshake {
            None => Self::Nothing,
            Some("true") => Self::State,
            Some(_) => Self::Types,
        }
    }

    pub(crate) fn joining(self, generation: Generation) -> Joining {
        match (self, generation) {
            (Self::Nothing | Self::Types, _) => Joining::New,
            (Self::State, Generation::V18) => Joining::Reconciling,
            (Self::State, Generation::V16 | Generation::V17) => Joining::Additive,
        }
    }
}

/// The types of a room's state, as each generation of clients learns them.
pub(crate) struct Reflections {
    joined: Vec<u8>,
    apart: Vec<u8>,
}

impl Reflections {
    pub(crate) fn of(state: &dyn Synchronized) -> Result<Self, TooManyTypes> {
        Ok(Self { joined: state.reflection(Dialect::Joined)?, apart: state.reflection(Dialect::Apart)? })
    }

    /// The end of a join answer. A client that knows the types gets none, in the form that suits every generation.
    pub(crate) fn write(&self, generation: Generation, knows: Knowledge, out: &mut Vec<u8>) {
        match (knows, generation) {
            (Knowledge::Types | Knowledge::State, _) => {}
            (Knowledge::Nothing, Generation::V16 | Generation::V17) => out.extend_from_slice(&self.joined),
            (Knowledge::Nothing, Generation::V18) => {
                // A reflection of the most types that a state may have is far below 4 GiB.
                wire::write_number(u32::try_from(self.apart.len()).unwrap_or(u32::MAX), out);
                out.extend_from_slice(&self.apart);
            }
        }
    }
}

/// Why clients cannot be told of a state any more.
#[derive(Clone, Copy, Debug, thiserror::Error)]
enum Untold {
    #[error(transparent)]
    Fault(#[from] Fault),
    /// One frame of it is beyond [`Config::outbound_queue_bytes`](crate::Config::outbound_queue_bytes).
    #[error("a frame of the state is larger than a client's queue")]
    TooLarge,
}

impl<R: Room> Actor<R> {
    /// Describes the types of the state, which a join says.
    pub(crate) fn describe_state(&mut self) -> Result<(), Refusal> {
        let reflections = self.room.state().map(|state| Reflections::of(state)).transpose();
        self.core.reflections = reflections.map_err(|too_many| {
            tracing::error!(name = %self.core.entry.name, %too_many, "a room's state cannot be described");
            Refusal::failed()
        })?;
        Ok(())
    }

    /// A client acknowledged its join: it is given the state, then all that waits for it. Where others would have to
    /// be told early for that once more, it waits for a moment.
    pub(crate) fn acknowledge(&mut self, session: SessionId, socket: SocketId) {
        self.core.arrivals.push(session, socket);
        if self.is_told() {
            return self.welcome();
        }
        match self.core.arrivals.wait(Instant::now()) {
            Wait::Over => self.welcome(),
            Wait::Until(due) => {
                self.core.schedule.at(due, Due::Arrivals);
            }
            Wait::Scheduled => {}
        }
    }

    /// The clients that wait may be given the state, if a patch did not bring it to them.
    pub(crate) fn arrivals(&mut self) {
        if self.core.arrivals.begin(Instant::now()) {
            self.welcome();
        }
    }

    /// Tells the others what changed, and gives the state to the clients that wait for it.
    fn welcome(&mut self) {
        let told = self.tell_changes().and_then(|()| self.tell_arrivals());
        self.core.go_on(told);
    }

    /// Gives the state to the clients that acknowledged, then all that waits for them.
    fn tell_arrivals(&mut self) -> Result<(), Untold> {
        for (session, socket) in self.core.arrivals.take() {
            if self.core.is_current(session, socket)
                && let Some(joining) = self.core.joining(session)
            {
                let told = self.tell_all(session, joining);
                self.core.acknowledge(session);
                told?;
            }
        }
        Ok(())
    }

    /// Whether the clients that have the state have nothing to be told.
    fn is_told(&mut self) -> bool {
        self.room.state().is_none_or(|state| !state.is_touched() && !self.core.is_view_changed())
    }

    /// Brings the clients that have the state up to date, and their views with it.
    fn tell_changes(&mut self) -> Result<(), Untold> {
        let Some(state) = self.room.state() else { return Ok(()) };
        let (patch, full) = if self.core.is_view_changed() {
            // What a view shows anew is taken from the state after the patch.
            let (patch, full) = state.full(Joining::New)?;
            (patch, Some(full))
        } else {
            (state.patch()?, None)
        };
        self.core.send_patch(patch, full.as_deref())
    }

    /// Gives one client the state, right after the others were told what changed.
    fn tell_all(&mut self, session: SessionId, joining: Joining) -> Result<(), Untold> {
        let Some(state) = self.room.state() else { return Ok(()) };
        let (patch, full) = state.full(joining)?;
        // Empty, unless the room changes its state whenever it hands it out.
        self.core.send_patch(patch, None)?;
        self.core.send_full(session, &full)
    }

    /// Has a patch come at its time, if there is something to say.
    pub(crate) fn plan_patch(&mut self) {
        if !self.is_told() {
            self.core.plan_patch();
        }
    }

    /// A patch is due: sends what changed, then the state to who waits for it, then what waits for the patch.
    pub(crate) fn patch(&mut self) {
        self.welcome();
        self.core.patch();
    }
}

impl<E> Core<E> {
    /// How a client that has not acknowledged its join comes to the state. `None` for one that has it.
    fn joining(&mut self, session: SessionId) -> Option<Joining> {
        let socket = self.socket(session).filter(|socket| !socket.is_acknowledged())?;
        Some(socket.knows.joining(socket.generation))
    }

    /// Whether a client that has the state is to be shown or denied something.
    fn is_view_changed(&self) -> bool {
        self.views.iter().any(|(session, view)| view.is_changed() && self.has_state(*session))
    }

    /// Sends each client that has the state its part of a patch. `full` is the state after it, where a view changed.
    fn send_patch(&mut self, patch: &Patch, full: Option<&Full>) -> Result<(), Untold> {
        if !self.connected().any(|session| self.has_state(session)) {
            return Ok(());
        }
        // Clients that have yet to acknowledge get the state in full, with this patch in it.
        let mut others: Vec<SessionId> = self.without_state().collect();
        for (session, frame) in self.own_patches(patch, full)? {
            self.send(session, frame);
            others.push(session);
        }
        if !patch.shared().is_empty() {
            let frame = self.state_frame(wire::ROOM_STATE_PATCH, &[patch.shared()])?;
            self.broadcast(&frame, &others);
        }
        Ok(())
    }

    /// The patches of clients that get more than the shared one.
    fn own_patches(&mut self, patch: &Patch, full: Option<&Full>) -> Result<Vec<(SessionId, Frame)>, Untold> {
        let mut views = std::mem::take(&mut self.views);
        let frames = views
            .iter_mut()
            .filter(|(session, _)| self.has_state(**session))
            .filter_map(|(session, view)| {
                let restricted = patch.restricted(view, full.filter(|_| view.is_changed()));
                let parts: [&[u8]; 2] = [patch.shared(), &restricted];
                let frame = || self.state_frame(wire::ROOM_STATE_PATCH, &parts);
                (!restricted.is_empty()).then(|| Ok((*session, frame()?)))
            })
            .collect();
        self.views = views;
        frames
    }

    fn send_full(&mut self, session: SessionId, full: &Full) -> Result<(), Untold> {
        let restricted = self.views.get_mut(&session).map(|view| full.restricted(view)).unwrap_or_default();
        let frame = self.state_frame(wire::ROOM_STATE, &[full.shared(), &restricted])?;
        self.send_first(session, frame);
        Ok(())
    }

    /// A frame of the state, unless no client's queue can hold it: its readers would be closed and come back to the
    /// same frame again and again.
    fn state_frame(&self, code: u8, parts: &[&[u8]]) -> Result<Frame, Untold> {
        let frame = Frame::state(code, parts);
        if frame.size() > self.shared.config.outbound_queue_bytes { Err(Untold::TooLarge) } else { Ok(frame) }
    }

    /// Closes the room where the clients cannot be told of its state any more.
    fn go_on(&mut self, told: Result<(), Untold>) {
        let Err(untold) = told else { return };
        tracing::error!(room = %self.entry.id, name = %self.entry.name, %untold, "a room's state is beyond its limits");
        count(&self.shared.counters.rooms_failed);
        self.closing = true;
        self.stale = true;
        self.depart_all(CloseReason::RoomFailed);
    }

    /// What a client may see beyond what all see. It starts with nothing, and is kept while its seat is held.
    pub(crate) fn view(&mut self, session: SessionId) -> Option<&mut View> {
        if !self.is_seated(session) {
            return None;
        }
        Some(self.views.entry(session).or_default())
    }
}
