//! Structural deltas between two JSON values: what changed from one version of a view to the next, in few bytes.
//!
//! [`diff`] compares two values and yields a [`Delta`], [`apply`] rebuilds the new value from the old one. The wire
//! form is plain JSON, described for client authors in `FORMAT.md`; §4 and §20.9 of the specification send it in view
//! and observer streams. Both functions are deterministic.
//!
//! The crate does no I/O, reads no clock, draws no randomness, and knows nothing of rooms or matches. A delta that
//! arrives from outside is checked by [`Delta::decode`] before anything is built from it; a refusal is one of the
//! closed codes of [`DeltaError`] and never repeats what was received.

mod align;
mod apply;
mod check;
mod cost;
mod diff;
mod edits;
mod error;
mod list;
mod same;
mod text;
mod wire;

pub use apply::apply;
pub use check::{MAX_DEPTH, MAX_EDITS, MAX_WEIGHT};
pub use diff::diff;
pub use error::DeltaError;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// The version of the wire format that this crate reads and writes. It travels beside a stream, never in each delta.
pub const FORMAT_VERSION: u32 = 1;

/// What changed between two JSON values, in wire form.
///
/// A `Delta` is always well formed and within [`MAX_DEPTH`], [`MAX_EDITS`] and [`MAX_WEIGHT`] when it came through
/// [`Delta::decode`] or serde. One made by [`diff`] is well formed too; it exceeds the depth or the weight only if the
/// new value itself does.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Delta(Value);

impl Delta {
    /// Takes a delta in wire form that was received from outside.
    ///
    /// # Errors
    /// [`DeltaError::Shape`], [`DeltaError::Depth`], [`DeltaError::Edits`] or [`DeltaError::Weight`].
    pub fn decode(wire: Value) -> Result<Self, DeltaError> {
        check::check(&wire)?;
        Ok(Self(wire))
    }

    /// The wire form, to be serialized into a message.
    pub fn as_wire(&self) -> &Value {
        &self.0
    }

    /// The wire form by value.
    pub fn into_wire(self) -> Value {
        self.0
    }
}

impl<'de> Deserialize<'de> for Delta {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::decode(Value::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}
