//! Strict I-JSON parsing, RFC 8785 bytes and the event hash: the one place where bytes become a hash.
//!
//! It never accepts a document that two careful parsers could read differently: repeated members, lone surrogates,
//! numbers past a double, a byte-order mark and trailing text are refused.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use sha2::{Digest, Sha256};

/// Brackets that may be open at once in a body; deeper text is not an event for any reader.
pub const MAX_DEPTH: usize = 64;

/// A SHA-256 of canonical bytes.
pub type Hash = [u8; 32];

/// Why text has no canonical form. It never carries any part of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CanonicalError {
    /// The bytes are not UTF-8.
    #[error("the input is not UTF-8")]
    NotUtf8,
    /// Not one I-JSON value: bad syntax, a repeated member, a lone surrogate, a number past a double, a byte-order
    /// mark, text after the value, or nesting deeper than 127.
    #[error("the input is not one strict I-JSON value")]
    NotStrictJson,
}

/// Parses one I-JSON value, refusing what two parsers could read differently.
///
/// # Errors
/// [`CanonicalError`] when the input is not UTF-8 or not strict.
pub fn parse_strict(input: &[u8]) -> Result<Value, CanonicalError> {
    let text = std::str::from_utf8(input).map_err(|_| CanonicalError::NotUtf8)?;
    serde_json::from_str::<Strict>(text).map(|s| s.0).map_err(|_| CanonicalError::NotStrictJson)
}

/// The RFC 8785 bytes of a JSON text.
///
/// # Errors
/// [`CanonicalError`] as [`parse_strict`].
pub fn canonicalize(input: &[u8]) -> Result<Vec<u8>, CanonicalError> {
    Ok(canonical_bytes(&parse_strict(input)?))
}

/// The lowercase hex SHA-256 of the RFC 8785 bytes of a JSON text. Nothing is left out, not even `sig`.
///
/// # Errors
/// [`CanonicalError`] as [`parse_strict`].
pub fn canonical_hash(input: &[u8]) -> Result<String, CanonicalError> {
    Ok(hex(&sha256(&canonicalize(input)?)))
}

/// The hash of an event: its canonical bytes without the top-level `sig`, as lowercase hex SHA-256.
///
/// # Errors
/// [`CanonicalError`] as [`parse_strict`]; also when the value is not an object.
pub fn event_hash(input: &[u8]) -> Result<String, CanonicalError> {
    let Value::Object(mut event) = parse_strict(input)? else { return Err(CanonicalError::NotStrictJson) };
    event.remove("sig");
    Ok(hex(&sha256(&canonical_bytes(&Value::Object(event)))))
}

/// The RFC 8785 bytes of a value.
pub(crate) fn canonical_bytes(value: &Value) -> Vec<u8> {
    playerthree_schema::canonical(value).into_bytes()
}

/// SHA-256 of some bytes.
pub(crate) fn sha256(bytes: &[u8]) -> Hash {
    Sha256::digest(bytes).into()
}

/// Lowercase hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|b| [DIGITS[usize::from(b >> 4)], DIGITS[usize::from(b & 15)]])
        .map(char::from)
        .collect()
}

/// Reads 64 lowercase hex digits; anything else, upper case too, is `None`.
pub(crate) fn unhex32(text: &str) -> Option<Hash> {
    let digits: &[u8; 64] = text.as_bytes().try_into().ok()?;
    let mut out = [0; 32];
    for (byte, pair) in out.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
    }
    Some(out)
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

/// The most brackets that are open at once outside strings, counted on text that need not be JSON.
pub(crate) fn deepest(text: &str) -> usize {
    let (mut open, mut most) = (0usize, 0usize);
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => skip_string(&mut bytes),
            b'[' | b'{' => {
                open += 1;
                most = most.max(open);
            }
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
    }
    most
}

fn skip_string(bytes: &mut std::str::Bytes<'_>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => _ = bytes.next(),
            b'"' => return,
            _ => {}
        }
    }
}

/// A JSON value whose objects had no repeated member.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Strict)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a strict JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("not finite"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(Strict(item)) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            if object.contains_key(&name) {
                return Err(de::Error::custom("repeated member"));
            }
            object.insert(name, map.next_value::<Strict>()?.0);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_counted_outside_strings_only() {
        assert_eq!(deepest(r#"{"a":"[[[[\"[["}"#), 1);
        assert_eq!(deepest("[[]][[[]]]"), 3);
        assert_eq!(deepest("]]]["), 1);
        assert_eq!(deepest("\"[[["), 0);
    }

    #[test]
    fn hashes_are_read_in_lower_case_only() {
        let hash = sha256(b"x");
        assert_eq!(unhex32(&hex(&hash)), Some(hash));
        assert_eq!(unhex32(&hex(&hash).to_uppercase()), None);
        assert_eq!(unhex32("00"), None);
    }
}
