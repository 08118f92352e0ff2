//! §4: the agent surface of a game with every mode, as clients pin it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::surface;
use playerthree_agent_command::AgentCommand;

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
