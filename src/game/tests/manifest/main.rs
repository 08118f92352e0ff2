//! Every rule of a manifest broken once, with the exact path (§3, §22.1).

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test may panic"
)]

mod checked;
#[path = "../common/mod.rs"]
mod common;
mod control;
mod names;
mod schemas;
mod signals;
mod skills;
mod texts;

use common::{manifest, smallest};
use playerthree_game::*;

type Break = fn(&mut Manifest);

/// Breaks the complete game in one way and expects exactly these faults, `path` and a part of `what`.
fn check(breaks: Break, expected: &[(&str, &str)]) {
    let mut broken = manifest();
    breaks(&mut broken);
    let found = broken.faults();
    let matches = found.len() == expected.len()
        && found
            .iter()
            .zip(expected)
            .all(|(fault, (path, what))| fault.path == *path && fault.what.contains(what));
    assert!(matches, "expected {expected:?}, found {found:#?}");
    assert!(
        found.iter().all(|fault| !fault.fix.is_empty() && !fault.to_string().contains("CANARY")),
        "{found:#?}"
    );
    assert_eq!(broken.check().map(|_| ()), Err(found));
}

/// §3: a game with every mode and a game with none pass.
#[test]
fn conforming_manifests_pass() {
    assert_eq!(manifest().faults(), vec![]);
    assert_eq!(smallest().faults(), vec![]);
    let checked = manifest().check().expect("conforms");
    assert_eq!(*checked, manifest());
}

/// §3: all faults come back together.
#[test]
fn all_faults_come_back_together() {
    let mut broken = manifest();
    broken.id = "X".into();
    broken.topics[0].text = "".into();
    broken.event = t::bool();
    broken.control.intents.burst = 0;
    let paths: Vec<String> = broken.faults().into_iter().map(|fault| fault.path).collect();
    assert_eq!(paths, ["id", "topics.economy.text", "event", "control.intents.burst"]);
}
