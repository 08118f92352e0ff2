//! JSON whose objects keep the order they were written in, because a manifest's order means something (§3 "topics …
//! in index order") and `serde_json::Value` keeps none.
//!
//! Reading refuses what the contract cannot mean: duplicate members, text after the value, numbers past a double.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Number, Value};
use std::fmt;

/// A JSON value with ordered objects.
#[derive(Clone, Debug, PartialEq)]
pub enum Ordered {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A finite number.
    Number(Number),
    /// A text.
    Text(String),
    /// An array.
    List(Vec<Ordered>),
    /// An object's members as written, each name once.
    Map(Vec<(String, Ordered)>),
}

/// A text that is not JSON, or JSON that repeats a member. It carries no part of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not JSON at line {line}, column {column}")]
pub struct NotJson {
    /// Line of the fault, from 1; 0 when unknown.
    pub line: usize,
    /// Column of the fault, from 1; 0 when unknown.
    pub column: usize,
}

/// Reads one JSON value and refuses duplicate members, which a plain reader silently drops. Nesting past 127 is refused.
pub fn strict_json(text: &str) -> Result<Value, NotJson> {
    Ordered::parse(text).map(Value::from)
}

impl Ordered {
    /// Reads one JSON text, keeping order. Nesting past 127 is refused; the caller bounds the text's size.
    pub fn parse(text: &str) -> Result<Self, NotJson> {
        serde_json::from_str(text).map_err(|error| NotJson { line: error.line(), column: error.column() })
    }

    /// An object of these members, in this order.
    pub fn map<K: Into<String>>(members: impl IntoIterator<Item = (K, Self)>) -> Self {
        Self::Map(members.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }

    /// A list of texts.
    pub fn texts<T: AsRef<str>>(items: impl IntoIterator<Item = T>) -> Self {
        Self::List(items.into_iter().map(|item| Self::from(item.as_ref())).collect())
    }

    /// The member of this name, if this is an object that has it.
    pub fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Map(members) => members.iter().find(|(member, _)| member == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The text, if this is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl From<&str> for Ordered {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<i64> for Ordered {
    fn from(number: i64) -> Self {
        Self::Number(number.into())
    }
}

impl From<u64> for Ordered {
    fn from(number: u64) -> Self {
        Self::Number(number.into())
    }
}

impl From<u32> for Ordered {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<&Value> for Ordered {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(flag) => Self::Bool(*flag),
            Value::Number(number) => Self::Number(number.clone()),
            Value::String(text) => Self::Text(text.clone()),
            Value::Array(items) => Self::List(items.iter().map(Self::from).collect()),
            Value::Object(map) => {
                Self::Map(map.iter().map(|(name, item)| (name.clone(), item.into())).collect())
            }
        }
    }
}

impl From<Ordered> for Value {
    fn from(ordered: Ordered) -> Self {
        match ordered {
            Ordered::Null => Self::Null,
            Ordered::Bool(flag) => Self::Bool(flag),
            Ordered::Number(number) => Self::Number(number),
            Ordered::Text(text) => Self::String(text),
            Ordered::List(items) => items.into_iter().map(Self::from).collect(),
            Ordered::Map(members) => Self::Object(
                members.into_iter().map(|(name, item)| (name, item.into())).collect::<Map<_, _>>(),
            ),
        }
    }
}

impl Serialize for Ordered {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(flag) => serializer.serialize_bool(*flag),
            Self::Number(number) => number.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(items) => items.serialize(serializer),
            Self::Map(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (name, value) in members {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Ordered {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OrderedVisitor)
    }
}

struct OrderedVisitor;

impl<'de> Visitor<'de> for OrderedVisitor {
    type Value = Ordered;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Ordered, E> {
        Ok(Ordered::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Ordered, E> {
        Ok(Ordered::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Ordered, E> {
        Ok(Ordered::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Ordered, E> {
        Ok(Ordered::Number(number.into()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Ordered, E> {
        Number::from_f64(number).map(Ordered::Number).ok_or_else(|| E::custom("a number is not finite"))
    }

    fn visit_str<E>(self, text: &str) -> Result<Ordered, E> {
        Ok(text.into())
    }

    fn visit_string<E>(self, text: String) -> Result<Ordered, E> {
        Ok(Ordered::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Ordered, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Ordered::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered, A::Error> {
        let mut members: Vec<(String, Ordered)> = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        let mut names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        if names.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(A::Error::custom("a member is repeated"));
        }
        Ok(Ordered::Map(members))
    }
}
