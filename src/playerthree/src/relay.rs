//! `relay`: a room without a game, for load tests and first steps. It interprets nothing and keeps nothing.

use playerthree_rooms::{
    AuthRequest, BadMessage, Cx, Definition, Frame, Join, Message, MessageType, Refusal, Room, SessionId,
};
use serde_json::Value;

/// The definition of the relay room.
pub(crate) struct Relay;

/// One relay room. `echo` comes back to its sender; any other message goes to all others as `[sender, payload]`.
pub(crate) struct RelayRoom;

impl Definition for Relay {
    type Room = RelayRoom;

    async fn authorize(&self, _: &AuthRequest) -> Result<(), Refusal> {
        Ok(())
    }

    fn create(&self, _: &mut Cx<'_, RelayRoom>, _: &Value) -> Result<RelayRoom, Refusal> {
        Ok(RelayRoom)
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
        if let Some(bytes) = message.payload.bytes() {
            let frame = Frame::bytes(message.kind, bytes);
            cx.broadcast_frame(&frame, &[client]);
            return Ok(());
        }
        let payload: Value = message.payload.decode()?;
        let frame = match message.kind {
            MessageType::Name("echo") => Frame::message(message.kind, &payload),
            kind => Frame::message(kind, &(client.as_str(), &payload)),
        };
        let frame = frame.map_err(|_| BadMessage::Undecodable)?;
        match message.kind {
            MessageType::Name("echo") => cx.send_frame(client, &frame),
            _ => cx.broadcast_frame(&frame, &[client]),
        }
        Ok(())
    }
}
