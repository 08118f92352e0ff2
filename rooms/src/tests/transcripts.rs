//! Recorded talks between the official 0.18 client and server, `transcripts/*.json`: every client message is read,
//! and every server message that these rooms can send is written again.

use crate::config::DecodeLimits;
use crate::frame::Frame;
use crate::message::MessageType;
use crate::pack;
use crate::wire::{self, Inbound, read_inbound};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Recorded {
    from: String,
    hex: String,
}

fn bytes(hex: &str) -> Vec<u8> {
    hex.as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn decode(payload: &[u8]) -> Value {
    pack::from_slice(payload, DecodeLimits::default()).unwrap()
}

/// The message as these rooms write it, or `None` where JavaScript could not read its integer as a number.
fn written(kind: MessageType<'_>, payload: &[u8], raw: bool) -> Option<Vec<u8>> {
    let frame = match (raw, payload) {
        (true, _) => Frame::bytes(kind, payload),
        (false, []) => Frame::signal(kind),
        (false, _) => Frame::message(kind, &decode(payload)).ok()?,
    };
    let framed = frame.into_bytes();
    // The payload lengths of these talks take two or four bytes of WebSocket header.
    let header = if framed[1] == 126 { 4 } else { 2 };
    Some(framed[header..].to_vec())
}

/// Whether a value is written in a form of its own: maps may have any length form, and what JSON lacks is sent as its
/// nearest (a binary as a list, a date as a number, `undefined` and NaN as null, a big integer as a number).
fn has_one_form(payload: &[u8]) -> bool {
    let value = decode(payload);
    let foreign = [0xc4, 0xcf, 0xd3, 0xd4, 0xd6, 0xd7];
    let has_map = value.is_object() || value.to_string().contains('{');
    let is_foreign = payload.first().is_some_and(|marker| foreign.contains(marker))
        || (value.is_null() && payload.len() > 1);
    !has_map && !is_foreign && !payload.windows(3).any(|window| window == [0xd4, 0, 0])
}

/// Replays a talk. Returns how many of its messages came out byte for byte.
fn replay(transcript: &str) -> usize {
    let frames: Vec<Recorded> = serde_json::from_str(transcript).unwrap();
    let mut exact = 0;
    for frame in frames {
        let recorded = bytes(&frame.hex);
        match read_inbound(&recorded).unwrap() {
            Inbound::Data { kind, payload } => {
                let Some(ours) = written(kind, payload, false) else {
                    assert!(payload.iter().any(|byte| matches!(byte, 0xcf | 0xd3)), "{}", frame.hex);
                    continue;
                };
                if frame.from == "server" && has_one_form(payload) {
                    assert_eq!(ours, recorded, "{}", frame.hex);
                    exact += 1;
                }
                let Ok(Inbound::Data { kind: our_kind, payload: our_payload }) = read_inbound(&ours) else {
                    panic!("{}", frame.hex)
                };
                assert_eq!((our_kind, decode(our_payload)), (kind, decode(payload)), "{}", frame.hex);
            }
            Inbound::Bytes { kind, payload } => {
                assert_eq!(written(kind, payload, true), Some(recorded));
                exact += 1;
            }
            Inbound::Request { payload, .. } => {
                decode(payload);
            }
            Inbound::Acknowledge | Inbound::Leave | Inbound::Ping => {}
            Inbound::Unknown => {
                assert_eq!(frame.from, "server");
                assert!(matches!(recorded[0], wire::ERROR | wire::ROOM_RESPONSE), "{}", frame.hex);
            }
        }
    }
    exact
}

#[test]
fn recorded_messages_read_and_write_the_same() {
    let exact = [
        replay(include_str!("../../transcripts/chat-basic.json")),
        replay(include_str!("../../transcripts/requests.json")),
        replay(include_str!("../../transcripts/broadcast.json")),
        replay(include_str!("../../transcripts/msgpack-types.json")),
    ];
    assert_eq!(exact, [9, 1, 3, 35]);
}
