//! The protocol's own bytes: message codes, and the little-endian numbers and strings around payloads.
//!
//! Reading never panics and never looks beyond the slice; what does not fit is [`Malformed`].

use crate::message::MessageType;
use crate::refusal::Refusal;

pub(crate) const JOIN_ROOM: u8 = 10;
pub(crate) const ERROR: u8 = 11;
pub(crate) const LEAVE_ROOM: u8 = 12;
pub(crate) const ROOM_DATA: u8 = 13;
pub(crate) const ROOM_STATE: u8 = 14;
pub(crate) const ROOM_STATE_PATCH: u8 = 15;
pub(crate) const ROOM_DATA_BYTES: u8 = 17;
pub(crate) const PING: u8 = 18;
pub(crate) const ROOM_REQUEST: u8 = 21;
pub(crate) const ROOM_RESPONSE: u8 = 22;

/// The longest message type name accepted from a client, in bytes.
const MAX_NAME_BYTES: usize = 255;

/// Bytes that are no message of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// What a client's message says. Borrowed from its bytes.
#[derive(Debug, PartialEq)]
pub(crate) enum Inbound<'a> {
    Acknowledge,
    Leave,
    Ping,
    Data {
        kind: MessageType<'a>,
        payload: &'a [u8],
    },
    Bytes {
        kind: MessageType<'a>,
        payload: &'a [u8],
    },
    Request {
        id: u32,
        kind: MessageType<'a>,
        payload: &'a [u8],
    },
    /// An empty message or a code that the server does not know: ignored, as the protocol has it.
    Unknown,
}

/// Reads one message from a client.
pub(crate) fn read_inbound(message: &[u8]) -> Result<Inbound<'_>, Malformed> {
    let Some((&code, rest)) = message.split_first() else { return Ok(Inbound::Unknown) };
    Ok(match code {
        JOIN_ROOM => Inbound::Acknowledge,
        LEAVE_ROOM => Inbound::Leave,
        PING => Inbound::Ping,
        ROOM_DATA => {
            let (kind, payload) = read_type(rest)?;
            Inbound::Data { kind, payload }
        }
        ROOM_DATA_BYTES => {
            let (kind, payload) = read_type(rest)?;
            Inbound::Bytes { kind, payload }
        }
        ROOM_REQUEST => {
            let (id, rest) = read_number(rest)?;
            let (kind, payload) = read_type(rest)?;
            Inbound::Request { id, kind, payload }
        }
        _ => Inbound::Unknown,
    })
}

/// The server's refusal after [`ERROR`], as a client reads it.
pub(crate) fn read_error(bytes: &[u8]) -> Option<Refusal> {
    let (code, rest) = read_number(bytes).ok()?;
    let (MessageType::Name(text), _) = read_type(rest).ok()? else { return None };
    Some(Refusal::new(u16::try_from(code).ok()?, text.to_owned()))
}

/// The server's answer after [`ROOM_RESPONSE`], as a client reads it: status and payload.
pub(crate) fn read_response(bytes: &[u8]) -> Option<(u8, &[u8])> {
    let (_, rest) = read_number(bytes).ok()?;
    rest.split_first().map(|(status, payload)| (*status, payload))
}

fn take<const N: usize>(bytes: &[u8]) -> Result<([u8; N], &[u8]), Malformed> {
    let (head, rest) = bytes.split_first_chunk::<N>().ok_or(Malformed)?;
    Ok((*head, rest))
}

/// A whole number that is not negative, in any of the self-describing unsigned forms.
fn read_number(bytes: &[u8]) -> Result<(u32, &[u8]), Malformed> {
    let ([first], rest) = take::<1>(bytes)?;
    match first {
        0..=0x7f => Ok((u32::from(first), rest)),
        0xcc => take::<1>(rest).map(|([value], rest)| (u32::from(value), rest)),
        0xcd => take::<2>(rest).map(|(value, rest)| (u32::from(u16::from_le_bytes(value)), rest)),
        0xce => take::<4>(rest).map(|(value, rest)| (u32::from_le_bytes(value), rest)),
        _ => Err(Malformed),
    }
}

/// A message type. The empty name is refused, for clients' decoders cannot tell it from a number.
fn read_type(bytes: &[u8]) -> Result<(MessageType<'_>, &[u8]), Malformed> {
    let ([first], rest) = take::<1>(bytes)?;
    let (length, rest) = match first {
        0xa1..=0xbf => (usize::from(first & 0x1f), rest),
        0xd9 => take::<1>(rest).map(|([length], rest)| (usize::from(length), rest))?,
        0xda => take::<2>(rest).map(|(length, rest)| (usize::from(u16::from_le_bytes(length)), rest))?,
        _ => return read_number(bytes).map(|(number, rest)| (MessageType::Number(number), rest)),
    };
    if length == 0 || length > MAX_NAME_BYTES {
        return Err(Malformed);
    }
    let (name, rest) = rest.split_at_checked(length).ok_or(Malformed)?;
    let name = str::from_utf8(name).map_err(|_| Malformed)?;
    Ok((MessageType::Name(name), rest))
}

pub(crate) fn write_number(number: u32, out: &mut Vec<u8>) {
    match number {
        0..=0x7f => out.extend(number.to_le_bytes().first()),
        0x80..=0xff => {
            out.push(0xcc);
            out.extend(number.to_le_bytes().first());
        }
        0x100..=0xffff => {
            out.push(0xcd);
            out.extend(&number.to_le_bytes()[..2]);
        }
        _ => {
            out.push(0xce);
            out.extend(number.to_le_bytes());
        }
    }
}

pub(crate) fn write_string(text: &str, out: &mut Vec<u8>) {
    let length = text.len().to_le_bytes();
    match text.len() {
        0..=31 => out.push(0xa0 | length[0]),
        32..=0xff => out.extend([0xd9, length[0]]),
        0x100..=0xffff => out.extend([0xda, length[0], length[1]]),
        _ => out.extend([0xdb, length[0], length[1], length[2], length[3]]),
    }
    out.extend(text.as_bytes());
}

pub(crate) fn write_type(kind: MessageType<'_>, out: &mut Vec<u8>) {
    match kind {
        MessageType::Name(name) => write_string(name, out),
        MessageType::Number(number) => write_number(number, out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_read_as_clients_write_them() {
        let long = "x".repeat(40);
        let mut long_bytes = vec![13, 0xd9, 40];
        long_bytes.extend(long.as_bytes());
        let table: [(&[u8], MessageType<'_>, &[u8]); 5] = [
            (
                &[13, 0xa4, b'e', b'c', b'h', b'o', 0xa2, b'h', b'i'],
                MessageType::Name("echo"),
                &[0xa2, b'h', b'i'],
            ),
            (&[13, 7, 0x2a], MessageType::Number(7), &[0x2a]),
            (&[13, 0xcd, 0x2c, 1, 1], MessageType::Number(300), &[1]),
            (&[13, 0xce, 0x70, 0x11, 1, 0], MessageType::Number(70_000), &[]),
            (&long_bytes, MessageType::Name(&long), &[]),
        ];
        for (bytes, kind, payload) in table {
            assert_eq!(read_inbound(bytes), Ok(Inbound::Data { kind, payload }));
        }
    }

    #[test]
    fn what_is_written_reads_back() {
        for number in [0, 127, 128, 255, 256, 65_535, 65_536, u32::MAX] {
            let mut bytes = Vec::new();
            write_number(number, &mut bytes);
            assert_eq!(read_number(&bytes), Ok((number, &[][..])));
        }
        for length in [1, 31, 32, 255] {
            let name = "n".repeat(length);
            let mut bytes = Vec::new();
            write_type(MessageType::Name(&name), &mut bytes);
            assert_eq!(read_type(&bytes), Ok((MessageType::Name(&name), &[][..])));
        }
    }

    // Field report U50: every prefix of a valid message is refused or read, never a panic.
    #[test]
    fn truncated_and_foreign_types_are_malformed() {
        let too_long = [&[13, 0xda, 0, 1][..], &[b'a'; 256]].concat();
        let malformed: [&[u8]; 9] = [
            &[13],
            &[13, 0xa0],
            &[13, 0xa4, b'e'],
            &[13, 0xd9],
            &[13, 0xcd, 1],
            &[13, 0xa1, 0xff],
            &[13, 0xcb, 0, 0, 0, 0, 0, 0, 0, 0],
            &[21, 0],
            &too_long,
        ];
        for bytes in malformed {
            assert_eq!(read_inbound(bytes), Err(Malformed), "{bytes:?}");
        }
        for unknown in [&[][..], &[0], &[255, 1, 2], &[14], b"text"] {
            assert_eq!(read_inbound(unknown), Ok(Inbound::Unknown));
        }
    }
}
