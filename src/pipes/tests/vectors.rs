//! The protocol's vectors: canonical bytes, event hashes and whole logs, each matched exactly.
#![expect(clippy::unwrap_used, reason = "a test helper that cannot read its vectors has nothing else to do")]

use std::fs;
use std::path::{Path, PathBuf};

use playerthree_pipes::canonical;
use playerthree_pipes::verify::{Detail, LogError, Request, verify};
use serde_json::{Value, json};

fn vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors")
}

fn load(name: &str) -> Value {
    serde_json::from_slice(&fs::read(vectors().join(name)).unwrap()).unwrap()
}

fn logs() -> Vec<(String, Vec<u8>)> {
    let files = fs::read_dir(vectors().join("logs")).unwrap().map(|entry| entry.unwrap().path());
    let mut logs: Vec<_> = files
        .map(|path| (path.file_stem().unwrap().to_string_lossy().into_owned(), fs::read(path).unwrap()))
        .collect();
    logs.sort();
    logs
}

fn chains() -> Request {
    Request { detail: Detail::Chains, ..Request::default() }
}

#[test]
fn canonical_bytes_and_refusals_are_those_of_the_vectors() {
    let cases = load("canonicalization.json");
    let cases = cases["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 72);
    for case in cases {
        let input = case["input"].as_str().unwrap().as_bytes();
        if case["reject"] == true {
            assert!(canonical::canonicalize(input).is_err(), "{}", case["name"]);
            continue;
        }
        let bytes = canonical::canonicalize(input).unwrap();
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            case["canonical"].as_str().unwrap(),
            "{}",
            case["name"]
        );
        assert_eq!(
            canonical::canonical_hash(input).unwrap(),
            case["sha256"].as_str().unwrap(),
            "{}",
            case["name"]
        );
    }
}

#[test]
fn event_hashes_leave_out_the_top_level_sig_alone() {
    for case in load("event-hash.json")["cases"].as_array().unwrap() {
        let hash = canonical::event_hash(case["input"].as_str().unwrap().as_bytes()).unwrap();
        assert_eq!(hash, case["sha256"].as_str().unwrap(), "{}", case["name"]);
    }
}

fn assert_report(name: &str, expected: &Value, report: &Value) {
    assert_eq!(report["verdict"], expected["expect"], "{name}: verdict");
    for member in ["games", "faults", "ignored", "chain"] {
        assert_eq!(report[member], expected[member], "{name}: {member}");
    }
}

#[test]
fn every_log_gets_its_exact_verdict_games_faults_and_notes() {
    let logs = logs();
    assert_eq!(logs.len(), 93);
    for (name, bytes) in logs {
        let expected: Value = serde_json::from_slice(&bytes).unwrap();
        let report = verify(bytes.as_slice(), chains()).unwrap();
        assert_report(&name, &expected, &report.to_json());
        assert_eq!(report.exit_status(), u8::from(!name.starts_with("valid")), "{name}");
    }
}

/// A single inbox as the store writes it, a capture a line, with the options given by the reader.
#[test]
fn a_capture_a_line_reads_like_the_document() {
    for (name, bytes) in logs() {
        let log: Value = serde_json::from_slice(&bytes).unwrap();
        let inboxes = log["inboxes"].as_array().unwrap();
        if inboxes.len() != 1 {
            continue;
        }
        // One row of another shape first: the order of rows is decided on the rows that follow as well.
        let lines: Vec<String> =
            inboxes[0]["captures"].as_array().unwrap().iter().map(|row| format!("{row}\n")).collect();
        let document = json!({"options": log["options"], "inboxes": []});
        let mut request = chains();
        request.options = serde_options(&document);
        let report = verify(lines.concat().as_bytes(), request).unwrap();
        assert_report(&name, &log, &report.to_json());
    }
}

/// The options of a document, as a caller would give them.
fn serde_options(document: &Value) -> playerthree_pipes::verify::Options {
    verify(document.to_string().as_bytes(), Request::default()).unwrap().options
}

#[test]
fn one_game_can_be_read_alone() {
    let (_, bytes) = logs().into_iter().find(|(name, _)| name == "invalid-one-of-two-games").unwrap();
    let log: Value = serde_json::from_slice(&bytes).unwrap();
    for game in log["games"].as_array().unwrap() {
        let id = game["gameId"].as_str().unwrap();
        let report =
            verify(bytes.as_slice(), Request { game: Some(id.to_owned()), ..Request::default() }).unwrap();
        assert_eq!(report.to_json()["games"], json!([game]));
        assert_eq!(report.is_valid(), game["fault"].is_null());
    }
}

#[test]
fn what_is_no_log_is_an_error_and_not_a_verdict() {
    for text in ["nonsense", "[1,2]", "{\"a\":1}", "7", "{\"inboxes\":[{\"captures\":[", "{\"inboxes\":{}}"] {
        assert!(verify(text.as_bytes(), Request::default()).is_err(), "{text}");
    }
    let missing = r#"{"Requests":[{"Seq":1,"Id":"a"}]}"#;
    assert!(matches!(verify(missing.as_bytes(), Request::default()), Err(LogError::MissingBody)));
    let twice = r#"{"Requests":[],"Requests":[]}"#;
    assert!(verify(twice.as_bytes(), Request::default()).is_err());
    assert!(verify(&b""[..], Request::default()).unwrap().is_valid());
}
