//! JSON Schemas of what the policy tools return (§4): closed, with `ok` telling the alternatives apart, so that a result that
//! is none of them leaves as `internal` and nothing else.

use crate::policy::POLICY_ERROR_CODES;
use crate::tools::{ack_codes, closed};
use playerthree_game::{Checked, SignalRefusal};
use serde_json::{Value, json};

/// What a deploy or a rollback comes to.
pub(crate) fn deployed(manifest: &Checked) -> Value {
    any_of(&[
        json!({ "ok": { "const": true }, "version": version(1), "probe": closed(stats(manifest)) }),
        json!({ "ok": { "const": false }, "error": policy_error() }),
        json!({ "ok": { "const": false }, "approval": approval_request(&["policyDeploy", "policyRollback"]) }),
    ])
}

/// `PracticeResult`: a failure has no outcome, ticks or report.
pub(crate) fn practised(manifest: &Checked) -> Value {
    let stats = closed(stats(manifest));
    any_of(&[
        json!({
            "ok": { "const": true },
            "outcome": { "enum": ["running", "win", "loss", "draw"] },
            "ticks": count(),
            "report": manifest.report.json_schema(),
            "policy": stats,
            "wallMs": count(),
        }),
        json!({
            "ok": { "const": false },
            "code": { "enum": ["policy", "guard"] },
            "policy": stats,
            "wallMs": count(),
        }),
    ])
}

/// `{policy: PolicyStatus | null}`.
pub(crate) fn status(manifest: &Checked) -> Value {
    let approval = closed(json!({
        "id": { "type": "string" },
        "kind": { "enum": ["policyDeploy", "policyRollback", "publish"] },
        "version": version(1),
        "status": { "enum": ["pending", "approved", "rejected", "failed"] },
    }));
    let mut active = stats(manifest);
    active["approval?"] = approval.clone();
    let none_active = json!({ "version": { "type": "null" }, "approval": approval });
    closed(json!({ "policy": { "anyOf": [{ "type": "null" }, closed(active), closed(none_active)] } }))
}

/// A policy's name in the pool, or the request to put it there.
pub(crate) fn published() -> Value {
    any_of(&[
        json!({ "policyId": policy_id() }),
        json!({ "ok": { "const": false }, "approval": approval_request(&["publish"]) }),
    ])
}

fn any_of(alternatives: &[Value]) -> Value {
    let alternatives: Vec<Value> = alternatives.iter().cloned().map(closed).collect();
    json!({ "type": "object", "anyOf": alternatives })
}

/// The members of `Stats`. Nobody's version is a policy of the pool, and nothing is where the active policy was stopped.
fn stats(manifest: &Checked) -> Value {
    let refused = closed(json!({ "code": { "enum": refusals(manifest) }, "count": count() }));
    let milliseconds = json!({ "type": "number", "minimum": 0 });
    json!({
        "version": { "anyOf": [version(0), { "type": "null" }] },
        "policyId?": policy_id(),
        "runtime": { "enum": ["js", "wasm"] },
        "calls": count(),
        "timeouts": count(),
        "errors": count(),
        "meanMs": milliseconds,
        "maxMs": milliseconds,
        "intentsEmitted": count(),
        "intentsRejected": { "type": "array", "items": refused },
        "lastError?": policy_error(),
        "logs": { "type": "array", "items": { "type": "string" } },
    })
}

/// Everything that an intent of a policy can be refused with: an ack's code, or the board's or the game's own one.
fn refusals(manifest: &Checked) -> Vec<String> {
    let boards = manifest.signals.iter().flat_map(|_| SignalRefusal::CODES.map(SignalRefusal::as_str));
    let mut codes: Vec<String> = ack_codes(manifest).into_iter().chain(boards).map(str::to_owned).collect();
    codes.extend(manifest.errors.iter().map(ToString::to_string));
    codes.push("internal".to_owned());
    codes.sort_unstable();
    codes.dedup();
    codes
}

fn policy_error() -> Value {
    closed(json!({
        "code": { "enum": POLICY_ERROR_CODES },
        "message?": { "type": "string", "maxLength": 1024 },
    }))
}

fn approval_request(kinds: &[&str]) -> Value {
    closed(json!({ "id": { "type": "string" }, "kind": { "enum": kinds }, "version": version(1) }))
}

fn policy_id() -> Value {
    json!({ "type": "string", "pattern": "^pol_[0-9]{1,15}$" })
}

fn version(least: u32) -> Value {
    json!({ "type": "integer", "minimum": least })
}

fn count() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}
