//! A room server that the official Colyseus SDKs join unchanged.
//!
//! An application writes a [`Room`] and a [`Definition`] for each kind of room, collects them in a [`Server`], and
//! serves [`Server::router`] next to its own routes. `examples/chat.rs` is a whole program.
//!
//! A room is an actor: one task owns its state, everything reaches it through one bounded mailbox, and its handlers
//! are plain methods. Clients are fed through queues that are bounded in bytes; a slow one is closed and never slows
//! its room. A message for many is encoded once. Every limit is in [`Config`], every reason for which a connection
//! ends in [`CloseReason`].
//!
//! This crate never: interprets what an application sends, keeps a reconnection token in clear, repeats a client's
//! input in an error, or holds a lock while it waits.

mod actor;
mod address;
pub mod builtin;
mod close;
mod config;
mod connection;
mod core;
mod counters;
mod cx;
mod definition;
mod driver;
mod frame;
mod generation;
mod http;
mod id;
mod later;
mod mail;
mod matchmaker;
mod message;
mod messages;
mod metrics;
mod origin;
mod outbox;
mod pack;
mod presence;
mod probe;
mod rate;
mod refusal;
mod registry;
mod request;
mod room;
mod schedule;
mod serve;
mod server;
mod shared;
mod socket;
mod state;
mod stream;
mod sync;
pub mod testing;
mod upgrade;
mod wire;

#[cfg(test)]
mod tests;

pub use close::{CloseReason, Retry};
pub use config::{Config, ConfigError, DecodeLimits, ServeLimits};
pub use counters::Snapshot;
pub use cx::{AutoDispose, Cx, TimerId, Visibility};
pub use driver::{Among, Driver, DriverError, MemoryDriver, Order, Query, SortBy, SortField};
pub use frame::Frame;
pub use generation::Generation;
pub use id::{ProcessId, RoomId, SessionId};
pub use later::AfterPatch;
pub use mail::{PostError, RoomGone, RoomHandle};
pub use matchmaker::{GroupRefused, Method, SeatReservation};
pub use message::{BadMessage, Message, MessageType, Payload};
pub use messages::Messages;
pub use origin::Origins;
pub use pack::EncodeError;
pub use presence::{Delivery, MemoryPresence, Pending, Presence, PresenceError, Subscription};
pub use refusal::Refusal;
pub use registry::Listing;
pub use request::{Reply, Request, RequestId};
pub use room::{AuthRequest, Definition, Join, Room, RoomSettings};
pub use serve::serve;
pub use server::{Server, ServerBuilder, Stragglers};
