//! Layering match options by their schema (§3 `merge:"replace"`): host defaults, live options, practice overrides.

use crate::node::{Fields, Kind, Merge, Schema};
use serde_json::{Map, Value};

/// A later layer over an earlier one. Both conform to the schema; the caller validates the result.
///
/// An unmarked object is merged field by field, a marked object is replaced whole, and arrays and scalars replace.
/// A union of the same variant is merged by that variant's fields, and another variant replaces.
#[must_use]
pub fn merge(schema: &Schema, base: &Value, layer: &Value) -> Value {
    match (&schema.required().kind, base, layer) {
        (Kind::Obj { fields, merge: Merge::Fields }, Value::Object(base), Value::Object(layer)) => {
            merge_fields(fields, base, layer)
        }
        (Kind::Union { tag, variants }, Value::Object(base), Value::Object(layer)) => {
            let chosen = layer.get(&**tag).and_then(Value::as_str);
            let same = base.get(&**tag).and_then(Value::as_str) == chosen;
            let variant = variants.iter().find(|(name, _)| chosen == Some(name));
            match variant.filter(|_| same) {
                Some((_, fields)) => merge_fields(fields, base, layer),
                None => Value::Object(layer.clone()),
            }
        }
        _ => layer.clone(),
    }
}

fn merge_fields(fields: &Fields, base: &Map<String, Value>, layer: &Map<String, Value>) -> Value {
    let mut merged = base.clone();
    for (name, later) in layer {
        let schema = fields.iter().find(|(field, _)| **field == **name).map(|(_, schema)| schema);
        let value = match (schema, base.get(name)) {
            (Some(schema), Some(earlier)) => merge(schema, earlier, later),
            _ => later.clone(),
        };
        merged.insert(name.clone(), value);
    }
    Value::Object(merged)
}
