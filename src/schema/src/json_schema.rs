//! Export to the JSON Schema 2020-12 subset that tools and harnesses read (§3).

use crate::node::{Fields, Kind, Merge, Schema};
use serde_json::{Map, Value, json};

/// The end of input in every regex dialect: `$` may also match before a final line feed in some.
const END: &str = "(?![\\s\\S])";

impl Schema {
    /// The JSON Schema (2020-12 subset) that accepts the same values: closed objects, bounded strings, arrays and
    /// numbers, tagged alternatives. Lengths are in code points, and patterns hold to the strict end of the text.
    pub fn json_schema(&self) -> Value {
        let mut schema = export(self);
        if let Some(doc) = &self.doc {
            schema.insert("description".into(), Value::from(&**doc));
        }
        Value::Object(schema)
    }
}

fn export(schema: &Schema) -> Map<String, Value> {
    let exported = match &schema.kind {
        Kind::Enum(values) => {
            let values: Vec<&str> = values.iter().map(|value| &**value).collect();
            json!({ "type": "string", "enum": values })
        }
        Kind::Id(prefix) => json!({ "type": "string", "pattern": format!("^{prefix}_[0-9]{{1,9}}{END}") }),
        Kind::Str { max_length, pattern: None } => json!({ "type": "string", "maxLength": max_length }),
        Kind::Str { max_length, pattern: Some(pattern) } => {
            json!({ "type": "string", "maxLength": max_length, "pattern": strict_end(pattern) })
        }
        Kind::Int(min, max) => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Kind::Num(min, max) => json!({ "type": "number", "minimum": min, "maximum": max }),
        Kind::Bool => json!({ "type": "boolean" }),
        Kind::List { item, max } => json!({ "type": "array", "maxItems": max, "items": item.json_schema() }),
        Kind::Ints { max_items, min, max } => json!({
            "type": "array",
            "maxItems": max_items,
            "items": { "type": "integer", "minimum": min, "maximum": max }
        }),
        Kind::Obj { fields, merge } => return object(fields, None, *merge),
        Kind::Opt(item) => item.json_schema(),
        Kind::Union { tag, variants } => {
            let alternatives: Vec<Value> = variants
                .iter()
                .map(|(name, fields)| Value::Object(object(fields, Some((tag, name)), Merge::Fields)))
                .collect();
            json!({ "type": "object", "oneOf": alternatives })
        }
    };
    match exported {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn strict_end(pattern: &str) -> String {
    format!("{}{END}", pattern.strip_suffix('$').unwrap_or(pattern))
}

fn object(fields: &Fields, tag: Option<(&str, &str)>, merge: Merge) -> Map<String, Value> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    if let Some((tag, variant)) = tag {
        properties.insert(tag.into(), json!({ "type": "string", "const": variant }));
        required.push(Value::from(tag));
    }
    for (name, schema) in fields {
        properties.insert((**name).into(), schema.json_schema());
        if !schema.is_optional() {
            required.push(Value::from(&**name));
        }
    }
    let mut exported = Map::from_iter([
        ("type".into(), Value::from("object")),
        ("properties".into(), Value::Object(properties)),
        ("required".into(), Value::Array(required)),
        ("additionalProperties".into(), Value::Bool(false)),
    ]);
    if merge == Merge::Replace {
        exported.insert("x-playerthree-merge".into(), Value::from("replace"));
    }
    exported
}
