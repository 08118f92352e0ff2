//! The documents of a manifest: core rules, role documents, topics and their index (§3).

use super::names::is_unique;
use crate::fault::Faults;
use crate::{Manifest, Topic};
use playerthree_schema::utf16_len;
use std::ops::RangeInclusive;
use std::sync::Arc;

const DOC: RangeInclusive<usize> = 1..=6000;
const ROLE_DOC: RangeInclusive<usize> = 1..=3500;
const SUMMARY: RangeInclusive<usize> = 1..=160;
const TOPIC_TEXT: RangeInclusive<usize> = 1..=8000;
const MAX_TOPIC_NAME: usize = 64;
const MAX_INDEX: usize = 5000;

/// The roots of generated topics, which no game topic may take (§3 `topics`).
const GENERATED_ROOTS: [&str; 11] = [
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
];

pub(super) fn check(manifest: &Manifest, faults: &mut Faults) {
    let what = "the core rules do not have 1 to 6000 units";
    faults.expect(DOC.contains(&utf16_len(&manifest.doc)), "doc", what, "move details into topics");
    role_docs(manifest, faults);
    topics(&manifest.topics, faults);
}

fn role_docs(manifest: &Manifest, faults: &mut Faults) {
    for (index, role) in manifest.roles.iter().enumerate() {
        let path = super::names::member("roleDocs", index, role, playerthree_schema::is_literal(role));
        match manifest.role_docs.get(role) {
            None => faults.add(path, "the role has no document", "write 1 to 3500 units on playing it"),
            Some(doc) => {
                let what = "the role's document does not have 1 to 3500 units";
                let fix = "keep the essentials, end with READ BEFORE PLAYING and move the rest into topics";
                faults.expect(ROLE_DOC.contains(&utf16_len(doc)), &path, what, fix);
            }
        }
    }
    let known = manifest.role_docs.keys().all(|role| manifest.roles.contains(role));
    faults.expect(known, "roleDocs", "a document names an undeclared role", "document declared roles only");
}

fn topics(topics: &[Topic], faults: &mut Faults) {
    let names: Vec<Arc<str>> = topics.iter().map(|topic| topic.name.clone()).collect();
    faults.expect(is_unique(&names), "topics", "a topic is repeated", "name each topic once");
    for (index, topic) in topics.iter().enumerate() {
        check_topic(index, topic, faults);
    }
    let lines: usize = topics.iter().map(|topic| utf16_len(&topic.index_line())).sum();
    let size = lines + topics.len().saturating_sub(1);
    let what = "the index of topics is longer than 5000 units";
    faults.expect(size <= MAX_INDEX, "topics", what, "shorten the summaries or join topics");
}

fn check_topic(index: usize, topic: &Topic, faults: &mut Faults) {
    let good = is_topic_name(&topic.name);
    let path = super::names::member("topics", index, &topic.name, good);
    let fix = "use lowercase words and slashes such as map/terrain, at most 64 units";
    faults.expect(good, &path, "the topic's name breaks its grammar", fix);
    let root = topic.name.split('/').next().unwrap_or_default();
    let what = "the topic takes the root of a generated topic";
    faults.expect(!GENERATED_ROOTS.contains(&root), &path, what, "choose another first word");
    let one_line = SUMMARY.contains(&utf16_len(&topic.summary)) && !topic.summary.contains(['\n', '\r']);
    let what = "the summary is not one line of 1 to 160 units";
    faults.expect(one_line, &format!("{path}.summary"), what, "write one short line");
    let what = "the text does not have 1 to 8000 units";
    faults.expect(
        TOPIC_TEXT.contains(&utf16_len(&topic.text)),
        &format!("{path}.text"),
        what,
        "split the topic",
    );
}

/// `^[a-z][a-z0-9-]*(/[a-z0-9-]+)*$`, at most 64 units.
fn is_topic_name(name: &str) -> bool {
    let word = |word: &str| {
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        !word.is_empty() && word.bytes().all(allowed)
    };
    name.len() <= MAX_TOPIC_NAME
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.split('/').all(word)
}
