//! The agent's tools (§4): one stable tool for each method that the game offers, with static text and JSON Schemas.
//!
//! Everything here is part of the surface hash; nothing depends on a match, a seat or a credential.

use crate::{calls, chat, policy_results};
use playerthree_game::{Checked, SignalRefusal};
use playerthree_schema::{Kind, Schema};
use serde_json::{Map, Value, json};

/// Longest text of a tool result, in UTF-16 units (§4).
pub const RESULT_TEXT_MAX: usize = 24_000;

/// One tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// The name over MCP, such as `game_act`.
    pub name: &'static str,
    /// The method of `SeatControl`, such as `act`.
    pub method: &'static str,
    /// A short title.
    pub title: &'static str,
    /// What it does and when to use it.
    pub description: &'static str,
    /// JSON Schema of the arguments.
    pub input_schema: Value,
    /// JSON Schema of the structured result.
    pub output_schema: Value,
    /// Whether it changes nothing.
    pub read_only: bool,
}

impl Tool {
    /// The complete record, as the surface hash takes it (§4).
    pub fn record(&self) -> Value {
        json!({
            "name": self.name,
            "method": self.method,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.input_schema,
            "outputSchema": self.output_schema,
            "annotations": { "readOnlyHint": self.read_only, "openWorldHint": false },
        })
    }
}

/// The tools of a game, in the order of §4.
pub(crate) fn for_manifest(manifest: &Checked) -> Vec<Tool> {
    calls::methods(manifest).into_iter().map(|method| tool(manifest, method)).collect()
}

/// The tool of a method that [`calls::methods`] lists.
fn tool(manifest: &Checked, method: &'static str) -> Tool {
    let (name, title, description, read_only) = text(method);
    let (input_schema, output_schema) = (input_schema(manifest, method), output_schema(manifest, method));
    Tool { name, method, title, description, input_schema, output_schema, read_only }
}

fn input_schema(manifest: &Checked, method: &str) -> Value {
    let mut input = match method {
        "briefing" => briefing_input(),
        "observe" => observe_input(manifest),
        "act" => act_input(manifest),
        "sequence" => sequence_input(manifest),
        "wait" => wait_input(manifest),
        "skill" => skill_input(),
        "policyDeploy" => deploy_input(),
        "policyRollback" => rollback_input(),
        "practice" => practice_input(manifest),
        "say" => say_input(manifest),
        _ => json!({}),
    };
    if method != "skill" {
        input["role?"] = json!({ "enum": manifest.roles });
    }
    closed(input)
}

fn output_schema(manifest: &Checked, method: &str) -> Value {
    let members = match method {
        "briefing" => briefing_output(),
        "observe" => observe_output(manifest),
        "act" => act_output(manifest),
        "sequence" => sequence_output(manifest),
        "wait" => wait_output(manifest),
        "ready" => lobby_output(manifest),
        "skill" => skill_output(),
        "policyDeploy" | "policyRollback" => return policy_results::deployed(manifest),
        "practice" => return policy_results::practised(manifest),
        "publish" => return policy_results::published(),
        "say" => say_output(),
        _ => return policy_results::status(manifest),
    };
    let mut schema = closed(members);
    if let Some(shapes) = shapes(method) {
        schema["anyOf"] = shapes.iter().map(|required| json!({ "required": required })).collect();
    }
    schema
}

/// The members of a lobby state that is whole.
const LOBBY_STATE: &[&str] = &["phase", "seat", "you", "startsWhen", "instruction"];

/// The alternatives of a method whose result depends on where its match stands, by the members that each has.
fn shapes(method: &str) -> Option<[&'static [&'static str]; 2]> {
    match method {
        "observe" => Some([&["observation"], LOBBY_STATE]),
        "wait" => Some([&["phase", "tick", "outcome", "events"], LOBBY_STATE]),
        "ready" => Some([&["phase", "you"], LOBBY_STATE]),
        _ => None,
    }
}

fn text(method: &str) -> (&'static str, &'static str, &'static str, bool) {
    match method {
        "briefing" => (
            "game_briefing",
            "Briefing",
            "The rules, your seat, your owner's mandate and the index of topics. Read it first; then pass a topic \
             (and a page) of the index to read more.",
            true,
        ),
        "observe" => (
            "game_observe",
            "Observe",
            "What your seat sees now. Pass since to get only newer events, fields to get only some members, and page \
             to read on where a result was cut.",
            true,
        ),
        "act" => (
            "game_act",
            "Act",
            "Sends intents. The acks come back in the same order; a refused intent changes nothing.",
            false,
        ),
        "sequence" => (
            "game_sequence",
            "Schedule a sequence",
            "Schedules intents for coming ticks, in place of the sequence before; no steps cancel it. An invalid plan \
             schedules nothing. Each step passes the same gates as game_act when it is due.",
            false,
        ),
        "wait" => (
            "game_wait",
            "Wait",
            "Blocks until a named event, the end of the match, a message, an approval or the given seconds. Use 45 \
             seconds or less, in a loop, while the match runs.",
            true,
        ),
        "ready" => (
            "game_ready",
            "Ready",
            "Declares you ready for the seat that your next match has for you. Before the start it returns the lobby \
             state; without a seat it changes nothing. Then call game_wait until phase is match.",
            false,
        ),
        "skill" => (
            "game_skill",
            "Skill file",
            "One window of a skill file that the briefing lists. Continue at next while it is present.",
            true,
        ),
        "policyDeploy" => (
            "policy_deploy",
            "Deploy a policy",
            "Tries a policy on what your seat sees and makes it active if it works. Under a supervised mandate it \
             becomes an approval request to your owner.",
            false,
        ),
        "policyRollback" => (
            "policy_rollback",
            "Roll a policy back",
            "Makes a retained version active again, after the same trial as a deploy.",
            false,
        ),
        "practice" => (
            "practice_run",
            "Practice",
            "Plays a private match against built-in bots at full speed, with the artifact that you pass or else your \
             active policy, and reports how it went. The live match does not notice. Equal seeds give equal matches; \
             the seed is 0 unless you pass one.",
            false,
        ),
        "publish" => (
            "pool_publish",
            "Publish",
            "Puts your active policy into the game's pool, where others can let it play for them: they see its role, its \
             runtime and how its matches ended, never its code. Under a supervised mandate it becomes an approval \
             request to your owner.",
            false,
        ),
        "say" => (
            "game_say",
            "Say",
            "Writes a short text to your owner, and to nobody else. Answer what you were asked; it is no way to act.",
            false,
        ),
        _ => (
            "policy_status",
            "Policy status",
            "Statistics, log and last error of your active policy, and your newest approval request.",
            true,
        ),
    }
}

/// Members whose name ends in `?` are optional; this takes the mark off and lists the others as required.
fn split(members: Value) -> (Map<String, Value>, Vec<String>) {
    let Value::Object(members) = members else { return (Map::new(), Vec::new()) };
    let required = members.keys().filter(|name| !name.ends_with('?')).cloned().collect();
    let properties =
        members.into_iter().map(|(name, schema)| (name.trim_end_matches('?').to_owned(), schema)).collect();
    (properties, required)
}

fn object(properties: &Map<String, Value>, required: &[String]) -> Value {
    let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

/// A closed object of these members, of which those whose name ends in `?` are optional.
pub(crate) fn closed(members: Value) -> Value {
    let (properties, required) = split(members);
    object(&properties, &required)
}

fn briefing_input() -> Value {
    json!({
        "topic?": { "type": "string", "minLength": 1, "maxLength": 128 },
        "page?": { "type": "integer", "minimum": 1, "maximum": 10_000 },
    })
}

/// Either the core briefing or a topic page, so every member is optional here.
fn briefing_output() -> Value {
    let text = json!({ "type": "string" });
    let list = json!({ "type": "array" });
    json!({
        "controlPlane?": { "const": 1 },
        "phase?": { "enum": ["lobby", "match"] },
        "game?": { "type": "object" },
        "seat?": { "type": "object" },
        "teams?": list, "alliances?": { "type": "object" }, "roles?": list, "scopes?": list,
        "mandate?": { "type": "object" },
        "intents?": list, "topics?": list, "skills?": list, "commands?": list,
        "surfaceHash?": text,
        "topic?": text, "page?": { "type": "integer" }, "pages?": { "type": "integer" }, "text?": text,
        "next?": { "type": "object" },
    })
}

fn observe_input(manifest: &Checked) -> Value {
    let mut input = json!({
        "since?": { "type": "integer", "minimum": 0, "maximum": 2_147_483_647 },
        "page?": { "type": "integer", "minimum": 1, "maximum": 10_000 },
    });
    let keys = manifest.observation_keys();
    if !keys.is_empty() {
        input["fields?"] = unique_list(&json!(keys), keys.len());
    }
    if let Some(scope) = &manifest.observation_scope {
        let list = unique_list(&json!(scope.sections), scope.sections.len());
        input["detail?"] = json!({ "anyOf": [{ "const": "all" }, list] });
    }
    input
}

fn unique_list(values: &Value, max: usize) -> Value {
    json!({ "type": "array", "items": { "enum": values }, "uniqueItems": true, "maxItems": max })
}

/// A whole observation follows the game's schema, which it was judged by when the game made it; a page or a selection of
/// fields holds parts of one. Whoever judges a result by this meets the cheaper schema first. Before the start there is the
/// lobby state instead.
fn observe_output(manifest: &Checked) -> Value {
    let mut output = lobby_output(manifest);
    let observed = json!({
        "observation?": { "anyOf": [{ "type": "object" }, manifest.observation.json_schema()] },
        "page?": { "type": "integer" },
        "pages?": { "type": "integer" },
        "tick?": { "type": "integer" },
        "next?": closed(json!({ "page": { "type": "integer" } })),
        "items?": { "type": "object" },
    });
    extend(&mut output, observed);
    output
}

/// The members of a lobby state (§4), all optional: results of a running match share the schema.
fn lobby_output(manifest: &Checked) -> Value {
    let seat = closed(json!({ "team": { "enum": manifest.teams }, "role": { "enum": manifest.roles } }));
    let starts_when = closed(json!({
        "kind": { "enum": ["seat", "host", "ready", "countdown"] },
        "inSeconds?": { "type": "integer", "minimum": 0 },
    }));
    let mut output = json!({
        "phase?": { "enum": ["lobby", "match"] },
        "seat?": { "anyOf": [seat, { "type": "null" }] },
        "you?": closed(json!({ "ready": { "type": "boolean" } })),
        "startsWhen?": starts_when,
        "instruction?": { "type": "string" },
    });
    if let Some(lobby) = &manifest.lobby {
        output["match?"] = lobby.json_schema();
    }
    if let Some(chat) = &manifest.control.chat {
        output["messages?"] = chat::messages_schema(chat).json_schema();
    }
    output
}

fn extend(members: &mut Value, more: Value) {
    if let (Some(members), Value::Object(more)) = (members.as_object_mut(), more) {
        members.extend(more);
    }
}

fn act_input(manifest: &Checked) -> Value {
    json!({ "intents": intent_list(manifest) })
}

fn intent_list(manifest: &Checked) -> Value {
    let most = calls::INTENTS_MAX.min(manifest.control.intents.burst as usize);
    let kinds: Vec<Value> =
        manifest.intents.iter().map(|intent| manifest.intent_schema(intent).json_schema()).collect();
    json!({ "type": "array", "minItems": 1, "maxItems": most, "items": { "anyOf": kinds } })
}

fn act_output(manifest: &Checked) -> Value {
    json!({ "acks": ack_list(manifest) })
}

/// The codes of a refused intent (§4 `IntentAck`).
pub(crate) fn ack_codes(manifest: &Checked) -> Vec<&'static str> {
    let mut codes = vec![
        "invalid",
        "forbidden_role",
        "out_of_scope",
        "rate_limited",
        "not_controller",
        "game_over",
        "game",
    ];
    codes.extend(manifest.signals.iter().map(|_| "signal"));
    codes
}

fn ack_list(manifest: &Checked) -> Value {
    let mut ack = json!({
        "ok": { "type": "boolean" },
        "schemaCode?": { "type": "string" },
        "path?": { "type": "array", "items": { "type": ["string", "integer"] } },
        "gameCode?": { "enum": manifest.errors },
    });
    if manifest.signals.is_some() {
        ack["signalCode?"] = json!({ "enum": SignalRefusal::CODES.map(SignalRefusal::as_str) });
    }
    ack["code?"] = json!({ "enum": ack_codes(manifest) });
    json!({ "type": "array", "items": closed(ack), "maxItems": calls::INTENTS_MAX })
}

fn sequence_input(manifest: &Checked) -> Value {
    let Some(limits) = &manifest.control.sequence else { return json!({}) };
    let step = closed(json!({
        "in": { "type": "integer", "minimum": 0, "maximum": limits.max_ticks_ahead },
        "intents": intent_list(manifest),
    }));
    json!({
        "steps": { "type": "array", "maxItems": limits.max_steps, "items": step },
        "cancelOn?": unique_list(&json!(manifest.event_kinds()), 16),
    })
}

fn sequence_output(manifest: &Checked) -> Value {
    json!({
        "ok": { "type": "boolean" },
        "id?": { "type": "string" },
        "code?": { "enum": ["invalid", "out_of_scope", "not_controller", "game_over"] },
        "acks": { "type": "array", "items": ack_list(manifest) },
    })
}

fn wait_input(manifest: &Checked) -> Value {
    json!({
        "seconds": { "type": "number", "minimum": 0, "maximum": 60 },
        "until?": unique_list(&json!(manifest.event_kinds()), 16),
    })
}

/// The lobby state before the start, else what happened since the last wait.
fn wait_output(manifest: &Checked) -> Value {
    let mut output = lobby_output(manifest);
    let mut wakes = vec!["event", "ended", "approval"];
    let told = json!({
        "tick?": { "type": "integer" },
        "outcome?": { "enum": ["running", "win", "loss", "draw"] },
        "events?": { "type": "array", "items": manifest.event.json_schema() },
        "observation?": { "type": "object" },
        "page?": { "type": "integer" },
        "pages?": { "type": "integer" },
        "next?": closed(json!({ "page": { "type": "integer" } })),
        "items?": { "type": "object" },
    });
    extend(&mut output, told);
    if manifest.control.chat.is_some() {
        wakes.push("owner_message");
    }
    if let Some(slice) = signal_slice(manifest) {
        wakes.push("signal");
        output["signals?"] = slice.json_schema();
    }
    output["wake?"] = json!({ "enum": wakes });
    output
}

/// The schema of a seat's signals: the generated member of the observation (§22.1).
fn signal_slice(manifest: &Checked) -> Option<&Schema> {
    manifest.signals.as_ref()?;
    let Kind::Obj { fields, .. } = &manifest.observation.kind else { return None };
    fields.iter().find(|(name, _)| &**name == "signals").map(|(_, slice)| slice)
}

fn say_input(manifest: &Checked) -> Value {
    let most = manifest.control.chat.as_ref().map_or(0, |chat| chat.max_say_chars);
    json!({ "text": { "type": "string", "minLength": 1, "maxLength": most } })
}

fn say_output() -> Value {
    json!({ "ok": { "const": true }, "tick": { "type": "integer" } })
}

fn skill_input() -> Value {
    json!({
        "name": { "type": "string", "maxLength": 64 },
        "path": { "type": "string", "maxLength": 200 },
        "offset?": { "type": "integer", "minimum": 0, "maximum": 2_147_483_647 },
    })
}

fn skill_output() -> Value {
    json!({
        "name": { "type": "string" }, "path": { "type": "string" },
        "offset": { "type": "integer" }, "total": { "type": "integer" },
        "text": { "type": "string" }, "next?": { "type": "integer" },
    })
}

fn deploy_input() -> Value {
    let files =
        json!({ "type": "array", "maxItems": 16, "uniqueItems": true, "items": { "type": "string" } });
    json!({ "runtime": { "enum": ["js", "wasm"] }, "code": { "type": "string" }, "include?": files })
}

fn practice_input(manifest: &Checked) -> Value {
    let tiers = json!({ "enum": manifest.opponents });
    let most = manifest.control.practice.as_ref().map_or(1, |practice| practice.max_ticks);
    let mut input = json!({
        "opponent": tiers,
        "ticks": { "type": "integer", "minimum": 1, "maximum": most },
        "seed?": { "type": "integer", "minimum": 0, "maximum": 2_147_483_647 },
        "allies?": tiers,
        "artifact?": closed(deploy_input()),
    });
    if let Some(options) = &manifest.match_options {
        input["options?"] = options.json_schema();
    }
    input
}

fn rollback_input() -> Value {
    json!({ "version": { "type": "integer", "minimum": 1, "maximum": 2_147_483_647 } })
}
