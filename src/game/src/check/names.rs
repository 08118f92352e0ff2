//! The closed names of a manifest: its id, sides, roles, errors and opponents (§3).

use crate::Manifest;
use crate::fault::Faults;
use playerthree_schema::{Schema, t, utf16_len};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Longest id of a game.
const MAX_ID: usize = 48;
const VERSION: RangeInclusive<usize> = 1..=64;
const TITLE: RangeInclusive<usize> = 1..=200;

pub(super) fn check(manifest: &Manifest, faults: &mut Faults) {
    let fix = "use lowercase letters, digits and single inner hyphens, starting with a letter, at most 48";
    faults.expect(is_game_id(&manifest.id), "id", "the id breaks its grammar", fix);
    let what = "the version does not have 1 to 64 units";
    faults.expect(
        VERSION.contains(&utf16_len(&manifest.version)),
        "version",
        what,
        "write a version of 1 to 64 units",
    );
    let what = "the title does not have 1 to 200 units";
    faults.expect(
        TITLE.contains(&utf16_len(&manifest.title)),
        "title",
        what,
        "write a title of 1 to 200 units",
    );
    faults.schema("teams", literals(&manifest.teams));
    faults.schema("roles", literals(&manifest.roles));
    faults.schema("errors", literals(&manifest.errors));
    faults.schema("opponents", literals(&manifest.opponents));
}

fn literals(values: &[Arc<str>]) -> Result<(), Vec<playerthree_schema::SchemaFault>> {
    enum_of(values).check()
}

fn enum_of(values: &[Arc<str>]) -> Schema {
    t::literals(values.iter().map(|value| &**value))
}

/// `^[a-z][a-z0-9-]{0,47}$`, and a skill name once `-reference` follows.
fn is_game_id(id: &str) -> bool {
    id.len() <= MAX_ID && id.starts_with(|first: char| first.is_ascii_lowercase()) && is_skill_name(id)
}

/// `^[a-z0-9]+(-[a-z0-9]+)*$`, of any length.
pub(super) fn is_skill_name(name: &str) -> bool {
    let word = |word: &str| {
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    name.split('-').all(word)
}

/// A nonempty list of distinct declared roles.
pub(super) fn check_roles(manifest: &Manifest, path: &str, roles: &[Arc<str>], faults: &mut Faults) {
    let path = format!("{path}.roles");
    faults.expect(!roles.is_empty(), &path, "no role is listed", "list at least one declared role");
    let known = roles.iter().all(|role| manifest.roles.contains(role));
    faults.expect(known, &path, "an undeclared role is listed", "list only roles of the manifest");
    faults.expect(is_unique(roles), &path, "a role is repeated", "list each role once");
}

pub(super) fn is_unique(names: &[Arc<str>]) -> bool {
    let mut seen = BTreeSet::new();
    names.iter().all(|name| seen.insert(name))
}

/// A path to a named member; the index stands in for a name that breaks its grammar.
pub(super) fn member(parent: &str, index: usize, name: &str, keeps_grammar: bool) -> String {
    if keeps_grammar { format!("{parent}.{name}") } else { format!("{parent}[{index}]") }
}
