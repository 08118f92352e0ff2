//! Identity cards (§20.2): what everybody who sees a seat is told of the agent or policy that plays it. A card is an
//! allowlist, never a filtered seat: no owner id, scope, mandate, token, chat or code can be in it.
//!
//! What agents and owners say of harness, provider and model is shown as what it is, unverified, and to people alone.

use crate::game_match::Match;
use crate::policy::Subject;
use crate::seat::{Occupant, SeatState};
use crate::{CallError, Code, Millis};
use playerthree_game::{Controller, Seat};
use playerthree_schema::{Schema, t};
use serde_json::{Value, json};
use std::sync::Arc;

/// Longest name of a harness, provider or model, in Unicode code points.
pub const LABEL_MAX: u32 = 64;

/// A name that people read: 1 to [`LABEL_MAX`] letters, digits, spaces and `-_.:/()+`, so that it can imitate nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label(Arc<str>);

impl Label {
    /// Nothing for a text that is no label.
    pub fn parse(text: &str) -> Option<Self> {
        let readable = |c: char| c.is_alphanumeric() || " -_.:/()+".contains(c);
        let text = text.trim();
        let fits =
            !text.is_empty() && text.chars().count() <= LABEL_MAX as usize && text.chars().all(readable);
        fits.then(|| Self(text.into()))
    }
}

/// What a commander's owner says of the model behind it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    provider: Option<Label>,
    model: Option<Label>,
    /// Whether other people are told too: the owner's explicit choice.
    shared: bool,
}

impl Metadata {
    /// The schema of `{provider?, model?, shared?}`.
    pub(crate) fn schema() -> Schema {
        let label = || t::opt(t::str(LABEL_MAX));
        t::obj([("provider", label()), ("model", label()), ("shared", t::opt(t::bool()))])
    }

    /// Reads a value of [`Self::schema`]. Fails `invalid` for a text that is no label.
    pub(crate) fn read(value: &Value) -> Result<Self, CallError> {
        let label = |member: &str| {
            let text = value.get(member).and_then(Value::as_str);
            text.map(|text| Label::parse(text).ok_or(Code::Invalid)).transpose()
        };
        let shared = value.get("shared").and_then(Value::as_bool).unwrap_or(false);
        Ok(Self { provider: label("provider")?, model: label("model")?, shared })
    }

    /// For the commander's own owner.
    pub(crate) fn to_json(&self) -> Value {
        let mut metadata = self.reported();
        metadata["shared"] = json!(self.shared);
        metadata
    }

    /// `{provider?, model?}`, each marked as what its owner says.
    fn reported(&self) -> Value {
        let said = |label: &Label| json!({ "name": label.0, "selfReported": true });
        let members = [("provider", &self.provider), ("model", &self.model)];
        let known =
            members.into_iter().filter_map(|(name, label)| Some((name.to_owned(), said(label.as_ref()?))));
        Value::Object(known.collect())
    }
}

impl Match {
    /// One card for each seat that an agent or a policy plays, in manifest order.
    pub fn cards(&self, now: Millis) -> Vec<Value> {
        self.seats.values().filter_map(|state| card(state, now)).collect()
    }

    /// The seat's agent named the program that it runs in. It belongs to this hold of the seat.
    pub fn note_harness(&mut self, seat: &Seat, harness: &Label) {
        if let Some(state) = self.seats.get_mut(seat).filter(|state| state.harness.as_ref() != Some(harness))
        {
            state.harness = Some(harness.clone());
            self.changes.seats = true;
        }
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
        // An agent names its harness itself; nothing trusted vouches for it.
        "harness": { "verified": false },
        "mode": state.decide(now).as_str(),
    });
    if let Some(Label(harness)) = &state.harness {
        card["harness"]["label"] = json!(harness);
    }
    if let Occupant::Commander(seated) = &state.assigned
        && seated.metadata.shared
        && let (Value::Object(card), Value::Object(reported)) = (&mut card, seated.metadata.reported())
    {
        card.extend(reported);
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_a_short_readable_name() {
        for good in ["Codex", "claude-code 2.1 (beta)", &"ü".repeat(64)] {
            assert_eq!(Label::parse(good), Some(Label(good.into())));
        }
        for bad in ["", "  ", "<b>", "a\nb", "\u{202E}xedoC", "\"", &"x".repeat(65)] {
            assert_eq!(Label::parse(bad), None, "{bad:?}");
        }
    }
}
