//! Canonical JSON with line breaks, so that a long schema can be cut into pages between lines (§4 `schema/<name>`).
//!
//! Keys are in canonical order, and without its line breaks the text is the canonical text.

use playerthree_schema::canonical;
use serde_json::Value;
use std::fmt::Write;

/// A value whose canonical text is longer than this is broken over several lines.
const LINE: usize = 160;

/// Canonical JSON, broken after brackets and commas where a line would become long.
pub(super) fn lines(value: &Value) -> String {
    let mut text = String::new();
    write_value(&mut text, value);
    text.push('\n');
    text
}

fn write_value(text: &mut String, value: &Value) {
    let whole = canonical(value);
    match value {
        Value::Object(map) if whole.len() > LINE => {
            // The contract's names are ASCII, whose byte order is the canonical one.
            let mut members: Vec<(&String, &Value)> = map.iter().collect();
            members.sort_by(|left, right| left.0.encode_utf16().cmp(right.0.encode_utf16()));
            text.push('{');
            for (index, (name, member)) in members.into_iter().enumerate() {
                text.push_str(if index == 0 { "\n" } else { ",\n" });
                let _ = write!(text, "{}:", canonical(&Value::from(name.as_str())));
                write_value(text, member);
            }
            text.push('}');
        }
        Value::Array(items) if whole.len() > LINE => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                text.push_str(if index == 0 { "\n" } else { ",\n" });
                write_value(text, item);
            }
            text.push(']');
        }
        _ => text.push_str(&whole),
    }
}
