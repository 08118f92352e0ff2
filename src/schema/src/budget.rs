//! The most UTF-8 JSON bytes that a schema can ask for (§3), computed without building a value.

use crate::node::{Fields, Kind, Schema};

/// Digits, sign, point and exponent of any double, in both the shortest and the ECMAScript form.
const NUMBER: u64 = 25;

impl Schema {
    /// An upper bound of the compact JSON of any accepted value, in bytes. Saturates at `u64::MAX`.
    pub fn max_json_bytes(&self) -> u64 {
        match &self.kind {
            Kind::Enum(values) => 2 + values.iter().map(|value| value.len() as u64).max().unwrap_or(0),
            Kind::Id(prefix) => 2 + prefix.len() as u64 + 1 + 9,
            Kind::Str { max_length, .. } => 2 + 6 * u64::from(*max_length),
            Kind::Int(min, max) => integer(*min, *max),
            Kind::Num(..) => NUMBER,
            Kind::Bool => 5,
            Kind::List { item, max } => items(*max, item.max_json_bytes()),
            Kind::Ints { max_items, min, max } => items(*max_items, integer(*min, *max)),
            Kind::Obj { fields, .. } => object(fields, None),
            Kind::Opt(item) => item.max_json_bytes(),
            Kind::Union { tag, variants } => {
                let largest = |(name, fields)| object(fields, Some((tag, name)));
                variants.iter().map(|(name, fields)| largest((name, fields))).max().unwrap_or(2)
            }
        }
    }
}

fn integer(min: i64, max: i64) -> u64 {
    digits(min).max(digits(max))
}

fn digits(number: i64) -> u64 {
    u64::from(number.unsigned_abs().checked_ilog10().unwrap_or(0)) + 1 + u64::from(number < 0)
}

fn items(count: u64, item: u64) -> u64 {
    match count {
        0 => 2,
        _ => 2u64.saturating_add(count.saturating_mul(item)).saturating_add(count - 1),
    }
}

fn object(fields: &Fields, tag: Option<(&str, &str)>) -> u64 {
    let tag_bytes = tag.map(|(tag, variant)| tag.len() as u64 + 3 + variant.len() as u64 + 2);
    let members = fields.len() as u64 + u64::from(tag.is_some());
    fields
        .iter()
        .map(|(name, schema)| (name.len() as u64 + 3).saturating_add(schema.max_json_bytes()))
        .chain(tag_bytes)
        .fold(2 + members.saturating_sub(1), u64::saturating_add)
}
