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
use std::cell::Cell;
use std::convert::Infallible;

/// The most memory, in bytes, that a thread keeps for writing its next message.
const KEPT_BODY: usize = 64 * 1024;

thread_local! {
    /// Where this thread writes a message before its length is known.
    static BODY: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

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
        written(wire::ROOM_DATA, |body| {
            wire::write_type(kind.into(), body);
            pack::write(payload, body)
        })
    }

    /// The message `kind` without a payload: clients see `undefined`.
    #[must_use]
    pub fn signal<'a>(kind: impl Into<MessageType<'a>>) -> Self {
        composed(wire::ROOM_DATA, |body| wire::write_type(kind.into(), body))
    }

    /// The message `kind` with raw bytes.
    #[must_use]
    pub fn bytes<'a>(kind: impl Into<MessageType<'a>>, payload: &[u8]) -> Self {
        composed(wire::ROOM_DATA_BYTES, |body| {
            wire::write_type(kind.into(), body);
            body.extend_from_slice(payload);
        })
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
        composed(wire::JOIN_ROOM, |body| {
            body.push(24);
            body.extend_from_slice(token.as_bytes());
            match state {
                None => body.extend_from_slice(b"\x04none"),
                Some((reflections, generation, knows)) => {
                    body.extend_from_slice(b"\x06schema");
                    reflections.write(generation, knows, body);
                }
            }
        })
    }

    /// A state or a patch, from its parts.
    pub(crate) fn state(code: u8, parts: &[&[u8]]) -> Self {
        framed(code, parts)
    }

    pub(crate) fn error(refusal: &Refusal) -> Self {
        composed(wire::ERROR, |body| {
            wire::write_number(u32::from(refusal.code), body);
            wire::write_string(&refusal.message, body);
        })
    }

    pub(crate) fn pong() -> Self {
        framed(wire::PING, &[])
    }

    pub(crate) fn response(id: RequestId, answer: &Answer) -> Self {
        composed(wire::ROOM_RESPONSE, |body| {
            wire::write_number(id.0, body);
            body.push(answer.status);
            body.extend_from_slice(&answer.payload);
        })
    }
}

/// A frame of `code` and what `write` appends.
fn written<E>(code: u8, write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<Frame, E> {
    // A payload that makes a frame while it is written finds no memory kept, and takes some.
    let mut body = BODY.take();
    body.clear();
    let frame = write(&mut body).map(|()| framed(code, &[&body]));
    if body.capacity() <= KEPT_BODY {
        BODY.set(body);
    }
    frame
}

/// A frame of `code` and what `write` appends, which cannot fail.
fn composed(code: u8, write: impl FnOnce(&mut Vec<u8>)) -> Frame {
    let Ok(frame) = written(code, |body| {
        write(body);
        Ok::<_, Infallible>(())
    });
    frame
}

/// An unfragmented binary frame, in one allocation of its size.
fn framed(code: u8, parts: &[&[u8]]) -> Frame {
    let length = 1 + parts.iter().map(|part| part.len()).sum::<usize>();
    let big_endian = (length as u64).to_be_bytes();
    let header: &[u8] = match length {
        0..=125 => &[0x82, big_endian[7]],
        126..=0xffff => &[0x82, 126, big_endian[6], big_endian[7]],
        _ => &[&[0x82, 127][..], &big_endian].concat(),
    };
    let mut frame = Vec::with_capacity(header.len() + length);
    frame.extend_from_slice(header);
    frame.push(code);
    parts.iter().for_each(|part| frame.extend_from_slice(part));
    Frame(frame.into())
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
