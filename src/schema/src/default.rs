//! The least value that conforms to a schema, where there is one: what a directive starts from (§3).

use crate::node::{Fields, Kind, Schema};
use crate::pattern;
use serde_json::{Map, Value};
use std::sync::Arc;

impl Schema {
    /// The simplest conforming value: the first literal, zero or the nearest bound, `false`, an empty text or list, and
    /// optional fields left out. None where an id, or a text whose pattern refuses the empty text, is required.
    pub fn default_value(&self) -> Option<Value> {
        match &self.kind {
            Kind::Enum(values) => values.first().map(|value| Value::from(&**value)),
            Kind::Id(_) => None,
            Kind::Str { pattern, .. } => {
                let conforms = pattern.as_deref().is_none_or(|pattern| pattern::matches(pattern, ""));
                conforms.then(|| Value::from(""))
            }
            Kind::Int(min, max) => Some(Value::from(0.max(*min).min(*max))),
            Kind::Num(min, max) => Some(Value::from(0f64.max(*min).min(*max))),
            Kind::Bool => Some(Value::Bool(false)),
            Kind::List { .. } | Kind::Ints { .. } => Some(Value::Array(Vec::new())),
            Kind::Obj { fields, .. } => members(fields, Map::new()),
            Kind::Opt(item) => item.default_value(),
            Kind::Union { tag, variants } => {
                variants.iter().find_map(|(name, fields)| tagged(tag, name, fields))
            }
        }
    }
}

fn tagged(tag: &Arc<str>, variant: &str, fields: &Fields) -> Option<Value> {
    members(fields, Map::from_iter([(tag.to_string(), Value::from(variant))]))
}

fn members(fields: &Fields, mut map: Map<String, Value>) -> Option<Value> {
    for (name, schema) in fields.iter().filter(|(_, schema)| !schema.is_optional()) {
        map.insert(name.to_string(), schema.default_value()?);
    }
    Some(Value::Object(map))
}
