//! A room server that the official Colyseus SDKs join unchanged; the front page of the crate is its README.
#![doc = include_str!("../README.md")]
//! # Where to look
//!
//! [`Room`] has every moment of a room's life and its clients', [`Cx`] all that a handler can do, [`RoomSettings`] how
//! rooms are found, [`schema`] what a state is made of, [`builtin`] rooms that are ready, [`testing`] what tests are
//! written with.
//!
//! A room is an actor: everything reaches it through one bounded mailbox, and its handlers are plain methods. Clients
//! are fed through queues that are bounded in bytes; a slow one is closed and never slows its room. A message for many
//! is encoded once. Every limit is in [`Config`], every reason for which a connection ends in [`CloseReason`], every
//! way to say no in [`Refusal`].
//!
//! Those who know Colyseus find `onAuth` as [`Definition::authorize`], `onCreate` as [`Definition::create`], `messages`
//! as [`Definition::messages`], `filterBy` and `sortBy` in [`RoomSettings`], `matchMaker` as the methods of [`Server`],
//! `clock` and `setSimulationInterval` as [`Cx::set_timeout`] and [`Cx::set_fixed_step`], and drivers and presences as
//! [`Driver`] and [`Presence`].
//!
//! This crate never: interprets what an application sends, keeps a reconnection token in clear, repeats a client's
//! input in an error, or holds a lock while it waits, but for one a kind of room that lets simultaneous `joinOrCreate`
//! share a room.

mod actor;
mod address;
mod arrivals;
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
mod home;
mod http;
mod id;
mod inflow;
mod later;
mod mail;
mod matchmaker;
mod message;
mod messages;
mod metrics;
mod origin;
mod outbox;
mod pace;
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
mod weight;
mod wire;

#[cfg(test)]
mod tests;

pub use address::{Source, SourceRate, client as client_address};
pub use close::{CloseReason, Retry};
pub use config::{Config, ConfigError, DecodeLimits, ServeLimits};
pub use counters::Snapshot;
pub use cx::{AutoDispose, Cx, MetadataTooLarge, TimerId, Visibility};
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
/// What the state of a room is made of. A struct that derives its `State` says where the crate is:
/// `#[state(crate = "playerthree_rooms::schema")]`.
pub use playerthree_rooms_state as schema;
pub use presence::{Delivery, MemoryPresence, Pending, Presence, PresenceError, Subscription};
pub use refusal::Refusal;
pub use registry::Listing;
pub use request::{Reply, Request, RequestId};
pub use room::{AuthRequest, Definition, Join, Room, RoomSettings};
pub use serve::serve;
pub use server::{Server, ServerBuilder, Stragglers};
