//! Rebuilding the new value from the old one and a delta. Untouched parts are moved, never copied.

use crate::error::DeltaError;
use crate::{Delta, check, wire};
use serde_json::{Map, Value};

/// The value that `delta` makes of `old`.
///
/// The old value is consumed, so its unchanged parts keep their place in memory; a caller that needs it later clones
/// it. After an error there is no value: a reader discards its state and asks for a keyframe, as §4 demands. The
/// result holds at most what `old` and `delta` hold together.
///
/// # Errors
/// [`DeltaError::Mismatch`] if the delta does not fit `old`: it was made for another version.
pub fn apply(mut old: Value, delta: &Delta) -> Result<Value, DeltaError> {
    edit(&mut old, delta.as_wire())?;
    Ok(old)
}

fn edit(slot: &mut Value, edit: &Value) -> Result<(), DeltaError> {
    match edit {
        Value::Object(members) => object(slot.as_object_mut().ok_or(DeltaError::Mismatch)?, members),
        Value::Array(parts) => match parts.as_slice() {
            [tag, steps @ ..] if wire::is_tag(tag, wire::LIST) => {
                list(slot.as_array_mut().ok_or(DeltaError::Mismatch)?, steps)
            }
            [tag, steps @ ..] if wire::is_tag(tag, wire::TEXT) => {
                *slot = Value::String(text(slot.as_str().ok_or(DeltaError::Mismatch)?, steps)?);
                Ok(())
            }
            [_, value] => {
                *slot = value.clone();
                Ok(())
            }
            _ => Err(DeltaError::Shape),
        },
        _ => {
            *slot = edit.clone();
            Ok(())
        }
    }
}

fn object(old: &mut Map<String, Value>, members: &Map<String, Value>) -> Result<(), DeltaError> {
    for (key, member) in members {
        if check::is_removal(member) {
            old.remove(key).ok_or(DeltaError::Mismatch)?;
        } else if let Some(slot) = old.get_mut(key) {
            edit(slot, member)?;
        } else {
            old.insert(key.clone(), whole(member)?.clone());
        }
    }
    Ok(())
}

/// The value that an edit sets where nothing was before.
fn whole(edit: &Value) -> Result<&Value, DeltaError> {
    match edit {
        Value::Object(_) => Err(DeltaError::Mismatch),
        Value::Array(parts) => match parts.as_slice() {
            [tag, value] if wire::is_tag(tag, wire::REPLACE) => Ok(value),
            _ => Err(DeltaError::Mismatch),
        },
        _ => Ok(edit),
    }
}

fn list(items: &mut Vec<Value>, steps: &[Value]) -> Result<(), DeltaError> {
    let mut steps = steps.iter();
    let mut old = OldList::behind_kept_start(items, &mut steps)?;
    while let Some(step) = steps.next() {
        match step {
            Value::Array(values) => items.extend_from_slice(values),
            Value::Object(_) => items.push(edited(old.next()?, step)?),
            Value::Bool(unchanged) => {
                let index = steps.next().and_then(wire::index).ok_or(DeltaError::Shape)?;
                let item = old.take(index)?;
                items.push(if *unchanged { item } else { edited(item, next_edit(&mut steps)?)? });
            }
            _ => match wire::integer(step).ok_or(DeltaError::Shape)? {
                0 => items.push(edited(old.next()?, next_edit(&mut steps)?)?),
                count if count > 0 => old.keep(count.unsigned_abs(), items)?,
                count => old.skip(count.unsigned_abs())?,
            },
        }
    }
    old.keep_rest(items)
}

fn edited(mut item: Value, step: &Value) -> Result<Value, DeltaError> {
    edit(&mut item, step)?;
    Ok(item)
}

fn next_edit<'a>(steps: &mut std::slice::Iter<'a, Value>) -> Result<&'a Value, DeltaError> {
    steps.next().ok_or(DeltaError::Shape)
}

/// The old elements behind the kept start of a list, each of which can be used once.
struct OldList {
    slots: Vec<Option<Value>>,
    /// How many elements stayed in place in front of the slots.
    kept: usize,
    next: usize,
}

impl OldList {
    /// Leaves in `items` what a first keep step keeps, so that an append moves nothing, and takes the rest out.
    fn behind_kept_start(
        items: &mut Vec<Value>,
        steps: &mut std::slice::Iter<'_, Value>,
    ) -> Result<Self, DeltaError> {
        let kept = steps.as_slice().first().and_then(wire::index).unwrap_or(0);
        if kept > items.len() {
            return Err(DeltaError::Mismatch);
        }
        if kept > 0 {
            steps.next();
        }
        let slots = items.split_off(kept).into_iter().map(Some).collect();
        Ok(Self { slots, kept, next: 0 })
    }

    fn next(&mut self) -> Result<Value, DeltaError> {
        self.next += 1;
        self.slots.get_mut(self.next - 1).and_then(Option::take).ok_or(DeltaError::Mismatch)
    }

    fn take(&mut self, index: usize) -> Result<Value, DeltaError> {
        let slot = index.checked_sub(self.kept).and_then(|index| self.slots.get_mut(index));
        slot.and_then(Option::take).ok_or(DeltaError::Mismatch)
    }

    fn keep(&mut self, count: u64, items: &mut Vec<Value>) -> Result<(), DeltaError> {
        let start = self.next;
        self.skip(count)?;
        for slot in &mut self.slots[start..self.next] {
            items.push(slot.take().ok_or(DeltaError::Mismatch)?);
        }
        Ok(())
    }

    fn skip(&mut self, count: u64) -> Result<(), DeltaError> {
        let count = usize::try_from(count).map_err(|_| DeltaError::Mismatch)?;
        if count > self.slots.len() - self.next {
            return Err(DeltaError::Mismatch);
        }
        self.next += count;
        Ok(())
    }

    fn keep_rest(&mut self, items: &mut Vec<Value>) -> Result<(), DeltaError> {
        self.keep((self.slots.len() - self.next) as u64, items)
    }
}

fn text(old: &str, steps: &[Value]) -> Result<String, DeltaError> {
    let mut rest = old;
    let mut new = String::with_capacity(old.len());
    for step in steps {
        if let Value::String(inserted) = step {
            new.push_str(inserted);
            continue;
        }
        let count = wire::integer(step).ok_or(DeltaError::Shape)?;
        let (run, behind) = split(rest, count.unsigned_abs()).ok_or(DeltaError::Mismatch)?;
        if count > 0 {
            new.push_str(run);
        }
        rest = behind;
    }
    new.push_str(rest);
    Ok(new)
}

/// Splits `text` behind `units` UTF-16 code units; `None` beyond the end or inside a surrogate pair.
fn split(text: &str, units: u64) -> Option<(&str, &str)> {
    let units = usize::try_from(units).ok()?;
    if text.as_bytes().get(..units)?.is_ascii() {
        return text.split_at_checked(units);
    }
    let mut left = units;
    for (at, letter) in text.char_indices() {
        if left == 0 {
            return text.split_at_checked(at);
        }
        left = left.checked_sub(letter.len_utf16())?;
    }
    (left == 0).then_some((text, ""))
}
