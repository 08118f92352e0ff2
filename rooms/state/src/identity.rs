//! What clients know a collection by: its reference, and the name under which the place it is in remembers it.

use crate::value::{Delta, Item};
use crate::view::Id;
use crate::writer::{ADD, DELETE, DELETE_AND_ADD, Fields, Writer};

impl Delta {
    /// Of what is named `own` in a place where the clients hold what is named `held`. References would not do: those
    /// of two states are alike.
    pub(crate) fn of_identity(own: Id, held: Option<Id>, fresh: bool) -> Self {
        match held {
            Some(held) if !fresh && held == own => Self::Same,
            Some(_) if !fresh => Self::Replaced,
            _ => Self::Set,
        }
    }
}

/// A collection as clients know it.
pub(crate) struct Identity {
    /// Zero before clients were told of the collection.
    pub(crate) reference: u32,
    told: Id,
}

impl Identity {
    /// Of a collection that clients were not told of.
    pub(crate) const UNTOLD: Self = Self { reference: 0, told: Id::NONE };

    /// How the collection differs from what clients hold in its place.
    pub(crate) fn delta(&self, held: Option<Id>, fresh: bool) -> Delta {
        Delta::of_identity(self.told, held, fresh)
    }

    /// Introduces the collection to clients, as one that they never saw.
    pub(crate) fn introduce(&mut self, held: &mut Option<Id>, w: &mut Writer) {
        *self = Self { reference: w.fresh_ref(), told: Id::fresh() };
        *held = Some(self.told);
        w.count(self.reference);
    }

    /// Says the collection's reference again.
    pub(crate) fn repeat(&self, op: impl FnOnce(&mut Writer), w: &mut Writer) -> bool {
        op(w);
        w.count(self.reference);
        true
    }
}

/// Writes a field that holds another collection than before.
pub(crate) fn write_field<T: Item>(op: u8, fields: &mut Fields<'_>, write: impl FnOnce(&mut Writer)) {
    fields.with(|w| {
        if T::SHARES && op & DELETE_AND_ADD == DELETE_AND_ADD {
            // Decoders of generation 0.16 let go twice of what is in a collection that another replaces.
            let index = op & !DELETE_AND_ADD;
            w.op(DELETE | index);
            w.op(ADD | index);
        } else {
            w.op(op);
        }
        write(w);
    });
}
