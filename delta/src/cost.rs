//! What a value costs on the wire: its size in MessagePack, computed without encoding it.
//!
//! It only steers choices between equivalent deltas, so a reader never depends on it.

use serde_json::{Number, Value};

/// The MessagePack size in bytes of a string of `len` bytes, or of a key.
pub(crate) fn text(len: usize) -> usize {
    len + match len {
        0..=31 => 1,
        32..=255 => 2,
        256..=65_535 => 3,
        _ => 5,
    }
}

/// The MessagePack size in bytes of the header of a list or an object with `len` members.
pub(crate) fn header(len: usize) -> usize {
    match len {
        0..=15 => 1,
        16..=65_535 => 3,
        _ => 5,
    }
}

/// The MessagePack size in bytes of an index, a count or its negative.
pub(crate) fn integer(value: i64) -> usize {
    match value {
        -32..=127 => 1,
        -128..=255 => 2,
        -32_768..=65_535 => 3,
        -2_147_483_648..=4_294_967_295 => 5,
        _ => 9,
    }
}

fn number(number: &Number) -> usize {
    number.as_i64().map_or(9, integer)
}

/// The MessagePack size of `value` in bytes, or `None` as soon as it is known to exceed `limit`. Takes time in
/// proportion to the smaller of the two.
pub(crate) fn within(value: &Value, limit: usize) -> Option<usize> {
    let mut left = limit;
    spend(value, &mut left).then(|| limit - left)
}

/// The MessagePack size of `value` in bytes.
pub(crate) fn of(value: &Value) -> usize {
    within(value, usize::MAX).unwrap_or(usize::MAX)
}

fn spend(value: &Value, left: &mut usize) -> bool {
    match value {
        Value::Null | Value::Bool(_) => take(1, left),
        Value::Number(value) => take(number(value), left),
        Value::String(value) => take(text(value.len()), left),
        Value::Array(items) => take(header(items.len()), left) && items.iter().all(|item| spend(item, left)),
        Value::Object(members) => {
            take(header(members.len()), left)
                && members.iter().all(|(key, member)| take(text(key.len()), left) && spend(member, left))
        }
    }
}

fn take(bytes: usize, left: &mut usize) -> bool {
    match left.checked_sub(bytes) {
        Some(rest) => {
            *left = rest;
            true
        }
        None => false,
    }
}
