//! Messages to clients, encoded once: the protocol's bytes inside a finished WebSocket frame.
//!
//! A server's frames are not masked, so the same bytes serve every reader of a broadcast.

use crate::generation::Generation;
use crate::id::Token;
use crate::message::MessageType;
use crate::pack::{self, EncodeError};
use crate::refusal::Refusal;
use crate::request::{Answer, RequestId};
use crate::state::{Knowledge, Reflections};
use crate::wire;
use bytes::Bytes;
use serde::Serialize;

/// The most a WebSocket frame header takes without a mask.
const MAX_HEADER: usize = 10;

/// A message encoded once, ready for any number of clients. Cloning it shares the bytes.
#[derive(Clone, Debug)]
pub struct Frame(Bytes);

impl Frame {
    /// The message `kind` with `payload` as MessagePack: structs become maps, integers beyond 32 bits become floats,
    /// which is how JavaScript reads them as numbers.
    ///
    /// # Errors
    /// Where `payload` does not serialize, or holds an integer beyond ±(2^53 − 1), which JavaScript could not read.
    pub fn message<'a>(
        kind: impl Into<MessageType<'a>>,
        payload: &(impl Serialize + ?Sized),
    ) -> Result<Self, EncodeError> {
        let mut body = start(wire::ROOM_DATA);
        wire::write_type(kind.into(), &mut body);
        pack::write(payload, &mut body)?;
        Ok(finish(body))
    }

    /// The message `kind` without a payload: clients see `undefined`.
    #[must_use]
    pub fn signal<'a>(kind: impl Into<MessageType<'a>>) -> Self {
        let mut body = start(wire::ROOM_DATA);
        wire::write_type(kind.into(), &mut body);
        finish(body)
    }

    /// The message `kind` with raw bytes.
    #[must_use]
    pub fn bytes<'a>(kind: impl Into<MessageType<'a>>, payload: &[u8]) -> Self {
        let mut body = start(wire::ROOM_DATA_BYTES);
        wire::write_type(kind.into(), &mut body);
        body.extend_from_slice(payload);
        finish(body)
    }

    /// Bytes on the socket, the WebSocket header counted.
    #[must_use]
    pub fn size(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn into_bytes(self) -> Bytes {
        self.0
    }

    /// The answer to a join: the seat's new token, and how the room's state is read.
    ///
    /// Without a state, the reflection length of generation 0.18 is left out, which is the one form that every
    /// generation accepts.
    pub(crate) fn join(token: &Token, state: Option<(&Reflections, Generation, Knowledge)>) -> Self {
        let mut body = start(wire::JOIN_ROOM);
        body.push(24);
        body.extend_from_slice(token.as_bytes());
        match state {
            None => body.extend_from_slice(b"\x04none"),
            Some((reflections, generation, knows)) => {
                body.extend_from_slice(b"\x06schema");
                reflections.write(generation, knows, &mut body);
            }
        }
        finish(body)
    }

    /// A state or a patch, from its parts.
    pub(crate) fn state(code: u8, parts: &[&[u8]]) -> Self {
        let mut body = start(code);
        body.reserve_exact(parts.iter().map(|part| part.len()).sum());
        parts.iter().for_each(|part| body.extend_from_slice(part));
        finish(body)
    }

    pub(crate) fn error(refusal: &Refusal) -> Self {
        let mut body = start(wire::ERROR);
        wire::write_number(u32::from(refusal.code), &mut body);
        wire::write_string(&refusal.message, &mut body);
        finish(body)
    }

    pub(crate) fn pong() -> Self {
        finish(start(wire::PING))
    }

    pub(crate) fn response(id: RequestId, answer: &Answer) -> Self {
        let mut body = start(wire::ROOM_RESPONSE);
        wire::write_number(id.0, &mut body);
        body.push(answer.status);
        body.extend_from_slice(&answer.payload);
        finish(body)
    }
}

/// A body with room in front of it for the WebSocket header.
fn start(code: u8) -> Vec<u8> {
    let mut body = Vec::with_capacity(MAX_HEADER + 54);
    body.extend_from_slice(&[0; MAX_HEADER]);
    body.push(code);
    body
}

/// Writes the header of an unfragmented binary frame just before the body.
fn finish(mut body: Vec<u8>) -> Frame {
    let length = body.len() - MAX_HEADER;
    let big_endian = (length as u64).to_be_bytes();
    let header: &[u8] = match length {
        0..=125 => &[0x82, big_endian[7]],
        126..=0xffff => &[0x82, 126, big_endian[6], big_endian[7]],
        _ => &[&[0x82, 127][..], &big_endian].concat(),
    };
    let begin = MAX_HEADER - header.len();
    body[begin..MAX_HEADER].copy_from_slice(header);
    Frame(Bytes::from(body).slice(begin..))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_carry_the_lengths_of_the_three_websocket_forms() {
        for (length, header) in [
            (1_usize, vec![0x82, 4]),
            (122, vec![0x82, 125]),
            (123, vec![0x82, 126, 0, 126]),
            (70_000, vec![0x82, 127, 0, 0, 0, 0, 0, 1, 0x11, 0x73]),
        ] {
            let frame = Frame::bytes("b", &vec![5; length]).into_bytes();
            assert_eq!(&frame[..header.len()], header, "{length}");
            assert_eq!(&frame[header.len()..header.len() + 3], [17, 0xa1, b'b']);
            assert_eq!(frame.len(), header.len() + 3 + length);
        }
    }

    #[test]
    fn messages_are_the_recorded_bytes() {
        let body = |frame: Frame| frame.into_bytes()[2..].to_vec();
        let message = |kind, payload: serde_json::Value| body(Frame::message(kind, &payload).unwrap());
        assert_eq!(message(MessageType::Name("echo"), "hi".into()), b"\x0d\xa4echo\xa2hi");
        assert_eq!(message(MessageType::Number(7), 42.into()), [0x0d, 7, 0x2a]);
        assert_eq!(body(Frame::signal("nothing")), b"\x0d\xa7nothing");
        assert_eq!(body(Frame::bytes(9, &[4, 5])), [0x11, 9, 4, 5]);
        let error = Frame::error(&Refusal::new(4217, "custom"));
        assert_eq!(body(error), b"\x0b\xcd\x79\x10\xa6custom");
    }
}
