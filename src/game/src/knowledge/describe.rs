//! Schemas in words: one line a field, nested fields indented. For people and models that read, not for machines.

use playerthree_schema::{Fields, Kind, Schema};
use std::fmt::Write;

/// Lines of a field map, with every nested field.
pub(super) fn fields(fields: &Fields) -> String {
    let mut lines = String::new();
    for (name, schema) in fields {
        field(&mut lines, name, schema, 0);
    }
    if lines.is_empty() { "(no fields)\n".into() } else { lines }
}

/// Lines of a schema that stands alone.
pub(super) fn whole(schema: &Schema) -> String {
    match &schema.kind {
        Kind::Obj { fields, .. } => self::fields(fields),
        _ => {
            let mut lines = format!("{}\n", summary(schema));
            nested(&mut lines, schema, 0);
            lines
        }
    }
}

/// One line for each top-level member, without nested fields.
pub(super) fn members(schema: &Schema) -> String {
    let lines = |fields: &Fields| fields.iter().map(|(name, schema)| line(name, schema)).collect::<String>();
    match &schema.kind {
        Kind::Obj { fields, .. } => lines(fields),
        Kind::Union { tag, variants } => variants
            .iter()
            .map(|(variant, fields)| format!("With {tag} \"{variant}\":\n{}", lines(fields)))
            .collect(),
        _ => whole(schema),
    }
}

/// One line of a field without its nested fields.
pub(super) fn line(name: &str, schema: &Schema) -> String {
    let mark = if schema.is_optional() { "?" } else { "" };
    let doc = schema.required().doc.as_deref().map(|doc| format!(" — {}", one_line(doc))).unwrap_or_default();
    format!("- {name}{mark}: {}{doc}\n", summary(schema))
}

fn field(lines: &mut String, name: &str, schema: &Schema, indent: usize) {
    let _ = write!(lines, "{:indent$}{}", "", line(name, schema));
    nested(lines, schema, indent + 2);
}

fn nested(lines: &mut String, schema: &Schema, indent: usize) {
    match &schema.kind {
        Kind::Obj { fields, .. } => {
            for (name, schema) in fields {
                field(lines, name, schema, indent);
            }
        }
        Kind::Union { tag, variants } => {
            for (variant, fields) in variants {
                let _ = writeln!(lines, "{:indent$}- with {tag} \"{variant}\":", "");
                for (name, schema) in fields {
                    field(lines, name, schema, indent + 2);
                }
            }
        }
        Kind::List { item, .. } | Kind::Opt(item) => nested(lines, item, indent),
        _ => {}
    }
}

/// What a schema accepts, in a few words.
pub(super) fn summary(schema: &Schema) -> String {
    match &schema.kind {
        Kind::Enum(values) => {
            let values: Vec<&str> = values.iter().map(|value| &**value).collect();
            values.join(" | ")
        }
        Kind::Id(prefix) => format!("id such as \"{prefix}_1\""),
        Kind::Str { max_length, pattern: None } => format!("text of at most {max_length} characters"),
        Kind::Str { max_length, pattern: Some(pattern) } => {
            format!("text of at most {max_length} characters, pattern {pattern}")
        }
        Kind::Int(min, max) => format!("integer {min}..{max}"),
        Kind::Num(min, max) => format!("number {min}..{max}"),
        Kind::Bool => "true | false".into(),
        Kind::List { item, max } => format!("list of at most {max}, each {}", summary(item)),
        Kind::Ints { max_items, min, max } => format!("list of at most {max_items} integers {min}..{max}"),
        Kind::Obj { .. } => "object".into(),
        Kind::Opt(item) => summary(item),
        Kind::Union { tag, .. } => format!("object chosen by {tag}"),
    }
}

/// An intent's shape as JSON with words for values: `{"kind":"move","row":<integer 0..2>}`.
pub(super) fn shape(kind: &str, params: &Fields) -> String {
    let mut shape = format!("{{\"kind\":\"{kind}\"");
    for (name, schema) in params {
        let mark = if schema.is_optional() { "?" } else { "" };
        let _ = write!(shape, ",\"{name}\"{mark}:<{}>", summary(schema));
    }
    shape.push('}');
    shape
}

/// A document on one line.
pub(super) fn one_line(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first sentence of a document, on one line.
pub(super) fn first_sentence(doc: &str) -> String {
    let line = one_line(doc);
    match line.find(". ") {
        Some(end) => line[..=end].to_owned(),
        None => line,
    }
}
