//! Every topic of a game: its own, and the generated families of §4.

use super::{describe, json_text, modes, signals};
use crate::{Checked, IntentKind};
use playerthree_schema::{Fields, Kind, Schema};
use serde_json::Value;
use std::fmt::Write;

/// A topic before it is cut into pages.
pub(super) struct TopicText {
    pub(super) name: String,
    pub(super) text: String,
}

fn topic(name: impl Into<String>, text: impl Into<String>) -> TopicText {
    TopicText { name: name.into(), text: text.into() }
}

/// All topics with static text, in index order.
pub(super) fn all(manifest: &Checked) -> Vec<TopicText> {
    let mut topics: Vec<TopicText> =
        manifest.topics.iter().map(|own| topic(&*own.name, &*own.text)).collect();
    topics.extend(manifest.roles.iter().map(|role| topic(format!("role/{role}"), role_text(manifest, role))));
    topics.push(topic("intents", intents(manifest)));
    topics.extend(
        manifest.intents.iter().map(|kind| topic(format!("intent/{}", kind.name), intent(manifest, kind))),
    );
    observation(manifest, &mut topics);
    if let Some(data) = &manifest.match_data {
        let fields =
            format!("Match data: fixed for a match, from your seat's view.\n\n{}", describe::whole(data));
        topics.push(topic("match-data", fields.clone()));
        topics.push(topic("match-data/fields", fields));
    }
    topics.push(topic("events", events(manifest)));
    let report =
        format!("The report on one side once it is out of play.\n\n{}", describe::whole(&manifest.report));
    topics.push(topic("report", report));
    topics.push(topic("mandate", mandate(manifest)));
    topics.push(topic("modes", modes::text(manifest)));
    if let Some(vocabulary) = &manifest.signals {
        topics.push(topic("signals", signals::text(manifest, vocabulary)));
    }
    schemas(manifest, &mut topics);
    topics
}

fn role_text(manifest: &Checked, role: &str) -> String {
    let mut text = manifest.role_docs.get(role).map_or("", |doc| doc.trim_end()).to_owned();
    text.push_str("\n\nIntents this role may send:\n");
    for intent in manifest.intents_of(role) {
        let _ = writeln!(text, "- {}: {}", intent.name, describe::first_sentence(&intent.doc));
    }
    text
}

const ACKS: &str = "\
Each intent gets an ack, in the order sent: {\"ok\":true}, or {\"ok\":false,\"code\":…} and nothing changed. Codes:
- invalid: not of the declared shape; schemaCode and path say what and where
- forbidden_role: your role may not send this kind
- out_of_scope: your owner has not granted you the scope act
- rate_limited: too many; send fewer and combine orders
- not_controller: you do not hold the seat now
- game_over: your side is out of play
- game: legal in shape but refused by the rules; gameCode says why
";

fn intents(manifest: &Checked) -> String {
    let mut text =
        String::from("What a seat can do. topic intent/<kind> has the fields and rules of each.\n\n");
    for intent in &manifest.intents {
        let roles: Vec<&str> = intent.roles.iter().map(|role| &**role).collect();
        let _ = writeln!(
            text,
            "- {} ({}): {}",
            intent.name,
            roles.join(", "),
            describe::first_sentence(&intent.doc)
        );
    }
    let _ = write!(text, "\n{ACKS}");
    if manifest.signals.is_some() {
        text.push_str("- signal: the signal board refused it; signalCode says why\n");
    }
    let errors: Vec<&str> = manifest.errors.iter().map(|code| &**code).collect();
    let _ = writeln!(text, "\nGame codes (gameCode): {}", errors.join(", "));
    text
}

fn intent(manifest: &Checked, intent: &IntentKind) -> String {
    let roles: Vec<&str> = intent.roles.iter().map(|role| &**role).collect();
    let everybody = if intent.roles.len() == manifest.roles.len() { " (every role)" } else { "" };
    format!(
        "{}\n\nRoles: {}{everybody}\n\nFields:\n{}\nShape: {}\n",
        intent.doc,
        roles.join(", "),
        describe::fields(&intent.params),
        describe::shape(&intent.name, &intent.params),
    )
}

fn observation(manifest: &Checked, topics: &mut Vec<TopicText>) {
    let schema = &manifest.observation;
    let mut text =
        String::from("What your seat sees. topic observation/<field> has a member's nested fields.\n\n");
    text.push_str(&describe::members(schema));
    if let Some(scope) = &manifest.observation_scope {
        let sections: Vec<&str> = scope.sections.iter().map(|section| &**section).collect();
        let _ = writeln!(text, "\nSections: {}.", sections.join(", "));
        for (role, defaults) in &scope.defaults {
            let defaults: Vec<&str> = defaults.iter().map(|section| &**section).collect();
            let shown = if defaults.is_empty() { "none".into() } else { defaults.join(", ") };
            let _ = writeln!(text, "- {role} sees in full without asking: {shown}");
        }
        text.push_str("Pass detail to see more sections in full, or \"all\". The others are summaries.\n");
    }
    topics.push(topic("observation", text));
    for name in manifest.observation_keys() {
        topics.push(topic(format!("observation/{name}"), observation_member(schema, &name)));
    }
}

/// One member with its nested fields; in a tagged observation, as each variant declares it.
fn observation_member(observation: &Schema, name: &str) -> String {
    let whole =
        |schema: &Schema| format!("{}\n{}", describe::line(name, schema), describe::whole(schema.required()));
    let of =
        |fields: &Fields| fields.iter().find(|(field, _)| &**field == name).map(|(_, schema)| whole(schema));
    match &observation.kind {
        Kind::Obj { fields, .. } => of(fields).unwrap_or_default(),
        Kind::Union { tag, variants } if &**tag == name => {
            let variants: Vec<&str> = variants.iter().map(|(variant, _)| &**variant).collect();
            format!("- {name}: {} — Which of the shapes it is.\n", variants.join(" | "))
        }
        Kind::Union { tag, variants } => variants
            .iter()
            .filter_map(|(variant, fields)| Some(format!("With {tag} \"{variant}\":\n{}", of(fields)?)))
            .collect::<Vec<_>>()
            .join("\n"),
        _ => String::new(),
    }
}

fn events(manifest: &Checked) -> String {
    let kinds: Vec<&str> = manifest.event_kinds().iter().map(|kind| &**kind).collect();
    format!(
        "Events your seat may see, oldest first. game_wait can wake for a kind (until).\n\nKinds: {}\n\nFields:\n{}",
        kinds.join(", "),
        describe::whole(&manifest.event),
    )
}

const MANDATE: &str = "\
Your owner's standing instructions. They are in the briefing and can change while you play; read them again when a wait \
ends early.
- autonomy: autonomous means act without asking, within scopes, rules and limits. supervised means that what your deployed \
code is or becomes needs your owner's approval first; everything else you do at once.
- directive: the objective. Follow it, also where you would play differently.
- limits: what you must not do. The game refuses intents that break them.
- whenAbsent: what acts for the seat when you make no call for 30 seconds: policy (your deployed policy, else a bot), \
bot, or hold (nothing).";

fn mandate(manifest: &Checked) -> String {
    let mut text = MANDATE.to_owned();
    if manifest.control.pausable.is_some() {
        text.push_str(" This game also has pause: everything stands still until you are back.");
    }
    let _ = write!(text, "\n\nFields of directive:\n{}", describe::whole(&manifest.directive));
    match &manifest.limits {
        Some(limits) => {
            let _ = write!(text, "\nFields of limits, each optional:\n{}", describe::whole(limits));
        }
        None => text.push_str("\nThis game has no limits.\n"),
    }
    text
}

fn schemas(manifest: &Checked, topics: &mut Vec<TopicText>) {
    let optional = |name, schema: &Option<Schema>| schema.as_ref().map(|schema| (name, schema.json_schema()));
    let schemas = [
        Some(("observation", manifest.observation.json_schema())),
        optional("match-data", &manifest.match_data),
        Some(("event", manifest.event.json_schema())),
        Some(("report", manifest.report.json_schema())),
        Some(("directive", manifest.directive.json_schema())),
        optional("limits", &manifest.limits),
    ];
    topics.extend(schemas.into_iter().flatten().map(|(name, schema)| schema_page(name, &schema)));
    for intent in &manifest.intents {
        topics.push(schema_page(&format!("intent/{}", intent.name), &intent.schema().json_schema()));
    }
}

fn schema_page(name: &str, schema: &Value) -> TopicText {
    topic(format!("schema/{name}"), format!("JSON Schema 2020-12 of {name}:\n{}", json_text::lines(schema)))
}
