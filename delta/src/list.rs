//! The edit of a list: runs kept, removed and inserted, elements edited where they stand or moved.

use crate::align::{self, Source};
use crate::edits::{Edit, Steps};
use crate::same::same;
use crate::{cost, diff, wire};
use serde_json::Value;

/// The edit from `old` to `new`, or `None` if they are the same.
pub(crate) fn edit(old: &[Value], new: &[Value]) -> Option<Edit> {
    let front = old.iter().zip(new).take_while(|(a, b)| same(a, b)).count();
    let (old_rest, new_rest) = (&old[front..], &new[front..]);
    if old_rest.is_empty() && new_rest.is_empty() {
        return None;
    }
    let back = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| same(a, b)).count();
    let old_middle = &old_rest[..old_rest.len() - back];
    let new_middle = &new_rest[..new_rest.len() - back];
    let mut writer = Writer {
        steps: Steps::new(wire::LIST),
        offset: front,
        has_moves: false,
        removed: 0,
        fresh: Vec::new(),
    };
    writer.steps.keep(front);
    writer.write(old_middle, new_middle);
    writer.steps.finish()
}

struct Writer<'a> {
    steps: Steps,
    /// The index in the whole old list at which the written part begins.
    offset: usize,
    /// Whether some old element is taken from elsewhere, so that one passed over may not be there to be edited.
    has_moves: bool,
    /// Old elements passed over and not yet written.
    removed: usize,
    /// New elements to insert and not yet written.
    fresh: Vec<&'a Value>,
}

impl<'a> Writer<'a> {
    fn write(&mut self, old: &[Value], new: &'a [Value]) {
        let sources = align::sources(old, new);
        self.has_moves = sources.iter().any(|source| matches!(source, Source::Moved(_)));
        let mut next = 0;
        for (value, source) in new.iter().zip(sources) {
            match source {
                Source::Fresh => self.fresh.push(value),
                Source::Moved(from) => self.moved(from, &old[from], value),
                Source::Kept(from) => {
                    self.removed += from - next;
                    next = from + 1;
                    self.kept(&old[from], value);
                }
            }
        }
        self.removed += old.len() - next;
        self.flush();
    }

    fn kept(&mut self, old: &Value, new: &'a Value) {
        match diff::edit(old, new) {
            None => {
                self.flush();
                self.steps.keep(1);
            }
            Some(edit) if is_replacement(&edit) => {
                self.removed += 1;
                self.fresh.push(new);
            }
            Some(edit) => {
                self.flush();
                self.element(edit);
            }
        }
    }

    fn moved(&mut self, from: usize, old: &Value, new: &'a Value) {
        let edit = diff::edit(old, new);
        if edit.as_ref().is_some_and(is_replacement) {
            return self.fresh.push(new);
        }
        self.flush();
        self.steps.push(edit.is_none().into(), 1);
        // Documents of more than 2^63 elements do not exist, so the fallback is never taken.
        let index = i64::try_from(self.offset + from).unwrap_or(i64::MAX);
        self.steps.push(index.into(), cost::integer(index));
        if let Some(edit) = edit {
            self.steps.push(edit.wire, edit.cost);
        }
    }

    /// Writes an edit of the next old element. An object edit stands for itself, any other follows a 0.
    fn element(&mut self, edit: Edit) {
        if !edit.wire.is_object() {
            self.steps.push(0.into(), 1);
        }
        self.steps.push(edit.wire, edit.cost);
    }

    /// Writes what was passed over and what is to be inserted.
    fn flush(&mut self) {
        let removed = std::mem::take(&mut self.removed);
        match self.fresh.as_slice() {
            [] => self.steps.remove(removed),
            [only] if removed == 1 && !self.has_moves && !only.is_array() && !only.is_object() => {
                let edit = Edit::replace(only);
                self.fresh.clear();
                self.element(edit);
            }
            fresh => {
                let cost =
                    cost::header(fresh.len()) + fresh.iter().map(|value| cost::of(value)).sum::<usize>();
                let values = fresh.iter().map(|value| (*value).clone()).collect();
                self.steps.remove(removed);
                self.steps.push(Value::Array(values), cost);
                self.fresh.clear();
            }
        }
    }
}

/// Whether this edit resends the whole value.
fn is_replacement(edit: &Edit) -> bool {
    match &edit.wire {
        Value::Object(_) => false,
        Value::Array(parts) => parts.first().is_some_and(|tag| wire::is_tag(tag, wire::REPLACE)),
        _ => true,
    }
}
