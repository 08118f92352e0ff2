//! The text and the structured content of a result (§4 "Results and errors"): the text is the structured content's JSON,
//! but for topic pages and skill windows, which are raw text, and observation pages, which name the next one.

use crate::pages::{Snapshot, TooLarge, size};
use playerthree_schema::{Schema, utf16_len};
use playerthree_session::RESULT_TEXT_MAX;
use serde_json::{Map, Value};

/// A successful result.
#[derive(Debug, PartialEq)]
pub(crate) struct Answer {
    /// `structuredContent`.
    pub(crate) structured: Value,
    /// The text content.
    pub(crate) text: Text,
}

/// The text of a result.
#[derive(Debug, PartialEq)]
pub(crate) enum Text {
    /// The JSON of the structured content, no more and no less.
    Json(String),
    /// Words of its own, or JSON with a line after it.
    Worded(String),
}

impl Text {
    /// The text.
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Json(text) | Self::Worded(text) => text,
        }
    }

    /// The text.
    pub(crate) fn into_string(self) -> String {
        match self {
            Self::Json(text) | Self::Worded(text) => text,
        }
    }
}

/// What becomes of the observation that later pages are read from.
#[derive(Debug, PartialEq)]
pub(crate) enum Paging {
    /// The result shows no observation.
    Unchanged,
    /// An observation was shown; later pages of it are these, if it has any.
    Replaced(Option<Snapshot>),
}

/// Renders the result of a method. `observation` is the game's schema for one.
pub(crate) fn render(
    method: &str,
    result: Value,
    observation: &Schema,
) -> Result<(Answer, Paging), TooLarge> {
    let (answer, paging) = match method {
        "briefing" if result.get("topic").is_some() => (topic_page(result), Paging::Unchanged),
        "skill" => (skill_window(result), Paging::Unchanged),
        _ if result.get("observation").is_some() => observed(result, observation)?,
        "observe" => (Answer::plain(result), Paging::Replaced(None)),
        _ => (Answer::plain(result), Paging::Unchanged),
    };
    if is_too_long(answer.text.as_str()) { Err(TooLarge) } else { Ok((answer, paging)) }
}

/// A later page of an observation, nothing past its end.
pub(crate) fn later_page(snapshot: &Snapshot, page: usize) -> Option<Answer> {
    Some(with_line(snapshot.page(page)?, &snapshot.line(page)))
}

impl Answer {
    /// A result whose text is its JSON.
    pub(crate) fn plain(structured: Value) -> Self {
        let text = Text::Json(json_text(&structured));
        Self { structured, text }
    }
}

/// The JSON of a value: what its `Display` writes, without a formatter between.
#[expect(clippy::expect_used, reason = "the keys of a value are strings, and memory takes every byte")]
fn json_text(value: &Value) -> String {
    serde_json::to_string(value).expect("a value is JSON")
}

fn is_too_long(text: &str) -> bool {
    // A unit of UTF-16 takes a byte of UTF-8 at least.
    text.len() > RESULT_TEXT_MAX && utf16_len(text) > RESULT_TEXT_MAX
}

fn with_line(members: Map<String, Value>, line: &str) -> Answer {
    let structured = Value::Object(members);
    let text = Text::Worded(format!("{structured}\n{line}"));
    Answer { structured, text }
}

fn topic_page(page: Value) -> Answer {
    let mut text = text_of(&page);
    let (number, pages) = (&page["page"], &page["pages"]);
    if pages.as_u64().is_some_and(|pages| pages > 1) {
        let line = match page["next"]["page"].as_u64() {
            Some(next) => {
                format!(
                    "\n[page {number}/{pages} — next: game_briefing {{\"topic\":{},\"page\":{next}}}]",
                    page["topic"]
                )
            }
            None => format!("\n[page {number}/{pages} — end of topic]"),
        };
        text.push_str(&line);
    }
    Answer { structured: page, text: Text::Worded(text) }
}

fn skill_window(window: Value) -> Answer {
    let mut text = text_of(&window);
    if let Some(next) = window["next"].as_u64() {
        let (name, path) = (&window["name"], &window["path"]);
        let line =
            format!("\n[… continues: game_skill {{\"name\":{name},\"path\":{path},\"offset\":{next}}}]");
        text.push_str(&line);
    }
    Answer { structured: window, text: Text::Worded(text) }
}

/// A result with an observation: whole if it fits, else its first page.
fn observed(mut result: Value, schema: &Schema) -> Result<(Answer, Paging), TooLarge> {
    let text = json_text(&result);
    if !is_too_long(&text) {
        return Ok((Answer { structured: result, text: Text::Json(text) }, Paging::Replaced(None)));
    }
    let Some(members) = result.as_object_mut() else { return Err(TooLarge) };
    let observation = members.remove("observation").unwrap_or_default();
    let mut members = std::mem::take(members);
    let beside = members.iter().map(|(name, value)| utf16_len(name) + 4 + size(value)).sum();
    let snapshot = Snapshot::split(&observation, schema, beside)?;
    for (name, value) in snapshot.page(1).ok_or(TooLarge)? {
        members.entry(name).or_insert(value);
    }
    let answer = with_line(members, &snapshot.line(1));
    Ok((answer, Paging::Replaced(Some(snapshot))))
}

fn text_of(result: &Value) -> String {
    result["text"].as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use playerthree_schema::t;
    use serde_json::json;

    fn text(method: &str, result: Value) -> String {
        render(method, result, &t::obj([])).unwrap().0.text.into_string()
    }

    // §4: a topic page is its raw text, and a line says how to go on when there are several.
    #[test]
    fn a_topic_page_is_raw_text_with_its_page_line() {
        let page = |page: u32, pages: u32| {
            let mut result =
                json!({ "topic": "ru\"les", "page": page, "pages": pages, "text": "a \"b\"\nc" });
            if page < pages {
                result["next"] = json!({ "topic": "ru\"les", "page": page + 1 });
            }
            text("briefing", result)
        };
        assert_eq!(page(1, 1), "a \"b\"\nc");
        assert_eq!(
            page(1, 2),
            "a \"b\"\nc\n[page 1/2 — next: game_briefing {\"topic\":\"ru\\\"les\",\"page\":2}]"
        );
        assert_eq!(page(2, 2), "a \"b\"\nc\n[page 2/2 — end of topic]");
    }

    // §4: a skill window is its raw text, followed by where to go on while the file continues.
    #[test]
    fn a_skill_window_is_raw_text_with_its_continuation() {
        let window = json!({ "name": "n", "path": "SKILL.md", "offset": 0, "total": 9, "text": "abc\n" });
        assert_eq!(text("skill", window.clone()), "abc\n");
        let mut going_on = window;
        going_on["next"] = json!(4);
        let line = "[… continues: game_skill {\"name\":\"n\",\"path\":\"SKILL.md\",\"offset\":4}]";
        assert_eq!(text("skill", going_on), format!("abc\n\n{line}"));
    }

    // §4: any other text is the JSON of the structured content.
    #[test]
    fn other_results_are_their_json() {
        let result = json!({ "acks": [{ "ok": true }] });
        let (answer, paging) = render("act", result.clone(), &t::obj([])).unwrap();
        let text = Text::Json(r#"{"acks":[{"ok":true}]}"#.into());
        assert_eq!((answer.text, answer.structured), (text, result));
        assert_eq!(paging, Paging::Unchanged);
    }

    // §4: the entry of a wait is paged like an observation; its other members stay on the first page.
    #[test]
    fn a_long_entry_of_a_wait_is_paged_and_keeps_its_other_members() {
        let schema = t::obj([("cells", t::list(t::int(0, 9), 40_000))]);
        let observation = json!({ "cells": vec![1; 30_000] });
        let entry = json!({ "phase": "match", "tick": 5, "events": [], "observation": observation, "instruction": "go" });
        let (answer, paging) = render("wait", entry, &schema).unwrap();
        assert_eq!(answer.structured["instruction"], "go");
        assert_eq!(answer.structured["tick"], 5);
        assert_eq!(answer.structured["next"], json!({ "page": 2 }));
        assert!(answer.text.as_str().ends_with("[page 1/3 — next: game_observe {\"page\":2}]"));
        let Paging::Replaced(Some(snapshot)) = paging else { panic!("no snapshot") };
        let last = later_page(&snapshot, 3).unwrap();
        assert_eq!(last.structured["items"]["cells"]["to"], 30_000);
        assert_eq!(later_page(&snapshot, 4), None);
    }

    // §4: a short observation replaces the snapshot of a long one before it.
    #[test]
    fn an_observation_that_fits_leaves_no_later_pages() {
        let (_, paging) = render("observe", json!({ "observation": { "a": 1 } }), &t::obj([])).unwrap();
        assert_eq!(paging, Paging::Replaced(None));
    }

    // §4: what an agent between two matches observes is the lobby, and no page of the match before.
    #[test]
    fn the_lobby_state_leaves_no_pages_of_an_earlier_match() {
        let (_, paging) = render("observe", json!({ "phase": "lobby", "seat": null }), &t::obj([])).unwrap();
        assert_eq!(paging, Paging::Replaced(None));
    }

    #[test]
    fn a_result_that_is_too_long_and_has_no_pages_is_refused() {
        let acks = json!({ "acks": "x".repeat(RESULT_TEXT_MAX) });
        assert_eq!(render("act", acks, &t::obj([])), Err(TooLarge));
    }
}
