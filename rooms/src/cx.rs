//! What a room's handlers can do: the [`Cx`] that each of them is given.

use crate::close::CloseReason;
use crate::core::Core;
use crate::frame::Frame;
use crate::generation::Generation;
use crate::id::{RoomId, SessionId};
use crate::later::AfterPatch;
use crate::mail::RoomHandle;
use crate::message::MessageType;
use crate::pack::EncodeError;
use crate::refusal::Refusal;
use crate::request::{Reply, RequestId};
use crate::room::Room;
use crate::server::Server;
use crate::weight;
use playerthree_rooms_state::View;
use serde::Serialize;
use serde_json::Value;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Names a timer of one room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimerId(pub(crate) u64);

/// A room's clients, timers and public face, for the handler that runs.
///
/// Sending never waits. Nothing is sent to a client that is not connected, and a client whose queue would pass
/// [`Config::outbound_queue_bytes`](crate::Config::outbound_queue_bytes) is closed with 4100 instead.
pub struct Cx<'a, R: Room> {
    core: &'a mut Core<R::Event>,
}

impl<'a, R: Room> Cx<'a, R> {
    pub(crate) fn new(core: &'a mut Core<R::Event>) -> Self {
        Self { core }
    }

    /// The room's id.
    #[must_use]
    pub fn room_id(&self) -> RoomId {
        self.core.entry.id
    }

    /// The name the room was defined under.
    #[must_use]
    pub fn room_name(&self) -> &str {
        &self.core.entry.name
    }

    /// A handle for other tasks to post events into this room.
    #[must_use]
    pub fn handle(&self) -> RoomHandle<R::Event> {
        self.core.handle.clone()
    }

    /// The server that this room lives in, for its listings, its presence and other rooms' seats.
    #[must_use]
    pub fn server(&self) -> Server {
        Server::of(self.core.shared.clone())
    }

    /// Does work that waits outside of the room's task, and brings what comes of it back as an event. The work is
    /// dropped when the room ends before it.
    pub fn spawn(&self, work: impl Future<Output = R::Event> + Send + 'static) {
        let handle = self.handle();
        self.core.shared.tasks.spawn(async move {
            tokio::select! {
                // A room that ended meanwhile has no use for it.
                event = work => { let _ = handle.post(event).await; }
                () = handle.closed() => {}
            }
        });
    }

    /// The clients that are connected now, in no order.
    pub fn clients(&self) -> impl Iterator<Item = SessionId> {
        self.core.connected()
    }

    /// The generation of a connected client's endpoint.
    #[must_use]
    pub fn generation(&self, client: SessionId) -> Option<Generation> {
        self.core.generation(client)
    }

    /// Whether a client is connected now.
    #[must_use]
    pub fn is_connected(&self, client: SessionId) -> bool {
        self.core.is_connected(client)
    }

    /// Seats that are taken: connected, reserved, or held for a reconnection.
    #[must_use]
    pub fn seats(&self) -> usize {
        self.core.seats()
    }

    /// Sends a message. Where it goes to several clients, encode it once and use [`Cx::send_frame`].
    ///
    /// # Errors
    /// As [`Frame::message`]; nothing is sent then.
    pub fn send<'k>(
        &mut self,
        client: SessionId,
        kind: impl Into<MessageType<'k>>,
        payload: &(impl Serialize + ?Sized),
    ) -> Result<(), EncodeError> {
        let frame = Frame::message(kind, payload)?;
        self.core.send(client, frame);
        Ok(())
    }

    /// Sends raw bytes.
    pub fn send_bytes<'k>(&mut self, client: SessionId, kind: impl Into<MessageType<'k>>, payload: &[u8]) {
        self.core.send(client, Frame::bytes(kind, payload));
    }

    /// Sends a message that is encoded already; the bytes are shared.
    pub fn send_frame(&mut self, client: SessionId, frame: &Frame) {
        self.core.send(client, frame.clone());
    }

    /// Sends a message to every connected client but those in `except`, encoded once.
    ///
    /// # Errors
    /// As [`Frame::message`]; nothing is sent then.
    pub fn broadcast<'k>(
        &mut self,
        kind: impl Into<MessageType<'k>>,
        payload: &(impl Serialize + ?Sized),
        except: &[SessionId],
    ) -> Result<(), EncodeError> {
        let frame = Frame::message(kind, payload)?;
        self.core.broadcast(&frame, except);
        Ok(())
    }

    /// Sends an encoded message to every connected client but those in `except`.
    pub fn broadcast_frame(&mut self, frame: &Frame, except: &[SessionId]) {
        self.core.broadcast(frame, except);
    }

    /// Sends after the next state patch, so that clients see the state first that a message speaks of: see
    /// [`Cx::set_patch_interval`]. What is sent so keeps its order.
    pub fn after_patch(&mut self) -> AfterPatch<'_, R> {
        AfterPatch::new(self.core)
    }

    /// The time between two state patches, at least a millisecond, on a grid that starts with the room. Default 50 ms.
    pub fn set_patch_interval(&mut self, interval: Duration) {
        self.core.patches.set_interval(interval);
    }

    /// Reports an error to a client, which stays connected.
    pub fn send_error(&mut self, client: SessionId, error: &Refusal) {
        self.core.send(client, Frame::error(error));
    }

    /// What `client` may see of the room's state beyond what everybody sees. It starts with nothing, changes reach the
    /// client with the next patch, and it lasts as long as the seat. `None` for one who has no seat.
    pub fn view(&mut self, client: SessionId) -> Option<&mut View> {
        self.core.view(client)
    }

    /// Answers a request for which the handler returned [`Reply::later`].
    pub fn respond(&mut self, client: SessionId, request: RequestId, reply: Reply) {
        if let Some(answer) = reply.answer() {
            self.core.send(client, Frame::response(request, &answer));
        }
    }

    /// Closes a client after what was sent to it; a held seat is given up. `on_leave` runs after this handler (or
    /// `on_drop`, where the reason [is a drop](CloseReason::is_drop)).
    pub fn kick(&mut self, client: SessionId, reason: CloseReason) {
        self.core.depart(client, reason);
    }

    /// Ends the room: closes every client, lets each leave, then disposes of the room.
    pub fn disconnect(&mut self, reason: CloseReason) {
        self.core.closing = true;
        self.core.stale = true;
        self.core.depart_all(reason);
    }

    /// Holds the seat of the client for which `on_drop` runs, for `grace`. Returns false for any other client.
    pub fn allow_reconnection(&mut self, client: SessionId, grace: Duration) -> bool {
        self.core.hold(client, grace)
    }

    /// Refuses new clients until [`Cx::unlock`]. A full room refuses them without that.
    pub fn lock(&mut self) {
        self.core.locked = true;
        self.core.stale = true;
    }

    /// Admits new clients again.
    pub fn unlock(&mut self) {
        self.core.locked = false;
        self.core.stale = true;
    }

    /// Who finds the room without its id.
    pub fn set_visibility(&mut self, visibility: Visibility) {
        self.core.private = visibility == Visibility::Private;
        self.core.unlisted = visibility != Visibility::Public;
        self.core.stale = true;
    }

    /// Replaces what the room says about itself in listings.
    ///
    /// # Errors
    /// Where it is larger than [`Config::max_metadata_bytes`](crate::Config::max_metadata_bytes); nothing changes then.
    pub fn set_metadata(&mut self, metadata: Value) -> Result<(), MetadataTooLarge> {
        if !weight::fits(&metadata, self.core.shared.config.max_metadata_bytes) {
            return Err(MetadataTooLarge);
        }
        self.core.metadata = Arc::new(metadata);
        self.core.stale = true;
        Ok(())
    }

    /// How many seats the room has.
    #[must_use]
    pub fn max_clients(&self) -> usize {
        self.core.max_clients()
    }

    /// Changes how many seats the room has, at most
    /// [`Config::max_clients_per_room`](crate::Config::max_clients_per_room). Nobody loses a seat.
    pub fn set_max_clients(&mut self, seats: usize) {
        self.core.set_max_clients(seats);
    }

    /// Whether the room ends by itself once nobody has a seat, or when nobody claims one in the time of a
    /// reservation after it was created. Default: it does.
    pub fn set_auto_dispose(&mut self, dispose: AutoDispose) {
        self.core.auto_dispose = dispose == AutoDispose::WhenEmpty;
    }

    /// Calls `on_timer` every `period`, at least a millisecond, on a grid that starts now. Turns missed in a stall
    /// are skipped.
    pub fn set_interval(&mut self, period: Duration) -> TimerId {
        self.core.schedule.every(Instant::now(), period, 0)
    }

    /// Calls `on_timer` once per `period`, at least a millisecond, as a simulation of fixed steps wants it: turns
    /// missed in a stall come at once afterwards, at most `catch_up` of them, the rest are skipped.
    pub fn set_fixed_step(&mut self, period: Duration, catch_up: u32) -> TimerId {
        self.core.schedule.every(Instant::now(), period, catch_up)
    }

    /// Calls `on_timer` once, after `delay`.
    pub fn set_timeout(&mut self, delay: Duration) -> TimerId {
        self.core.schedule.once(Instant::now(), delay)
    }

    /// Stops a timer. One that is over or stopped is no error.
    pub fn cancel(&mut self, timer: TimerId) {
        self.core.schedule.cancel(timer);
    }
}

/// What a room would say about itself is larger than
/// [`Config::max_metadata_bytes`](crate::Config::max_metadata_bytes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the room's metadata is too large")]
pub struct MetadataTooLarge;

/// For a room that is made of what a client asks for.
impl From<MetadataTooLarge> for Refusal {
    fn from(MetadataTooLarge: MetadataTooLarge) -> Self {
        Self::metadata_too_large()
    }
}

/// Who finds a room without its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// Everybody.
    Public,
    /// Matchmaking finds it; public listings leave it out.
    Unlisted,
    /// Nobody; `joinById` works.
    Private,
}

/// When a room ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutoDispose {
    /// Once nobody has a seat.
    WhenEmpty,
    /// Never; the room calls [`Cx::disconnect`].
    Never,
}
