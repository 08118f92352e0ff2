//! What an application writes: a [`Room`], and the [`Definition`] that authorizes clients and creates rooms.

use crate::close::CloseReason;
use crate::cx::{Cx, TimerId};
use crate::driver::SortBy;
use crate::id::SessionId;
use crate::message::{BadMessage, Message};
use crate::messages::Messages;
use crate::refusal::Refusal;
use crate::request::{Reply, Request};
use http::HeaderMap;
use playerthree_rooms_state::Synchronized;
use serde_json::Value;
use std::fmt;
use std::future::Future;
use std::net::IpAddr;

/// One room: state that a single task owns.
///
/// Everything reaches a room through one bounded mailbox, in order, one at a time, so handlers are plain `&mut self`
/// methods without locks or `async`. Work that waits is done elsewhere and comes back as an [`Event`](Room::Event)
/// through a [`RoomHandle`](crate::RoomHandle). What a handler sends leaves after it returns, together with what else
/// is due for the same client.
///
/// A handler that panics closes its own room: every client gets close 4002, no further handler runs.
///
/// A client's life is `on_join`, then any number of `on_drop` and `on_reconnect` in turns, then `on_leave` once. A
/// client whose join was refused has none of them.
pub trait Room: Send + Sized + 'static {
    /// What other tasks post into the room. `()` where nothing does.
    type Event: Send + 'static;
    /// What [`Definition::authorize`] found out about a client. `()` where nothing.
    type Auth: Send + 'static;

    /// The state that clients hold, for a room that has one: a [`Synced`](playerthree_rooms_state::Synced) that the
    /// room owns. Clients are given all of it when they join, and every
    /// [patch interval](Cx::set_patch_interval) in which it changed they are sent what changed. A room either always
    /// has a state or never; the default has none.
    ///
    /// A state beyond the limits of its crate, and one of which a single frame is larger than
    /// [`Config::outbound_queue_bytes`](crate::Config::outbound_queue_bytes), closes the room: every client gets close
    /// 4002 `room_failed`, then `on_leave` and `on_dispose` run as ever.
    fn state(&mut self) -> Option<&mut dyn Synchronized> {
        None
    }

    /// A client asks for a seat, before one is promised. Matchmaking goes on to another room when this one refuses, so
    /// a room that knows more than a number of seats decides here who fits. `on_join` or `on_unreserve` follows.
    ///
    /// # Errors
    /// A refusal; the client sees it only where it named this room.
    fn on_reserve(
        &mut self,
        cx: &mut Cx<'_, Self>,
        client: SessionId,
        options: &Value,
        auth: &Self::Auth,
    ) -> Result<(), Refusal> {
        let _ = (cx, client, options, auth);
        Ok(())
    }

    /// A promised seat is free again before its client came: it expired, was closed, or nobody was left to tell of it.
    fn on_unreserve(&mut self, cx: &mut Cx<'_, Self>, client: SessionId) {
        let _ = (cx, client);
    }

    /// A client with a seat connected. What is sent to it from here on arrives after its join, in order.
    ///
    /// # Errors
    /// A refusal: the client's join fails with its code, and the seat is free again.
    fn on_join(
        &mut self,
        cx: &mut Cx<'_, Self>,
        client: SessionId,
        join: Join<Self::Auth>,
    ) -> Result<(), Refusal>;

    /// A client sent a message, named or numbered, MessagePack or raw bytes. The default knows none.
    ///
    /// # Errors
    /// A message that the room cannot take; it closes the client with 4002. A room that forgives returns `Ok`.
    fn on_message(
        &mut self,
        cx: &mut Cx<'_, Self>,
        client: SessionId,
        message: Message<'_>,
    ) -> Result<(), BadMessage> {
        let _ = (cx, client, message);
        Err(BadMessage::UnknownType)
    }

    /// A client asks something and waits for the reply (generation 0.18). The default knows no request.
    ///
    /// # Errors
    /// As [`on_message`](Room::on_message).
    fn on_request(
        &mut self,
        cx: &mut Cx<'_, Self>,
        client: SessionId,
        request: Request<'_>,
    ) -> Result<Reply, BadMessage> {
        let _ = (cx, client, request);
        Ok(Reply::no_handler())
    }

    /// A client's connection was lost. [`Cx::allow_reconnection`] called in here holds its seat; otherwise `on_leave`
    /// follows at once. The default holds nothing.
    fn on_drop(&mut self, cx: &mut Cx<'_, Self>, client: SessionId, reason: CloseReason) {
        let _ = (cx, client, reason);
    }

    /// A client that was dropped is back on its seat. What is sent to it from here on arrives after its rejoin.
    fn on_reconnect(&mut self, cx: &mut Cx<'_, Self>, client: SessionId) {
        let _ = (cx, client);
    }

    /// A client's seat is given up: it left, was closed, or did not come back in time. It can be sent nothing more.
    fn on_leave(&mut self, cx: &mut Cx<'_, Self>, client: SessionId, reason: CloseReason) {
        let _ = (cx, client, reason);
    }

    /// Another task posted an event.
    fn on_event(&mut self, cx: &mut Cx<'_, Self>, event: Self::Event) {
        let _ = (cx, event);
    }

    /// A timer of this room is due.
    fn on_timer(&mut self, cx: &mut Cx<'_, Self>, timer: TimerId) {
        let _ = (cx, timer);
    }

    /// The server shuts down. The default closes every client with 4001, after which the room is disposed; a room
    /// that needs a moment starts what it must and calls [`Cx::disconnect`] later, before the server's deadline.
    fn on_shutdown(&mut self, cx: &mut Cx<'_, Self>) {
        cx.disconnect(CloseReason::ServerShutdown);
    }

    /// The room ends. No client is in it any more, and no handler runs after this one.
    fn on_dispose(&mut self, cx: &mut Cx<'_, Self>) {
        let _ = cx;
    }
}

/// How a client came.
#[derive(Debug)]
pub struct Join<Auth> {
    /// The options of its matchmaking request: a JSON object.
    pub options: Value,
    /// What [`Definition::authorize`] returned for it.
    pub auth: Auth,
}

/// A matchmaking request, for [`Definition::authorize`] to judge.
#[derive(Clone)]
pub struct AuthRequest {
    /// The bearer token of the `Authorization` header.
    pub token: Option<String>,
    /// The request's options: a JSON object.
    pub options: Value,
    /// The request's headers.
    pub headers: HeaderMap,
    /// The address of the peer, where the server was given it.
    pub remote: Option<IpAddr>,
}

/// Without what it brings: the token, the headers and the options may all hold secrets.
impl fmt::Debug for AuthRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("AuthRequest").field("remote", &self.remote).finish_non_exhaustive()
    }
}

/// A kind of room that clients ask for by name.
pub trait Definition: Send + Sync + 'static {
    /// The rooms it makes.
    type Room: Room;

    /// Decides whether a client may ask for a seat, before any is reserved. Ends with a refusal (525) when it takes
    /// longer than [`Config::authorize_timeout`](crate::Config::authorize_timeout), and with 523 when it panics.
    ///
    /// # Errors
    /// A refusal, usually [`Refusal::auth_failed`] or one with a code of the application's own.
    fn authorize(
        &self,
        request: &AuthRequest,
    ) -> impl Future<Output = Result<<Self::Room as Room>::Auth, Refusal>> + Send;

    /// Makes a room from the options of the request that needs it. `cx` is the new room's: timers, capacity,
    /// visibility and metadata can be set, and its handle kept.
    ///
    /// # Errors
    /// A refusal, which the client gets; no room exists then.
    fn create(&self, cx: &mut Cx<'_, Self::Room>, options: &Value) -> Result<Self::Room, Refusal>;

    /// The messages that its rooms know by type. Default none: all go to [`Room::on_message`] and
    /// [`Room::on_request`]. Asked once.
    fn messages(&self) -> Messages<Self::Room> {
        Messages::new()
    }

    /// How rooms of this name are found and filled. Asked once.
    fn settings(&self) -> RoomSettings {
        RoomSettings::default()
    }
}

/// How rooms of one name are found and filled.
#[derive(Clone, Debug, Default)]
pub struct RoomSettings {
    /// Options in which a client's request must equal the request that created the room. Default none.
    pub filter_by: Vec<String>,
    /// Which of the rooms that fit is asked first. Default none: the oldest.
    pub sort_by: Vec<SortBy>,
    /// Seats a room starts with. Default, and most, is [`Config::max_clients_per_room`](crate::Config).
    pub max_clients: Option<usize>,
}
