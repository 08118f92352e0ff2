//! What `--help` says of commands that need more than a line.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::Command;

fn help(command: &str) -> String {
    let words = command.split(' ').chain(["--help"]);
    let output = Command::new(env!("CARGO_BIN_EXE_playerthree")).args(words).output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_help_of_load_says_what_it_does_how_it_measures_and_how_it_ends() {
    let help = help("load");
    for part in
        ["latency counts from the moment they were due", "code 1", "Ctrl-C", "percentiles", "--pid", "--json"]
    {
        assert!(help.contains(part), "{part} is not in\n{help}");
    }
    for scenario in ["join", "idle", "broadcast", "echo", "churn", "play", "match", "scripted"] {
        assert!(help.contains(&format!("- {scenario}:")), "{scenario} is not in\n{help}");
    }
}

#[test]
fn the_help_of_replay_says_what_is_checked_how_it_ends_and_who_may_see_it() {
    let verify = help("replay verify");
    for part in
        ["digest", "Exit status 0: valid. 1: refused", "2: no verdict", "16 MiB", "--progress", "--json"]
    {
        assert!(verify.contains(part), "{part} is not in\n{verify}");
    }
    let show = help("replay show");
    for part in ["god", "side:TEAM", "seat:TEAM/ROLE", "--tick", "--inputs", "may see all of it"] {
        assert!(show.contains(part), "{part} is not in\n{show}");
    }
}

#[test]
fn the_help_of_mcp_and_connect_says_where_a_token_comes_from_and_what_becomes_of_it() {
    for part in [
        "PLAYERTHREE_TOKEN",
        "--token-file",
        "never from the command line",
        "one process",
        "https",
        "--channel",
    ] {
        assert!(help("mcp").contains(part), "{part}");
    }
    for part in
        ["claude-code", "sign-in", "seat-token", "no secret is printed unless --show-token", "--channel"]
    {
        assert!(help("connect").contains(part), "{part}");
    }
}
