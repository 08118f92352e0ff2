use playerthree_game::Game;
#[test]
fn snapshot() {
    let text = serde_json::to_string_pretty(&playerthree_agent_command::AgentCommand.manifest().to_ordered())
        .unwrap();
    std::fs::write(std::env::var("SNAP").unwrap() + "/agent-command.json", text).unwrap();
}
