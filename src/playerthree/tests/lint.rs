//! `playerthree lint` as an author runs it (§17): what it prints, and the exit code that a build reads.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test may panic")]

use playerthree_game::Game as _;
use playerthree_tic_tac_toe::TicTacToe;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What one run printed and how it ended.
struct Run {
    out: String,
    err: String,
    code: Option<i32>,
}

impl Run {
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).expect("one JSON object")
    }

    /// Whether the run refused before it judged anything.
    fn is_refusal(&self, why: &str) -> bool {
        self.code == Some(1) && self.out.is_empty() && self.err.contains(why)
    }

    fn shows(&self, text: &str) -> bool {
        self.out.contains(text) || self.err.contains(text)
    }
}

fn lint<A: AsRef<std::ffi::OsStr>>(arguments: &[A]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_playerthree"));
    let Output { status, stdout, stderr } = command.arg("lint").args(arguments).output().expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Run { out: text(stdout), err: text(stderr), code: status.code() }
}

fn lint_file(file: &Path, more: &[&str]) -> Run {
    let mut arguments = vec!["--manifest".into(), file.as_os_str().to_owned()];
    arguments.extend(more.iter().map(Into::into));
    lint(&arguments)
}

/// A folder that is gone after the test, and a file in it.
fn file(content: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("manifest.json");
    std::fs::write(&path, content).expect("a file");
    (folder, path)
}

/// Tic-tac-toe's manifest after a change, as a file.
fn changed(change: impl Fn(&mut Value)) -> (tempfile::TempDir, PathBuf) {
    let mut manifest = TicTacToe.manifest().to_json();
    change(&mut manifest);
    file(manifest.to_string().as_bytes())
}

/// §17: the shipped games keep the contract and leave nothing to advise.
#[test]
fn shipped_games_are_clean() {
    for game in ["tic-tac-toe", "agent-command"] {
        let plain = lint(&[game]);
        assert_eq!(plain.code, Some(0), "{}", plain.err);
        assert!(plain.out.starts_with(game) && plain.out.trim_end().ends_with("0 faults, 0 warnings"));
        assert!(plain.out.contains("size     observation: at most "));
        let report = lint(&[game, "--json"]);
        assert_eq!(report.code, Some(0));
        let report = report.json();
        assert_eq!((&report["game"], &report["ok"]), (&json!(game), &json!(true)));
        assert_eq!((&report["faults"], &report["warnings"]), (&json!([]), &json!([])));
        assert!(report["maxBytes"]["observation"].as_u64() > Some(1000));
    }
}

/// §17: a manifest file of a game in any language is judged as a shipped one is.
#[test]
fn a_manifest_file_is_judged_like_a_shipped_game() {
    let (_folder, path) = changed(|_| {});
    let run = lint_file(&path, &["--json"]);
    assert_eq!((run.code, run.json()), (Some(0), lint(&["tic-tac-toe", "--json"]).json()));
}

/// §17: advice alone does not fail a build.
#[test]
fn warnings_alone_do_not_fail() {
    let (_folder, path) = changed(|manifest| manifest["skills"] = json!([]));
    let run = lint_file(&path, &[]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.out.contains("warning  skills: ") && run.out.contains("0 faults, 1 warnings"), "{}", run.out);
}

/// §3, §17: all faults come back together, each with its place and what to do, and none repeats what it refuses.
#[test]
fn all_faults_of_a_file_come_back_together() {
    let (_folder, path) = changed(|manifest| {
        manifest["title"] = json!(["CANARY"]);
        manifest["id"] = json!("CANARY id");
        manifest["CANARY"] = json!("CANARY");
        manifest["control"]["CANARY"] = json!({});
        manifest["control"]["intents"]["burst"] = json!(0);
        manifest["intents"]["CANARY kind"] = json!({ "roles": ["CANARY"], "params": {}, "doc": "d" });
        manifest["intents"]["move"]["params"]["row"]["max"] = json!(-1);
        manifest["directive"]["fields"]["style"]["values"] = json!(["CANARY value"]);
        manifest["topics"]["tactics"]["summary"] = json!("CANARY\nCANARY");
    });
    let run = lint_file(&path, &["--json"]);
    assert_eq!(run.code, Some(1));
    let report = run.json();
    assert_eq!((&report["ok"], &report["game"]), (&json!(false), &Value::Null));
    let faults = report["faults"].as_array().expect("faults");
    for place in [
        "manifest.?",
        "title",
        "control.?",
        "id",
        "topics.tactics.summary",
        "intents[0]",
        "intents[0].roles",
        "intents.move.params.row",
        "directive.style",
        "control.intents.burst",
    ] {
        assert!(faults.iter().any(|fault| fault["path"] == place), "{place}: {report:#}");
    }
    let told = |fault: &Value, member: &str| fault[member].as_str().is_some_and(|text| !text.is_empty());
    assert!(faults.iter().all(|fault| told(fault, "what") && told(fault, "fix")), "{report:#}");
    assert!(!run.shows("CANARY"), "{}{}", run.out, run.err);
    let plain = lint_file(&path, &[]);
    assert_eq!(plain.code, Some(1));
    assert!(
        plain.out.contains("(unnamed game)\n") && plain.out.contains("  fault    control.intents.burst: ")
    );
    assert_eq!(plain.out.matches("  fault    ").count(), faults.len());
    assert!(!plain.shows("CANARY"), "{}{}", plain.out, plain.err);
}

/// §3, §17: what is no JSON, repeats a member, or is nested too deep, is a fault with its line, not an echo.
#[test]
fn a_file_that_is_no_json_object_is_a_fault() {
    let deep = "[".repeat(100_000);
    for content in ["", "CANARY", "{\"id\":\"a\",\n\"id\":\"CANARY\"}", "[\"CANARY\"]", &deep] {
        let (_folder, path) = file(content.as_bytes());
        let run = lint_file(&path, &["--json"]);
        assert_eq!((run.code, &run.json()["ok"]), (Some(1), &json!(false)));
        assert!(
            run.json()["faults"][0]["path"].as_str() == Some("manifest") && !run.shows("CANARY"),
            "{}",
            run.out
        );
    }
}

/// A file that cannot be read, is not UTF-8 or is too large is refused before anything is judged.
#[test]
fn a_file_that_cannot_be_read_is_refused() {
    let (folder, path) = file(&[b' '; 8 * 1024 * 1024 + 1]);
    assert!(lint_file(&path, &[]).is_refusal("is larger than 8388608 bytes"));
    std::fs::write(&path, b"{\"id\":\"CANARY\xff\"}").expect("a file");
    let binary = lint_file(&path, &[]);
    assert!(binary.is_refusal("cannot read") && !binary.shows("CANARY"), "{}", binary.err);
    assert!(lint_file(&folder.path().join("none.json"), &[]).is_refusal("cannot read"));
    assert!(lint_file(folder.path(), &["--json"]).is_refusal("cannot read"));
}

/// A device without an end is read to the bound and no further.
#[cfg(unix)]
#[test]
fn an_endless_file_is_refused() {
    assert!(lint_file(Path::new("/dev/zero"), &[]).is_refusal("is larger than 8388608 bytes"));
}

/// Exactly one thing is judged, and an unknown game is not repeated.
#[test]
fn the_command_line_is_checked() {
    let unknown = lint(&["CANARY"]);
    assert!(unknown.is_refusal("there are tic-tac-toe and agent-command") && !unknown.shows("CANARY"));
    assert_eq!(lint::<&str>(&[]).code, Some(2));
    assert_eq!(lint(&["tic-tac-toe", "--manifest", "x.json"]).code, Some(2));
}
