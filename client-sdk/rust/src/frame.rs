//! The bytes of the Colyseus protocol: one frame is one binary WebSocket message. Pure; reads no more than it is given
//! and refuses what does not follow the protocol.

use crate::message::{Kind, Payload};
use crate::{Error, Result};
use bytes::{Buf, Bytes};
use serde::Serialize;
use tokio_tungstenite::tungstenite::Utf8Bytes;

const JOIN_ROOM: u8 = 10;
const ERROR: u8 = 11;
const LEAVE_ROOM: u8 = 12;
const ROOM_DATA: u8 = 13;
const ROOM_STATE: u8 = 14;
const ROOM_STATE_PATCH: u8 = 15;
const ROOM_DATA_BYTES: u8 = 17;

/// The code is in the low bits.
const CODE_BITS: u8 = 0x1f;
/// Modifier: eight bytes of timing stand before the body of a state or patch.
const TIMED: u8 = 0x80;
const TIMING_BYTES: usize = 8;

/// Longest message name in bytes, either way.
const MAX_NAME_BYTES: usize = 255;

/// The acknowledgement of a join.
pub(crate) const ACKNOWLEDGE: &[u8] = &[JOIN_ROOM];
/// The wish to leave.
pub(crate) const LEAVE: &[u8] = &[LEAVE_ROOM];

/// A frame from a server.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Frame {
    /// The join is complete; the token is for a reconnection.
    Joined { token: Utf8Bytes },
    /// An error for this client, fatal only while it joins.
    Fault { code: u16, message: Utf8Bytes },
    /// The server asks the client to leave.
    LeaveAsked,
    /// A message.
    Message { kind: Kind, payload: Payload },
    /// A message of raw bytes.
    Bytes { kind: Kind, bytes: Bytes },
    /// The whole schema state.
    State(Bytes),
    /// A change of the schema state.
    Patch(Bytes),
    /// Of no concern to this client: unknown codes, pongs, empty frames.
    Other,
}

impl Frame {
    /// Reads one frame.
    pub(crate) fn read(mut bytes: Bytes) -> Result<Self> {
        let Ok(first) = bytes.try_get_u8() else { return Ok(Self::Other) };
        match first & CODE_BITS {
            JOIN_ROOM => joined(&mut bytes),
            ERROR => fault(&mut bytes),
            LEAVE_ROOM => Ok(Self::LeaveAsked),
            ROOM_DATA => Ok(Self::Message { kind: kind(&mut bytes)?, payload: Payload::new(bytes) }),
            ROOM_DATA_BYTES => Ok(Self::Bytes { kind: kind(&mut bytes)?, bytes }),
            ROOM_STATE => untimed(first, bytes).map(Self::State),
            ROOM_STATE_PATCH => untimed(first, bytes).map(Self::Patch),
            _ => Ok(Self::Other),
        }
    }
}

/// Token, serializer, and a description of the state that a client without schema state does not need.
fn joined(bytes: &mut Bytes) -> Result<Frame> {
    let token_bytes = usize::from(bytes.try_get_u8().map_err(|_| Error::Answer)?);
    let token = text(bytes, token_bytes)?;
    let serializer_bytes = usize::from(bytes.try_get_u8().map_err(|_| Error::Answer)?);
    text(bytes, serializer_bytes)?;
    Ok(Frame::Joined { token })
}

fn fault(bytes: &mut Bytes) -> Result<Frame> {
    let code = u16::try_from(number(bytes)?).map_err(|_| Error::Answer)?;
    let message_bytes = text_length(bytes)?;
    Ok(Frame::Fault { code, message: text(bytes, message_bytes)? })
}

fn untimed(first: u8, mut bytes: Bytes) -> Result<Bytes> {
    if first & TIMED != 0 {
        take(&mut bytes, TIMING_BYTES)?;
    }
    Ok(bytes)
}

/// A message type: text or number, told apart by the first byte.
fn kind(bytes: &mut Bytes) -> Result<Kind> {
    match bytes.first() {
        Some(0xa1..=0xbf | 0xd9..=0xdb) => {
            let length = text_length(bytes)?;
            if length == 0 || length > MAX_NAME_BYTES {
                return Err(Error::Answer);
            }
            text(bytes, length).map(Kind::from_name)
        }
        _ => number(bytes).map(Kind::from_number),
    }
}

/// A whole number of the schema encoding, little endian. Only those are used as types, codes and lengths.
fn number(bytes: &mut Bytes) -> Result<u32> {
    let first = bytes.try_get_u8().map_err(|_| Error::Answer)?;
    let number = match first {
        0x00..=0x7f => Ok(u32::from(first)),
        0xcc => bytes.try_get_u8().map(u32::from),
        0xcd => bytes.try_get_u16_le().map(u32::from),
        0xce => bytes.try_get_u32_le(),
        _ => return Err(Error::Answer),
    };
    number.map_err(|_| Error::Answer)
}

/// The length of a text of the schema encoding.
fn text_length(bytes: &mut Bytes) -> Result<usize> {
    let first = bytes.try_get_u8().map_err(|_| Error::Answer)?;
    let length = match first {
        0xa0..=0xbf => Ok(u32::from(first & 0x1f)),
        0xd9 => bytes.try_get_u8().map(u32::from),
        0xda => bytes.try_get_u16_le().map(u32::from),
        0xdb => bytes.try_get_u32_le(),
        _ => return Err(Error::Answer),
    };
    length.ok().and_then(|length| usize::try_from(length).ok()).ok_or(Error::Answer)
}

fn take(bytes: &mut Bytes, length: usize) -> Result<Bytes> {
    if length > bytes.len() {
        return Err(Error::Answer);
    }
    Ok(bytes.split_to(length))
}

fn text(bytes: &mut Bytes, length: usize) -> Result<Utf8Bytes> {
    Utf8Bytes::try_from(take(bytes, length)?).map_err(|_| Error::Answer)
}

/// What a message that is to be sent is called.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Called<'a> {
    Name(&'a str),
    Number(u32),
}

/// The frame of a message with a payload. Maps are written with their names, as JavaScript reads them.
pub(crate) fn message<T: Serialize + ?Sized>(called: Called<'_>, payload: &T) -> Result<Bytes> {
    let mut out = head(ROOM_DATA, called)?;
    rmp_serde::encode::write_named(&mut out, payload).map_err(|_| Error::Encode)?;
    Ok(out.into())
}

/// The frame of a message that carries nothing.
pub(crate) fn signal(called: Called<'_>) -> Result<Bytes> {
    head(ROOM_DATA, called).map(Bytes::from)
}

/// The frame of a message of raw bytes.
pub(crate) fn bytes(called: Called<'_>, bytes: &[u8]) -> Result<Bytes> {
    let mut out = head(ROOM_DATA_BYTES, called)?;
    out.extend_from_slice(bytes);
    Ok(out.into())
}

fn head(code: u8, called: Called<'_>) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(64);
    out.push(code);
    match called {
        Called::Name(name) => put_name(&mut out, name)?,
        Called::Number(number) => put_number(&mut out, number),
    }
    Ok(out)
}

fn put_name(out: &mut Vec<u8>, name: &str) -> Result<()> {
    match u8::try_from(name.len()) {
        Ok(0) | Err(_) => return Err(Error::Encode),
        Ok(length @ 1..=31) => out.push(0xa0 | length),
        Ok(length) => out.extend([0xd9, length]),
    }
    out.extend_from_slice(name.as_bytes());
    Ok(())
}

fn put_number(out: &mut Vec<u8>, number: u32) {
    if let Ok(small @ 0..=0x7f) = u8::try_from(number) {
        out.push(small);
    } else if let Ok(byte) = u8::try_from(number) {
        out.extend([0xcc, byte]);
    } else if let Ok(short) = u16::try_from(number) {
        out.push(0xcd);
        out.extend(short.to_le_bytes());
    } else {
        out.push(0xce);
        out.extend(number.to_le_bytes());
    }
}

#[cfg(test)]
#[path = "frame_tests.rs"]
mod tests;
