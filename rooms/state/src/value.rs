//! What a field or an item can be, and how one of it is written.
//!
//! Each value has a shadow beside it: what the clients hold. A patch is the difference between the two, and leaves
//! them equal. Implementations are this crate's own and the derive's.

use crate::reflection::{Kind, Types};
use crate::shared::Search;
use crate::writer::{ADD, DELETE, DELETE_AND_ADD, Fields, Joining, Writer};

/// How a value differs from what the clients hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum Delta {
    Same,
    /// A value they have to be told.
    Set,
    /// Another structure in the place of one they hold.
    Replaced,
    /// They hold one, and there is none.
    Gone,
}

/// A type that a field can have: numbers, `bool`, `String`, structs that derive [`State`](crate::State), the
/// collections of this crate, and an `Option` of any of these.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of a state",
    label = "clients' decoders have no such type",
    note = "fields are numbers, `bool`, `String`, structs that derive `State`, the collections of this crate, or an \
            `Option` of these"
)]
pub trait Value: Sized + Send + 'static {
    /// What the clients hold.
    #[doc(hidden)]
    type Shadow: Default + Send + 'static;

    /// Whether it is written as a reference, its content following later.
    #[doc(hidden)]
    const IS_REFERENCE: bool;

    /// Whether it is a struct, a [`Shared`](crate::Shared) one or an `Option` of one.
    #[doc(hidden)]
    const IS_INSTANCE: bool = false;

    /// Whether it is a [`Shared`](crate::Shared) instance, or an `Option` or collection of such.
    #[doc(hidden)]
    const SHARES: bool = false;

    /// How the reflection names it.
    #[doc(hidden)]
    fn kind(types: &mut Types) -> Kind;

    /// Compares with what the clients hold. In a `fresh` structure they hold nothing.
    #[doc(hidden)]
    fn delta(&self, shadow: &Self::Shadow, fresh: bool) -> Delta;

    /// Writes the value, for which `delta` was [`Delta::Set`] or [`Delta::Replaced`].
    #[doc(hidden)]
    fn write(&mut self, shadow: &mut Self::Shadow, w: &mut Writer);

    /// Writes the operation of a field, and the value after it.
    #[doc(hidden)]
    #[inline]
    fn write_field(&mut self, op: u8, shadow: &mut Self::Shadow, fields: &mut Fields<'_>) {
        fields.with(|w| {
            w.op(op);
            self.write(shadow, w);
        });
    }

    /// Writes a value that the shadow equals. Returns false, without a byte, where there is none.
    #[doc(hidden)]
    fn repeat(&self, op: impl FnOnce(&mut Writer), shadow: &Self::Shadow, w: &mut Writer) -> bool;

    /// Writes what changed inside a structure.
    #[doc(hidden)]
    #[inline]
    fn patch_content(&mut self, shadow: &mut Self::Shadow, w: &mut Writer) {
        let _ = (shadow, w);
    }

    /// Writes all that is inside a structure.
    #[doc(hidden)]
    #[inline]
    fn repeat_content(&self, shadow: &Self::Shadow, w: &mut Writer) {
        let _ = (shadow, w);
    }

    /// Looks for shared instances.
    #[doc(hidden)]
    #[inline]
    fn find_shared(&self, search: &mut Search) {
        let _ = search;
    }
}

/// A type that a collection can hold: numbers, `bool`, `String`, and structs that derive [`State`](crate::State).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an item of a collection",
    label = "the format has no collection of these",
    note = "items are numbers, `bool`, `String`, or structs that derive `State`; put a collection or an `Option` \
            into a struct"
)]
pub trait Item: Present {
    /// Whether an assignment changes the instance that clients hold, and never names another.
    #[doc(hidden)]
    const IN_PLACE: bool = Self::IS_REFERENCE && !Self::SHARES;
}

/// A type whose every value is there: what an `Option` can be of.
#[diagnostic::on_unimplemented(
    message = "`Option<{Self}>` cannot be a field of a state",
    label = "clients know one `undefined`, not two"
)]
pub trait Present: Value {}

/// Writes a field of a structure if it changed.
#[doc(hidden)]
#[inline]
pub fn patch_field<V: Value>(
    index: u8,
    value: &mut V,
    shadow: &mut V::Shadow,
    fresh: bool,
    fields: &mut Fields<'_>,
) {
    match value.delta(shadow, fresh) {
        Delta::Same => {}
        Delta::Set => value.write_field(ADD | index, shadow, fields),
        Delta::Replaced => value.write_field(DELETE_AND_ADD | index, shadow, fields),
        Delta::Gone => {
            fields.with(|w| w.op(DELETE | index));
            *shadow = V::Shadow::default();
        }
    }
}

/// Writes a field of a structure in full. A client that kept what it held is told of fields without a value, and lets go
/// of the instance that it has in a field: it may be another.
#[doc(hidden)]
pub fn repeat_field<V: Value>(index: u8, value: &V, shadow: &V::Shadow, w: &mut Writer) {
    let is_kept = w.joining != Joining::New;
    let op = if is_kept && V::IS_INSTANCE { DELETE_AND_ADD } else { ADD };
    let written = value.repeat(|w| w.op(op | index), shadow, w);
    if !written && is_kept {
        w.op(DELETE | index);
    }
}

/// Takes a field of a structure away.
#[doc(hidden)]
pub fn withdraw_field(index: u8, w: &mut Writer) {
    w.op(DELETE | index);
}

impl<V: Present> Value for Option<V> {
    type Shadow = Option<V::Shadow>;
    const IS_REFERENCE: bool = V::IS_REFERENCE;
    const IS_INSTANCE: bool = V::IS_INSTANCE;
    const SHARES: bool = V::SHARES;

    fn kind(types: &mut Types) -> Kind {
        V::kind(types)
    }

    #[inline]
    fn delta(&self, shadow: &Self::Shadow, fresh: bool) -> Delta {
        match (self, shadow) {
            (Some(value), Some(held)) => value.delta(held, fresh),
            (Some(_), None) => Delta::Set,
            (None, Some(_)) if !fresh => Delta::Gone,
            (None, _) => Delta::Same,
        }
    }

    fn write(&mut self, shadow: &mut Self::Shadow, w: &mut Writer) {
        if let Some(value) = self {
            value.write(shadow.get_or_insert_default(), w);
        }
    }

    #[inline]
    fn write_field(&mut self, op: u8, shadow: &mut Self::Shadow, fields: &mut Fields<'_>) {
        if let Some(value) = self {
            value.write_field(op, shadow.get_or_insert_default(), fields);
        }
    }

    fn repeat(&self, op: impl FnOnce(&mut Writer), shadow: &Self::Shadow, w: &mut Writer) -> bool {
        match (self, shadow) {
            (Some(value), Some(held)) => value.repeat(op, held, w),
            _ => false,
        }
    }

    #[inline]
    fn patch_content(&mut self, shadow: &mut Self::Shadow, w: &mut Writer) {
        if let (Some(value), Some(held)) = (self, shadow) {
            value.patch_content(held, w);
        }
    }

    fn repeat_content(&self, shadow: &Self::Shadow, w: &mut Writer) {
        if let (Some(value), Some(held)) = (self, shadow) {
            value.repeat_content(held, w);
        }
    }

    fn find_shared(&self, search: &mut Search) {
        if let Some(value) = self {
            value.find_shared(search);
        }
    }
}
