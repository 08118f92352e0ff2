//! A seat's guarded match data as text: `key: JSON` lines that can be paged (§4 topic `match-data`).

use playerthree_schema::{Schema, utf16_len};
use serde_json::{Map, Value};
use std::fmt::Write;

/// Longest line that is not split further, in UTF-16 units.
const LINE: usize = 2000;

const HEADER: &str = "Match data of your seat, fixed for this match. key.sub is a member; key[i..j] holds the items i to j, \
                      both included.\n";

/// The lines of a guarded value, members in schema order.
pub(super) fn text(schema: &Schema, value: &Value) -> String {
    let mut text = HEADER.to_owned();
    match value {
        Value::Object(map) => {
            for name in crate::checked::top_level(schema) {
                if let Some(member) = map.get(&*name) {
                    write_lines(&mut text, &name, member);
                }
            }
        }
        _ => write_lines(&mut text, "data", value),
    }
    text
}

fn write_lines(text: &mut String, path: &str, value: &Value) {
    let line = value.to_string();
    match value {
        Value::Object(map) if utf16_len(&line) > LINE => write_members(text, path, map),
        Value::Array(items) if utf16_len(&line) > LINE => write_chunks(text, path, items),
        _ => {
            let _ = writeln!(text, "{path}: {line}");
        }
    }
}

fn write_members(text: &mut String, path: &str, map: &Map<String, Value>) {
    for (name, member) in map {
        write_lines(text, &format!("{path}.{name}"), member);
    }
}

fn write_chunks(text: &mut String, path: &str, items: &[Value]) {
    let mut chunk: Vec<String> = Vec::new();
    let mut size = 0;
    let mut first = 0;
    for (index, item) in items.iter().enumerate() {
        let json = item.to_string();
        let length = utf16_len(&json) + 1;
        if size + length > LINE {
            flush(text, path, first, &mut chunk);
            (size, first) = (0, index);
        }
        if length > LINE {
            write_lines(text, &format!("{path}[{index}]"), item);
            first = index + 1;
        } else {
            chunk.push(json);
            size += length;
        }
    }
    flush(text, path, first, &mut chunk);
}

fn flush(text: &mut String, path: &str, first: usize, chunk: &mut Vec<String>) {
    if !chunk.is_empty() {
        let last = first + chunk.len() - 1;
        let _ = writeln!(text, "{path}[{first}..{last}]: [{}]", chunk.join(","));
        chunk.clear();
    }
}
