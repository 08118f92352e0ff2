//! An edit under construction: its wire form together with what it costs, so that the cheaper of two forms is known
//! without encoding either.

use crate::{cost, wire};
use serde_json::{Map, Value};

/// An edit in wire form and its cost in bytes.
pub(crate) struct Edit {
    pub(crate) wire: Value,
    pub(crate) cost: usize,
}

impl Edit {
    /// The edit that replaces whatever was there by `new`.
    pub(crate) fn replace(new: &Value) -> Self {
        let cost = cost::of(new);
        match new {
            Value::Array(_) | Value::Object(_) => {
                Self { wire: Value::Array(vec![wire::REPLACE.into(), new.clone()]), cost: cost + 2 }
            }
            _ => Self { wire: new.clone(), cost },
        }
    }

    /// This edit, or the replacement by `new` if that costs no more.
    pub(crate) fn or_replace(self, new: &Value) -> Self {
        let overhead = if new.is_array() || new.is_object() { 2 } else { 0 };
        match self.cost.checked_sub(overhead).and_then(|limit| cost::within(new, limit)) {
            Some(_) => Self::replace(new),
            None => self,
        }
    }
}

/// The members of an object edit under construction.
#[derive(Default)]
pub(crate) struct MemberEdits {
    members: Map<String, Value>,
    cost: usize,
}

impl MemberEdits {
    /// Edits or sets the member `key`.
    pub(crate) fn put(&mut self, key: &str, edit: Edit) {
        self.cost += cost::text(key.len()) + edit.cost;
        self.members.insert(key.to_owned(), edit.wire);
    }

    /// Removes the member `key`.
    pub(crate) fn remove(&mut self, key: &str) {
        self.put(key, Edit { wire: Value::Array(Vec::new()), cost: 1 });
    }

    /// The object edit, or `None` if no member changed.
    pub(crate) fn finish(self) -> Option<Edit> {
        let cost = self.cost + cost::header(self.members.len());
        (!self.members.is_empty()).then_some(Edit { wire: Value::Object(self.members), cost })
    }
}

/// The steps of a list or text edit under construction. Runs of one kind are merged, a kept tail is left out.
pub(crate) struct Steps {
    wire: Vec<Value>,
    cost: usize,
    kept: usize,
    removed: usize,
}

impl Steps {
    /// No steps yet, for an edit with this tag.
    pub(crate) fn new(tag: u8) -> Self {
        Self { wire: vec![tag.into()], cost: 1, kept: 0, removed: 0 }
    }

    /// Keeps the next `count` old elements.
    pub(crate) fn keep(&mut self, count: usize) {
        if count > 0 {
            self.write_removed();
            self.kept += count;
        }
    }

    /// Removes the next `count` old elements.
    pub(crate) fn remove(&mut self, count: usize) {
        if count > 0 {
            self.write_kept();
            self.removed += count;
        }
    }

    /// Appends a step that is not a run.
    pub(crate) fn push(&mut self, step: Value, cost: usize) {
        self.write_kept();
        self.write_removed();
        self.raw(step, cost);
    }

    /// The edit, or `None` if it has no step.
    pub(crate) fn finish(mut self) -> Option<Edit> {
        self.write_removed();
        let cost = self.cost + cost::header(self.wire.len());
        (self.wire.len() > 1).then_some(Edit { wire: Value::Array(self.wire), cost })
    }

    fn write_kept(&mut self) {
        if self.kept > 0 {
            self.run(self.kept, 1);
            self.kept = 0;
        }
    }

    fn write_removed(&mut self) {
        if self.removed > 0 {
            self.run(self.removed, -1);
            self.removed = 0;
        }
    }

    fn run(&mut self, count: usize, sign: i64) {
        // Documents of more than 2^63 elements do not exist, so the fallback is never taken.
        let count = sign * i64::try_from(count).unwrap_or(i64::MAX);
        self.raw(count.into(), cost::integer(count));
    }

    fn raw(&mut self, step: Value, cost: usize) {
        self.cost += cost;
        self.wire.push(step);
    }
}
