//! What a message is called and what it carries. A received one shares the bytes of its WebSocket frame.

use crate::{Error, Result};
use bytes::Bytes;
use serde::de::{Deserialize, IgnoredAny};
use serde_json::{Number, Value};
use std::fmt;
use tokio_tungstenite::tungstenite::Utf8Bytes;

/// Deepest nesting that a payload is decoded to: the 128 levels of a PlayerThree view and its envelope.
const MAX_DEPTH: usize = 160;

/// The largest whole number that a float holds without doubt, 2^53 - 1.
const MAX_SAFE: f64 = 9_007_199_254_740_991.0;

/// The type of a received message: a name or a number, which are name spaces of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kind(Repr);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Repr {
    Name(Utf8Bytes),
    Number(u32),
}

impl Kind {
    /// The name, or `None` for a numbered type.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match &self.0 {
            Repr::Name(name) => Some(name.as_str()),
            Repr::Number(_) => None,
        }
    }

    /// The number, or `None` for a named type.
    #[must_use]
    pub fn number(&self) -> Option<u32> {
        match self.0 {
            Repr::Name(_) => None,
            Repr::Number(number) => Some(number),
        }
    }

    pub(crate) fn from_name(name: Utf8Bytes) -> Self {
        Self(Repr::Name(name))
    }

    pub(crate) fn from_number(number: u32) -> Self {
        Self(Repr::Number(number))
    }
}

impl From<&str> for Kind {
    fn from(name: &str) -> Self {
        Self::from_name(name.into())
    }
}

impl From<u32> for Kind {
    fn from(number: u32) -> Self {
        Self::from_number(number)
    }
}

impl PartialEq<str> for Kind {
    fn eq(&self, name: &str) -> bool {
        self.name() == Some(name)
    }
}

impl PartialEq<&str> for Kind {
    fn eq(&self, name: &&str) -> bool {
        self == *name
    }
}

impl PartialEq<u32> for Kind {
    fn eq(&self, number: &u32) -> bool {
        self.number() == Some(*number)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Name(name) => formatter.write_str(name.as_str()),
            Repr::Number(number) => write!(formatter, "{number}"),
        }
    }
}

/// The MessagePack payload of a received message, not decoded yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload(Bytes);

impl Payload {
    pub(crate) fn new(bytes: Bytes) -> Self {
        Self(bytes)
    }

    /// The payload as it came; empty for a message that carries nothing.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Decodes the payload into a type that may borrow its strings. A message that carries nothing decodes as `()`,
    /// `None` and `Value::Null`. JavaScript's `undefined` and dates inside a payload do not decode.
    ///
    /// # Errors
    /// [`Error::Decode`] for bytes that are no MessagePack, do not fit the type, nest deeper than 160 levels, or go on
    /// behind the value.
    pub fn decode<'de, T: Deserialize<'de>>(&'de self) -> Result<T> {
        let bytes: &'de [u8] = if self.0.is_empty() { &[0xc0] } else { &self.0 };
        let mut deserializer = rmp_serde::Deserializer::from_read_ref(bytes);
        deserializer.set_max_depth(MAX_DEPTH);
        let value = T::deserialize(&mut deserializer).map_err(|_| Error::Decode)?;
        match IgnoredAny::deserialize(&mut deserializer) {
            Err(rmp_serde::decode::Error::InvalidMarkerRead(_)) => Ok(value),
            Ok(_) | Err(_) => Err(Error::Decode),
        }
    }

    /// Decodes the payload as JSON. Whole floats become integers where they are exact, because servers for JavaScript
    /// send integers beyond 32 bits as floats; infinities and not-a-number become null.
    ///
    /// # Errors
    /// As [`Payload::decode`], and for binary data inside the payload.
    pub fn json(&self) -> Result<Value> {
        let mut value: Value = self.decode()?;
        settle_numbers(&mut value);
        Ok(value)
    }
}

/// Turns whole floats into integers, in place. Its depth is bounded by the decoder's.
fn settle_numbers(value: &mut Value) {
    match value {
        Value::Number(number) => {
            if let Some(whole) = number.as_f64().filter(|_| number.is_f64()).and_then(whole) {
                *number = whole;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(settle_numbers),
        Value::Object(members) => members.values_mut().for_each(settle_numbers),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

fn whole(float: f64) -> Option<Number> {
    #[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
    (float.fract() == 0.0 && float.abs() <= MAX_SAFE).then(|| Number::from(float as i64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn payload(bytes: &[u8]) -> Payload {
        Payload::new(Bytes::copy_from_slice(bytes))
    }

    #[test]
    fn a_payload_decodes_and_may_lend_its_text() {
        let payload = payload(&[0x92, 0xa2, b'h', b'i', 0x07]);
        let (id, n): (&str, u32) = payload.decode().unwrap();
        assert_eq!((id, n), ("hi", 7));
    }

    #[test]
    fn a_message_without_payload_is_nothing() {
        payload(&[]).decode::<()>().unwrap();
        assert_eq!(payload(&[]).json().unwrap(), Value::Null);
    }

    #[test]
    fn what_is_no_whole_payload_does_not_decode() {
        let deep: Vec<u8> = std::iter::repeat_n(0x91, 200).chain([0xc0]).collect();
        for bytes in [&[0xa5, b'h'][..], &[0x01, 0x02], &[0xc1], &[0xff, 0xc1], &[0x81, 0x01], &deep] {
            assert_eq!(payload(bytes).json().unwrap_err().code(), "decode", "{bytes:02x?}");
        }
    }

    #[test]
    fn whole_floats_become_integers_and_others_stay() {
        // [4294967296.0, 1.5, -0.0, 2^60]
        let mut bytes = vec![0x94];
        for float in [4_294_967_296.0, 1.5, -0.0, 1_152_921_504_606_846_976.0_f64] {
            bytes.push(0xcb);
            bytes.extend(float.to_be_bytes());
        }
        let expected = json!([4_294_967_296_u64, 1.5, 0, 1_152_921_504_606_846_976.0]);
        assert_eq!(payload(&bytes).json().unwrap(), expected);
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_decoder_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = payload(&bytes).json();
        }
    }
}
