//! Consent to a token (§5): where a client can ask its person, it has to before the first call of a seat's or a
//! commander's token is carried out. Where it cannot, installing the token was consent. A sign-in had its consent page.

use crate::lease::Lease;
use crate::tool_call::ToolCall;
use serde_json::{Value, json};

/// The name of the question.
const QUESTION: &str = "consent";

/// Whether a call may be carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Consent {
    /// It may.
    Given,
    /// The person is asked first.
    Asked,
    /// The person said no.
    Declined,
}

/// What the person of this lease's client says. An answer of yes holds as long as the lease; after a no the next call
/// asks again.
pub(crate) fn of(lease: &Lease, call: &ToolCall) -> Consent {
    if lease.agent.has_consent_page() || lease.has_consent() || !call.can_ask() {
        return Consent::Given;
    }
    match call.answer(QUESTION) {
        None => Consent::Asked,
        Some(answer) if answer["action"] == "accept" && answer["content"]["allow"] == true => {
            lease.give_consent();
            Consent::Given
        }
        Some(_) => Consent::Declined,
    }
}

/// What the person is asked: the game's own title and the manifest's names, nothing that anybody else wrote.
pub(crate) fn question_of(lease: &Lease) -> Value {
    let manifest = &lease.agent.surface().manifest;
    let roles: Vec<String> = lease.agent.commands().iter().map(|(role, _)| role.to_string()).collect();
    question(&format!(
        "Let this agent play for you in {} ({})? It acts within the scopes and the mandate that the owner set.",
        manifest.title,
        roles.join(", ")
    ))
}

/// The result that makes the client ask.
pub(crate) fn question(message: &str) -> Value {
    let schema = json!({
        "type": "object",
        "properties": { "allow": { "type": "boolean", "title": "Let it play" } },
        "required": ["allow"],
    });
    let params = json!({ "mode": "form", "message": message, "requestedSchema": schema });
    json!({
        "resultType": "input_required",
        "inputRequests": { QUESTION: { "method": "elicitation/create", "params": params } },
    })
}
