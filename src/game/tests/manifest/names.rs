//! The id, the title and the closed names of a manifest (§3).

use super::check;
use crate::common::manifest;

/// §3: id, version, title, tick rate and the closed names.
#[test]
fn names_and_lengths_are_checked() {
    check(|m| m.id = "CANARY".into(), &[("id", "the id breaks its grammar")]);
    check(|m| m.id = "1a".into(), &[("id", "grammar")]);
    check(|m| m.id = "a-".into(), &[("id", "grammar")]);
    check(|m| m.id = "a--b".into(), &[("id", "grammar")]);
    check(|m| m.id = "a".repeat(49).into(), &[("id", "grammar")]);
    check(|m| m.version = "".into(), &[("version", "1 to 64")]);
    check(|m| m.version = "v".repeat(65).into(), &[("version", "1 to 64")]);
    check(|m| m.title = "".into(), &[("title", "1 to 200")]);
    check(|m| m.title = "😀".repeat(101).into(), &[("title", "1 to 200")]);
    check(
        |m| m.tick_rate = 0,
        &[
            ("tickRate", "outside 1 to 1000"),
            ("control.policy.hz", "out of range"),
            ("control.stream.maxHz", "out of range"),
        ],
    );
    check(|m| m.tick_rate = 1001, &[("tickRate", "outside 1 to 1000")]);
    check(|m| m.teams.clear(), &[("teams", "no values")]);
    check(|m| m.teams.push("red".into()), &[("teams", "repeated")]);
    check(|m| m.teams.push("CANARY-x".into()), &[("teams", "grammar")]);
    check(|m| m.errors.clear(), &[("errors", "no values")]);
    check(|m| m.opponents = vec![], &[("opponents", "no values")]);
    let mut longest = manifest();
    longest.id = "a".repeat(48).into();
    longest.title = "😀".repeat(100).into();
    longest.version = "v".repeat(64).into();
    longest.tick_rate = 1000;
    assert_eq!(longest.faults(), vec![]);
}
