//! §4: the agent surface of a game with every mode, as clients pin it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::surface;
use playerthree_agent_command::AgentCommand;
use serde_json::{Value, json};

/// §4: one stable tool for each method; reading ones say so, and none reaches an open world.
#[test]
fn every_method_has_its_tool_and_only_reading_ones_are_read_only() {
    let surface = surface(AgentCommand);
    let tools: Vec<(&str, &str, bool)> =
        surface.tools.iter().map(|tool| (tool.name, tool.method, tool.read_only)).collect();
    let expected = [
        ("game_briefing", "briefing", true),
        ("game_observe", "observe", true),
        ("game_act", "act", false),
        ("game_sequence", "sequence", false),
        ("game_wait", "wait", true),
        ("game_ready", "ready", false),
        ("game_skill", "skill", true),
        ("policy_deploy", "policyDeploy", false),
        ("policy_status", "policyStatus", true),
        ("policy_rollback", "policyRollback", false),
        ("practice_run", "practice", false),
        ("pool_publish", "publish", false),
        ("game_say", "say", false),
    ];
    assert_eq!(tools, expected);
    assert!(surface.tools.iter().all(|tool| tool.record()["annotations"]["openWorldHint"] == false));
}

/// §4: the results of the policy tools are closed: `ok` tells which of them one is, and a `Stats` has its members alone.
#[test]
fn results_of_policy_tools_conform_or_do_not() {
    let surface = surface(AgentCommand);
    let stats = json!({
        "version": 1, "runtime": "js", "calls": 3, "timeouts": 0, "errors": 1, "meanMs": 0.5, "maxMs": 1.0,
        "intentsEmitted": 2, "intentsRejected": [{ "code": surface.manifest.errors[0], "count": 1 }, { "code": "invalid", "count": 1 }],
        "lastError": { "code": "threw", "message": "no" }, "logs": ["one"],
    });
    let with = |changes: Value| {
        let mut stats = stats.clone();
        stats.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        stats
    };
    let without = |member: &str| {
        let mut stats = stats.clone();
        stats.as_object_mut().unwrap().remove(member);
        stats
    };
    let approval = json!({ "id": "ap_1", "kind": "policyDeploy", "version": 1 });
    let rows = [
        ("policyDeploy", json!({ "ok": true, "version": 1, "probe": stats }), true),
        ("policyDeploy", json!({ "ok": false, "error": { "code": "compile", "message": "text" } }), true),
        ("policyRollback", json!({ "ok": false, "approval": approval }), true),
        ("policyDeploy", json!({ "ok": true }), false),
        ("policyDeploy", json!({ "ok": true, "version": 1, "probe": {} }), false),
        ("policyDeploy", json!({ "ok": true, "error": { "code": "compile" } }), false),
        ("policyDeploy", json!({ "ok": false, "error": { "code": "segfault" } }), false),
        ("policyDeploy", json!({ "ok": true, "version": 1, "probe": without("logs") }), false),
        ("policyDeploy", json!({ "ok": true, "version": 1, "probe": with(json!({ "code": "x" })) }), false),
        ("policyStatus", json!({ "policy": null }), true),
        ("policyStatus", json!({ "policy": stats }), true),
        ("policyStatus", json!({ "policy": with(json!({ "version": null, "policyId": "pol_1" })) }), true),
        ("policyStatus", json!({ "policy": { "version": null, "approval": pending(&approval) } }), true),
        ("policyStatus", json!({ "policy": { "version": null } }), false),
        ("policyStatus", json!({ "policy": with(json!({ "runtime": "lua" })) }), false),
        ("practice", json!({ "ok": false, "code": "guard", "policy": stats, "wallMs": 1 }), true),
        (
            "practice",
            json!({ "ok": false, "code": "guard", "policy": stats, "wallMs": 1, "ticks": 3 }),
            false,
        ),
        (
            "practice",
            json!({ "ok": true, "outcome": "win", "ticks": 3, "policy": stats, "wallMs": 1 }),
            false,
        ),
        ("publish", json!({ "policyId": "pol_7" }), true),
        ("publish", json!({ "policyId": "pol_7", "owner": "ann" }), false),
    ];
    for (method, result, conforms) in rows {
        let tool = surface.tools.iter().find(|tool| tool.method == method).unwrap();
        assert_eq!(jsonschema::is_valid(&tool.output_schema, &result), conforms, "{method} {result}");
    }
}

fn pending(approval: &Value) -> Value {
    let mut approval = approval.clone();
    approval["status"] = json!("pending");
    approval
}
