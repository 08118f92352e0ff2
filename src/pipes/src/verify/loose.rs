//! The lenient reading of a body that is not strict I-JSON.
//!
//! It only answers which game such a body claims to belong to, so that it can be reported as malformed there. The last
//! of repeated members wins, lone surrogates and numbers past a double are let through, as careless readers do.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::event::{self, Body, Protocol};

/// Reads a body leniently; `None` when even a lenient reader sees no event of a game.
pub(crate) fn read(text: &str) -> Option<Body> {
    // Reading strings as bytes would let raw control characters through, which no JSON parser does.
    serde_json::from_str::<IgnoredAny>(text).ok()?;
    let members: Members<'_> = serde_json::from_str(text).ok()?;
    let game = serde_json::from_str::<Text>(members.game?.get()).ok()?.0;
    if members.seq.is_none() && members.action.is_none() && !members.has_pointer {
        return None;
    }
    let seq = members.seq.and_then(|seq| seq.get().parse().ok()).and_then(event::as_integral_double);
    let is_start = members.action.and_then(|action| serde_json::from_str::<Text>(action.get()).ok());
    let opens = seq == Some(0) && is_start.is_some_and(|action| *action.0 == *b"start");
    let protocol = match members.protocol.map(|name| serde_json::from_str::<Text>(name.get())) {
        None => Protocol::Absent,
        Some(Ok(name)) => Protocol::Named(String::from_utf8_lossy(&name.0).into()),
        Some(Err(_)) => Protocol::NotText,
    };
    Some(Body { game, seq, opens, protocol, event: None })
}

/// The raw texts of the members that are looked at.
#[derive(Default)]
struct Members<'a> {
    game: Option<&'a RawValue>,
    seq: Option<&'a RawValue>,
    action: Option<&'a RawValue>,
    protocol: Option<&'a RawValue>,
    has_pointer: bool,
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
        let mut members = Members::default();
        while let Some(Text(name)) = map.next_key()? {
            let value = map.next_value::<&RawValue>()?;
            match &*name {
                b"game" => members.game = Some(value),
                b"seq" => members.seq = Some(value),
                b"action" => members.action = Some(value),
                b"protocol" => members.protocol = Some(value),
                b"prevHash" => members.has_pointer = true,
                _ => {}
            }
        }
        Ok(members)
    }
}

/// A JSON string as bytes: UTF-8, and three bytes for a lone surrogate.
struct Text(Box<[u8]>);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(TextVisitor)
    }
}

struct TextVisitor;

impl Visitor<'_> for TextVisitor {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Text, E> {
        Ok(Text(bytes.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_repeated_members_names_the_game() {
        let body = read(r#"{"game":"a","game":"b","seq":1e400,"action":"start"}"#).unwrap();
        assert_eq!((&*body.game, body.seq, body.opens), (&b"b"[..], None, false));
    }

    #[test]
    fn lone_surrogates_name_different_games() {
        let one = read(r#"{"game":"\ud800","seq":0}"#).unwrap();
        let other = read(r#"{"game":"\ud801","seq":0}"#).unwrap();
        assert_ne!(one.game, other.game);
    }

    #[test]
    fn what_no_parser_reads_is_no_event() {
        for text in
            ["{\"game\":\"a\tb\",\"seq\":1}", "{'game':'a','seq':1}", r#"{"game":"a","seq":1,}"#, "[1]", ""]
        {
            assert!(read(text).is_none(), "{text}");
        }
        assert!(read(r#"{"game":7,"seq":1}"#).is_none());
        assert!(read(r#"{"game":"a","say":"hi"}"#).is_none());
    }
}
