//! Cutting long texts into pages at line breaks (§4). Joined again, the pages are the text, bit for bit.

use playerthree_schema::utf16_len;
use serde_json::{Value, json};

/// Most UTF-16 units of one topic page (§4).
pub const TOPIC_PAGE_MAX: usize = 8000;

/// One page of a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicPage {
    /// The topic's name.
    pub topic: String,
    /// This page, from 1.
    pub page: u32,
    /// Pages of the topic.
    pub pages: u32,
    /// The text, at most 8000 UTF-16 units.
    pub text: String,
}

impl TopicPage {
    pub(super) fn of(topic: &str, page: u32, pages: &[String]) -> Option<Self> {
        let index = usize::try_from(page.checked_sub(1)?).ok()?;
        let text = pages.get(index)?.clone();
        Some(Self { topic: topic.into(), page, pages: u32::try_from(pages.len()).ok()?, text })
    }

    /// The result of `briefing(topic)`: `{topic,page,pages,text,next?}` (§4).
    pub fn to_json(&self) -> Value {
        let mut result =
            json!({ "topic": self.topic, "page": self.page, "pages": self.pages, "text": self.text });
        if self.page < self.pages {
            result["next"] = json!({ "topic": self.topic, "page": self.page + 1 });
        }
        result
    }
}

/// Pages of at most `max` UTF-16 units, cut just after a line break where there is one. At least one page.
pub(super) fn pages(text: &str, max: usize) -> Vec<String> {
    let mut pages = Vec::new();
    let mut rest = text;
    while utf16_len(rest) > max {
        let (page, after) = rest.split_at(cut(rest, max));
        pages.push(page.to_owned());
        rest = after;
    }
    pages.push(rest.to_owned());
    pages
}

/// Byte position of the best cut within the first `max` UTF-16 units: after the last line break, else at `max`.
pub(super) fn cut(text: &str, max: usize) -> usize {
    let end = byte_at(text, max).unwrap_or(text.len());
    text[..end].rfind('\n').map_or(end, |newline| newline + 1)
}

/// Byte position of the largest character boundary within `units` UTF-16 units, or nothing if the text is shorter.
fn byte_at(text: &str, units: usize) -> Option<usize> {
    let mut seen = 0;
    for (position, found) in text.char_indices() {
        seen += found.len_utf16();
        if seen > units {
            return Some(position);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// §4: pages hold at most `max` UTF-16 units, end after a line break where one is near, and join to the text.
    #[test]
    fn pages_join_to_the_text_and_keep_their_bound() {
        let texts = [
            String::new(),
            "short".into(),
            "line\n".repeat(500),
            "x".repeat(1000),
            "😀".repeat(333),
            format!("{}\n{}\n", "a".repeat(99), "b".repeat(301)),
            "\n".repeat(250),
        ];
        for text in texts {
            let pages = pages(&text, 100);
            assert_eq!(pages.concat(), text);
            assert!(pages.iter().all(|page| utf16_len(page) <= 100));
            assert!(pages.len() == 1 || pages.iter().all(|page| !page.is_empty()));
        }
        assert_eq!(pages("ab\ncd\nef", 6), ["ab\ncd\n", "ef"]);
        assert_eq!(pages("😀😀😀", 3), ["😀", "😀", "😀"]);
    }

    /// §4: pages count from 1; others do not exist; `next` is on every page but the last.
    #[test]
    fn pages_count_from_one() {
        let pages = pages(&"line\n".repeat(50), 100);
        assert!(TopicPage::of("t", 0, &pages).is_none());
        assert!(TopicPage::of("t", 4, &pages).is_none());
        let first = TopicPage::of("t", 1, &pages).map(|page| page.to_json());
        assert_eq!(first.map(|page| page["next"].clone()), Some(json!({ "topic": "t", "page": 2 })));
        let last = TopicPage::of("t", 3, &pages).map(|page| page.to_json());
        assert_eq!(last.map(|page| page.get("next").is_none()), Some(true));
    }
}
