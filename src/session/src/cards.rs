//! Identity cards (§20.2): what everybody who sees a seat is told of the agent or policy that plays it. A card is an
//! allowlist, never a filtered seat: no owner id, scope, mandate, token, chat or code can be in it.

use crate::Millis;
use crate::game_match::Match;
use crate::policy::Subject;
use crate::seat::SeatState;
use playerthree_game::Controller;
use serde_json::{Value, json};

impl Match {
    /// One card for each seat that an agent or a policy plays, in manifest order.
    pub fn cards(&self, now: Millis) -> Vec<Value> {
        self.seats.values().filter_map(|state| card(state, now)).collect()
    }
}

fn card(state: &SeatState, now: Millis) -> Option<Value> {
    let kind = state.controller;
    if !matches!(kind, Controller::Agent | Controller::Policy) {
        return None;
    }
    let mut card = json!({
        "seat": state.seat,
        "kind": kind,
        "aiPlayer": true,
        // No harness is known from trusted metadata yet, so none is named.
        "harness": { "verified": false },
        "mode": state.decide(now).as_str(),
    });
    if !state.assigned.display().is_empty() {
        card["owner"] = json!({ "display": state.assigned.display() });
    }
    if let Some(active) = &state.policy.active {
        card["policy"] = match active.subject() {
            Subject::Version(version) => json!({ "source": "library", "version": version }),
            Subject::Drafted(id) => json!({ "source": "pool", "policyId": id.to_string() }),
        };
    }
    Some(card)
}
