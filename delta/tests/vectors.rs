//! The vectors that every implementation of the format shares (`vectors/*.json`).
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails where its input is wrong")]

use playerthree_delta::{Delta, apply, diff};
use serde_json::Value;

fn vectors(file: &str) -> Vec<Value> {
    let path = format!("{}/vectors/{file}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn check_applied(vector: &Value) {
    let delta = Delta::decode(vector["delta"].clone()).expect("a well-formed delta");
    let rebuilt = apply(vector["old"].clone(), &delta).expect("a delta that fits");
    assert_eq!(rebuilt.to_string(), vector["new"].to_string(), "{}", vector["name"]);
}

/// §4: the delta of each pair of versions is this one, and it rebuilds the new version.
#[test]
fn edits_are_written_as_documented() {
    for vector in vectors("edits") {
        let delta = diff(&vector["old"], &vector["new"]).expect("versions that differ");
        assert_eq!(delta.as_wire().to_string(), vector["delta"].to_string(), "{}", vector["name"]);
        check_applied(&vector);
    }
}

/// §4: what the format allows is read, even where this implementation would write it differently.
#[test]
fn every_allowed_form_is_read() {
    vectors("readable").iter().for_each(check_applied);
}

/// §4: what the format does not allow, or what does not fit, is refused with its code.
#[test]
fn refusals_have_their_codes() {
    for vector in vectors("refused") {
        let outcome =
            Delta::decode(vector["delta"].clone()).and_then(|delta| apply(vector["old"].clone(), &delta));
        let code = outcome.expect_err(&vector["name"].to_string()).to_string();
        assert_eq!(code, vector["error"], "{}", vector["name"]);
    }
}
