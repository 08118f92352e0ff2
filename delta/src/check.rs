//! The strict reading of a delta: the grammar and the bounds, before anything is built from it.

use crate::error::DeltaError;
use crate::{text, wire};
use serde_json::Value;

/// Deepest nesting of lists and objects inside a delta, values it carries included.
pub const MAX_DEPTH: usize = 128;
/// Most edits in a delta: every member, list step, text step and nested edit counts one.
pub const MAX_EDITS: usize = 65_536;
/// Largest weight of a delta: every value counts one, every string and member name also its length in UTF-16 code
/// units. The transport bounds a message to 1,048,576 bytes on its own (§20).
pub const MAX_WEIGHT: usize = 1_048_576;

/// Checks that `delta` follows the grammar and the bounds.
///
/// # Errors
/// Every [`DeltaError`] but the mismatch.
pub(crate) fn check(delta: &Value) -> Result<(), DeltaError> {
    let mut weight = MAX_WEIGHT;
    weigh(delta, MAX_DEPTH, &mut weight)?;
    check_edits(delta)
}

/// Checks that `delta` follows the grammar and has at most [`MAX_EDITS`] edits.
///
/// # Errors
/// [`DeltaError::Shape`] or [`DeltaError::Edits`].
pub(crate) fn check_edits(delta: &Value) -> Result<(), DeltaError> {
    Edits { left: MAX_EDITS }.edit(delta)
}

fn weigh(value: &Value, depth: usize, left: &mut usize) -> Result<(), DeltaError> {
    take(1, left)?;
    match value {
        Value::String(value) => take(text::units(value), left),
        Value::Array(items) => {
            let depth = depth.checked_sub(1).ok_or(DeltaError::Depth)?;
            items.iter().try_for_each(|item| weigh(item, depth, left))
        }
        Value::Object(members) => {
            let depth = depth.checked_sub(1).ok_or(DeltaError::Depth)?;
            members.iter().try_for_each(|(key, member)| {
                take(text::units(key), left)?;
                weigh(member, depth, left)
            })
        }
        _ => Ok(()),
    }
}

fn take(weight: usize, left: &mut usize) -> Result<(), DeltaError> {
    *left = left.checked_sub(weight).ok_or(DeltaError::Weight)?;
    Ok(())
}

/// Whether a member of an object edit removes that member.
pub(crate) fn is_removal(member: &Value) -> bool {
    member.as_array().is_some_and(Vec::is_empty)
}

/// A walk over the edits of a delta, but not over the values that it carries.
struct Edits {
    left: usize,
}

impl Edits {
    fn count(&mut self, edits: usize) -> Result<(), DeltaError> {
        self.left = self.left.checked_sub(edits).ok_or(DeltaError::Edits)?;
        Ok(())
    }

    fn edit(&mut self, edit: &Value) -> Result<(), DeltaError> {
        self.count(1)?;
        match edit {
            Value::Object(members) if members.is_empty() => Err(DeltaError::Shape),
            Value::Object(members) => members.values().try_for_each(|member| self.member(member)),
            Value::Array(parts) => match parts.as_slice() {
                [tag, _] if wire::is_tag(tag, wire::REPLACE) => Ok(()),
                [tag, steps @ ..] if wire::is_tag(tag, wire::LIST) && !steps.is_empty() => self.list(steps),
                [tag, steps @ ..] if wire::is_tag(tag, wire::TEXT) && !steps.is_empty() => self.text(steps),
                _ => Err(DeltaError::Shape),
            },
            _ => Ok(()),
        }
    }

    fn member(&mut self, member: &Value) -> Result<(), DeltaError> {
        if is_removal(member) { self.count(1) } else { self.edit(member) }
    }

    fn list(&mut self, steps: &[Value]) -> Result<(), DeltaError> {
        let mut rest = steps.iter();
        while let Some(step) = rest.next() {
            self.count(1)?;
            match step {
                Value::Object(_) => self.edit(step)?,
                Value::Array(values) if !values.is_empty() => {}
                Value::Bool(unchanged) => {
                    rest.next().and_then(wire::index).ok_or(DeltaError::Shape)?;
                    if !unchanged {
                        self.edit(rest.next().ok_or(DeltaError::Shape)?)?;
                    }
                }
                _ => {
                    if wire::integer(step).ok_or(DeltaError::Shape)? == 0 {
                        self.edit(rest.next().ok_or(DeltaError::Shape)?)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn text(&mut self, steps: &[Value]) -> Result<(), DeltaError> {
        self.count(steps.len())?;
        let well_formed = steps.iter().all(|step| match step {
            Value::String(text) => !text.is_empty(),
            _ => wire::integer(step).is_some_and(|count| count != 0),
        });
        if well_formed { Ok(()) } else { Err(DeltaError::Shape) }
    }
}
