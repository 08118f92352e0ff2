//! `playerthree policy run`, as a person uses it: the shipped program, a file and a table.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::{Command, Output};

fn run(name: &str, source: &[u8], more: &[&str]) -> Output {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join(name);
    std::fs::write(&file, source).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_playerthree"));
    command.args(["policy", "run"]).arg(&file).args(["--game", "agent-command", "--ticks", "40"]).args(more);
    command.output().unwrap()
}

fn told(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap() + &String::from_utf8(output.stderr.clone()).unwrap()
}

// §11, §13: calls, times, intents, refusals and the policy's own words.
#[test]
fn a_policy_is_tried_out_from_the_shell() {
    let source = b"function think(obs) { log('tick', obs.tick); return [{ kind: 'nonsense' }]; }";
    let output = run("policy.js", source, &[]);
    let text = told(&output);
    assert!(output.status.success(), "{text}");
    for row in
        ["outcome", "ticks", "calls             20 (0 timed out, 0 failed)", "20 invalid", "tick 0", "report"]
    {
        assert!(text.contains(row), "{row} in\n{text}");
    }
    let output = run("policy.js", source, &["--json", "--role", "air", "--seed", "3"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&json["ok"], &json["policy"]["calls"]), (&true.into(), &20.into()));
}

// §11: a broken policy is told with its code and its engine's words, and the command fails.
#[test]
fn a_broken_policy_fails_with_its_code() {
    let output = run("policy.js", b"function think() { throw new Error('\x1b[2Jmine'); }", &[]);
    let text = told(&output);
    assert!(!output.status.success() && text.contains("threw") && text.contains("mine"), "{text}");
    assert!(!text.contains('\x1b'), "a policy's text steers no terminal");
    let output = run("policy.wasm", b"no module", &[]);
    assert!(!output.status.success() && told(&output).contains("compile"), "{}", told(&output));
}

// Arguments outside the game's own words are refused with those words.
#[test]
fn wrong_words_are_answered_with_the_right_ones() {
    let source = b"function think() { return []; }";
    for (arguments, hint) in [(["--role", "cook"], "economy, ground, air"), (["--options", "{"], "not JSON")]
    {
        let output = run("policy.js", source, &arguments);
        assert!(!output.status.success() && told(&output).contains(hint), "{}", told(&output));
    }
    assert!(told(&run("policy.txt", source, &[])).contains(".js or a .wasm"));
}
