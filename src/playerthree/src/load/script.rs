//! The script of `--scenario scripted`: what each client says and waits for, again and again. It is read and checked
//! here before anything is loaded.

use anyhow::{Context as _, ensure};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::io::Read as _;
use std::path::Path;

/// Longest script, in bytes.
const MAX_BYTES: u64 = 64 * 1024;
/// Most steps of a script.
const MAX_STEPS: usize = 1_000;
/// Longest pause, in milliseconds.
const MAX_PAUSE_MS: u64 = 60_000;
/// Longest name of a message type, in bytes.
const MAX_NAME: usize = 255;

/// A script: how clients join, and the steps of one round.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Script {
    /// What every client joins with, and a room is made with.
    #[serde(default)]
    pub(super) options: Map<String, Value>,
    pub(super) steps: Vec<Step>,
}

/// One step.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Step {
    /// Send a message.
    Send(Message),
    /// Wait for a message of that name, one of this round that no earlier step waited for.
    Expect(String),
    /// Do nothing for so many milliseconds.
    PauseMs(u64),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Message {
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) payload: Value,
}

impl Script {
    /// Reads a script from a file.
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let read = || -> anyhow::Result<Self> {
            let mut bytes = Vec::new();
            std::fs::File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
            ensure!(bytes.len() as u64 <= MAX_BYTES, "it is longer than {MAX_BYTES} bytes");
            Self::parse(&bytes)
        };
        read().with_context(|| format!("cannot use the script {}", path.display()))
    }

    fn parse(bytes: &[u8]) -> anyhow::Result<Self> {
        let script: Self = serde_json::from_slice(bytes)?;
        ensure!((1..=MAX_STEPS).contains(&script.steps.len()), "it must have 1 to {MAX_STEPS} steps");
        let mut waits = false;
        for step in &script.steps {
            match step {
                Step::Send(Message { kind: name, .. }) | Step::Expect(name) => {
                    ensure!((1..=MAX_NAME).contains(&name.len()), "a type has 1 to {MAX_NAME} bytes");
                    waits |= matches!(step, Step::Expect(_));
                }
                Step::PauseMs(pause) => {
                    ensure!((1..=MAX_PAUSE_MS).contains(pause), "pauseMs is 1 to {MAX_PAUSE_MS}");
                    waits = true;
                }
            }
        }
        ensure!(waits, "without an expect or a pauseMs it would be one endless burst");
        Ok(script)
    }

    /// Whether any step waits for messages of that name.
    pub(super) fn expects(&self, name: &str) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Expect(expected) if expected == name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_read_and_its_bounds_hold() {
        let script = Script::parse(
            br#"{"options": {"mode": "duo"}, "steps": [
                {"send": {"type": "echo", "payload": [1]}}, {"expect": "echo"}, {"pauseMs": 50}, {"send": {"type": "x"}}]}"#,
        )
        .unwrap();
        assert_eq!(script.steps.len(), 4);
        assert!(script.expects("echo") && !script.expects("x"));
        for other in [
            "",
            "[]",
            r#"{"steps": []}"#,
            r#"{"steps": [{"send": {"type": "echo"}}]}"#,
            r#"{"steps": [{"pauseMs": 0}]}"#,
            r#"{"steps": [{"pauseMs": 60001}]}"#,
            r#"{"steps": [{"expect": ""}]}"#,
            r#"{"steps": [{"jump": 1}]}"#,
            r#"{"steps": [{"expect": "x"}], "more": 1}"#,
            r#"{"options": 1, "steps": [{"expect": "x"}]}"#,
        ] {
            assert!(Script::parse(other.as_bytes()).is_err(), "{other}");
        }
        let many = format!(r#"{{"steps": [{}]}}"#, vec![r#"{"pauseMs": 1}"#; MAX_STEPS + 1].join(","));
        assert!(Script::parse(many.as_bytes()).is_err());
    }
}
