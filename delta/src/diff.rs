//! The diff of two values: which edit turns the old one into the new one. Objects are compared here, lists and texts
//! in their own files.

use crate::edits::{Edit, MemberEdits};
use crate::same::same_number;
use crate::{Delta, check, list, text};
use serde_json::{Map, Value};

/// The delta that turns `old` into `new`, or `None` if they are the same value.
///
/// Equal means equal to the bit: 0.0 and -0.0 differ, and so do 1 and 1.0. At every level the delta falls back to the
/// whole new value where edits would cost as much, so it is at most a few bytes larger than `new` itself. Values may
/// nest as deep as the stack allows to clone them; see [`Delta`] for what a reader accepts.
pub fn diff(old: &Value, new: &Value) -> Option<Delta> {
    let edit = edit(old, new)?;
    let edit = match check::check_edits(&edit.wire) {
        Ok(()) => edit,
        Err(_) => Edit::replace(new),
    };
    Some(Delta(edit.wire))
}

/// The cheapest edit found from `old` to `new`, or `None` if they are the same.
#[inline]
pub(crate) fn edit(old: &Value, new: &Value) -> Option<Edit> {
    match (old, new) {
        (Value::Null, Value::Null) => None,
        (Value::Bool(a), Value::Bool(b)) if a == b => None,
        (Value::Number(a), Value::Number(b)) if same_number(a, b) => None,
        (Value::String(a), Value::String(b)) if a == b => None,
        _ => changed(old, new),
    }
}

/// The edit between values that are no equal scalars.
fn changed(old: &Value, new: &Value) -> Option<Edit> {
    match (old, new) {
        (Value::String(a), Value::String(b)) => Some(match text::splice(a, b) {
            Some(edit) => edit.or_replace(new),
            None => Edit::replace(new),
        }),
        (Value::Object(a), Value::Object(b)) => members(a, b).map(|edit| edit.or_replace(new)),
        (Value::Array(a), Value::Array(b)) => list::edit(a, b).map(|edit| edit.or_replace(new)),
        _ => Some(Edit::replace(new)),
    }
}

/// Walks both objects side by side. The order of the maps is used where it helps and never relied upon.
fn members(old: &Map<String, Value>, new: &Map<String, Value>) -> Option<Edit> {
    let mut edits = MemberEdits::default();
    let mut ahead = old.iter();
    let mut front = ahead.next();
    let mut found = 0;
    for (key, value) in new {
        let before = match front {
            Some((old_key, before)) if old_key == key => before,
            _ => match old.get(key) {
                Some(before) => {
                    ahead.find(|(old_key, _)| *old_key == key);
                    before
                }
                None => {
                    edits.put(key, Edit::replace(value));
                    continue;
                }
            },
        };
        front = ahead.next();
        found += 1;
        if let Some(edit) = edit(before, value) {
            edits.put(key, edit);
        }
    }
    if found < old.len() {
        old.keys().filter(|key| !new.contains_key(*key)).for_each(|key| edits.remove(key));
    }
    edits.finish()
}
