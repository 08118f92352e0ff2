//! Who may observe a match, and what of it (§20.9): policies, grants and perspectives. The frames are in `history`, when
//! they are made in `pace`.
//!
//! Nothing here says who a person is: admission by player history is the binding's.

mod history;
mod pace;
mod track;

pub use history::ObserverFrame;
pub(crate) use history::ObserverHistory;
pub use track::{FrameContent, FrameKey, OBSERVER_BATCH};

use crate::Millis;
use playerthree_game::{Name, Outcome};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The least delay of a public omniscient grant, in milliseconds of wall time.
pub const PUBLIC_DELAY_MIN: Millis = 180_000;

/// Who may observe a match, frozen when the match is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObserverPolicy {
    /// Nobody.
    Closed,
    /// Anybody, this many milliseconds late: never under [`PUBLIC_DELAY_MIN`].
    Public(Millis),
    /// Whoever the private session admits, this many milliseconds late; 0 is immediate.
    Private(Millis),
}

impl ObserverPolicy {
    /// A public policy with the least delay enforced.
    pub fn public(delay: Millis) -> Self {
        Self::Public(delay.max(PUBLIC_DELAY_MIN))
    }

    /// Whether observers are admitted one by one.
    pub fn is_private(self) -> bool {
        matches!(self, Self::Private(_))
    }

    /// The delay, or nothing where nobody may observe.
    pub fn delay(self) -> Option<Millis> {
        match self {
            Self::Closed => None,
            Self::Public(delay) => Some(delay.max(PUBLIC_DELAY_MIN)),
            Self::Private(delay) => Some(delay),
        }
    }
}

/// What a stream of frames shows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObserverPerspective {
    /// Everything: the game's own observer view.
    All,
    /// One side's guarded view, fogged as its players see it.
    Team(Name),
}

impl ObserverPerspective {
    /// Reads `"all"` or the name of a side of the match.
    pub(crate) fn parse(text: &str, teams: &[Name]) -> Option<Self> {
        if text == "all" {
            return Some(Self::All);
        }
        teams.iter().find(|team| ***team == *text).cloned().map(Self::Team)
    }

    /// As it travels.
    pub fn as_str(&self) -> &str {
        match self {
            Self::All => "all",
            Self::Team(team) => team,
        }
    }
}

/// What one observer may see. [`crate::Match::observer_grant`] alone makes one, so that it always fits its match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObserverGrant {
    sight: Sight,
    delay: Millis,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Sight {
    Team(Name),
    /// All sides of the match.
    Omniscient(Vec<Name>),
}

impl ObserverGrant {
    pub(crate) fn team(team: Name, delay: Millis) -> Self {
        Self { sight: Sight::Team(team), delay }
    }

    pub(crate) fn omniscient(teams: Vec<Name>, delay: Millis) -> Self {
        Self { sight: Sight::Omniscient(teams), delay }
    }

    /// The one side of a team grant, nothing for an omniscient one.
    pub fn side(&self) -> Option<&Name> {
        match &self.sight {
            Sight::Team(team) => Some(team),
            Sight::Omniscient(_) => None,
        }
    }

    /// Whether a holder may read this perspective. An omniscient one reads all of them.
    pub fn admits(&self, perspective: &ObserverPerspective) -> bool {
        match (&self.sight, perspective) {
            (Sight::Omniscient(_), ObserverPerspective::All) => true,
            (Sight::Omniscient(teams), ObserverPerspective::Team(team)) => teams.contains(team),
            (Sight::Team(own), ObserverPerspective::Team(team)) => own == team,
            (Sight::Team(_), ObserverPerspective::All) => false,
        }
    }

    /// `{kind: "team", team, delayMs}` or `{kind: "omniscient", teams, delayMs}`.
    pub fn to_json(&self) -> Value {
        match &self.sight {
            Sight::Team(team) => json!({ "kind": "team", "team": team, "delayMs": self.delay }),
            Sight::Omniscient(teams) => {
                json!({ "kind": "omniscient", "teams": teams, "delayMs": self.delay })
            }
        }
    }
}

/// Whether a reader has frames to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObserverState {
    /// Nothing is due yet.
    Buffering,
    /// Frames flow.
    Ready,
    /// The history could not be retained, or nobody may observe.
    Closed,
}

/// Outcomes as they travel: team to outcome.
pub(crate) fn outcomes_json(outcomes: &BTreeMap<Name, Outcome>) -> Value {
    outcomes.iter().map(|(team, outcome)| (team.to_string(), json!(outcome))).collect()
}
