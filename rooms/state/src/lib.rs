//! Room state that the official Colyseus SDKs decode, of generations 0.16, 0.17 and 0.18 alike.

mod bag;
mod bytes;
mod list;
mod map;
mod object;
mod reflection;
mod scalar;
mod synced;
mod value;
mod view;
mod writer;

pub use bag::{Bag, BagKey, Set};
pub use list::List;
pub use map::{Map, Table, ViewMap};
pub use object::{MAX_FIELDS, State};
pub use playerthree_rooms_state_derive::State;
pub use reflection::{Dialect, MAX_TYPES};
pub use scalar::{BigInt, BigUint, Number};
pub use synced::{Full, Patch, Synced, Synchronized, TooManyTypes};
pub use value::{Item, Present, Value};
pub use view::{Id, MAX_VIEW_ENTRIES, Tag, View};
pub use writer::{Fault, Joining, MAX_DEPTH, MAX_REFS};

/// What `#[derive(State)]` writes against.
#[doc(hidden)]
pub mod derive {
    pub use crate::object::Group;
    pub use crate::reflection::{TypeBuilder, Types};
    pub use crate::value::{patch_field, repeat_field, withdraw_field};
    pub use crate::writer::Writer;
}
