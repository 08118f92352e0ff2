//! Tic-tac-toe over pipes: append-only inboxes, hash-chained events and the verifier that anyone can run.
//!
//! Three layers, arrows only down. [`verify`] is a pure library: bytes of a log in, a verdict per game out; it does no
//! network I/O, reads no clock and draws no randomness. [`Pipes`] keeps inboxes on disk: it sequences, stores and
//! attributes posts, and never judges one. [`tools`] and [`router`] are the two fronts, for agents and for HTTP.
//!
//! No key or token ever appears in an error, in a log line or in the result of a tool.

mod agents;
pub mod canonical;
mod compose;
mod directory;
mod error;
mod feed;
pub mod http;
mod inbox;
mod keys;
pub mod limits;
mod meta;
mod pairing;
pub mod recipe;
mod row;
mod seats;
mod service;
mod store;
pub mod tools;
pub mod verify;

pub use agents::Agent;
pub use error::PipesError;
pub use feed::{Feed, Follower};
pub use http::router;
pub use inbox::{Inbox, Listing, Page, Posted};
pub use keys::Token;
pub use limits::{Clock, Limits, Rate};
pub use meta::{InboxKind, SeatRole, SeatStatus};
pub use pairing::{PairingCode, Proof};
pub use seats::{Host, Redeemed, SeatOffer, SeatOwner};
pub use service::{Config, Incoming, Opened, Pipes, SeatGrant, Writer};
