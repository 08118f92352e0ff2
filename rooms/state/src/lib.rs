//! Room state that the official Colyseus SDKs decode, of generations 0.16, 0.17 and 0.18 alike: plain Rust structs,
//! what changed in them, and the bytes that tell clients of it. No I/O, no clock, no unsafe.
//!
//! # A state
//!
//! A state is a struct of your own. Its fields are numbers, `bool`, `String`, other such structs, the collections
//! [`Map`], [`List`], [`Set`] and [`Bag`], and an `Option` of any of these:
//!
//! ```
//! use playerthree_rooms_state::{List, Map, Number, State, Synced};
//!
//! #[derive(State, Default)]
//! struct Player {
//!     x: f32,
//!     y: f32,
//!     items: List<String>,
//!     title: Option<String>, // `undefined` at the client while it is `None`
//! }
//!
//! #[derive(State, Default)]
//! struct World {
//!     players: Map<Player>,
//!     #[state(rename = "roundsPlayed")]
//!     rounds_played: Number, // one byte while it is small
//!     #[state(skip)]
//!     seed: u64, // the server's own
//! }
//!
//! let mut world = Synced::new(World::default());
//! world.players.insert("ada", Player::default());
//! if let Some(ada) = world.players.get_mut("ada") {
//!     ada.x += 1.0; // the next patch carries this field alone
//!     ada.items.push("sword".to_owned());
//! }
//! ```
//!
//! A room hands the [`Synced`] out by its `state` method, and everything else happens by itself: a client learns the
//! types when it joins, is given the whole state, and from then on is sent what changed. In the browser it is
//! `room.state.players.get("ada").x`, with the SDK's callbacks, and no class needs to be written there.
//!
//! # How changes are found
//!
//! Fields are plain, assignment is plain: there are no setters. A borrow checker knows what an observer in JavaScript
//! has to intercept: whoever changes a value has borrowed it mutably, and everything that is borrowed mutably came out
//! of a collection or out of the [`Synced`]. Those note what they hand out. Beside each value stands a shadow, the
//! value that clients hold, and a patch compares the two wherever something was handed out, and nowhere else. So a
//! patch costs what was touched, a state that nobody borrowed costs nothing, and a value that was changed and changed
//! back is not sent.
//!
//! Iterating mutably touches what the iterator comes to; where most items stay as they are, look them up instead.
//!
//! Assigning a whole struct changes the instance that clients have: `*player = Player::default()` sends the fields that
//! differ. A new instance is what [`Map::insert`](Table::insert) and [`List::replace`] make of a key or an index that is
//! taken; clients see the old one removed and the new one added. A collection that moves to another place, or a clone
//! of one, is another collection to clients.
//!
//! # Shared fields
//!
//! A type can begin with the fields of another, as a subclass does. Clients see them side by side:
//!
//! ```
//! use playerthree_rooms_state::State;
//!
//! #[derive(State, Default)]
//! struct Place { x: f32, y: f32 }
//!
//! #[derive(State, Default)]
//! struct Tower {
//!     #[state(extends)]
//!     place: Place, // `tower.x` at the client
//!     height: u8,
//! }
//! ```
//!
//! # Shared instances
//!
//! What stands in several places is a [`Shared`]: clients hold one instance there, and a change is sent once.
//!
//! ```
//! use playerthree_rooms_state::{List, Map, Shared, State, Synced};
//!
//! #[derive(State, Default)]
//! struct Card { face: u8 }
//!
//! #[derive(State, Default)]
//! struct Table {
//!     top: Option<Shared<Card>>,
//!     pile: List<Shared<Card>>,
//!     marked: Map<Shared<Card>>,
//! }
//!
//! let mut table = Synced::new(Table::default());
//! let ace = Shared::new(Card { face: 1 });
//! table.pile.push(ace.clone());
//! table.top = Some(ace.clone());
//! ace.borrow_mut().face = 14; // told once, and seen in both places
//! ```
//!
//! It stays the same instance as long as one place has it at the end of each tick; one that comes back after that is a
//! new one to clients. Fields, maps and lists hold shared instances; sets and bags do not, and neither does anything
//! that only some clients see: where it is nested too deep for the compiler to tell, the room is closed with
//! [`Fault::SharedInView`]. The instance's own restricted fields are seen by the views that hold [`Shared::id`]. An
//! instance belongs to one state ([`Fault::SharedElsewhere`]). Ticks that take something away search the state for
//! shared instances, if it has any.
//!
//! # Views
//!
//! `#[state(view)]` restricts a field to the clients whose [`View`] holds the item the field is in: the nearest
//! enclosing item of a collection, or [`Id::ROOT`]. A [`ViewMap`] is a map of which a client sees the items its view
//! holds. Nothing else is in a byte that the client is sent, and what leaves a view is removed at the client.
//! What is hidden is not uncounted: references and indexes number hidden structures and entries too, so that a client
//! can tell from the gaps how many there were.
//!
//! ```
//! use playerthree_rooms_state::{List, Map, State, Synced, View, ViewMap};
//!
//! #[derive(State, Default)]
//! struct Player {
//!     name: String,
//!     #[state(view)]
//!     hand: List<u8>, // its owner's alone
//! }
//!
//! #[derive(State, Default)]
//! struct Table {
//!     players: Map<Player>,
//!     ghosts: ViewMap<Player>, // each client sees those that haunt it
//! }
//!
//! let mut table = Synced::new(Table::default());
//! let mut view = View::default(); // a room has one for each client: `cx.view(client)`
//! table.players.insert("ada", Player::default());
//! if let Some(ada) = table.players.id("ada") {
//!     view.add(ada);
//! }
//! ```
//!
//! # Types
//!
//! | Rust | on the wire | in JavaScript |
//! | --- | --- | --- |
//! | `i8` … `u32`, `f32`, `f64` | `int8` … `uint32`, `float32`, `float64` | number |
//! | `i64`, `u64` | `int64`, `uint64` | number, exact up to 2^53 |
//! | [`BigInt`], [`BigUint`] | `bigint64`, `biguint64` | BigInt |
//! | [`Number`] | `number`, 1 to 9 bytes, never rounded | number |
//! | `bool`, `String` | `boolean`, `string` | boolean, string |
//! | [`Map`], [`ViewMap`] | `map` | `MapSchema` |
//! | [`List`] | `array` | `ArraySchema` |
//! | [`Set`], [`Bag`] | `set`, `collection` | `SetSchema`, `CollectionSchema` |
//!
//! In a [`Set`] of floats 0 and −0 are one item, and so is every NaN: a JavaScript set tells them apart no better.
//!
//! What the format cannot carry does not compile: a type it has no name for,
//!
//! ```compile_fail
//! #[derive(playerthree_rooms_state::State)]
//! struct Wrong { when: std::time::Duration }
//! ```
//!
//! a collection of collections or of options,
//!
//! ```compile_fail
//! use playerthree_rooms_state::{List, State};
//! #[derive(State)]
//! struct Wrong { rows: List<List<u8>> }
//! ```
//!
//! ```compile_fail
//! use playerthree_rooms_state::{List, State};
//! #[derive(State)]
//! struct Wrong { gaps: List<Option<u8>> }
//! ```
//!
//! a set of what cannot be told apart,
//!
//! ```compile_fail
//! use playerthree_rooms_state::{Set, State};
//! #[derive(State)]
//! struct Point { x: f32 }
//! #[derive(State)]
//! struct Wrong { points: Set<Point> }
//! ```
//!
//! two kinds of absence,
//!
//! ```compile_fail
//! #[derive(playerthree_rooms_state::State)]
//! struct Wrong { maybe: Option<Option<u8>> }
//! ```
//!
//! enums, tuples and generic types,
//!
//! ```compile_fail
//! #[derive(playerthree_rooms_state::State)]
//! enum Wrong { A, B }
//! ```
//!
//! ```compile_fail
//! #[derive(playerthree_rooms_state::State)]
//! struct Wrong(u8);
//! ```
//!
//! ```compile_fail
//! #[derive(playerthree_rooms_state::State)]
//! struct Wrong<T> { value: T }
//! ```
//!
//! a parent that is not first, or a name or tag that does not exist,
//!
//! ```compile_fail
//! use playerthree_rooms_state::State;
//! #[derive(State)]
//! struct Parent { x: f32 }
//! #[derive(State)]
//! struct Wrong { y: f32, #[state(extends)] parent: Parent }
//! ```
//!
//! ```compile_fail
//! #[derive(playerthree_rooms_state::State)]
//! struct Wrong { #[state(view = 64)] x: f32 }
//! ```
//!
//! or a shared instance where the decoders of some generation miscount it, or where only some clients see it.
//!
//! ```compile_fail
//! use playerthree_rooms_state::{Bag, Shared, State};
//! #[derive(State)]
//! struct Point { x: f32 }
//! let bag = Bag::<Shared<Point>>::new();
//! ```
//!
//! ```compile_fail
//! use playerthree_rooms_state::{Shared, State};
//! #[derive(State)]
//! struct Point { x: f32 }
//! #[derive(State)]
//! struct Wrong { #[state(view)] secret: Shared<Point> }
//! ```
//!
//! So is a name that a decoder uses for itself, or one that the parent has.
//!
//! ```compile_fail
//! #[derive(playerthree_rooms_state::State)]
//! struct Wrong { constructor: u8 }
//! ```
//!
//! ```compile_fail
//! use playerthree_rooms_state::State;
//! #[derive(State)]
//! struct Parent { x: f32 }
//! #[derive(State)]
//! struct Wrong { #[state(extends)] parent: Parent, #[state(rename = "x")] left: f32 }
//! ```
//!
//! # Limits
//!
//! | what | most | past it |
//! | --- | --- | --- |
//! | fields of a type, inherited ones included | [`MAX_FIELDS`] | does not compile |
//! | types of a state | [`MAX_TYPES`] | [`TooManyTypes`], the room is not created |
//! | structs inside each other | [`MAX_DEPTH`] | [`Fault::TooDeep`], the room is closed |
//! | structures over a room's life | [`MAX_REFS`] | [`Fault::NoReferences`], the room is closed |
//! | items of a collection | 2^32 − 1 | [`Fault::NoIndexes`], the room is closed |
//! | entries of a view | [`MAX_VIEW_ENTRIES`] | [`View::add`] returns false |
//! | bytes of a full state or a patch, for one client | a room's `outbound_queue_bytes` | the room is closed |
//!
//! # One stream for three generations
//!
//! The decoders of the three generations differ where the format's authors changed their minds. Patches use only the
//! operations that all read alike: items are inserted into a [`List`] by writing it again from there on, and a removal
//! from a [`Set`] or [`Bag`] is told by what stays. These two can take more bytes than an official encoder,
//! which speaks to one generation. Only the reflection of the types is written per [`Dialect`].

mod bag;
mod bytes;
mod identity;
mod list;
mod map;
mod object;
mod reflection;
mod scalar;
mod segments;
mod set;
mod shared;
mod synced;
mod value;
mod view;
mod writer;

pub use bag::{Bag, BagKey};
pub use list::List;
pub use map::{Map, Table, ViewMap};
pub use object::{MAX_FIELDS, State};
pub use playerthree_rooms_state_derive::State;
pub use reflection::{Dialect, MAX_TYPES};
pub use scalar::{BigInt, BigUint, Number};
pub use set::{Distinct, Set};
pub use shared::{Ref, RefMut, Shared};
pub use synced::{Full, Patch, Synced, Synchronized, TooManyTypes};
pub use value::{Item, Present, Value};
pub use view::{Id, MAX_VIEW_ENTRIES, Tag, View};
pub use writer::{Fault, Joining, MAX_DEPTH, MAX_REFS};

/// What `#[derive(State)]` writes against.
#[doc(hidden)]
pub mod derive {
    pub use crate::object::{Group, Names};
    pub use crate::reflection::{TypeBuilder, Types};
    pub use crate::shared::Search;
    pub use crate::value::{patch_field, repeat_field, withdraw_field};
    pub use crate::writer::{Fields, Writer};
}
