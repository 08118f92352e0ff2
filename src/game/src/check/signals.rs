//! The team-signal vocabulary, its cards and the members that a game composes from them (§22.1).

use super::names::{check_roles, is_unique, member};
use super::schemas::KIND_DOC;
use crate::fault::Faults;
use crate::signals::{HOST_NAMES, SignalMembers, signal_members};
use crate::wire::intent_to_ordered;
use crate::{Manifest, SignalKind, SignalSkill, Signals};
use playerthree_schema::{Fields, Kind, Ordered, Schema, canonical, is_literal, utf16_len};
use serde_json::Value;
use std::sync::Arc;

const MEMBERS_FIX: &str = "compose it from signal_members";

pub(super) fn check(manifest: &Manifest, faults: &mut Faults) {
    match (&manifest.signals, &manifest.control.signals) {
        (None, None) => {}
        (None, Some(_)) => {
            faults.add("control.signals", "the mode needs a vocabulary", "declare signals too");
        }
        (Some(_), None) => {
            faults.add("signals", "the vocabulary needs its limits", "declare control.signals too");
        }
        (Some(signals), Some(limits)) => {
            vocabulary(manifest, signals, faults);
            members(manifest, &signal_members(&manifest.roles, signals, limits), faults);
        }
    }
}

fn vocabulary(manifest: &Manifest, signals: &Signals, faults: &mut Faults) {
    let address = manifest.roles.iter().any(|role| &**role == "team");
    faults.expect(!address, "roles", "a role takes the broadcast address team", "rename the role");
    faults.expect(!signals.kinds.is_empty(), "signals.kinds", "no kind is declared", "declare at least one");
    let names: Vec<Arc<str>> = signals.kinds.iter().map(|kind| kind.name.clone()).collect();
    faults.expect(is_unique(&names), "signals.kinds", "a kind is repeated", "name each kind once");
    for (index, kind) in signals.kinds.iter().enumerate() {
        check_kind(manifest, signals, index, kind, faults);
    }
    let known = signals.cards.keys().all(|role| manifest.roles.contains(role));
    faults.expect(known, "signals.cards", "a card names an undeclared role", "list declared roles only");
    for (role, card) in &signals.cards {
        let path = member("signals.cards", 0, role, is_literal(role));
        check_card(signals, &path, card, faults);
    }
}

fn check_kind(manifest: &Manifest, signals: &Signals, index: usize, kind: &SignalKind, faults: &mut Faults) {
    let good = is_literal(&kind.name);
    let path = member("signals.kinds", index, &kind.name, good);
    let fix = "use 1 to 48 of A-Z a-z 0-9 _ . < >, starting with a letter";
    faults.expect(good, &path, "the kind breaks its grammar", fix);
    check_roles(manifest, &path, &kind.roles, faults);
    let params = format!("{path}.params");
    faults.schema(&params, Schema::check_fields(&kind.params));
    let what = "a parameter takes a name of the host";
    let reserved = kind.params.iter().any(|(name, _)| HOST_NAMES.contains(&&**name));
    faults.expect(!reserved, &params, what, "rename it: kind id from to tick expires state by are taken");
    let what = "a parameter can carry text";
    faults.expect(!any_text(&kind.params), &params, what, "use enums, numbers and ids instead of t::str");
    let what = "the document does not have 1 to 4000 units";
    faults.expect(
        KIND_DOC.contains(&utf16_len(&kind.doc)),
        &format!("{path}.doc"),
        what,
        "write 1 to 4000 units",
    );
    let answered = signals.cards.values().flatten().any(|skill| skill.kind == kind.name);
    faults.expect(answered, &path, "no role answers the kind", "put it on the card of at least one role");
}

/// Whether text can stand anywhere in these fields. The depth of the walk is the schema's, which is checked apart.
fn any_text(fields: &Fields) -> bool {
    fields.iter().any(|(_, schema)| has_text(schema))
}

fn has_text(schema: &Schema) -> bool {
    match &schema.kind {
        Kind::Str { .. } => true,
        Kind::List { item, .. } | Kind::Opt(item) => has_text(item),
        Kind::Obj { fields, .. } => any_text(fields),
        Kind::Union { variants, .. } => variants.iter().any(|(_, fields)| any_text(fields)),
        _ => false,
    }
}

fn check_card(signals: &Signals, path: &str, card: &[SignalSkill], faults: &mut Faults) {
    let kinds: Vec<Arc<str>> = card.iter().map(|skill| skill.kind.clone()).collect();
    faults.expect(is_unique(&kinds), path, "a kind stands twice on one card", "join its skills into one");
    for (index, skill) in card.iter().enumerate() {
        let path = format!("{path}[{index}]");
        match signals.kinds.iter().find(|kind| kind.name == skill.kind) {
            None => faults.add(path, "the card names an undeclared kind", "name a declared kind"),
            Some(kind) => check_where(kind, skill, &format!("{path}.where"), faults),
        }
    }
}

fn check_where(kind: &SignalKind, skill: &SignalSkill, path: &str, faults: &mut Faults) {
    for (param, answered) in &skill.only {
        let declared =
            kind.params.iter().find(|(name, _)| name == param).map(|(_, schema)| &schema.required().kind);
        let Some(Kind::Enum(values)) = declared else {
            faults.add(path, "a condition names no enum parameter of the kind", "name an enum parameter");
            continue;
        };
        let subset = !answered.is_empty() && answered.iter().all(|value| values.contains(value));
        faults.expect(
            subset,
            path,
            "a condition is not a nonempty subset of the declared values",
            "list declared values",
        );
        faults.expect(is_unique(answered), path, "a value is repeated", "list each value once");
    }
}

fn members(manifest: &Manifest, expected: &SignalMembers, faults: &mut Faults) {
    for intent in &expected.intents {
        let path = format!("intents.{}", intent.name);
        match manifest.intents.iter().find(|declared| declared.name == intent.name) {
            None => faults.add(path, "the generated intent is missing", MEMBERS_FIX),
            Some(declared) => {
                let same = text(intent_to_ordered(declared)) == text(intent_to_ordered(intent));
                faults.expect(same, &path, "the intent differs from the generated one", MEMBERS_FIX);
            }
        }
    }
    field(&manifest.observation, "observation", &expected.observation, faults);
    field(&manifest.view, "view", &expected.view, faults);
}

fn field(schema: &Schema, path: &str, expected: &Schema, faults: &mut Faults) {
    let Kind::Obj { fields, .. } = &schema.kind else {
        return faults.add(path, "the schema is not an object", "signals need an object here");
    };
    let path = format!("{path}.signals");
    match fields.iter().find(|(name, _)| &**name == "signals") {
        None => faults.add(path, "the generated member is missing", MEMBERS_FIX),
        Some((_, declared)) => {
            let same = canonical(&declared.to_json()) == canonical(&expected.to_json());
            faults.expect(same, &path, "the member differs from the generated one", MEMBERS_FIX);
        }
    }
}

fn text(ordered: Ordered) -> String {
    canonical(&Value::from(ordered))
}
