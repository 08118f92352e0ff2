//! Named commanders (§20.3): who they are, what their owner settled for them, and which of them may take which seats.
//!
//! A commander's identity is its id. No rule here looks a commander up by owner and role, and none merges two of them.

use crate::cards::Metadata;
use crate::game_match::Match;
use crate::library::Library;
use crate::mandate::{self, Mandate, Scope};
use crate::roster::usual_absence;
use crate::seat::{Occupant, OwnerId};
use crate::{CallError, Code, Surface};
use playerthree_game::{Name, Seat};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A commander's opaque identity, the same across matches. Not a secret, and no credential.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CommanderId(pub Arc<str>);

/// Whether a commander keeps its state apart from its owner's other commanders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// It shares nothing, so it may oppose them.
    Independent,
    /// It shares state with them, so it never plays against one of them.
    Shared,
}

impl Isolation {
    /// The wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Independent => "independent",
            Self::Shared => "shared",
        }
    }
}

/// How a commander takes seats (§7 `kind`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommanderKind {
    /// By its live agent.
    Agent,
    /// By a version of its library, with no live agent expected. Its agent works on the library between matches.
    Policy,
}

impl CommanderKind {
    /// The wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Policy => "policy",
        }
    }
}

/// What an owner settled for a commander (§6, §7): `{botLevel?, scopes, mandate}`. It follows the commander from match
/// to match.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The tier of its fallback bot; none where the game has no tiers.
    pub bot_level: Option<Name>,
    pub(crate) scopes: BTreeSet<Scope>,
    pub(crate) mandate: Mandate,
}

impl Settings {
    /// Every scope that the game supports, its usual mandate and its first tier.
    pub fn usual(surface: &Surface) -> Self {
        let manifest = &surface.manifest;
        Self {
            bot_level: manifest.opponents.first().cloned(),
            scopes: mandate::default_scopes(manifest),
            mandate: Mandate::default_for(manifest, usual_absence(surface)),
        }
    }

    /// These settings with the members of an owner's patch: `{botLevel?, scopes?, mandate?}`, the mandate itself partial
    /// (§7). Fails `invalid` for anything out of its schema; nothing of the patch is taken then.
    pub fn patched(&self, surface: &Surface, patch: &Value) -> Result<Self, CallError> {
        let manifest = &surface.manifest;
        let members = patch.as_object().ok_or(Code::Invalid)?;
        let mut patched = self.clone();
        for (name, value) in members {
            match name.as_str() {
                "botLevel" => {
                    let level = value
                        .as_str()
                        .and_then(|level| manifest.opponents.iter().find(|known| ***known == *level));
                    patched.bot_level = Some(level.ok_or(Code::Invalid)?.clone());
                }
                "scopes" => patched.scopes = mandate::parse_scopes(manifest, value)?,
                "mandate" => {
                    let changes = value.as_object().ok_or(Code::Invalid)?;
                    let mut whole = self.mandate.to_json().clone();
                    for (member, change) in changes {
                        whole[member] = change.clone();
                    }
                    patched.mandate = Mandate::parse(manifest, &whole)?;
                }
                _ => return Err(Code::Invalid.into()),
            }
        }
        Ok(patched)
    }

    /// Whether the commander may do this.
    pub fn allows(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope)
    }

    /// The scopes on the wire.
    pub fn scopes(&self) -> Vec<&'static str> {
        self.scopes.iter().map(|scope| scope.as_str()).collect()
    }

    /// The mandate on the wire.
    pub fn mandate(&self) -> &Value {
        self.mandate.to_json()
    }

    /// `{botLevel?, scopes, mandate}`, for the commander's own owner.
    pub fn to_json(&self) -> Value {
        let mut settings = json!({ "scopes": self.scopes(), "mandate": self.mandate() });
        if let Some(level) = &self.bot_level {
            settings["botLevel"] = json!(level);
        }
        settings
    }
}

/// A commander on its way into a seat.
#[derive(Clone, Debug, PartialEq)]
pub struct Seated {
    /// Whose commander it is.
    pub owner: OwnerId,
    /// The owner's name as people read it; never sent to agents.
    pub display: String,
    /// Which commander.
    pub commander: CommanderId,
    /// Whether it may oppose its owner's other commanders.
    pub isolation: Isolation,
    /// What its owner settled.
    pub settings: Settings,
    /// Its policies, which deploys and rollbacks in the match go into (§4 "Agent sessions").
    pub library: Library,
    /// What its owner says of the model behind it.
    pub metadata: Metadata,
    /// Its ready mark for a reservation of this very seat, which carries over (§4 "Lobby phase").
    pub ready: bool,
}

impl Match {
    /// The commander that a seat is assigned to.
    pub fn commander(&self, seat: &Seat) -> Option<&CommanderId> {
        match &self.seats.get(seat)?.assigned {
            Occupant::Commander(seated) => Some(&seated.commander),
            _ => None,
        }
    }

    /// The seat of this commander whose newest approval request has this id (§7 `commanders.resolveApproval`).
    pub fn seat_of_request(&self, commander: &CommanderId, id: &str) -> Option<Seat> {
        let asked = |seat: &Seat| self.seats.get(seat).is_some_and(|state| state.policy.asked_as(id));
        self.commander_seats()
            .into_iter()
            .find(|(seat, by)| by == commander && asked(seat))
            .map(|(seat, _)| seat)
    }

    /// Every seat that is assigned to a commander, in manifest order.
    pub fn commander_seats(&self) -> Vec<(Seat, CommanderId)> {
        let seats = self.seats.keys().filter_map(|seat| Some((seat.clone(), self.commander(seat)?.clone())));
        seats.collect()
    }

    /// Gives a commander's changed settings to the seats that it holds here, and to no others (§7);
    /// [`Match::settle_pause`] has to follow.
    pub fn follow(&mut self, commander: &CommanderId, settings: &Settings) {
        for (seat, _) in self.commander_seats().into_iter().filter(|(_, id)| id == commander) {
            if let Some(state) = self.seats.get_mut(&seat) {
                state.take_settings(settings);
            }
            self.seat_changed(&seat);
        }
    }
}
