//! Developer skills: names, paths and the frontmatter of `SKILL.md` (§3).

use super::names::{is_skill_name, is_unique, member};
use crate::fault::Faults;
use crate::{Manifest, Skill};
use playerthree_schema::utf16_len;
use serde_json::Value;
use std::ops::RangeInclusive;
use std::sync::Arc;

const MAX_NAME: usize = 64;
const DESCRIPTION: RangeInclusive<usize> = 1..=1024;
const MAX_PATH: usize = 200;
/// Most UTF-8 bytes of one skill file: a bound of this host, far above any honest document.
const MAX_FILE_BYTES: usize = 1_048_576;
/// Most files of one skill, and most UTF-8 bytes of them together: what every host of skills has to take (§4 "Skills").
const MAX_FILES: usize = 512;
const MAX_SKILL_BYTES: usize = 16_777_216;

pub(super) fn check(manifest: &Manifest, faults: &mut Faults) {
    let names: Vec<Arc<str>> = manifest.skills.iter().map(|skill| skill.name.clone()).collect();
    faults.expect(is_unique(&names), "skills", "a skill is repeated", "name each skill once");
    for (index, skill) in manifest.skills.iter().enumerate() {
        check_skill(manifest, index, skill, faults);
    }
}

fn check_skill(manifest: &Manifest, index: usize, skill: &Skill, faults: &mut Faults) {
    let good = skill.name.len() <= MAX_NAME && is_skill_name(&skill.name);
    let path = member("skills", index, &skill.name, good);
    let fix = "use lowercase words joined by single hyphens, at most 64 units";
    faults.expect(good, &path, "the skill's name breaks its grammar", fix);
    let reserved =
        skill.name.starts_with("playerthree-") || *skill.name == *reference_skill_name(&manifest.id);
    let fix = "the prefix playerthree- and <game-id>-reference belong to the host; choose another name";
    faults.expect(!reserved, &path, "the skill's name is reserved", fix);
    let described = DESCRIPTION.contains(&utf16_len(&skill.description));
    let what = "the description does not have 1 to 1024 units";
    faults.expect(described, &format!("{path}.description"), what, "say in a sentence when to read it");
    files(skill, &format!("{path}.files"), faults);
}

/// The name of the generated reference skill (§3).
pub(crate) fn reference_skill_name(game_id: &str) -> String {
    format!("{game_id}-reference")
}

fn files(skill: &Skill, path: &str, faults: &mut Faults) {
    let named = skill.files.keys().all(|file| is_skill_path(file));
    let fix = "use relative paths of A-Z a-z 0-9 _ - and inner dots, at most 200 units";
    faults.expect(named, path, "a file's path breaks its grammar", fix);
    let bounded = skill.files.values().all(|text| text.len() <= MAX_FILE_BYTES);
    faults.expect(bounded, path, "a file is larger than 1048576 bytes", "split the file");
    let together: usize = skill.files.values().map(|text| text.len()).sum();
    let fits = skill.files.len() <= MAX_FILES && together <= MAX_SKILL_BYTES;
    faults.expect(fits, path, "the skill has more than 512 files or 16777216 bytes", "split the skill");
    if !skill.files.contains_key("SKILL.md") {
        return faults.add(
            path,
            "SKILL.md is missing",
            "add it, with name and description in YAML frontmatter",
        );
    }
    let path = format!("{path}.SKILL.md");
    let front = skill.frontmatter();
    let text = |member: &str| front.as_ref()?.get(member).and_then(Value::as_str);
    let (Some(name), Some(description)) = (text("name"), text("description")) else {
        return faults.add(
            path,
            "the frontmatter is not YAML with a name and a description",
            "start with --- lines",
        );
    };
    let what = "the frontmatter's name is not the skill's name";
    faults.expect(*name == *skill.name, &path, what, "write the same name");
    let what = "the frontmatter's description is empty";
    faults.expect(!description.trim().is_empty(), &path, what, "write a description");
}

/// Slash-separated segments of `[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*`, at most 200 units (§3).
fn is_skill_path(path: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let word = |word: &str| !word.is_empty() && word.bytes().all(allowed);
    path.len() <= MAX_PATH && path.split('/').all(|segment| segment.split('.').all(word))
}
