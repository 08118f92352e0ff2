//! MessagePack taken apart: which value stands next, with the record shapes that the message defined before.
//!
//! Every length is checked against what is left, and every value is charged, before anything is made of it.

/// The largest integer that a JavaScript number holds exactly.
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

/// Why a payload does not decode. Callers learn no more than that it does not.
#[derive(Debug)]
pub(crate) struct DecodeError;

impl std::fmt::Display for DecodeError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("the payload does not decode")
    }
}

impl std::error::Error for DecodeError {}

impl serde::de::Error for DecodeError {
    fn custom<T: std::fmt::Display>(_: T) -> Self {
        Self
    }
}

pub(super) type Result<T> = std::result::Result<T, DecodeError>;

/// A payload, taken apart from front to back.
pub(super) struct Tokens<'de> {
    rest: &'de [u8],
    /// Values that may still be read.
    elements: usize,
    /// The keys of all records of this message, one shape after the other.
    keys: Vec<&'de str>,
    /// The latest shape of each record id.
    records: Vec<(u8, Shape)>,
}

/// A run of `Tokens::keys`.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) begin: usize,
    pub(super) end: usize,
}

/// One value, or the begin of a container with the number of its items.
#[derive(Clone, Copy)]
pub(super) enum Token<'de> {
    Nil,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Text(&'de str),
    Binary(&'de [u8]),
    List(usize),
    Map(usize),
    Record(Shape),
}

impl<'de> Tokens<'de> {
    pub(super) fn new(bytes: &'de [u8], elements: usize) -> Self {
        Self { rest: bytes, elements, keys: Vec::new(), records: Vec::new() }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// Whether `nil` or `undefined` comes next.
    pub(super) fn is_nothing_next(&self) -> bool {
        matches!(self.rest, [0xc0, ..] | [0xd4, 0, 0, ..])
    }

    /// A key of a record's shape.
    pub(super) fn key(&self, place: usize) -> &'de str {
        self.keys[place]
    }

    fn take(&mut self, count: usize) -> Result<&'de [u8]> {
        let (head, rest) = self.rest.split_at_checked(count).ok_or(DecodeError)?;
        self.rest = rest;
        Ok(head)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (head, rest) = self.rest.split_first_chunk::<N>().ok_or(DecodeError)?;
        self.rest = rest;
        Ok(*head)
    }

    fn length<const N: usize>(&mut self) -> Result<usize> {
        Ok(self.array::<N>()?.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)))
    }

    /// Accounts for values that cost as much as so many.
    pub(super) fn charge(&mut self, elements: usize) -> Result<()> {
        self.elements = self.elements.checked_sub(elements).ok_or(DecodeError)?;
        Ok(())
    }

    fn text(&mut self, length: usize) -> Result<&'de str> {
        str::from_utf8(self.take(length)?).map_err(|_| DecodeError)
    }

    /// A length that the rest can hold, at `each` bytes an item or more.
    fn items(&self, count: usize, each: usize) -> Result<usize> {
        if count.checked_mul(each).is_some_and(|least| least <= self.rest.len()) {
            Ok(count)
        } else {
            Err(DecodeError)
        }
    }

    pub(super) fn next(&mut self) -> Result<Token<'de>> {
        self.charge(1)?;
        let [marker] = self.array()?;
        Ok(match marker {
            0x40..=0x7f => match self.records.iter().find(|(id, _)| *id == marker) {
                Some((_, shape)) => Token::Record(*shape),
                None => Token::Unsigned(u64::from(marker)),
            },
            0x00..=0x3f => Token::Unsigned(u64::from(marker)),
            0xe0..=0xff => Token::Signed(i64::from(i8::from_be_bytes([marker]))),
            0x80..=0x8f => Token::Map(self.items(usize::from(marker & 0x0f), 2)?),
            0x90..=0x9f => Token::List(self.items(usize::from(marker & 0x0f), 1)?),
            0xa0..=0xbf => Token::Text(self.text(usize::from(marker & 0x1f))?),
            0xc0 => Token::Nil,
            0xc2 => Token::Bool(false),
            0xc3 => Token::Bool(true),
            0xc4 => self.length::<1>().and_then(|length| self.take(length)).map(Token::Binary)?,
            0xc5 => self.length::<2>().and_then(|length| self.take(length)).map(Token::Binary)?,
            0xc6 => self.length::<4>().and_then(|length| self.take(length)).map(Token::Binary)?,
            0xca => number(f64::from(f32::from_be_bytes(self.array()?))),
            0xcb => number(f64::from_be_bytes(self.array()?)),
            0xcc => Token::Unsigned(u64::from(u8::from_be_bytes(self.array()?))),
            0xcd => Token::Unsigned(u64::from(u16::from_be_bytes(self.array()?))),
            0xce => Token::Unsigned(u64::from(u32::from_be_bytes(self.array()?))),
            0xcf => Token::Unsigned(u64::from_be_bytes(self.array()?)),
            0xd0 => Token::Signed(i64::from(i8::from_be_bytes(self.array()?))),
            0xd1 => Token::Signed(i64::from(i16::from_be_bytes(self.array()?))),
            0xd2 => Token::Signed(i64::from(i32::from_be_bytes(self.array()?))),
            0xd3 => Token::Signed(i64::from_be_bytes(self.array()?)),
            0xd4 => self.short_extension()?,
            0xd6 => self.timestamp(4)?,
            0xd7 => self.timestamp(8)?,
            0xc7 => match self.length::<1>()? {
                12 => self.timestamp(12)?,
                _ => return Err(DecodeError),
            },
            0xd9 => self.length::<1>().and_then(|length| self.text(length)).map(Token::Text)?,
            0xda => self.length::<2>().and_then(|length| self.text(length)).map(Token::Text)?,
            0xdb => self.length::<4>().and_then(|length| self.text(length)).map(Token::Text)?,
            0xdc => self.length::<2>().and_then(|count| self.items(count, 1)).map(Token::List)?,
            0xdd => self.length::<4>().and_then(|count| self.items(count, 1)).map(Token::List)?,
            0xde => self.length::<2>().and_then(|count| self.items(count, 2)).map(Token::Map)?,
            0xdf => self.length::<4>().and_then(|count| self.items(count, 2)).map(Token::Map)?,
            0xc1 | 0xc8 | 0xc9 | 0xd5 | 0xd8 => return Err(DecodeError),
        })
    }

    /// An extension of one byte: `undefined`, or the definition of a record.
    fn short_extension(&mut self) -> Result<Token<'de>> {
        match self.array::<2>()? {
            [0, 0] => Ok(Token::Nil),
            [0x72, id @ 0x40..=0x7f] => self.define(id).map(Token::Record),
            _ => Err(DecodeError),
        }
    }

    fn define(&mut self, id: u8) -> Result<Shape> {
        let Token::List(count) = self.next()? else { return Err(DecodeError) };
        let begin = self.keys.len();
        for _ in 0..count {
            let Token::Text(key) = self.next()? else { return Err(DecodeError) };
            self.keys.push(key);
        }
        let shape = Shape { begin, end: self.keys.len() };
        match self.records.iter_mut().find(|(known, _)| *known == id) {
            Some((_, known)) => *known = shape,
            None => self.records.push((id, shape)),
        }
        Ok(shape)
    }

    /// A date, in whole or fractional milliseconds since 1970.
    #[expect(clippy::cast_precision_loss, reason = "JavaScript's own dates are floats of milliseconds")]
    fn timestamp(&mut self, length: usize) -> Result<Token<'de>> {
        if self.array::<1>()? != [0xff] {
            return Err(DecodeError);
        }
        let (seconds, nanoseconds) = match length {
            4 => (i64::from(u32::from_be_bytes(self.array()?)), 0),
            8 => {
                let packed = u64::from_be_bytes(self.array()?);
                (i64::try_from(packed & 0x3_ffff_ffff).map_err(|_| DecodeError)?, packed >> 34)
            }
            _ => {
                let nanoseconds = u32::from_be_bytes(self.array()?);
                (i64::from_be_bytes(self.array()?), u64::from(nanoseconds))
            }
        };
        Ok(number(seconds as f64 * 1e3 + nanoseconds as f64 / 1e6))
    }
}

/// A float, as an integer where it is one exactly: clients send every integer beyond 32 bits as a float.
#[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
fn number<'de>(value: f64) -> Token<'de> {
    let whole = value.fract() == 0.0 && value.abs() <= MAX_SAFE_INTEGER;
    if !whole || (value == 0.0 && value.is_sign_negative()) {
        return Token::Float(value);
    }
    let integer = value as i64;
    u64::try_from(integer).map_or(Token::Signed(integer), Token::Unsigned)
}
