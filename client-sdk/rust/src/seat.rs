//! The matchmaker's answer: a reserved seat, or a refusal. Pure.

use crate::{Error, Result};
use http::StatusCode;
use serde::Deserialize;

/// Longest id that is taken from a matchmaker, in bytes.
const MAX_ID_BYTES: usize = 64;

/// A reserved seat: single-use, and valid for the server's reservation time (15 s by default).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seat {
    /// The room.
    pub room_id: String,
    /// The process that holds it.
    pub process_id: String,
    /// This client's id in the room.
    pub session_id: String,
    /// Another address to join at: host, port and perhaps a path.
    pub public_address: Option<String>,
}

/// Both shapes of the answer: flat as since 0.17, or nested in `room` as before.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    session_id: Option<String>,
    #[serde(flatten)]
    flat: Place,
    room: Option<Place>,
    code: Option<u16>,
    error: Option<String>,
    message: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Place {
    room_id: Option<String>,
    process_id: Option<String>,
    public_address: Option<String>,
}

impl Seat {
    /// Reads the answer to a matchmaking request.
    pub(crate) fn read(status: StatusCode, body: &[u8]) -> Result<Self> {
        let answer: Option<Answer> = serde_json::from_slice(body).ok();
        if !status.is_success() {
            let text = answer.and_then(|answer| answer.message.or(answer.error)).unwrap_or_default();
            return Err(Error::refused(status.as_u16(), &text));
        }
        let answer = answer.ok_or(Error::Answer)?;
        if let Some(error) = answer.error {
            return Err(Error::refused(answer.code.unwrap_or(status.as_u16()), &error));
        }
        let place = answer.room.filter(|_| answer.flat.room_id.is_none()).unwrap_or(answer.flat);
        Ok(Self {
            room_id: id(place.room_id)?,
            process_id: id(place.process_id)?,
            session_id: id(answer.session_id)?,
            public_address: place.public_address.filter(|address| !address.is_empty()),
        })
    }
}

/// An id that can stand in a URL as it is.
fn id(text: Option<String>) -> Result<String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    text.filter(|id| (1..=MAX_ID_BYTES).contains(&id.len()) && id.bytes().all(is_plain)).ok_or(Error::Answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(status: u16, body: &str) -> Result<Seat> {
        Seat::read(StatusCode::from_u16(status).unwrap(), body.as_bytes())
    }

    #[test]
    fn the_flat_and_the_nested_answer_name_the_same_seat() {
        let flat = r#"{"name":"chat","sessionId":"i_d2N7vHa","roomId":"f6V9g9P_8","processId":"3hojHvV5k"}"#;
        let nested = r#"{"room":{"name":"chat","roomId":"f6V9g9P_8","processId":"3hojHvV5k","maxClients":null},
            "sessionId":"i_d2N7vHa"}"#;
        let seat = read(200, flat).unwrap();
        assert_eq!((seat.room_id.as_str(), seat.session_id.as_str()), ("f6V9g9P_8", "i_d2N7vHa"));
        assert_eq!(read(200, nested).unwrap(), seat);
    }

    #[test]
    fn a_refusal_keeps_the_code_and_a_bounded_text() {
        let long = "x".repeat(1000);
        for (status, body, expected, text) in [
            (525, r#"{"code":525,"error":"onAuth failed"}"#.to_owned(), 525, "onAuth failed"),
            // 0.16 answers 200 with an error in the body.
            (200, r#"{"code":4212,"error":"no room"}"#.to_owned(), 4212, "no room"),
            (500, String::new(), 500, ""),
            (503, format!(r#"{{"error":"{long}"}}"#), 503, &long[..256]),
        ] {
            let Err(Error::Refused { code, message }) = read(status, &body) else { panic!("{body}") };
            assert_eq!((code, message.as_str()), (expected, text));
        }
    }

    #[test]
    fn an_answer_without_plain_ids_is_not_taken() {
        let long = "a".repeat(65);
        for body in [
            "",
            "[]",
            "{}",
            r#"{"sessionId":"s","roomId":"r"}"#,
            r#"{"sessionId":"s","roomId":"../r","processId":"p"}"#,
            r#"{"sessionId":"","roomId":"r","processId":"p"}"#,
            &format!(r#"{{"sessionId":"{long}","roomId":"r","processId":"p"}}"#),
        ] {
            assert_eq!(read(200, body).unwrap_err().code(), "answer", "{body}");
        }
    }
}
