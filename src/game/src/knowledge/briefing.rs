//! The core briefing (§4): enough to start, and an index of everything else.

use super::index;
use crate::{Checked, Name, Skill};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The control-plane version of this contract.
pub(crate) const CONTROL_PLANE: u32 = 1;

/// The two phases of an agent session (§4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Before the seat's match starts.
    Lobby,
    /// The match runs.
    Match,
}

impl Phase {
    /// The wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lobby => "lobby",
            Self::Match => "match",
        }
    }
}

/// The dynamic part of a briefing: what the host knows of the seat right now.
#[derive(Clone, Copy, Debug)]
pub struct SeatFacts<'a> {
    /// The phase of the agent's session.
    pub phase: Phase,
    /// The seat's role, one of the manifest's.
    pub role: &'a str,
    /// The seat's side; none in the lobby while nothing seats the agent.
    pub team: Option<&'a str>,
    /// In a match its sides, in the lobby the manifest's, in manifest order.
    pub teams: &'a [Name],
    /// The match's alliances, if it declares them.
    pub alliances: Option<&'a BTreeMap<String, Vec<Name>>>,
    /// The seat's scopes now.
    pub scopes: &'a [&'a str],
    /// The seat's mandate now, in wire form.
    pub mandate: &'a Value,
}

pub(super) fn core(manifest: &Checked, skills: &[Skill], seat: &SeatFacts<'_>, surface_hash: &str) -> Value {
    let intents: Vec<&str> = manifest.intents_of(seat.role).map(|intent| &*intent.name).collect();
    let skills: Vec<Value> =
        skills.iter().map(|skill| json!({ "name": skill.name, "description": skill.description })).collect();
    let mut briefing = json!({
        "controlPlane": CONTROL_PLANE,
        "phase": seat.phase.as_str(),
        "game": {
            "id": manifest.id,
            "version": manifest.version,
            "title": manifest.title,
            "doc": manifest.doc,
            "tickRate": manifest.tick_rate,
        },
        "seat": seat_json(manifest, seat),
        "teams": seat.teams,
        "roles": manifest.roles,
        "scopes": seat.scopes,
        "mandate": seat.mandate,
        "intents": intents,
        "topics": index::lines(manifest),
        "skills": skills,
        "surfaceHash": surface_hash,
    });
    if let Some(alliances) = seat.alliances {
        briefing["alliances"] = json!(alliances);
    }
    briefing
}

fn seat_json(manifest: &Checked, seat: &SeatFacts<'_>) -> Value {
    let role_doc = manifest.role_docs.get(seat.role).map_or("", |doc| &**doc);
    let mut json = json!({ "role": seat.role, "roleDoc": role_doc });
    if let Some(team) = seat.team {
        json["team"] = json!(team);
    }
    json
}
