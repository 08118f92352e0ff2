//! A room that hands each message of a client to all others, as `[sender, payload]`, or back to its sender where its
//! name says so. It interprets and keeps nothing.

use crate::close::CloseReason;
use crate::cx::Cx;
use crate::frame::Frame;
use crate::id::SessionId;
use crate::message::{BadMessage, Message, MessageType};
use crate::refusal::Refusal;
use crate::room::{AuthRequest, Definition, Join, Room, RoomSettings};
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// Relay rooms. Anyone may join; messages of every type are relayed, raw bytes as a binary payload.
#[derive(Clone, Debug, Default)]
pub struct Relay {
    max_clients: Option<usize>,
    grace: Duration,
    echo: Option<Arc<str>>,
}

impl Relay {
    /// Seats of a room. Default: the server's most.
    #[must_use]
    pub fn max_clients(mut self, seats: usize) -> Self {
        self.max_clients = Some(seats);
        self
    }

    /// How long a client's seat is held after its connection was lost. Default: not at all.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// The name of messages that come back to their sender as they were, and go to nobody else. Default none.
    #[must_use]
    pub fn echo(mut self, name: &str) -> Self {
        self.echo = Some(name.into());
        self
    }
}

/// One relay room.
pub struct RelayRoom {
    grace: Duration,
    echo: Option<Arc<str>>,
}

impl RelayRoom {
    fn comes_back(&self, kind: MessageType<'_>) -> bool {
        matches!((kind, &self.echo), (MessageType::Name(name), Some(echo)) if *name == **echo)
    }
}

impl Definition for Relay {
    type Room = RelayRoom;

    async fn authorize(&self, _: &AuthRequest) -> Result<(), Refusal> {
        Ok(())
    }

    fn create(&self, _: &mut Cx<'_, RelayRoom>, _: &Value) -> Result<RelayRoom, Refusal> {
        Ok(RelayRoom { grace: self.grace, echo: self.echo.clone() })
    }

    fn settings(&self) -> RoomSettings {
        RoomSettings { max_clients: self.max_clients, ..RoomSettings::default() }
    }
}

impl Room for RelayRoom {
    type Event = ();
    type Auth = ();

    fn on_join(&mut self, _: &mut Cx<'_, Self>, _: SessionId, _: Join<()>) -> Result<(), Refusal> {
        Ok(())
    }

    fn on_message(
        &mut self,
        cx: &mut Cx<'_, Self>,
        client: SessionId,
        message: Message<'_>,
    ) -> Result<(), BadMessage> {
        let Message { kind, payload } = message;
        let comes_back = self.comes_back(kind);
        let frame = match (payload.bytes(), comes_back) {
            (Some(bytes), true) => Ok(Frame::bytes(kind, bytes)),
            (Some(bytes), false) => Frame::message(kind, &(client, Binary(bytes))),
            (None, true) => Frame::message(kind, &payload.decode::<Value>()?),
            (None, false) => Frame::message(kind, &(client, payload.decode::<Value>()?)),
        };
        let frame = frame.map_err(|_| BadMessage::Undecodable)?;
        if comes_back {
            cx.send_frame(client, &frame);
        } else {
            cx.broadcast_frame(&frame, &[client]);
        }
        Ok(())
    }

    fn on_drop(&mut self, cx: &mut Cx<'_, Self>, client: SessionId, _: CloseReason) {
        if !self.grace.is_zero() {
            cx.allow_reconnection(client, self.grace);
        }
    }
}

/// Bytes that leave as a binary, not as a list of numbers.
struct Binary<'a>(&'a [u8]);

impl Serialize for Binary<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}
