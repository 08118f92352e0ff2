//! What one client sees of a state, and what it must not.

use playerthree_rooms_state::{Id, View};
use serde_json::{Value, json};
use std::collections::HashSet;

/// Goes through a state with the eyes of a client.
pub(crate) struct Sight<'a> {
    /// `None` where all clients see all.
    view: Option<&'a View>,
    /// The enclosing item, if it has a name; one without is in no view.
    item: Option<Id>,
    hidden: bool,
    secrets: Vec<String>,
    structures: usize,
    /// Shared instances that were come across.
    shared: HashSet<Id>,
}

impl<'a> Sight<'a> {
    /// Of a client that sees all.
    pub(crate) fn of_all() -> Self {
        Self {
            view: None,
            item: Some(Id::ROOT),
            hidden: false,
            secrets: Vec::new(),
            structures: 0,
            shared: HashSet::new(),
        }
    }

    /// Of a client with a view.
    pub(crate) fn through(view: &'a View) -> Self {
        Self { view: Some(view), ..Self::of_all() }
    }

    /// Structures that the client holds.
    pub(crate) fn structures(&self) -> usize {
        self.structures
    }

    /// Texts that the client must not be sent.
    pub(crate) fn secrets(&self) -> &[String] {
        &self.secrets
    }

    /// Comes to a structure.
    pub(crate) fn structure(&mut self) {
        self.structures += usize::from(!self.hidden);
    }

    /// Comes to a shared instance. Whether it is the first time.
    pub(crate) fn shared(&mut self, id: Id) -> bool {
        self.shared.insert(id)
    }

    /// Comes to a text.
    pub(crate) fn text(&mut self, text: &str) -> Value {
        if self.hidden {
            self.secrets.push(text.to_owned());
        }
        json!(text)
    }

    /// Looks into an item that everybody sees.
    pub(crate) fn openly<T>(&mut self, item: Option<Id>, look: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.item, item);
        let seen = look(self);
        self.item = outer;
        seen
    }

    /// Looks at what only views that hold the present item under `tag` show. `None` where the client's does not.
    pub(crate) fn restricted<T>(&mut self, tag: u8, look: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let outer = self.hidden;
        let is_held = |view: &View| self.item.is_some_and(|item| view.contains(item, tag));
        self.hidden |= !self.view.is_none_or(is_held);
        let seen = look(self);
        let hidden = std::mem::replace(&mut self.hidden, outer);
        (!hidden).then_some(seen)
    }

    /// Looks at a field, which a tag may restrict.
    pub(crate) fn field(&mut self, tag: Option<u8>, look: impl FnOnce(&mut Self) -> Value) -> Value {
        match tag {
            Some(tag) => self.restricted(tag, look).unwrap_or(json!("undefined")),
            None => look(self),
        }
    }
}
