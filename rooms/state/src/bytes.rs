//! The format's primitive bytes: little-endian numbers, self-describing counts, strings; and the buffer they go to.
//!
//! Nothing here knows of structures, references or changes.

/// The least storage that a buffer keeps from one use to the next.
const KEPT_BYTES: usize = 4096;

/// Bytes written one after another. How many there are stands apart from the storage, so that whoever makes many small
/// writes can count in a register and say the end once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buffer {
    /// Longer than what is written, so that a write is a copy and no growth.
    storage: Vec<u8>,
    len: usize,
}

impl Buffer {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        self.storage.get(..self.len).unwrap_or_default()
    }

    pub(crate) fn into_vec(mut self) -> Vec<u8> {
        self.storage.truncate(self.len);
        self.storage
    }

    /// Empties the buffer. Storage that the last use left mostly empty is given back.
    pub(crate) fn clear(&mut self) {
        if self.storage.len() > KEPT_BYTES.max(4 * self.len) {
            self.storage = Vec::new();
        }
        self.len = 0;
    }

    /// Sets the end of what is written.
    #[inline]
    pub(crate) fn end_at(&mut self, end: usize) {
        self.len = end;
    }

    /// Writes at `at`, and returns the end of it. The buffer's own end stays.
    #[inline(always)]
    pub(crate) fn put_at<const N: usize>(&mut self, at: usize, bytes: [u8; N]) -> usize {
        let end = at + N;
        match self.storage.get_mut(at..end) {
            Some(place) => place.copy_from_slice(&bytes),
            None => self.put_beyond(at, &bytes),
        }
        end
    }

    /// As [`Buffer::put_at`], of an operation and its value. From an array that holds both, the copy would wait for the
    /// two writes that made the array.
    #[inline(always)]
    pub(crate) fn put_op_at<const N: usize>(&mut self, at: usize, op: u8, value: [u8; N]) -> usize {
        let end = at + 1 + N;
        match self.storage.get_mut(at..end) {
            Some([first, rest @ ..]) => {
                *first = op;
                rest.copy_from_slice(&value);
            }
            _ => {
                self.put_beyond(at, &[op]);
                self.put_beyond(at + 1, &value);
            }
        }
        end
    }

    #[cold]
    #[inline(never)]
    fn put_beyond(&mut self, at: usize, bytes: &[u8]) {
        let end = at + bytes.len();
        if end > self.storage.len() {
            self.storage.resize(end.next_power_of_two().max(64), 0);
        }
        self.storage[at..end].copy_from_slice(bytes);
    }

    #[inline]
    pub(crate) fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        self.len = self.put_at(self.len, bytes);
    }

    #[inline]
    pub(crate) fn push(&mut self, byte: u8) {
        self.put([byte]);
    }

    pub(crate) fn extend(&mut self, bytes: &[u8]) {
        let end = self.len + bytes.len();
        match self.storage.get_mut(self.len..end) {
            Some(place) => place.copy_from_slice(bytes),
            None => self.put_beyond(self.len, bytes),
        }
        self.len = end;
    }
}

/// An index, a reference or a length, in the shortest self-describing form.
#[inline]
pub(crate) fn count(value: u32, out: &mut Buffer) {
    let [a, b, c, d] = value.to_le_bytes();
    match value {
        0..=0x7f => out.push(a),
        0x80..=0xff => out.put([0xcc, a]),
        0x100..=0xffff => out.put([0xcd, a, b]),
        _ => out.put([0xce, a, b, c, d]),
    }
}

/// A string with its length in bytes. One of 4 GiB or more cannot be built into a state within its limits.
pub(crate) fn string(text: &str, out: &mut Buffer) {
    let [a, b, c, d, ..] = text.len().to_le_bytes();
    match text.len() {
        0..=31 => out.push(0xa0 | a),
        32..=0xff => out.put([0xd9, a]),
        0x100..=0xffff => out.put([0xda, a, b]),
        _ => out.put([0xdb, a, b, c, d]),
    }
    out.extend(text.as_bytes());
}

/// A `number`: the shortest form that keeps the value exactly. (The official encoder rounds fractions to 32 bits.)
#[expect(clippy::cast_possible_truncation, reason = "each branch has checked that the value fits")]
pub(crate) fn number(value: f64, out: &mut Buffer) {
    let negative_zero = value == 0.0 && value.is_sign_negative();
    if value.fract() == 0.0 && !negative_zero && (-2_147_483_648.0..=4_294_967_295.0).contains(&value) {
        return whole(value as i64, out);
    }
    let short = value as f32;
    if f64::from(short).to_bits() == value.to_bits() {
        out.push(0xca);
        out.put(short.to_le_bytes());
    } else {
        out.push(0xcb);
        out.put(value.to_le_bytes());
    }
}

/// A whole number between −2^31 and 2^32 − 1.
fn whole(value: i64, out: &mut Buffer) {
    let [a, b, c, d, ..] = value.to_le_bytes();
    match value {
        -32..=127 => out.push(a),
        128..=255 => out.put([0xcc, a]),
        256..=65_535 => out.put([0xcd, a, b]),
        65_536.. => out.put([0xce, a, b, c, d]),
        -128..=-33 => out.put([0xd0, a]),
        -32_768..=-129 => out.put([0xd1, a, b]),
        _ => out.put([0xd2, a, b, c, d]),
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
            let mut out = Buffer::default();
            number(value, &mut out);
            assert_eq!(out.as_slice(), bytes, "{value}");
        }
        let mut out = Buffer::default();
        number(0.1, &mut out);
        assert_eq!((out.as_slice().first(), out.len()), (Some(&0xcb), 9));
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
            let mut out = Buffer::default();
            string(&"x".repeat(length), &mut out);
            assert_eq!(out.as_slice()[..head.len()], head);
            assert_eq!(out.len(), head.len() + length);
        }
    }

    #[test]
    fn a_buffer_gives_back_storage_that_it_does_not_need() {
        let mut out = Buffer::default();
        out.extend(&[7; 100_000]);
        out.clear();
        assert!(out.storage.len() >= 100_000, "the next use may be alike");
        out.push(1);
        out.clear();
        assert_eq!((out.storage.len(), out.as_slice()), (0, &[][..]));
    }

    #[test]
    fn writes_of_all_sizes_stand_behind_each_other() {
        let mut out = Buffer::default();
        let end = out.put_at(0, [1, 2]);
        assert_eq!((end, out.len()), (2, 0));
        out.end_at(end);
        out.extend(&[3; 100]);
        out.put([4; 3]);
        out.push(5);
        assert_eq!(out.clone().into_vec(), [&[1, 2][..], &[3; 100], &[4; 3], &[5]].concat());
        out.end_at(1);
        assert_eq!(out.as_slice(), [1]);
    }
}
