//! The format's primitive bytes: little-endian numbers, self-describing counts, strings.
//!
//! Nothing here knows of structures, references or changes.

/// An index, a reference or a length, in the shortest self-describing form.
#[inline]
pub(crate) fn count(value: u32, out: &mut Vec<u8>) {
    let [a, b, c, d] = value.to_le_bytes();
    match value {
        0..=0x7f => out.push(a),
        0x80..=0xff => out.extend_from_slice(&[0xcc, a]),
        0x100..=0xffff => out.extend_from_slice(&[0xcd, a, b]),
        _ => out.extend_from_slice(&[0xce, a, b, c, d]),
    }
}

/// A string with its length in bytes. One of 4 GiB or more cannot be built into a state within its limits.
pub(crate) fn string(text: &str, out: &mut Vec<u8>) {
    let [a, b, c, d, ..] = text.len().to_le_bytes();
    match text.len() {
        0..=31 => out.push(0xa0 | a),
        32..=0xff => out.extend_from_slice(&[0xd9, a]),
        0x100..=0xffff => out.extend_from_slice(&[0xda, a, b]),
        _ => out.extend_from_slice(&[0xdb, a, b, c, d]),
    }
    out.extend_from_slice(text.as_bytes());
}

/// A `number`: the shortest form that keeps the value exactly. (The official encoder rounds fractions to 32 bits.)
#[expect(clippy::cast_possible_truncation, reason = "each branch has checked that the value fits")]
pub(crate) fn number(value: f64, out: &mut Vec<u8>) {
    let negative_zero = value == 0.0 && value.is_sign_negative();
    if value.fract() == 0.0 && !negative_zero && (-2_147_483_648.0..=4_294_967_295.0).contains(&value) {
        return whole(value as i64, out);
    }
    let short = value as f32;
    if f64::from(short).to_bits() == value.to_bits() {
        out.push(0xca);
        out.extend_from_slice(&short.to_le_bytes());
    } else {
        out.push(0xcb);
        out.extend_from_slice(&value.to_le_bytes());
    }
}

/// A whole number between −2^31 and 2^32 − 1.
fn whole(value: i64, out: &mut Vec<u8>) {
    let [a, b, c, d, ..] = value.to_le_bytes();
    match value {
        -32..=127 => out.push(a),
        128..=255 => out.extend_from_slice(&[0xcc, a]),
        256..=65_535 => out.extend_from_slice(&[0xcd, a, b]),
        65_536.. => out.extend_from_slice(&[0xce, a, b, c, d]),
        -128..=-33 => out.extend_from_slice(&[0xd0, a]),
        -32_768..=-129 => out.extend_from_slice(&[0xd1, a, b]),
        _ => out.extend_from_slice(&[0xd2, a, b, c, d]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_the_shortest_exact_form() {
        let table: [(f64, &[u8]); 26] = [
            (0.0, &[0]),
            (-0.0, &[0xca, 0, 0, 0, 0x80]),
            (127.0, &[0x7f]),
            (128.0, &[0xcc, 0x80]),
            (255.0, &[0xcc, 0xff]),
            (256.0, &[0xcd, 0, 1]),
            (65_535.0, &[0xcd, 0xff, 0xff]),
            (65_536.0, &[0xce, 0, 0, 1, 0]),
            (2_147_483_647.0, &[0xce, 0xff, 0xff, 0xff, 0x7f]),
            (2_147_483_648.0, &[0xce, 0, 0, 0, 0x80]),
            (4_294_967_295.0, &[0xce, 0xff, 0xff, 0xff, 0xff]),
            (4_294_967_296.0, &[0xca, 0, 0, 0x80, 0x4f]),
            (-1.0, &[0xff]),
            (-32.0, &[0xe0]),
            (-33.0, &[0xd0, 0xdf]),
            (-128.0, &[0xd0, 0x80]),
            (-129.0, &[0xd1, 0x7f, 0xff]),
            (-32_768.0, &[0xd1, 0, 0x80]),
            (-32_769.0, &[0xd2, 0xff, 0x7f, 0xff, 0xff]),
            (-2_147_483_648.0, &[0xd2, 0, 0, 0, 0x80]),
            (-2_147_483_649.0, &[0xcb, 0, 0, 0x20, 0, 0, 0, 0xe0, 0xc1]),
            (9_007_199_254_740_991.0, &[0xcb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3f, 0x43]),
            (9_007_199_254_740_992.0, &[0xca, 0, 0, 0, 0x5a]),
            (9_007_199_254_740_994.0, &[0xcb, 1, 0, 0, 0, 0, 0, 0x40, 0x43]),
            (-9_007_199_254_740_991.0, &[0xcb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3f, 0xc3]),
            (1.5, &[0xca, 0, 0, 0xc0, 0x3f]),
        ];
        for (value, bytes) in table {
            let mut out = Vec::new();
            number(value, &mut out);
            assert_eq!(out, bytes, "{value}");
        }
        let mut out = Vec::new();
        number(0.1, &mut out);
        assert_eq!((out.first(), out.len()), (Some(&0xcb), 9));
    }

    #[test]
    fn strings_change_form_at_their_bounds() {
        for (length, head) in [
            (0, vec![0xa0]),
            (31, vec![0xbf]),
            (32, vec![0xd9, 32]),
            (255, vec![0xd9, 255]),
            (256, vec![0xda, 0, 1]),
            (65_536, vec![0xdb, 0, 0, 1, 0]),
        ] {
            let mut out = Vec::new();
            string(&"x".repeat(length), &mut out);
            assert_eq!(out[..head.len()], head);
            assert_eq!(out.len(), head.len() + length);
        }
    }
}
