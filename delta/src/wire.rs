//! The tags and the integers of the wire form, in one place for the writer, the checker and the reader.

use serde_json::Value;

/// First member of an array edit that replaces a value: `[0, value]`.
pub(crate) const REPLACE: u8 = 0;
/// First member of an array edit that edits a list: `[1, step, ...]`.
pub(crate) const LIST: u8 = 1;
/// First member of an array edit that splices a string: `[2, step, ...]`.
pub(crate) const TEXT: u8 = 2;

/// Largest count or index of a step: what fits an exact integer in every client and any index on every platform.
const MAX_INTEGER: i64 = u32::MAX as i64;

/// Reads a step's integer. An integral float counts, because some encoders write every number as one; -0 does not.
pub(crate) fn integer(value: &Value) -> Option<i64> {
    let number = value.as_number()?;
    let integer = match number.as_i64() {
        Some(integer) => integer,
        None => {
            let float = number.as_f64()?;
            let negative_zero = float == 0.0 && float.is_sign_negative();
            let integral = float.fract() == 0.0 && !negative_zero && float.abs() <= f64::from(u32::MAX);
            #[expect(
                clippy::cast_possible_truncation,
                reason = "the float is integral and at most 2^32 in size"
            )]
            integral.then_some(float as i64)?
        }
    };
    (-MAX_INTEGER..=MAX_INTEGER).contains(&integer).then_some(integer)
}

/// Reads a step's integer as an index into the old list.
pub(crate) fn index(value: &Value) -> Option<usize> {
    usize::try_from(integer(value)?).ok()
}

/// Whether `tag` is the tag `expected`.
pub(crate) fn is_tag(tag: &Value, expected: u8) -> bool {
    integer(tag) == Some(i64::from(expected))
}
