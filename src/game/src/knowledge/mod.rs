//! What an agent may know of a game before and while it plays (§3, §4 "Knowledge is disclosed progressively").
//!
//! Everything static is generated once from a checked manifest; the topics, the reference skill and the schema pages
//! come from the same text. Nothing here reads a match: dynamic parts are handed in.

mod briefing;
mod defaults;
mod describe;
mod index;
mod json_text;
mod match_data;
mod modes;
mod paging;
mod reference;
mod signals;
mod topics;
mod window;

pub(crate) use briefing::CONTROL_PLANE;
pub use briefing::{Phase, SeatFacts};
pub use paging::{TOPIC_PAGE_MAX, TopicPage};
pub use window::{SKILL_WINDOW_MAX, SkillWindow};

use crate::{Checked, Skill};
use serde_json::Value;
use std::collections::BTreeMap;

/// The static knowledge of one game: its topics in pages and every served skill. Made once, at start.
#[derive(Clone, Debug)]
pub struct Knowledge {
    manifest: Checked,
    /// Pages of every static topic by name.
    topics: BTreeMap<String, Vec<String>>,
    skills: Vec<Skill>,
}

impl Knowledge {
    /// Generates the topics and skills of a game.
    pub fn new(manifest: &Checked) -> Self {
        let topics: Vec<(String, Vec<String>)> = topics::all(manifest)
            .into_iter()
            .map(|topic| (topic.name, paging::pages(&topic.text, TOPIC_PAGE_MAX)))
            .collect();
        let mut skills = manifest.skills.clone();
        skills.extend(defaults::skills(manifest));
        skills.push(reference::skill(manifest, &topics));
        Self { manifest: manifest.clone(), topics: topics.into_iter().collect(), skills }
    }

    /// Every served skill: the game's own, the defaults and the generated reference, in that order.
    pub fn skills(&self) -> &[Skill] {
        &self.skills
    }

    /// The core briefing of a seat (§4): no schema, no full intent, no match data.
    pub fn briefing(&self, seat: &SeatFacts<'_>, surface_hash: &str) -> Value {
        briefing::core(&self.manifest, &self.skills, seat, surface_hash)
    }

    /// The names of all static topics, sorted.
    pub fn topic_names(&self) -> impl Iterator<Item = &str> {
        self.topics.keys().map(String::as_str)
    }

    /// One page, from 1, of a topic, or nothing for an unknown topic or page. In a match, `match_data` is the seat's
    /// guarded bootstrap, which becomes the topic `match-data`; without it that topic documents the fields.
    pub fn topic(&self, name: &str, page: u32, match_data: Option<&Value>) -> Option<TopicPage> {
        match (name, &self.manifest.match_data, match_data) {
            ("match-data", Some(schema), Some(value)) => {
                let pages = paging::pages(&match_data::text(schema, value), TOPIC_PAGE_MAX);
                TopicPage::of(name, page, &pages)
            }
            _ => TopicPage::of(name, page, self.topics.get(name)?),
        }
    }

    /// At most 20000 UTF-16 units of a skill file from `offset`, or nothing for an unknown skill, file or offset (§4).
    pub fn skill_window(&self, name: &str, path: &str, offset: usize) -> Option<SkillWindow> {
        let skill = self.skills.iter().find(|skill| &*skill.name == name)?;
        SkillWindow::of(name, path, skill.files.get(path)?, offset)
    }
}
