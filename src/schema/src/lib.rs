//! The closed schema vocabulary of a game's contract (§3), canonical JSON and hashes.
//!
//! This crate does no I/O, reads no clock and knows no game. No error of it carries any part of a rejected value.

mod budget;
mod canonical;
mod check;
mod default;
mod described;
mod grammar;
mod invalid;
mod json_schema;
mod merge;
mod node;
mod ordered;
mod pattern;
mod validate;
mod wire;

pub use canonical::{canonical, sha256_hex};
pub use check::{MAX_SCHEMA_DEPTH, SchemaFault};
pub use described::{Described, VariantDoc};
pub use grammar::{MAX_SAFE, is_field_name, is_id_prefix, is_literal, utf16_len};
pub use invalid::{Invalid, PathPart, SchemaCode};
pub use merge::merge;
pub use node::{Fields, Kind, Merge, Schema, t};
pub use ordered::{NotJson, Ordered, strict_json};
pub use playerthree_schema_derive::Described;
pub use validate::validate_fields;
