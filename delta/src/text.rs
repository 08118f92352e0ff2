//! The edit of a string: splices where they are cheaper than the whole string. Positions are UTF-16 code units, as
//! every length in the specification, and never fall inside a surrogate pair.

use crate::edits::{Edit, Steps};
use crate::{cost, wire};

/// Strings of fewer bytes are always replaced: a splice would not be smaller.
pub(crate) const MIN_LEN: usize = 8;
/// Unchanged runs of at most this many characters inside a changed stretch are resent, which costs no more than two
/// further steps.
const MAX_GAP: usize = 3;

/// The splice from `old` to `new`, which differ; `None` if one of them is too short to be worth it.
pub(crate) fn splice(old: &str, new: &str) -> Option<Edit> {
    if old.len() < MIN_LEN || new.len() < MIN_LEN {
        return None;
    }
    let middle = splice_middle(old, new);
    match in_place(old, new) {
        Some(changes) if changes.len() > 1 => {
            [splice_changes(old, new, &changes), middle].into_iter().flatten().min_by_key(|edit| edit.cost)
        }
        _ => middle,
    }
}

/// A changed stretch: the same number of characters at byte ranges of both strings.
struct Change {
    old: std::ops::Range<usize>,
    new: std::ops::Range<usize>,
}

/// The changed stretches of two strings with equally many characters, such as the rows of a map; otherwise `None`.
fn in_place(old: &str, new: &str) -> Option<Vec<Change>> {
    let mut changes: Vec<Change> = Vec::new();
    let mut gap = usize::MAX;
    let (mut olds, mut news) = (old.char_indices(), new.char_indices());
    loop {
        match (olds.next(), news.next()) {
            (None, None) => return Some(changes),
            (Some((_, a)), Some((_, b))) if a == b => gap = gap.saturating_add(1),
            (Some((i, _)), Some((j, _))) => {
                let (old_end, new_end) = (olds.offset(), news.offset());
                match changes.last_mut() {
                    Some(last) if gap <= MAX_GAP => (last.old.end, last.new.end) = (old_end, new_end),
                    _ => changes.push(Change { old: i..old_end, new: j..new_end }),
                }
                gap = 0;
            }
            _ => return None,
        }
    }
}

/// One splice for each changed stretch.
fn splice_changes(old: &str, new: &str, changes: &[Change]) -> Option<Edit> {
    let mut steps = Steps::new(wire::TEXT);
    let mut done = 0;
    for change in changes {
        steps.keep(units(&old[done..change.old.start]));
        steps.remove(units(&old[change.old.clone()]));
        insert(&mut steps, &new[change.new.clone()]);
        done = change.old.end;
    }
    steps.finish()
}

/// One splice between the common beginning and the common end.
fn splice_middle(old: &str, new: &str) -> Option<Edit> {
    let mut steps = Steps::new(wire::TEXT);
    let prefix: usize =
        old.chars().zip(new.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    let (kept, old) = old.split_at(prefix);
    let new = &new[prefix..];
    let suffix: usize =
        old.chars().rev().zip(new.chars().rev()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    steps.keep(units(kept));
    steps.remove(units(&old[..old.len() - suffix]));
    insert(&mut steps, &new[..new.len() - suffix]);
    steps.finish()
}

fn insert(steps: &mut Steps, text: &str) {
    if !text.is_empty() {
        steps.push(text.into(), cost::text(text.len()));
    }
}

/// The length of `text` in UTF-16 code units.
pub(crate) fn units(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.encode_utf16().count() }
}
