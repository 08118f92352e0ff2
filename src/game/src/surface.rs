//! `surfaceHash`: what a client pins so that a game cannot change under it (§4 "Surface pinning and sessions").

use crate::knowledge::{CONTROL_PLANE, Knowledge};
use crate::{Checked, Skill};
use playerthree_schema::{canonical, sha256_hex};
use serde_json::{Value, json};

/// Lowercase hexadecimal SHA-256 of canonical JSON over the control-plane version, the complete manifest, the tool
/// definitions, every served skill and the session rules. Static: no seat, match or clock is part of it.
pub fn surface_hash(manifest: &Checked, tool_definitions: &Value) -> String {
    let knowledge = Knowledge::new(manifest);
    let skills: Vec<Value> = knowledge.skills().iter().map(skill).collect();
    let surface = json!({
        "controlPlane": CONTROL_PLANE,
        "manifest": manifest.to_json(),
        "order": order(manifest),
        "tools": tool_definitions,
        "skills": skills,
        "session": session(),
    });
    sha256_hex(canonical(&surface).as_bytes())
}

fn skill(skill: &Skill) -> Value {
    json!({ "name": skill.name, "description": skill.description, "files": skill.files })
}

/// The orders that mean something and that a JSON object cannot hold.
fn order(manifest: &Checked) -> Value {
    let topics: Vec<&str> = manifest.topics.iter().map(|topic| &*topic.name).collect();
    let intents: Vec<&str> = manifest.intents.iter().map(|intent| &*intent.name).collect();
    json!({ "topics": topics, "intents": intents })
}

/// How calls find their seat and what a session goes through (§4): fixed by this contract version.
fn session() -> Value {
    json!({
        "phases": ["lobby", "match"],
        "role": "optional with one granted role; required with several, except briefing (first commanded role) and skill (none)",
        "unheldRole": "forbidden",
        "lobbyState": ["phase", "seat", "match", "you", "startsWhen", "instruction"],
        "lobbyRefusals": { "act": ["not_in_match", "paused"], "sequence": ["not_in_match", "paused"] },
        "presenceSeconds": 30,
    })
}
