//! How large a JSON value is: in memory, for what is kept, and as text, for what is sent.

use crate::room::AuthRequest;
use serde_json::Value;
use std::io::{self, Write};

/// What a node of an object takes, which has places for eleven members.
const NODE: usize = 11 * (size_of::<String>() + size_of::<Value>()) + 32;

/// The members that a node holds at least, where an object has more than one node.
const NODE_MEMBERS: usize = 5;

/// About what a value takes in memory, in bytes. The parser of JSON bounds how deep it is.
pub(crate) fn of(value: &Value) -> usize {
    size_of::<Value>() + within(value)
}

/// What a header line takes beside its text, about.
const HEADER_LINE: usize = 128;

/// About what a request takes in memory that is kept whole.
pub(crate) fn of_request(request: &AuthRequest) -> usize {
    let lines = request.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + HEADER_LINE);
    of(&request.options) + lines.sum::<usize>()
}

/// What a value takes outside of itself.
fn within(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.capacity(),
        // A list that is read grows by doubling.
        Value::Array(list) => list.capacity() * size_of::<Value>() + list.iter().map(within).sum::<usize>(),
        Value::Object(members) if members.is_empty() => 0,
        Value::Object(members) => {
            let nodes = members.len() / NODE_MEMBERS + 1;
            let members = members.iter().map(|(name, value)| name.capacity() + within(value));
            nodes * NODE + members.sum::<usize>()
        }
    }
}

/// Bytes of a value as JSON.
pub(crate) fn length(value: &Value) -> usize {
    let mut counted = Counter { bytes: 0, limit: usize::MAX };
    // Counting does not fail, and neither does writing a value whose keys are texts.
    let _ = serde_json::to_writer(&mut counted, value);
    counted.bytes
}

/// Whether a value is at most `limit` bytes of JSON. Looks at no more of it than that.
pub(crate) fn fits(value: &Value, limit: usize) -> bool {
    serde_json::to_writer(Counter { bytes: 0, limit }, value).is_ok()
}

/// Counts bytes up to a limit and keeps none.
struct Counter {
    bytes: usize,
    limit: usize,
}

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.limit - self.bytes {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.bytes += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn small_members_weigh_more_than_their_text() {
        let number = size_of::<Value>();
        assert_eq!(of(&json!(1)), number);
        assert_eq!(of(&json!("x".repeat(100))), number + 100);
        assert!(of(&json!([0, 0, 0, 0])) >= 5 * number);
        let nested: Value =
            serde_json::from_str(&format!("{}0{}", r#"{"a":"#.repeat(100), "}".repeat(100))).unwrap();
        assert!(of(&nested) > 100 * 11 * number);
        assert!(of(&Value::Object((0..1_000).map(|key| (key.to_string(), json!(0))).collect())) > 1_000 * 64);
    }

    #[test]
    fn a_value_fits_up_to_its_length_as_text() {
        for value in [json!(null), json!({ "a": [1, "\u{1}", true], "b": { "c": 1.5 } })] {
            let length = value.to_string().len();
            assert_eq!(super::length(&value), length);
            assert!(fits(&value, length));
            assert!(!fits(&value, length - 1));
        }
    }
}
