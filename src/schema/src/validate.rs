//! Judging a JSON value against a schema (§3, §4 "Results and errors").
//!
//! The accept path allocates nothing; the depth of a walk is the schema's depth, never the value's.
//!
//! Stated treatment of JSON's edges: `null` is accepted nowhere; `-0` is the integer zero; `1.0` is an integer, as it
//! is to every JSON reader; an integer beyond ±(2^53 - 1) is out of range. Infinities, NaN and lone surrogates cannot
//! occur in a `Value`; duplicate members are refused by [`crate::strict_json`].

use crate::grammar::MAX_SAFE;
use crate::invalid::{Invalid, PathPart, SchemaCode};
use crate::node::{Fields, Kind, Schema};
use crate::pattern;
use serde_json::{Map, Number, Value};
use std::sync::Arc;

/// A fault whose path is still written from the leaf to the root, so that each level only appends.
struct Fault(Invalid);

impl Fault {
    fn here(code: SchemaCode) -> Self {
        Self(Invalid { code, path: Vec::new() })
    }

    fn member(code: SchemaCode, part: PathPart) -> Self {
        Self(Invalid { code, path: vec![part] })
    }

    fn under(mut self, part: PathPart) -> Self {
        self.0.path.push(part);
        self
    }

    fn rooted(mut self) -> Invalid {
        self.0.path.reverse();
        self.0
    }
}

impl Schema {
    /// Judges a value (§3). The error holds a closed code and a path of declared names, never any part of the value.
    pub fn validate(&self, value: &Value) -> Result<(), Invalid> {
        walk(self, value).map_err(Fault::rooted)
    }

    /// Judges a value and gives it back with every integer in integer form, so that a reader's `as_i64` holds:
    /// clients may write `3.0` or `-0` for an integer.
    pub fn admit(&self, mut value: Value) -> Result<Value, Invalid> {
        self.validate(&value)?;
        normalize(self, &mut value);
        Ok(value)
    }

    /// The node itself, or the node that an optional field marks.
    pub fn required(&self) -> &Self {
        match &self.kind {
            Kind::Opt(item) => item,
            _ => self,
        }
    }

    /// Whether a field of this schema may be left out.
    pub fn is_optional(&self) -> bool {
        matches!(self.kind, Kind::Opt(_))
    }
}

/// Judges an object against a field map, with one more member (`tag`) that the caller has judged already.
pub fn validate_fields(fields: &Fields, map: &Map<String, Value>, tag: Option<&str>) -> Result<(), Invalid> {
    members(fields, map, tag).map_err(Fault::rooted)
}

fn walk(schema: &Schema, value: &Value) -> Result<(), Fault> {
    match &schema.kind {
        Kind::Enum(values) => text(value).and_then(|text| literal(values, text)),
        Kind::Id(prefix) => text(value).and_then(|text| id(prefix, text)),
        Kind::Str { max_length, pattern } => {
            text(value).and_then(|text| string(*max_length, pattern.as_deref(), text))
        }
        Kind::Int(min, max) => integer(value, *min, *max),
        Kind::Num(min, max) => number(value, *min, *max),
        Kind::Bool => expect(value.is_boolean(), SchemaCode::Type),
        Kind::List { item, max } => each(value, *max, |entry| walk(item, entry)),
        Kind::Ints { max_items, min, max } => each(value, *max_items, |entry| integer(entry, *min, *max)),
        Kind::Obj { fields, .. } => members(fields, object(value)?, None),
        Kind::Opt(item) => walk(item, value),
        Kind::Union { tag, variants } => union(tag, variants, object(value)?),
    }
}

fn expect(holds: bool, code: SchemaCode) -> Result<(), Fault> {
    if holds { Ok(()) } else { Err(Fault::here(code)) }
}

fn text(value: &Value) -> Result<&str, Fault> {
    value.as_str().ok_or_else(|| Fault::here(SchemaCode::Type))
}

fn object(value: &Value) -> Result<&Map<String, Value>, Fault> {
    value.as_object().ok_or_else(|| Fault::here(SchemaCode::Type))
}

fn literal(values: &[Arc<str>], text: &str) -> Result<(), Fault> {
    expect(values.iter().any(|value| **value == *text), SchemaCode::Enum)
}

fn id(prefix: &str, text: &str) -> Result<(), Fault> {
    let digits = text.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('_'));
    let matches = digits.is_some_and(|digits| {
        (1..=9).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
    });
    expect(matches, SchemaCode::Pattern)
}

fn string(max_length: u32, pattern: Option<&str>, text: &str) -> Result<(), Fault> {
    expect(at_most_code_points(text, max_length as usize), SchemaCode::TooLong)?;
    expect(pattern.is_none_or(|pattern| pattern::matches(pattern, text)), SchemaCode::Pattern)
}

fn at_most_code_points(text: &str, max: usize) -> bool {
    // A code point takes one to four bytes, so most texts are judged by their byte length alone.
    text.len() <= max || (text.len() / 4 <= max && text.chars().nth(max).is_none())
}

fn integer(value: &Value, min: i64, max: i64) -> Result<(), Fault> {
    let number = value.as_number().ok_or_else(|| Fault::here(SchemaCode::Type))?;
    let exact = match exact_integer(number) {
        Integer::Safe(exact) => exact,
        Integer::Unsafe => return Err(Fault::here(SchemaCode::Range)),
        Integer::Fraction => return Err(Fault::here(SchemaCode::NotInteger)),
    };
    expect((min..=max).contains(&exact), SchemaCode::Range)
}

enum Integer {
    Safe(i64),
    Unsafe,
    Fraction,
}

fn exact_integer(number: &Number) -> Integer {
    if let Some(exact) = number.as_i64() {
        return if (-MAX_SAFE..=MAX_SAFE).contains(&exact) { Integer::Safe(exact) } else { Integer::Unsafe };
    }
    let Some(float) = number.as_f64().filter(|_| number.is_f64()) else {
        return Integer::Unsafe;
    };
    if float.fract() != 0.0 {
        return Integer::Fraction;
    }
    #[expect(clippy::cast_precision_loss, reason = "2^53 - 1 is exact in a double")]
    let safe = float.abs() <= MAX_SAFE as f64;
    #[expect(clippy::cast_possible_truncation, reason = "integral and within the safe range")]
    if safe { Integer::Safe(float as i64) } else { Integer::Unsafe }
}

/// The number as a safe integer, also when it is written as `3.0`.
pub(crate) fn safe_integer(number: &Number) -> Option<i64> {
    match exact_integer(number) {
        Integer::Safe(exact) => Some(exact),
        Integer::Unsafe | Integer::Fraction => None,
    }
}

fn number(value: &Value, min: f64, max: f64) -> Result<(), Fault> {
    let number = value.as_f64().ok_or_else(|| Fault::here(SchemaCode::Type))?;
    expect((min..=max).contains(&number), SchemaCode::Range)
}

fn each(value: &Value, max: u64, judge: impl Fn(&Value) -> Result<(), Fault>) -> Result<(), Fault> {
    let items = value.as_array().ok_or_else(|| Fault::here(SchemaCode::Type))?;
    expect(items.len() as u64 <= max, SchemaCode::TooLong)?;
    for (index, item) in items.iter().enumerate() {
        judge(item).map_err(|fault| fault.under(PathPart::Index(index)))?;
    }
    Ok(())
}

fn members(fields: &Fields, map: &Map<String, Value>, tag: Option<&str>) -> Result<(), Fault> {
    let mut declared = usize::from(tag.is_some());
    for (name, schema) in fields {
        match map.get(&**name) {
            Some(value) => {
                declared += 1;
                walk(schema, value).map_err(|fault| fault.under(PathPart::Field(name.clone())))?;
            }
            None if schema.is_optional() => {}
            None => return Err(Fault::member(SchemaCode::MissingField, PathPart::Field(name.clone()))),
        }
    }
    if declared == map.len() {
        Ok(())
    } else {
        Err(Fault::member(SchemaCode::UnknownField, PathPart::Unknown))
    }
}

fn union(tag: &Arc<str>, variants: &[(Arc<str>, Fields)], map: &Map<String, Value>) -> Result<(), Fault> {
    let chosen = map.get(&**tag).and_then(Value::as_str);
    match chosen.and_then(|name| variants.iter().find(|(variant, _)| **variant == *name)) {
        Some((_, fields)) => members(fields, map, Some(tag)),
        None => Err(Fault::member(SchemaCode::Tag, PathPart::Field(tag.clone()))),
    }
}

/// Writes integer-valued floats as integers. The value was accepted by the schema.
fn normalize(schema: &Schema, value: &mut Value) {
    match (&schema.kind, value) {
        (Kind::Int(..), Value::Number(number)) => as_integer(number),
        (Kind::Ints { .. }, Value::Array(items)) => {
            for item in items {
                if let Value::Number(number) = item {
                    as_integer(number);
                }
            }
        }
        (Kind::List { item, .. }, Value::Array(items)) => {
            for entry in items {
                normalize(item, entry);
            }
        }
        (Kind::Opt(item), value) => normalize(item, value),
        (Kind::Obj { fields, .. }, Value::Object(map)) => normalize_members(fields, map),
        (Kind::Union { tag, variants }, Value::Object(map)) => {
            let chosen = map.get(&**tag).and_then(Value::as_str);
            let fields =
                variants.iter().find(|(variant, _)| chosen == Some(variant)).map(|(_, fields)| fields);
            if let Some(fields) = fields {
                normalize_members(fields, map);
            }
        }
        _ => {}
    }
}

fn normalize_members(fields: &Fields, map: &mut Map<String, Value>) {
    for (name, schema) in fields {
        if let Some(value) = map.get_mut(&**name) {
            normalize(schema, value);
        }
    }
}

fn as_integer(number: &mut Number) {
    if number.is_f64()
        && let Integer::Safe(exact) = exact_integer(number)
    {
        *number = exact.into();
    }
}
