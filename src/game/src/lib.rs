//! What a game is: its manifest, the adapter contract, and what an agent may know of it.
//!
//! This crate does no I/O and reads no clock.

mod adapter;
mod manifest;

pub use adapter::{
    Bot, CannotCreate, Clock, Context, Controller, Game, GameMatch, Name, NoForfeit, Outcome, Seat, SeatInfo, Setup,
    Source, ViewKind,
};
pub use manifest::{
    ChatLimits, Control, IntentKind, IntentLimits, Manifest, ObservationScope, PauseLimits, PolicyLimits, PoolLimits,
    PracticeLimits, Runtime, SequenceLimits, SignalKind, SignalLimits, SignalSkill, Signals, Skill, StreamLimits, Topic,
};
pub use playerthree_schema::{Fields, Schema, t};
