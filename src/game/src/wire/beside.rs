//! The faults of what could be read of a manifest that could not be read whole, so that its author sees all at once.
//!
//! A member that was not read holds a placeholder, so nothing is said of it, nor of what is judged against it.

use crate::Manifest;
use crate::fault::Fault;

/// Which members are judged against another one (§3, §22.1).
const JUDGED_AGAINST: [(&str, &[&str]); 5] = [
    ("id", &["skills"]),
    ("tickRate", &["control"]),
    ("roles", &["roleDocs", "intents", "observationScope", "signals", "observation", "view"]),
    ("control", &["signals", "intents", "observation", "view"]),
    ("signals", &["control", "intents", "observation", "view"]),
];

/// The faults of the members that were read, beside these faults of reading.
pub(super) fn beside(unread: &[Fault], manifest: &Manifest) -> Vec<Fault> {
    // A member that is unknown, `?`, was left aside; everything around it was read.
    let lost: Vec<&str> =
        unread.iter().filter(|fault| !fault.path.ends_with(".?")).map(|fault| root(&fault.path)).collect();
    if lost.contains(&"manifest") {
        return Vec::new();
    }
    let hidden = |member: &str| {
        let against = |(other, members): &(&str, &[&str])| lost.contains(other) && members.contains(&member);
        lost.contains(&member) || JUDGED_AGAINST.iter().any(against)
    };
    manifest.faults().into_iter().filter(|fault| !hidden(root(&fault.path))).collect()
}

/// The top-level member that a path starts in.
fn root(path: &str) -> &str {
    path.split(['.', '[']).next().unwrap_or_default()
}
