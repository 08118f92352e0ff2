//! Reading MessagePack as the Colyseus clients write it, into any serde type.
//!
//! Beyond the standard forms their packer writes each plain object as a *record*: `d4 72 id [keys] values…` at the
//! first use of a shape, `id values…` after that, where the table of shapes lives as long as the message.
//! Dates become milliseconds, `undefined` becomes nothing, whole floats become integers where they are exact, and a
//! binary read without a wish for bytes becomes a list of numbers. Other extensions are refused.

use super::tokens::{DecodeError, Result, Shape, Token, Tokens};
use crate::config::DecodeLimits;
use serde::de::{
    self, DeserializeSeed, EnumAccess, IntoDeserializer, MapAccess, SeqAccess, VariantAccess, Visitor,
};

/// How many bytes of keys the records of one message may repeat. Without it one long key would cost again and again.
const REPEATED_KEY_BYTES: usize = 1024 * 1024;

/// Decodes a whole payload. No bytes at all mean `undefined`; bytes left over are an error.
pub(crate) fn from_slice<'de, T: de::Deserialize<'de>>(bytes: &'de [u8], limits: DecodeLimits) -> Result<T> {
    if bytes.is_empty() {
        return T::deserialize(().into_deserializer());
    }
    let mut decoder = Decoder {
        tokens: Tokens::new(bytes, limits.elements),
        depth: limits.depth,
        repeated: REPEATED_KEY_BYTES,
    };
    let value = T::deserialize(&mut decoder)?;
    if decoder.tokens.is_at_end() { Ok(value) } else { Err(DecodeError) }
}

struct Decoder<'de> {
    tokens: Tokens<'de>,
    /// Containers that may still be entered.
    depth: usize,
    /// Key bytes that records may still repeat.
    repeated: usize,
}

impl<'de> Decoder<'de> {
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
                self.tokens.charge(value.len())?;
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

impl<'de> de::Deserializer<'de> for &mut Decoder<'de> {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let token = self.tokens.next()?;
        self.visit(token, visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.tokens.is_nothing_next() {
            self.tokens.next().and_then(|_| visitor.visit_none())
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.tokens.next()? {
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
        match self.tokens.next()? {
            Token::Text(variant) => visitor.visit_enum(variant.into_deserializer()),
            Token::Map(1) => {
                let Token::Text(variant) = self.tokens.next()? else { return Err(DecodeError) };
                self.variant(variant, visitor)
            }
            Token::Record(shape) if shape.end - shape.begin == 1 => {
                let variant = self.tokens.key(shape.begin);
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
        seed.deserialize(Key(self.decoder.tokens.next()?)).map(Some)
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
        let key = self.decoder.tokens.key(self.next);
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
