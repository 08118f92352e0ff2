//! The closed schema vocabulary of a game's contract (§3), canonical JSON and hashes.
//!
//! This crate does no I/O, reads no clock and knows no game. No error of it carries any part of a rejected value.

mod node;

pub use node::{Fields, Kind, Merge, Schema, t};
