//! A room's state on the wire: what a join says of its types, and which state frames which clients are sent.
//!
//! A client is given all of the state when it acknowledges its join, before anything else, and patches from then on.
//! A patch is encoded once for all; a client with a view gets one frame that has its own part behind the shared one.
//! What the state looks like inside is `playerthree-rooms-state`'s business.

use crate::actor::Actor;
use crate::close::CloseReason;
use crate::core::Core;
use crate::frame::Frame;
use crate::generation::Generation;
use crate::id::SessionId;
use crate::refusal::Refusal;
use crate::room::Room;
use crate::wire;
use playerthree_rooms_state::{Dialect, Fault, Full, Joining, Patch, Synchronized, TooManyTypes, View};

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

    /// A client acknowledged its join: it is given the state, then all that waits for it.
    pub(crate) fn acknowledge(&mut self, session: SessionId) {
        if let Some(joining) = self.core.joining(session)
            && let Some(state) = self.room.state()
        {
            match state.full(joining) {
                Ok((patch, full)) => {
                    self.core.send_patch(&patch, None);
                    self.core.send_full(session, &full);
                }
                Err(fault) => self.core.fail(fault),
            }
        }
        self.core.acknowledge(session);
    }

    /// Has a patch come at its time, if there is something to say.
    pub(crate) fn plan_patch(&mut self) {
        let due = self.room.state().is_some_and(|state| state.is_touched() || self.core.is_view_changed());
        if due {
            self.core.plan_patch();
        }
    }

    /// A patch is due: sends what changed, then what waits for it.
    pub(crate) fn patch(&mut self) {
        if let Some(state) = self.room.state() {
            let made = if self.core.is_view_changed() {
                // What a view shows anew is taken from the state after the patch.
                state.full(Joining::New).map(|(patch, full)| (patch, Some(full)))
            } else {
                state.patch().map(|patch| (patch, None))
            };
            match made {
                Ok((patch, full)) => self.core.send_patch(&patch, full.as_deref()),
                Err(fault) => self.core.fail(fault),
            }
        }
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
    fn send_patch(&mut self, patch: &Patch, full: Option<&Full>) {
        // Clients that have yet to acknowledge get the state in full, with this patch in it.
        let mut others: Vec<SessionId> = self.without_state().collect();
        for (session, frame) in self.own_patches(patch, full) {
            self.send(session, &frame);
            others.push(session);
        }
        if !patch.shared().is_empty() {
            self.broadcast(&Frame::state(wire::ROOM_STATE_PATCH, &[patch.shared()]), &others);
        }
    }

    /// The patches of clients that get more than the shared one.
    fn own_patches(&mut self, patch: &Patch, full: Option<&Full>) -> Vec<(SessionId, Frame)> {
        let mut views = std::mem::take(&mut self.views);
        let mut frames = Vec::new();
        for (session, view) in &mut views {
            if !self.has_state(*session) {
                continue;
            }
            let restricted = patch.restricted(view, full.filter(|_| view.is_changed()));
            if !restricted.is_empty() {
                frames.push((*session, Frame::state(wire::ROOM_STATE_PATCH, &[patch.shared(), &restricted])));
            }
        }
        self.views = views;
        frames
    }

    fn send_full(&mut self, session: SessionId, full: &Full) {
        let restricted = self.views.get_mut(&session).map(|view| full.restricted(view)).unwrap_or_default();
        let frame = Frame::state(wire::ROOM_STATE, &[full.shared(), &restricted]);
        self.send_first(session, &frame);
    }

    /// The clients cannot be told of the state any more.
    fn fail(&mut self, fault: Fault) {
        tracing::error!(room = %self.entry.id, name = %self.entry.name, %fault, "a room's state is beyond its limits");
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
