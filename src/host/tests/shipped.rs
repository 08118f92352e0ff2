//! §13: each example policy of agent-command's skill, deployed beside the weakest bots, beats the weakest bots.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use base64::prelude::{BASE64_STANDARD as BASE64, Engine as _};
use playerthree_agent_command::AgentCommand;
use playerthree_game::{Name, Runtime, Seat};
use playerthree_host::Trial;
use playerthree_sandbox::Workers;
use playerthree_session::{Artifact, Surface};
use serde_json::Value;
use std::sync::Arc;

/// The workers of these tests are this test program, started with this test's name as its filter.
#[test]
fn sandbox_worker() {
    playerthree_sandbox::serve_if_worker();
}

/// The artifact of a file of the strategy skill, as an agent takes it from there.
fn artifact(surface: &Surface, file: &str) -> Artifact {
    let skills = surface.knowledge.skills();
    let text = skills.iter().find_map(|skill| skill.files.get(file)).unwrap();
    match file.strip_suffix(".wasm.base64") {
        Some(_) => Artifact { runtime: Runtime::Wasm, code: BASE64.decode(text.trim()).unwrap().into() },
        None => Artifact { runtime: Runtime::Js, code: text.as_bytes().into() },
    }
}

/// How matches end that the policy plays on one seat of either side.
fn outcomes(role: &str, file: &str) -> Vec<(Value, Value)> {
    let surface = Arc::new(Surface::new(Arc::new(AgentCommand)).unwrap());
    let weakest = surface.manifest.opponents.first().unwrap().clone();
    let teams: Vec<Name> = vec!["red".into(), "blue".into()];
    let trial = |team: &Name| Trial {
        teams: Some(teams.clone()),
        alliances: None,
        seat: Seat::new(team, role),
        artifact: artifact(&surface, file),
        version: 0,
        allies: weakest.clone(),
        opponent: weakest.clone(),
        ticks: 9_000,
        seed: 5,
        options: None,
        surface: Arc::clone(&surface),
    };
    let play = |team: &Name| {
        let result = trial(team).play(&Workers::of_this_program(), &mut |_| true).unwrap().to_json();
        (result["outcome"].clone(), result["policy"]["errors"].clone())
    };
    teams.iter().map(play).collect()
}

/// One after the other: a module is compiled within its budget of wall time only where others leave it a core.
#[test]
fn every_example_policy_beats_the_weakest_bots() {
    let examples = [
        ("economy", "policies/economy.js"),
        ("ground", "policies/ground.js"),
        ("air", "policies/air.js"),
        ("ground", "policies/army.wasm.base64"),
    ];
    let won = (Value::from("win"), Value::from(0));
    let results: Vec<_> = examples.map(|(role, file)| (file, outcomes(role, file))).to_vec();
    assert!(results.iter().all(|(_, ends)| ends.iter().all(|end| *end == won)), "{results:?}");
}
