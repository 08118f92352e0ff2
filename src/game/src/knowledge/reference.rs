//! The generated skill `<game-id>-reference` (§3): the briefing topics as files, from the same text.

use super::index;
use super::paging::{TOPIC_PAGE_MAX, pages};
use crate::check::reference_skill_name;
use crate::{Checked, Skill};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The reference skill of a game with these topic pages.
pub(super) fn skill(manifest: &Checked, topics: &[(String, Vec<String>)]) -> Skill {
    let name = reference_skill_name(&manifest.id);
    let description = format!(
        "Complete reference of {}: rules, intents, observations, events and schemas as files.",
        manifest.title
    );
    let mut files = BTreeMap::new();
    files.insert("SKILL.md".into(), skill_file(manifest, &name, &description).into());
    add(&mut files, "RULES", &pages(&rules(manifest), TOPIC_PAGE_MAX));
    for (topic, pages) in topics {
        add(&mut files, &file_stem(topic), pages);
    }
    Skill { name: name.into(), description: description.into(), files }
}

fn skill_file(manifest: &Checked, name: &str, description: &str) -> String {
    format!(
        "---\nname: {name}\ndescription: {}\n---\n# {} reference\n\n\
         The topics of game_briefing as files: topic a/b is a/b.md, its further pages a/b.2.md and so on; other characters \
         become _.\n\nRead RULES.md, then role/<your role>.md and what it lists under READ BEFORE PLAYING, then the rest \
         when you need it.\n\nTopics:\n{}\n",
        serde_json::Value::from(description),
        manifest.title,
        index::lines(manifest).join("\n"),
    )
}

fn rules(manifest: &Checked) -> String {
    let teams: Vec<&str> = manifest.teams.iter().map(|team| &**team).collect();
    format!(
        "{}\n\nTicks a second: {}\nSides, of which a match seats all or some: {}\n",
        manifest.doc,
        manifest.tick_rate,
        teams.join(", ")
    )
}

/// A topic's path, with every character that a skill path does not allow as `_`.
fn file_stem(topic: &str) -> String {
    let allowed = |found: char| found.is_ascii_alphanumeric() || matches!(found, '_' | '-' | '/');
    topic.chars().map(|found| if allowed(found) { found } else { '_' }).collect()
}

/// Adds a topic's pages. Two topics whose names differ only in replaced characters are told apart by a trailing `_`.
fn add(files: &mut BTreeMap<Arc<str>, Arc<str>>, stem: &str, pages: &[String]) {
    let mut stem = stem.to_owned();
    while files.contains_key(format!("{stem}.md").as_str()) {
        stem.push('_');
    }
    for (index, page) in pages.iter().enumerate() {
        let path = if index == 0 { format!("{stem}.md") } else { format!("{stem}.{}.md", index + 1) };
        files.insert(path.into(), page.as_str().into());
    }
}
