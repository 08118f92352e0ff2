//! `playerthree replay` as an operator runs it (§10, §17): verdicts and their exit codes, and every perspective.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use playerthree_game::Seat;
use playerthree_session::{Config, Ending, Match, Occupant, OwnerId, REPLAY_BYTES_MAX, Right, Surface};
use playerthree_tic_tac_toe::TicTacToe;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

/// A match of four moves that its host ended, and that pauses nothing.
fn recorded() -> Value {
    let surface = Arc::new(Surface::new(Arc::new(TicTacToe)).unwrap());
    let config = Config::of(7);
    let mut game = Match::new(surface, config, 0).unwrap();
    let seats = [Seat::new("x", "player"), Seat::new("o", "player")];
    for (seat, name) in seats.iter().zip(["ann", "bob"]) {
        let human = Occupant::Human { owner: OwnerId(name.into()), display: name.into() };
        game.assign(seat, human).unwrap();
    }
    for (seat, (row, col)) in seats.iter().cycle().zip([(0, 0), (1, 1), (2, 2), (0, 1)]) {
        let place = json!({ "kind": "move", "row": row, "col": col });
        assert_eq!(game.act(seat, Right::Owner, &[place], 0).unwrap()[0].code(), "ok");
    }
    game.end(&Ending::Draw, 0).unwrap();
    serde_json::from_str(&game.replay().unwrap().to_text()).unwrap()
}

/// A folder that is gone after the test, and a file in it.
fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replay.json");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

/// What a run printed on standard output and standard error, and how it ended.
fn run(command: &str, file: &Path, more: &[&str]) -> (String, String, Option<i32>) {
    let mut playerthree = Command::new(env!("CARGO_BIN_EXE_playerthree"));
    let output = playerthree.args(["replay", command]).arg(file).args(more).output().unwrap();
    let Output { status, stdout, stderr } = output;
    (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap(), status.code())
}

fn run_text(command: &str, replay: &Value, more: &[&str]) -> (String, String, Option<i32>) {
    let (_folder, path) = file(&replay.to_string());
    run(command, &path, more)
}

/// §10: a replay that leads where it says is valid, however its JSON is laid out, and its digest names it.
#[test]
fn a_true_replay_is_valid_and_named_by_its_digest() {
    let replay = recorded();
    let (out, err, code) = run_text("verify", &replay, &["--json"]);
    assert_eq!((code, &*err), (Some(0), ""), "nobody watches, so nothing is said of progress");
    let verdict: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(verdict["valid"], true);
    assert_eq!(verdict["ticks"], 4);
    assert_eq!(verdict["ranks"], json!({ "x": 1, "o": 1 }));
    let (_folder, path) = file(&serde_json::to_string_pretty(&replay).unwrap());
    let (out, _, code) = run("verify", &path, &["--progress"]);
    assert_eq!(code, Some(0));
    assert!(out.starts_with("valid: tic-tac-toe"), "{out}");
    for shown in ["digest", "state"] {
        assert!(out.contains(verdict[shown].as_str().unwrap()), "{out}");
    }
    let (_, err, _) = run("verify", &path, &["--progress"]);
    assert!(err.contains("tick 2 of 4"), "{err}");
}

/// §10: a refused replay says why, and exits with 1.
#[test]
fn a_false_replay_is_refused_with_its_first_fault() {
    let truth = recorded();
    let cases: [(&str, Value, &str); 3] = [
        ("gameVersion", json!("none"), "playerthree/replay: game version mismatch"),
        ("ranks", json!({ "x": 1, "o": 2 }), "playerthree/replay: the ranks differ"),
        ("seed", json!("7"), "playerthree/replay: invalid seed"),
    ];
    for (member, value, why) in cases {
        let mut replay = truth.clone();
        replay[member] = value;
        let (out, err, code) = run_text("verify", &replay, &[]);
        assert_eq!((code, &*out), (Some(1), ""), "{member}");
        assert!(err.contains(why), "{err}");
    }
    let mut replay = truth;
    replay["entries"][4][5] = json!("agent");
    let (_, err, code) = run_text("verify", &replay, &[]);
    assert_eq!(code, Some(1));
    assert!(err.contains("playerthree/replay: entry 4: invalid intent source"), "{err}");
}

/// What cannot be judged is no verdict: exit status 2.
#[test]
fn what_cannot_be_judged_exits_with_2() {
    let (_, err, code) = run("verify", Path::new("no-such-file.json"), &[]);
    assert_eq!(code, Some(2));
    assert!(err.contains("no-such-file.json: cannot read it"), "{err}");
    let mut unknown = recorded();
    unknown["game"] = json!("chess");
    let (_, err, code) = run_text("verify", &unknown, &[]);
    assert_eq!(code, Some(2));
    assert!(err.contains("there are tic-tac-toe and agent-command"), "{err}");
    let mut window = recorded();
    window["window"] = json!({ "from": 0, "dropped": 9 });
    window["outcomes"] = json!({ "x": "running", "o": "running" });
    window.as_object_mut().unwrap().remove("ranks");
    let (_, err, code) = run_text("verify", &window, &[]);
    assert_eq!(code, Some(2));
    assert!(err.contains("playerthree/replay: this replay starts at a checkpoint"), "{err}");
    let (_folder, path) = file(&" ".repeat(REPLAY_BYTES_MAX + 1));
    let (_, err, code) = run("verify", &path, &[]);
    assert_eq!(code, Some(2));
    assert!(err.contains("playerthree/replay: the replay is too large"), "{err}");
}

/// §17: God, a side and a seat see a tick as the match was then, and what is not there is an error.
#[test]
fn a_tick_is_shown_from_every_perspective() {
    let replay = recorded();
    let show = |more: &[&str]| {
        let (out, err, code) = run_text("show", &replay, more);
        assert_eq!((code, &*err), (Some(0), ""));
        serde_json::from_str::<Value>(&out).unwrap()
    };
    let god = show(&["--tick", "2", "--inputs"]);
    assert_eq!((&god["tick"], &god["outcomes"]["x"], god.get("ranks")), (&json!(2), &json!("running"), None));
    // The third move was recorded at tick 2: it is in.
    assert_eq!(god["inputs"].as_array().unwrap().len(), 3);
    let side = show(&["--tick", "0", "--perspective", "side:x"]);
    assert_ne!(side["shown"], god["shown"]);
    let seat = show(&["--perspective", "seat:o/player"]);
    assert_eq!((&seat["tick"], &seat["ranks"]["x"]), (&json!(4), &json!(1)));
    assert_eq!(seat["paused"], json!([]));
    let (_, err, code) = run_text("show", &replay, &["--tick", "5"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("playerthree/replay: the target is past the end"), "{err}");
    let (_, err, code) = run_text("show", &replay, &["--perspective", "side:z"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("nothing valid to show there"), "{err}");
    let (_, err, code) = run_text("show", &replay, &["--perspective", "everybody"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("god, side:<team> or seat:<team>/<role>"), "{err}");
}
