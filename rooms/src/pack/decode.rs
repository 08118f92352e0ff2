//! Reading MessagePack as the Colyseus clients write it, into any serde type.
//!
//! Beyond the standard forms their packer writes each plain object as a *record*: `d4 72 id [keys] values…` at the
//! first use of a shape, `id values…` after that, where the table of shapes lives as long as the message.
//! Dates become milliseconds, `undefined` becomes nothing, whole floats become integers where they are exact, and a
//! binary read without a wish for bytes becomes a list of numbers. Other extensions are refused.

use crate::config::DecodeLimits;
use serde::de::{
    self, DeserializeSeed, EnumAccess, IntoDeserializer, MapAccess, SeqAccess, VariantAccess, Visitor,
};

/// How many bytes of keys the records of one message may repeat. Without it one long key would cost again and again.
const REPEATED_KEY_BYTES: usize = 1024 * 1024;

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

impl de::Error for DecodeError {
    fn custom<T: std::fmt::Display>(_: T) -> Self {
        Self
    }
}

type Result<T> = std::result::Result<T, DecodeError>;

/// Decodes a whole payload. No bytes at all mean `undefined`; bytes left over are an error.
pub(crate) fn from_slice<'de, T: de::Deserialize<'de>>(bytes: &'de [u8], limits: DecodeLimits) -> Result<T> {
    if bytes.is_empty() {
        return T::deserialize(().into_deserializer());
    }
    let mut decoder = Decoder {
        rest: bytes,
        depth: limits.depth,
        elements: limits.elements,
        repeated: REPEATED_KEY_BYTES,
        keys: Vec::new(),
        records: Vec::new(),
    };
    let value = T::deserialize(&mut decoder)?;
    if decoder.rest.is_empty() { Ok(value) } else { Err(DecodeError) }
}

struct Decoder<'de> {
    rest: &'de [u8],
    /// Containers that may still be entered.
    depth: usize,
    /// Values that may still be read.
    elements: usize,
    /// Key bytes that records may still repeat.
    repeated: usize,
    /// The keys of all records of this message, one shape after the other.
    keys: Vec<&'de str>,
    /// The latest shape of each record id.
    records: Vec<(u8, Shape)>,
}

/// A run of `Decoder::keys`.
#[derive(Clone, Copy)]
struct Shape {
    begin: usize,
    end: usize,
}

#[derive(Clone, Copy)]
enum Token<'de> {
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

impl<'de> Decoder<'de> {
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

    fn charge(&mut self, elements: usize) -> Result<()> {
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

    fn token(&mut self) -> Result<Token<'de>> {
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
        let Token::List(count) = self.token()? else { return Err(DecodeError) };
        let begin = self.keys.len();
        for _ in 0..count {
            let Token::Text(key) = self.token()? else { return Err(DecodeError) };
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

    fn list<V: Visitor<'de>>(&mut self, count: usize, visitor: V) -> Result<V::Value> {
        self.enter()?;
        let mut items = Items { decoder: self, left: count };
        let value = visitor.visit_seq(&mut items)?;
        if items.left > 0 {
            return Err(DecodeError);
        }
        self.depth += 1;
        Ok(value)
    }

    fn map<V: Visitor<'de>>(&mut self, count: usize, visitor: V) -> Result<V::Value> {
        self.enter()?;
        let mut entries = Entries { decoder: self, left: count };
        let value = visitor.visit_map(&mut entries)?;
        if entries.left > 0 {
            return Err(DecodeError);
        }
        self.depth += 1;
        Ok(value)
    }

    fn record<V: Visitor<'de>>(&mut self, shape: Shape, visitor: V) -> Result<V::Value> {
        self.enter()?;
        let mut fields = Fields { decoder: self, next: shape.begin, end: shape.end };
        let value = visitor.visit_map(&mut fields)?;
        if fields.next < fields.end {
            return Err(DecodeError);
        }
        self.depth += 1;
        Ok(value)
    }

    fn enter(&mut self) -> Result<()> {
        self.depth = self.depth.checked_sub(1).ok_or(DecodeError)?;
        Ok(())
    }

    fn visit<V: Visitor<'de>>(&mut self, token: Token<'de>, visitor: V) -> Result<V::Value> {
        match token {
            Token::Nil => visitor.visit_unit(),
            Token::Bool(value) => visitor.visit_bool(value),
            Token::Unsigned(value) => visitor.visit_u64(value),
            Token::Signed(value) => visitor.visit_i64(value),
            Token::Float(value) => visitor.visit_f64(value),
            Token::Text(value) => visitor.visit_borrowed_str(value),
            Token::Binary(value) => {
                self.charge(value.len())?;
                self.enter()?;
                let value = visitor.visit_seq(de::value::SeqDeserializer::new(value.iter().copied()))?;
                self.depth += 1;
                Ok(value)
            }
            Token::List(count) => self.list(count, visitor),
            Token::Map(count) => self.map(count, visitor),
            Token::Record(shape) => self.record(shape, visitor),
        }
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

impl<'de> de::Deserializer<'de> for &mut Decoder<'de> {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let token = self.token()?;
        self.visit(token, visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.rest {
            [0xc0, ..] | [0xd4, 0, 0, ..] => self.token().and_then(|_| visitor.visit_none()),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.token()? {
            Token::Binary(bytes) => visitor.visit_borrowed_bytes(bytes),
            token => self.visit(token, visitor),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self.token()? {
            Token::Text(variant) => visitor.visit_enum(variant.into_deserializer()),
            Token::Map(1) => {
                let Token::Text(variant) = self.token()? else { return Err(DecodeError) };
                self.variant(variant, visitor)
            }
            Token::Record(shape) if shape.end - shape.begin == 1 => {
                let variant = self.keys[shape.begin];
                self.variant(variant, visitor)
            }
            _ => Err(DecodeError),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

impl<'de> Decoder<'de> {
    fn variant<V: Visitor<'de>>(&mut self, name: &'de str, visitor: V) -> Result<V::Value> {
        self.enter()?;
        let value = visitor.visit_enum(Variant { decoder: self, name })?;
        self.depth += 1;
        Ok(value)
    }
}

struct Items<'a, 'de> {
    decoder: &'a mut Decoder<'de>,
    left: usize,
}

impl<'de> SeqAccess<'de> for Items<'_, 'de> {
    type Error = DecodeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        self.left = left;
        seed.deserialize(&mut *self.decoder).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

struct Entries<'a, 'de> {
    decoder: &'a mut Decoder<'de>,
    left: usize,
}

impl<'de> MapAccess<'de> for Entries<'_, 'de> {
    type Error = DecodeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        self.left = left;
        seed.deserialize(Key(self.decoder.token()?)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        seed.deserialize(&mut *self.decoder)
    }
}

struct Fields<'a, 'de> {
    decoder: &'a mut Decoder<'de>,
    next: usize,
    end: usize,
}

impl<'de> MapAccess<'de> for Fields<'_, 'de> {
    type Error = DecodeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        if self.next == self.end {
            return Ok(None);
        }
        let key = self.decoder.keys[self.next];
        self.next += 1;
        self.decoder.repeated = self.decoder.repeated.checked_sub(key.len()).ok_or(DecodeError)?;
        seed.deserialize(Key(Token::Text(key))).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        seed.deserialize(&mut *self.decoder)
    }
}

/// A map key. Numbers serve as numbers where the type wants them, as their text where it wants a string.
struct Key<'de>(Token<'de>);

impl<'de> Key<'de> {
    fn number<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0 {
            Token::Unsigned(value) => visitor.visit_u64(value),
            Token::Signed(value) => visitor.visit_i64(value),
            Token::Text(text) => match text.parse::<i64>() {
                Ok(value) => visitor.visit_i64(value),
                Err(_) => Err(DecodeError),
            },
            _ => Err(DecodeError),
        }
    }
}

macro_rules! number_keys {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            self.number(visitor)
        })*
    };
}

impl<'de> de::Deserializer<'de> for Key<'de> {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0 {
            Token::Text(text) => visitor.visit_borrowed_str(text),
            Token::Unsigned(value) => visitor.visit_string(value.to_string()),
            Token::Signed(value) => visitor.visit_string(value.to_string()),
            Token::Float(value) => visitor.visit_string(value.to_string()),
            _ => Err(DecodeError),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self.0 {
            Token::Text(text) => visitor.visit_enum(text.into_deserializer()),
            _ => Err(DecodeError),
        }
    }

    number_keys! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
    }

    serde::forward_to_deserialize_any! {
        bool i128 u128 f32 f64 char str string bytes byte_buf option unit unit_struct seq tuple tuple_struct map
        struct identifier ignored_any
    }
}

struct Variant<'a, 'de> {
    decoder: &'a mut Decoder<'de>,
    name: &'de str,
}

impl<'de> EnumAccess<'de> for Variant<'_, 'de> {
    type Error = DecodeError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self)> {
        let name: de::value::BorrowedStrDeserializer<'de, DecodeError> =
            de::value::BorrowedStrDeserializer::new(self.name);
        Ok((seed.deserialize(name)?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, 'de> {
    type Error = DecodeError;

    fn unit_variant(self) -> Result<()> {
        de::Deserialize::deserialize(self.decoder)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value> {
        seed.deserialize(self.decoder)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value> {
        de::Deserializer::deserialize_any(self.decoder, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value> {
        de::Deserializer::deserialize_any(self.decoder, visitor)
    }
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
