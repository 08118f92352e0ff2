//! Windows into skill files (§4 `game_skill`).

use super::paging::cut;
use playerthree_schema::utf16_len;
use serde_json::{Value, json};

/// Most UTF-16 units of one window (§4).
pub const SKILL_WINDOW_MAX: usize = 20_000;

/// A part of a skill file. Offsets count UTF-16 units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillWindow {
    /// The skill's name.
    pub name: String,
    /// The file's path.
    pub path: String,
    /// Where the window starts.
    pub offset: usize,
    /// Length of the whole file.
    pub total: usize,
    /// At most 20000 units, cut just after a line break when the file continues.
    pub text: String,
    /// Where to continue, if the file does.
    pub next: Option<usize>,
}

impl SkillWindow {
    pub(super) fn of(name: &str, path: &str, file: &str, offset: usize) -> Option<Self> {
        let rest = &file[byte_offset(file, offset)?..];
        let total = utf16_len(file);
        let continues = total - offset > SKILL_WINDOW_MAX;
        let text = if continues { &rest[..cut(rest, SKILL_WINDOW_MAX)] } else { rest };
        let next = continues.then(|| offset + utf16_len(text));
        Some(Self { name: name.into(), path: path.into(), offset, total, text: text.into(), next })
    }

    /// The result of `skill`: `{name,path,offset,total,text,next?}` (§4).
    pub fn to_json(&self) -> Value {
        let mut result = json!({
            "name": self.name, "path": self.path, "offset": self.offset, "total": self.total, "text": self.text,
        });
        if let Some(next) = self.next {
            result["next"] = json!(next);
        }
        result
    }
}

/// The byte position of an offset within the file. None past its end or inside a surrogate pair; the end of a file
/// that has content is past it, too, since nothing is left to read.
fn byte_offset(file: &str, offset: usize) -> Option<usize> {
    if offset == 0 {
        return Some(0);
    }
    let mut units = 0;
    for (position, found) in file.char_indices() {
        if units >= offset {
            return (units == offset).then_some(position);
        }
        units += found.len_utf16();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// §4: windows of at most 20000 units, cut just after a line break, join to the file.
    #[test]
    fn windows_join_to_the_file() {
        for file in [
            "line of text 😀\n".repeat(5000),
            "x".repeat(45_000),
            "😀".repeat(20_001),
            "short".into(),
            String::new(),
        ] {
            let mut joined = String::new();
            let mut offset = Some(0);
            while let Some(at) = offset {
                let window = SkillWindow::of("s", "p", &file, at).expect("a window");
                assert!(utf16_len(&window.text) <= SKILL_WINDOW_MAX && window.total == utf16_len(&file));
                assert!(window.next.is_none() || window.text.ends_with('\n') || !file.contains('\n'));
                joined.push_str(&window.text);
                offset = window.next;
            }
            assert_eq!(joined, file);
        }
    }

    /// §4: an offset past the end, at the end, or inside a surrogate pair does not exist.
    #[test]
    fn unknown_offsets_have_no_window() {
        assert!(SkillWindow::of("s", "p", "a😀b", 1).is_some());
        assert!(SkillWindow::of("s", "p", "a😀b", 2).is_none());
        assert!(SkillWindow::of("s", "p", "a😀b", 3).is_some());
        for offset in [4, 5, usize::MAX] {
            assert!(SkillWindow::of("s", "p", "a😀b", offset).is_none());
        }
    }
}
