//! Documents, topics and their index (§3).

use super::check;
use crate::common::manifest;
use playerthree_game::*;

/// §3: documents, role documents, topics and their index.
#[test]
fn documents_and_topics_are_checked() {
    fn topic(name: &str, summary: &str, text: &str) -> Topic {
        Topic { name: name.into(), summary: summary.into(), text: text.into() }
    }
    check(|m| m.doc = "".into(), &[("doc", "1 to 6000")]);
    check(|m| m.doc = "d".repeat(6001).into(), &[("doc", "1 to 6000")]);
    check(|m| drop(m.role_docs.remove("air")), &[("roleDocs.air", "no document")]);
    check(|m| drop(m.role_docs.insert("air".into(), "".into())), &[("roleDocs.air", "1 to 3500")]);
    check(
        |m| drop(m.role_docs.insert("air".into(), "d".repeat(3501).into())),
        &[("roleDocs.air", "1 to 3500")],
    );
    check(|m| drop(m.role_docs.insert("CANARY".into(), "d".into())), &[("roleDocs", "undeclared role")]);
    check(|m| m.topics.push(topic("economy", "s", "t")), &[("topics", "repeated")]);
    for name in ["CANARY", "a//b", "/a", "a/", "1a", "a_b", "", "a.b"] {
        let mut broken = manifest();
        broken.topics.push(topic(name, "s", "t"));
        let found = broken.faults();
        assert!(
            found.len() == 1 && found[0].path == "topics[2]" && found[0].what.contains("grammar"),
            "{found:?}"
        );
    }
    check(|m| m.topics.push(topic(&"a".repeat(65), "s", "t")), &[("topics[2]", "grammar")]);
    for root in [
        "role",
        "intents",
        "intent",
        "observation",
        "match-data",
        "events",
        "report",
        "mandate",
        "modes",
        "schema",
        "signals",
        "role/x",
        "schema/a/b",
    ] {
        let mut broken = manifest();
        broken.topics.push(topic(root, "s", "t"));
        let found = broken.faults();
        assert!(found.len() == 1 && found[0].what.contains("root of a generated topic"), "{root} {found:?}");
    }
    check(|m| m.topics[0].summary = "".into(), &[("topics.economy.summary", "one line")]);
    check(|m| m.topics[0].summary = "a\nb".into(), &[("topics.economy.summary", "one line")]);
    check(|m| m.topics[0].summary = "s".repeat(161).into(), &[("topics.economy.summary", "one line")]);
    check(|m| m.topics[0].text = "".into(), &[("topics.economy.text", "1 to 8000")]);
    check(|m| m.topics[1].text = "t".repeat(8001).into(), &[("topics.map/terrain.text", "1 to 8000")]);
    let mut edge = manifest();
    edge.topics = vec![topic("roles", "s", &"t".repeat(8000)), topic(&"a".repeat(64), &"s".repeat(160), "t")];
    assert_eq!(edge.faults(), vec![]);
}

/// §3: the index of `name — summary` lines, joined by line feeds, holds at most 5000 units.
#[test]
fn the_index_is_bounded() {
    let sized = |last: usize| {
        let mut manifest = manifest();
        // 24 lines of 200 units and 24 line feeds, then the last line: 4 + 3 + `last`.
        let summary = "s".repeat(160);
        let line = |index: usize| Topic {
            name: format!("t{index:03}{}", "n".repeat(33)).into(),
            summary: summary.as_str().into(),
            text: "t".into(),
        };
        manifest.topics = (0..24).map(line).collect();
        manifest.topics.push(Topic {
            name: "last".into(),
            summary: "s".repeat(last).into(),
            text: "t".into(),
        });
        manifest.faults()
    };
    assert_eq!(sized(5000 - 24 * 201 - 7 - 16).len(), 0);
    assert_eq!(sized(160).len(), 0);
    let mut over = manifest();
    over.topics = (0..31)
        .map(|index| Topic {
            name: format!("t{index:02}").into(),
            summary: "s".repeat(160).into(),
            text: "t".into(),
        })
        .collect();
    let found = over.faults();
    assert!(
        found.len() == 1 && found[0].path == "topics" && found[0].what.contains("longer than 5000"),
        "{found:?}"
    );
    over.topics.truncate(29);
    assert_eq!(over.faults(), vec![]);
}
