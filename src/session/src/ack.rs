//! The answer to one intent (§4 `IntentAck`). It never carries any part of the intent.

use crate::gates::Barred;
use playerthree_game::{Name, SignalRefusal};
use playerthree_schema::Invalid;
use serde_json::{Value, json};

/// The answer to one intent.
#[derive(Clone, Debug, PartialEq)]
pub enum Ack {
    /// The game took it.
    Ok,
    /// Out of its schema.
    Invalid(Invalid),
    /// This role may not send this kind.
    ForbiddenRole,
    /// The sender may not act for the seat.
    Barred(Barred),
    /// The seat's bucket is empty, or the tick is full.
    RateLimited,
    /// The signal board refuses it (§22.2).
    Signal(SignalRefusal),
    /// The game's rules forbid it, with the manifest's error code.
    Game(Name),
}

impl Ack {
    /// The closed code: `ok`, the ack code, or the board's or the game's own code.
    pub fn code(&self) -> &str {
        match self {
            Self::Ok => "ok",
            Self::Invalid(_) => "invalid",
            Self::ForbiddenRole => "forbidden_role",
            Self::Barred(barred) => barred.as_str(),
            Self::RateLimited => "rate_limited",
            Self::Signal(refusal) => refusal.as_str(),
            Self::Game(code) => code,
        }
    }

    /// The ack on the wire.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Ok => json!({ "ok": true }),
            Self::Invalid(invalid) => json!({
                "ok": false, "code": "invalid", "schemaCode": invalid.code.as_str(), "path": invalid.path_json(),
            }),
            Self::Signal(refusal) => json!({ "ok": false, "code": "signal", "signalCode": refusal.as_str() }),
            Self::Game(code) => json!({ "ok": false, "code": "game", "gameCode": code }),
            other => json!({ "ok": false, "code": other.code() }),
        }
    }
}

impl From<SignalRefusal> for Ack {
    fn from(refusal: SignalRefusal) -> Self {
        match refusal {
            SignalRefusal::ForbiddenRole => Self::ForbiddenRole,
            SignalRefusal::RateLimited => Self::RateLimited,
            other => Self::Signal(other),
        }
    }
}
