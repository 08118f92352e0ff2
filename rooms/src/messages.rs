//! Handlers of messages by their type: an application registers plain methods that take the payload as a type of its
//! own, in place of a `match` over names in [`Room::on_message`].

use crate::cx::Cx;
use crate::id::SessionId;
use crate::message::{BadMessage, Message, MessageType, Payload};
use crate::request::{Reply, Request};
use crate::room::Room;
use serde::de::DeserializeOwned;
use std::collections::HashMap;

type Handler<R> =
    Box<dyn Fn(&mut R, &mut Cx<'_, R>, SessionId, Payload<'_>) -> Result<(), BadMessage> + Send + Sync>;
type Answerer<R> =
    Box<dyn Fn(&mut R, &mut Cx<'_, R>, SessionId, Request<'_>) -> Result<Reply, BadMessage> + Send + Sync>;

/// The messages and requests that the rooms of a [`Definition`](crate::Definition) know by type.
///
/// What is registered here does not reach [`Room::on_message`] and [`Room::on_request`], which get all other types and
/// so serve as wildcards. A payload that does not decode into the handler's type closes the client with 4002, as
/// [`BadMessage`] does.
///
/// ```
/// use playerthree_rooms::{AuthRequest, Cx, Definition, Join, Messages, Refusal, Reply, Room, SessionId};
///
/// #[derive(serde::Deserialize)]
/// struct Move { x: f64, y: f64 }
///
/// struct Arena;
/// struct ArenaRoom { moves: u32 }
///
/// impl Definition for Arena {
///     type Room = ArenaRoom;
///
///     async fn authorize(&self, _: &AuthRequest) -> Result<(), Refusal> {
///         Ok(())
///     }
///
///     fn create(&self, _: &mut Cx<'_, ArenaRoom>, _: &serde_json::Value) -> Result<ArenaRoom, Refusal> {
///         Ok(ArenaRoom { moves: 0 })
///     }
///
///     fn messages(&self) -> Messages<ArenaRoom> {
///         Messages::new()
///             .on("move", ArenaRoom::moved)
///             .on("stop", |room: &mut ArenaRoom, _, _, ()| room.moves = 0)
///             .on_bytes("paint", |_, cx, client, pixels| cx.send_bytes(client, "paint", pixels))
///             .on_request("moves", |room: &mut ArenaRoom, _, _, ()| Reply::value(&room.moves))
///     }
/// }
///
/// impl ArenaRoom {
///     fn moved(&mut self, _: &mut Cx<'_, Self>, _: SessionId, to: Move) {
///         self.moves += u32::from(to.x.is_finite() && to.y.is_finite());
///     }
/// }
///
/// impl Room for ArenaRoom {
///     type Event = ();
///     type Auth = ();
///
///     fn on_join(&mut self, _: &mut Cx<'_, Self>, _: SessionId, _: Join<()>) -> Result<(), Refusal> {
///         Ok(())
///     }
/// }
/// ```
pub struct Messages<R: Room> {
    packed: ByType<Handler<R>>,
    raw: ByType<Handler<R>>,
    requests: ByType<Answerer<R>>,
}

impl<R: Room> Default for Messages<R> {
    fn default() -> Self {
        Self { packed: ByType::default(), raw: ByType::default(), requests: ByType::default() }
    }
}

impl<R: Room> Messages<R> {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Handles messages of a type, with a name or a number. A message without payload decodes as `()`. A type that is
    /// registered again is replaced.
    #[must_use]
    pub fn on<'k, T: DeserializeOwned>(
        mut self,
        kind: impl Into<MessageType<'k>>,
        handler: impl Fn(&mut R, &mut Cx<'_, R>, SessionId, T) + Send + Sync + 'static,
    ) -> Self {
        let handler: Handler<R> = Box::new(move |room, cx, client, payload| {
            handler(room, cx, client, payload.decode()?);
            Ok(())
        });
        self.packed.insert(kind.into(), handler);
        self
    }

    /// Handles the raw messages of a type, which clients send with `sendBytes`.
    #[must_use]
    pub fn on_bytes<'k>(
        mut self,
        kind: impl Into<MessageType<'k>>,
        handler: impl Fn(&mut R, &mut Cx<'_, R>, SessionId, &[u8]) + Send + Sync + 'static,
    ) -> Self {
        let handler: Handler<R> = Box::new(move |room, cx, client, payload| {
            handler(room, cx, client, payload.bytes().ok_or(BadMessage::Undecodable)?);
            Ok(())
        });
        self.raw.insert(kind.into(), handler);
        self
    }

    /// Answers the requests of a type. A value that does not encode is a fault to the client.
    #[must_use]
    pub fn on_request<'k, T: DeserializeOwned, A: Into<Reply>>(
        mut self,
        kind: impl Into<MessageType<'k>>,
        answerer: impl Fn(&mut R, &mut Cx<'_, R>, SessionId, T) -> A + Send + Sync + 'static,
    ) -> Self {
        let answerer: Answerer<R> = Box::new(move |room, cx, client, request| {
            Ok(answerer(room, cx, client, request.payload.decode()?).into())
        });
        self.requests.insert(kind.into(), answerer);
        self
    }

    pub(crate) fn message(
        &self,
        room: &mut R,
        cx: &mut Cx<'_, R>,
        client: SessionId,
        message: Message<'_>,
    ) -> Result<(), BadMessage> {
        let handlers = if message.payload.bytes().is_some() { &self.raw } else { &self.packed };
        match handlers.get(message.kind) {
            Some(handler) => handler(room, cx, client, message.payload),
            None => room.on_message(cx, client, message),
        }
    }

    pub(crate) fn request(
        &self,
        room: &mut R,
        cx: &mut Cx<'_, R>,
        client: SessionId,
        request: Request<'_>,
    ) -> Result<Reply, BadMessage> {
        match self.requests.get(request.kind) {
            Some(answerer) => answerer(room, cx, client, request),
            None => room.on_request(cx, client, request),
        }
    }
}

/// Names and numbers are name spaces of their own.
struct ByType<T> {
    names: HashMap<Box<str>, T>,
    numbers: HashMap<u32, T>,
}

impl<T> Default for ByType<T> {
    fn default() -> Self {
        Self { names: HashMap::new(), numbers: HashMap::new() }
    }
}

impl<T> ByType<T> {
    fn insert(&mut self, kind: MessageType<'_>, value: T) {
        match kind {
            MessageType::Name(name) => self.names.insert(name.into(), value),
            MessageType::Number(number) => self.numbers.insert(number, value),
        };
    }

    fn get(&self, kind: MessageType<'_>) -> Option<&T> {
        match kind {
            MessageType::Name(name) => self.names.get(name),
            MessageType::Number(number) => self.numbers.get(&number),
        }
    }
}
