//! The schemas of a manifest and what §3 asks of each beyond being a schema.

use super::names::{check_roles, is_unique, member};
use crate::fault::Faults;
use crate::{IntentKind, Manifest, ObservationScope};
use playerthree_schema::{Fields, Kind, Schema, is_literal, t, utf16_len};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Units of an intent's or a signal's document.
pub(super) const KIND_DOC: RangeInclusive<usize> = 1..=4000;

pub(super) fn check(manifest: &Manifest, faults: &mut Faults) {
    intents(manifest, faults);
    faults.schema("observation", manifest.observation.check());
    let what = "the observation declares a top-level phase";
    let fix = "rename it: phase marks the lobby state";
    faults.expect(!has_member(&manifest.observation, "phase"), "observation", what, fix);
    faults.schema("view", manifest.view.check());
    if let Some(scope) = &manifest.observation_scope {
        observation_scope(manifest, scope, faults);
    }
    object("matchData", manifest.match_data.as_ref(), faults);
    object("lobby", manifest.lobby.as_ref(), faults);
    if let Some(observer) = &manifest.observer {
        faults.schema("observer", observer.check());
    }
    object("directive", Some(&manifest.directive), faults);
    optional_object("limits", manifest.limits.as_ref(), faults);
    event(&manifest.event, faults);
    faults.schema("report", manifest.report.check());
    optional_object("matchOptions", manifest.match_options.as_ref(), faults);
}

fn intents(manifest: &Manifest, faults: &mut Faults) {
    let what = "no intent is declared";
    faults.expect(!manifest.intents.is_empty(), "intents", what, "declare what a seat can do");
    let names: Vec<Arc<str>> = manifest.intents.iter().map(|intent| intent.name.clone()).collect();
    faults.expect(is_unique(&names), "intents", "an intent kind is repeated", "name each kind once");
    for (index, intent) in manifest.intents.iter().enumerate() {
        check_intent(manifest, index, intent, faults);
    }
}

fn check_intent(manifest: &Manifest, index: usize, intent: &IntentKind, faults: &mut Faults) {
    let good = is_literal(&intent.name);
    let path = member("intents", index, &intent.name, good);
    let fix = "use 1 to 48 of A-Z a-z 0-9 _ . < >, starting with a letter";
    faults.expect(good, &path, "the intent kind breaks its grammar", fix);
    check_roles(manifest, &path, &intent.roles, faults);
    let params = format!("{path}.params");
    faults.schema(&params, Schema::check_fields(&intent.params));
    let reserved = intent.params.iter().any(|(name, _)| &**name == "kind");
    faults.expect(!reserved, &params, "a parameter takes the reserved name kind", "rename the parameter");
    let what = "the document does not have 1 to 4000 units";
    faults.expect(
        KIND_DOC.contains(&utf16_len(&intent.doc)),
        &format!("{path}.doc"),
        what,
        "write 1 to 4000 units",
    );
}

fn has_member(schema: &Schema, name: &str) -> bool {
    let declares = |fields: &Fields| fields.iter().any(|(field, _)| &**field == name);
    match &schema.kind {
        Kind::Obj { fields, .. } => declares(fields),
        Kind::Union { tag, variants } => {
            &**tag == name || variants.iter().any(|(_, fields)| declares(fields))
        }
        _ => false,
    }
}

fn observation_scope(manifest: &Manifest, scope: &ObservationScope, faults: &mut Faults) {
    let sections = t::literals(scope.sections.iter().map(|section| &**section));
    faults.schema("observationScope.sections", sections.check());
    let path = "observationScope.defaults";
    let whole = manifest.roles.iter().all(|role| scope.defaults.contains_key(role));
    faults.expect(whole, path, "a role has no default sections", "list each role, with [] for none");
    let known = scope.defaults.keys().all(|role| manifest.roles.contains(role));
    faults.expect(known, path, "an undeclared role has defaults", "list declared roles only");
    for defaults in scope.defaults.values() {
        let known = defaults.iter().all(|section| scope.sections.contains(section));
        faults.expect(known, path, "an undeclared section is listed", "list declared sections only");
        faults.expect(is_unique(defaults), path, "a section is repeated", "list each section once");
    }
}

fn object(path: &str, schema: Option<&Schema>, faults: &mut Faults) {
    let Some(schema) = schema else { return };
    faults.schema(path, schema.check());
    let is_object = matches!(schema.kind, Kind::Obj { .. });
    faults.expect(is_object, path, "the schema is not an object", "declare it with t::obj");
}

fn optional_object(path: &str, schema: Option<&Schema>, faults: &mut Faults) {
    object(path, schema, faults);
    let Some(Kind::Obj { fields, .. }) = schema.map(|schema| &schema.kind) else { return };
    let optional = fields.iter().all(|(_, field)| field.is_optional());
    faults.expect(optional, path, "a field is required", "mark every field optional with t::opt");
}

fn event(schema: &Schema, faults: &mut Faults) {
    object("event", Some(schema), faults);
    let Kind::Obj { fields, .. } = &schema.kind else { return };
    let field =
        |wanted: &str| fields.iter().find(|(name, _)| &**name == wanted).map(|(_, field)| &field.kind);
    let tick = matches!(field("tick"), Some(Kind::Int(..)));
    faults.expect(tick, "event.tick", "an event has no required integer tick", "declare tick with t::int");
    let kind = matches!(field("kind"), Some(Kind::Enum(_)));
    faults.expect(kind, "event.kind", "an event has no required enum kind", "declare kind with t::literals");
}
