//! One recorded input and its form on the wire (§10 "Intent entries", §18, §22.4): an array that begins with the tick,
//! the side, the role and the kind.

use playerthree_game::{Context, Controller, Name, Seat};
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::Arc;

/// A JSON value kept as its compact text, which takes a tenth of the value's memory. Copies share it.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct JsonText(Arc<RawValue>);

impl JsonText {
    /// Keeps a value.
    pub fn of(value: &Value) -> Self {
        #[expect(clippy::expect_used, reason = "a Value has string keys and only finite numbers")]
        Self(serde_json::value::to_raw_value(value).expect("a value has a JSON text").into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// The value again.
    pub fn value(&self) -> Value {
        #[expect(clippy::expect_used, reason = "the text was written from a value, which nests no deeper")]
        serde_json::from_str(self.as_str()).expect("the text of a value")
    }
}

impl PartialEq for JsonText {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

/// Why a seat no longer pauses its session (§18).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ResumeReason {
    /// Its agent called.
    Present,
    /// Its owner changed its controller or mandate.
    Owner,
    /// It paused the session for as long as it may.
    Timeout,
}

impl ResumeReason {
    /// All reasons, in the order of the contract.
    pub const ALL: [Self; 3] = [Self::Present, Self::Owner, Self::Timeout];

    /// The reason on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Present => "present",
            Self::Owner => "owner",
            Self::Timeout => "timeout",
        }
    }
}

/// The one reason for which a seat pauses its session (§18).
pub(crate) const PAUSE_REASON: &str = "agent_absent";

/// What reached the game or its boards, or was decided about its clock.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// An intent that reached the game's `apply`, whether or not the game took it.
    Intent {
        /// The intent, as its schema accepted it.
        intent: JsonText,
        /// The circumstances that the game was told.
        context: Context,
    },
    /// A signal intent that the team's board took (§22.4).
    Signal(JsonText),
    /// What the game was told of a seat.
    Seat {
        /// Who holds it.
        controller: Controller,
        /// The whole mandate.
        mandate: JsonText,
    },
    /// The seat holds the session: its agent is absent (§18).
    Pause,
    /// The seat holds the session no longer.
    Resume(ResumeReason),
    /// The side concedes. The entry's role is the manifest's first one.
    Forfeit,
}

/// One entry of a replay.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Ticks that the game had stepped.
    pub tick: u64,
    /// Whose input it is.
    pub seat: Seat,
    /// What it is.
    pub input: Input,
}

#[derive(Serialize)]
struct SeatChange<'a> {
    controller: Controller,
    mandate: &'a JsonText,
}

impl Serialize for Entry {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (tick, team, role) = (self.tick, &*self.seat.team, &*self.seat.role);
        match &self.input {
            Input::Intent { intent, context: Context { source, owner_roles: None } } => {
                (tick, team, role, "intent", intent, source).serialize(to)
            }
            Input::Intent { intent, context: Context { source, owner_roles: Some(roles) } } => {
                (tick, team, role, "intent", intent, source, roles).serialize(to)
            }
            Input::Signal(intent) => (tick, team, role, "signal", intent).serialize(to),
            Input::Seat { controller, mandate } => {
                (tick, team, role, "seat", SeatChange { controller: *controller, mandate }).serialize(to)
            }
            Input::Pause => (tick, team, role, "pause", PAUSE_REASON).serialize(to),
            Input::Resume(reason) => (tick, team, role, "resume", reason).serialize(to),
            Input::Forfeit => (tick, team, role, "forfeit").serialize(to),
        }
    }
}

impl Entry {
    /// About how many bytes of JSON the entry takes, at least as many as it does in a game with short names.
    pub(crate) fn weight(&self) -> usize {
        let names = |names: &[Name]| names.iter().map(|name| name.len() + 3).sum::<usize>();
        let input = match &self.input {
            Input::Intent { intent, context } => {
                intent.as_str().len() + 24 + context.owner_roles.as_deref().map_or(0, names)
            }
            Input::Signal(intent) => intent.as_str().len() + 12,
            Input::Seat { mandate, .. } => mandate.as_str().len() + 48,
            Input::Pause | Input::Resume(_) | Input::Forfeit => 24,
        };
        input + self.seat.team.len() + self.seat.role.len() + 24
    }
}
