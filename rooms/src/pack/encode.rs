//! Writing MessagePack that JavaScript reads as plain values.

use serde::Serialize;

/// The largest integer that a JavaScript number holds exactly, 2^53 − 1.
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// A payload that cannot be sent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// The value's own serialization failed.
    #[error("the payload does not serialize")]
    Serialize(#[source] rmp_serde::encode::Error),
    /// An integer beyond ±(2^53 − 1): JavaScript would read another number.
    #[error("the payload holds an integer beyond 2^53 - 1")]
    UnsafeInteger,
}

/// Appends `payload` to `out`. On an error `out` may hold a part of it.
pub(crate) fn write(payload: &(impl Serialize + ?Sized), out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let begin = out.len();
    let mut serializer = rmp_serde::Serializer::new(&mut *out).with_struct_map();
    payload.serialize(&mut serializer).map_err(EncodeError::Serialize)?;
    float_wide_integers(&mut out[begin..])
}

/// Rewrites each 64-bit integer as the float of the same number and length.
///
/// Clients read a 64-bit integer as a `BigInt`, whatever its size, and a float as a number.
fn float_wide_integers(bytes: &mut [u8]) -> Result<(), EncodeError> {
    let mut rest = bytes;
    while let [marker, tail @ ..] = rest {
        let skip = match *marker {
            0xcf | 0xd3 => {
                let Some(wide) = tail.first_chunk_mut::<8>() else { return Ok(()) };
                *wide = exact_float(*marker == 0xd3, *wide).ok_or(EncodeError::UnsafeInteger)?.to_be_bytes();
                *marker = 0xcb;
                8
            }
            marker => skipped(marker, tail),
        };
        rest = tail.get_mut(skip..).unwrap_or_default();
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "integers up to 2^53 are exact")]
fn exact_float(signed: bool, bytes: [u8; 8]) -> Option<f64> {
    if signed {
        let value = i64::from_be_bytes(bytes);
        (value.unsigned_abs() <= MAX_SAFE_INTEGER).then_some(value as f64)
    } else {
        let value = u64::from_be_bytes(bytes);
        (value <= MAX_SAFE_INTEGER).then_some(value as f64)
    }
}

/// How many bytes after `marker` belong to it. Containers own none: their items follow as values of their own.
fn skipped(marker: u8, tail: &[u8]) -> usize {
    let length = |width: usize| {
        tail.get(..width).unwrap_or_default().iter().fold(0, |length, byte| length << 8 | usize::from(*byte))
    };
    match marker {
        0xa0..=0xbf => usize::from(marker & 0x1f),
        0xc4 | 0xd9 => 1 + length(1),
        0xc5 | 0xda => 2 + length(2),
        0xc6 | 0xdb => 4 + length(4),
        0xc7 => 2 + length(1),
        0xc8 => 3 + length(2),
        0xc9 => 5 + length(4),
        0xcc | 0xd0 => 1,
        0xcd | 0xd1 | 0xdc | 0xde | 0xd4 => 2,
        0xd5 => 3,
        0xca | 0xce | 0xd2 | 0xdd | 0xdf => 4,
        0xd6 => 5,
        0xcb => 8,
        0xd7 => 9,
        0xd8 => 17,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn encoded(payload: impl Serialize) -> Vec<u8> {
        let mut out = Vec::new();
        write(&payload, &mut out).unwrap();
        out
    }

    // Field report U52: 64-bit integers.
    #[test]
    fn wide_integers_leave_as_floats_and_unsafe_ones_are_refused() {
        assert_eq!(encoded(u64::from(u32::MAX)), [0xce, 255, 255, 255, 255]);
        for wide in [1_i64 << 32, (1 << 53) - 1, -(1 << 31) - 1, 1_700_000_000_000] {
            let bytes = encoded(wide);
            assert_eq!(bytes[0], 0xcb);
            assert_eq!(rmp_serde::from_slice::<f64>(&bytes).unwrap(), wide as f64);
        }
        for unsafe_integer in
            [json!(1_u64 << 53), json!(u64::MAX), json!(i64::MIN), json!([{"deep": 1_u64 << 60}])]
        {
            let refused = write(&unsafe_integer, &mut Vec::new());
            assert!(matches!(refused, Err(EncodeError::UnsafeInteger)), "{unsafe_integer}");
        }
    }

    // Field report U44: floats after more than 8 KiB of output.
    #[test]
    fn floats_stay_bit_equal_behind_any_amount_of_other_output() {
        for padding in 8_190..8_200 {
            let floats =
                [std::f64::consts::PI, -0.0, f64::INFINITY, f64::NEG_INFINITY, 5e-324, f64::MAX, f64::NAN];
            let bytes = encoded(("x".repeat(padding), 1_u64 << 40, floats));
            let (_, wide, back): (String, f64, [f64; 7]) = rmp_serde::from_slice(&bytes).unwrap();
            assert_eq!(wide, (1_u64 << 40) as f64);
            assert_eq!(back.map(f64::to_bits), floats.map(f64::to_bits));
        }
    }

    #[test]
    fn every_other_form_passes_unchanged() {
        let value = json!({
            "null": null, "yes": true, "small": [0, 127, 128, 255, 256, 65_535, 65_536, -1, -32, -33, -129, -32_769],
            "float": 1.5, "text": ["", "a".repeat(31), "b".repeat(32), "c".repeat(256), "d".repeat(65_536)],
            "long": vec![0xcf_u8; 70_000], "many": vec![json!({}); 20],
        });
        assert_eq!(encoded(&value), rmp_serde::to_vec_named(&value).unwrap());
    }
}
