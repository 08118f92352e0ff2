//! Reading the JSON that a policy returned. The bytes are untrusted.
//!
//! It must never build more values than the call's intent limit, nor recurse deeper than the depth limit.

use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde_json::Value;

use crate::error::{PolicyError, PolicyErrorCode};
use crate::limits::{MAX_OUTPUT_BYTES, MAX_OUTPUT_VALUES};

/// Intents of one think, before the host has checked any of them.
#[derive(Debug, PartialEq)]
pub(crate) struct Intents {
    /// The first ones, up to the limit.
    pub(crate) kept: Vec<Value>,
    /// How many came after those.
    pub(crate) dropped: u32,
}

/// Reads a JSON array of intents of at most 1 MiB, nested at most `max_depth` deep, and keeps the first `max_intents`.
pub(crate) fn read_intents(
    json: &[u8],
    max_intents: usize,
    max_depth: usize,
) -> Result<Intents, PolicyError> {
    if json.len() > MAX_OUTPUT_BYTES {
        return Err(too_long());
    }
    let Shape { deepest, values } = shape(json);
    if deepest > max_depth {
        return Err(bad("the output is nested too deeply"));
    }
    if values > MAX_OUTPUT_VALUES {
        return Err(bad("the output holds more than 32768 values"));
    }
    let mut reader = serde_json::Deserializer::from_slice(json);
    let intents = serde::Deserializer::deserialize_seq(&mut reader, FirstOf(max_intents))
        .map_err(|_| bad("the output is not a JSON array"))?;
    reader.end().map_err(|_| bad("the output is not a JSON array"))?;
    Ok(intents)
}

/// The output has more than `MAX_OUTPUT_BYTES`.
pub(crate) fn too_long() -> PolicyError {
    bad("the output is larger than 1 MiB")
}

pub(crate) fn bad(text: &str) -> PolicyError {
    PolicyError::with_text(PolicyErrorCode::BadOutput, text)
}

/// What JSON text will be in memory.
struct Shape {
    /// How deep brackets nest.
    deepest: usize,
    /// No fewer values than there are.
    values: usize,
}

/// Counts brackets and commas outside strings. For bytes that are not JSON it is an upper bound that nobody relies on.
fn shape(json: &[u8]) -> Shape {
    let (mut depth, mut deepest, mut values) = (0usize, 0, 1);
    let mut bytes = json.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'[' | b'{' => {
                depth += 1;
                values += 1;
                deepest = deepest.max(depth);
            }
            b',' => values += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' => skip_string(&mut bytes),
            _ => {}
        }
    }
    Shape { deepest, values }
}

fn skip_string(bytes: &mut std::slice::Iter<'_, u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return,
            b'\\' => {
                bytes.next();
            }
            _ => {}
        }
    }
}

struct FirstOf(usize);

impl<'de> Visitor<'de> for FirstOf {
    type Value = Intents;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an array of intents")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Intents, A::Error> {
        let mut intents = Intents { kept: Vec::new(), dropped: 0 };
        while intents.kept.len() < self.0 {
            match seq.next_element()? {
                Some(intent) => intents.kept.push(intent),
                None => return Ok(intents),
            }
        }
        // The output has at most 1 MiB, so the count cannot overflow.
        while seq.next_element::<IgnoredAny>()?.is_some() {
            intents.dropped += 1;
        }
        Ok(intents)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Option<(usize, u32)> {
        read_intents(json.as_bytes(), 2, 4).ok().map(|intents| (intents.kept.len(), intents.dropped))
    }

    // §11: extra intents are dropped and countable; output is capped in size and depth.
    #[test]
    fn intents_past_the_limit_are_counted_and_not_kept() {
        assert_eq!(read("[]"), Some((0, 0)));
        assert_eq!(read(" [1,2] "), Some((2, 0)));
        assert_eq!(read("[1,2,3,[[[]]],{\"a\":\"[[[[[\\\"[\"}]"), Some((2, 3)));
        assert_eq!(read("[[[[]]]]"), Some((1, 0)));
        assert_eq!(read("[[[[[]]]]]"), None);
    }

    // §11: the output is a UTF-8 JSON array and nothing else.
    #[test]
    fn anything_but_one_json_array_is_refused() {
        for bad in
            ["", "null", "{}", "1", "[1", "[1] 2", "[NaN]", "[1e999]", "[\"\\ud800\"]", "\u{feff}[]", "[1,]"]
        {
            assert_eq!(read(bad), None, "{bad}");
        }
        assert!(read_intents(b"[\"\xff\"]", 2, 4).is_err());
        assert_eq!(read(&format!("[[{}1]]", "1,".repeat(MAX_OUTPUT_VALUES - 4))), Some((1, 0)));
        assert_eq!(read(&format!("[[{}1]]", "1,".repeat(MAX_OUTPUT_VALUES))), None);
        assert!(read_intents(format!("[\"{}\"]", "x".repeat(MAX_OUTPUT_BYTES)).as_bytes(), 2, 4).is_err());
    }
}
