//! Which old element of a list each new element comes from. It decides what a delta resends, never whether it is
//! right: any answer with each old element used at most once gives a correct delta.

use crate::same::{Alike, Exact, same};
use crate::text;
use serde_json::{Number, Value};
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::collections::HashMap;
use std::hash::Hash;

/// Where an element of the new list comes from. Indices are into the old list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// Nowhere: it is sent whole.
    Fresh,
    /// From this element, in order: the indices of all `Kept` ascend.
    Kept(usize),
    /// From this element, out of order.
    Moved(usize),
}

/// The sources of every element of `new`. No old index occurs twice.
pub(crate) fn sources(old: &[Value], new: &[Value]) -> Vec<Source> {
    let mut plan = Plan::new(old.len(), new.len());
    if old.is_empty() || new.is_empty() {
        return plan.sources;
    }
    match (ids(old), ids(new)) {
        (Some(old_ids), Some(new_ids)) => plan.by_key(&old_ids, &new_ids),
        _ => plan.by_value(old, new),
    }
    plan.sources
}

/// The `id` member of a list element.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Id<'a> {
    Text(&'a str),
    Number(&'a Number),
}

/// The ids of all elements, if every element is an object with an `id` that is a string or a number.
fn ids(list: &[Value]) -> Option<Vec<Id<'_>>> {
    list.iter()
        .map(|item| match item.as_object()?.get("id")? {
            Value::String(id) => Some(Id::Text(id)),
            Value::Number(id) => Some(Id::Number(id)),
            _ => None,
        })
        .collect()
}

struct Plan {
    sources: Vec<Source>,
    used: Vec<bool>,
}

impl Plan {
    fn new(old_len: usize, new_len: usize) -> Self {
        Self { sources: vec![Source::Fresh; new_len], used: vec![false; old_len] }
    }

    fn keep(&mut self, old: usize, new: usize) {
        self.sources[new] = Source::Kept(old);
        self.used[old] = true;
    }

    /// Elements with equal keys are the same element: in order as far as possible, the others moved.
    fn by_key<K: Hash + Eq + Copy>(&mut self, old: &[K], new: &[K]) {
        let front = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        let tail = |list: &[K]| list.len() - front;
        let back = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
        let back = back.min(tail(old)).min(tail(new));
        (0..front).for_each(|index| self.keep(index, index));
        (1..=back).for_each(|index| self.keep(old.len() - index, new.len() - index));
        let (old_middle, new_middle) = (&old[front..old.len() - back], &new[front..new.len() - back]);
        for (i, j) in in_order(old_middle, new_middle) {
            self.keep(front + i, front + j);
        }
        self.find_moved(old, new, |_| true);
    }

    /// Elements without ids: the same value is the same element, and in what lies between, elements that are alike or
    /// that stand at the same place.
    fn by_value(&mut self, old: &[Value], new: &[Value]) {
        if mostly_in_place(old, new) {
            return (0..new.len()).for_each(|index| self.keep(index, index));
        }
        let (old_keys, new_keys): (Vec<_>, Vec<_>) =
            (old.iter().map(Exact).collect(), new.iter().map(Exact).collect());
        for (i, j) in in_order(&old_keys, &new_keys) {
            self.keep(i, j);
        }
        self.find_moved(&old_keys, &new_keys, |index| is_editable(&new[index]));
        for gap in self.gaps(old, new) {
            let (old_keys, new_keys) = (gap.likeness(&gap.old, old), gap.likeness(&gap.new, new));
            if let (Some(old_keys), Some(new_keys)) = (old_keys, new_keys) {
                in_order(&old_keys, &new_keys)
                    .into_iter()
                    .for_each(|(i, j)| self.keep(gap.old[i], gap.new[j]));
            }
        }
        for gap in self.gaps(old, new) {
            gap.old.iter().zip(&gap.new).for_each(|(&i, &j)| self.keep(i, j));
        }
    }

    /// Takes fresh elements from unused old elements with the same key, wherever those stood.
    fn find_moved<K: Hash + Eq + Copy>(&mut self, old: &[K], new: &[K], worth: impl Fn(usize) -> bool) {
        if self.used.iter().all(|&used| used) || !self.sources.contains(&Source::Fresh) {
            return;
        }
        let mut free: HashMap<K, usize> = HashMap::new();
        for (index, key) in old.iter().enumerate().rev().filter(|(index, _)| !self.used[*index]) {
            free.insert(*key, index);
        }
        for (index, key) in new.iter().enumerate() {
            if self.sources[index] == Source::Fresh
                && worth(index)
                && let Some(from) = free.remove(key)
            {
                self.sources[index] = Source::Moved(from);
                self.used[from] = true;
            }
        }
    }

    /// The unpaired objects, lists and longer texts between two kept elements, for each stretch that has some on both sides.
    fn gaps(&self, old: &[Value], new: &[Value]) -> Vec<Gap> {
        let mut gaps = Vec::new();
        let (mut old_start, mut new_start) = (0, 0);
        let kept = self.sources.iter().enumerate().filter_map(|(j, source)| match source {
            Source::Kept(i) => Some((*i, j)),
            _ => None,
        });
        for (old_end, new_end) in kept.chain([(old.len(), new.len())]) {
            let gap = Gap {
                old: (old_start..old_end).filter(|&i| !self.used[i] && is_editable(&old[i])).collect(),
                new: (new_start..new_end)
                    .filter(|&j| self.sources[j] == Source::Fresh && is_editable(&new[j]))
                    .collect(),
            };
            if !gap.old.is_empty() && !gap.new.is_empty() {
                gaps.push(gap);
            }
            (old_start, new_start) = (old_end + 1, new_end + 1);
        }
        gaps
    }
}

struct Gap {
    old: Vec<usize>,
    new: Vec<usize>,
}

impl Gap {
    /// The likeness keys of these elements, if all of them are objects.
    fn likeness<'a>(&self, indices: &[usize], list: &'a [Value]) -> Option<Vec<Alike<'a>>> {
        indices.iter().map(|&index| list[index].as_object().map(Alike)).collect()
    }
}

/// Whether an edit of this value can be smaller than the value.
fn is_editable(value: &Value) -> bool {
    match value {
        Value::String(text) => text.len() >= text::MIN_LEN,
        _ => value.is_array() || value.is_object(),
    }
}

/// Whether the lists have one length and at least three of four elements did not change.
fn mostly_in_place(old: &[Value], new: &[Value]) -> bool {
    old.len() == new.len() && {
        let most = new.len() / 4;
        old.iter().zip(new).filter(|(a, b)| !same(a, b)).take(most + 1).count() <= most
    }
}

/// Pairs of indices with equal keys, ascending on both sides: a common subsequence that is longest, or nearly so where
/// finding the longest would take too long.
fn in_order<K: Hash + Eq>(old: &[K], new: &[K]) -> Vec<(usize, usize)> {
    if old.is_empty() || new.is_empty() {
        return Vec::new();
    }
    let (old, new, distinct) = common(old, new);
    // With one match for each element Hunt takes O(n log n) whatever the order; with many, Myers' heuristics bound it.
    let unique = old.len() == distinct && new.len() == distinct;
    let algorithm = if unique { Algorithm::Hunt } else { Algorithm::Myers };
    let (old_tokens, new_tokens): (Vec<u32>, Vec<u32>) =
        (old.iter().map(|(token, _)| *token).collect(), new.iter().map(|(token, _)| *token).collect());
    let mut pairs = Vec::new();
    for op in capture_diff_slices(algorithm, &old_tokens, &new_tokens) {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            pairs.extend((0..len).map(|step| (old[old_index + step].1, new[new_index + step].1)));
        }
    }
    pairs
}

type Tokens = Vec<(u32, usize)>;

/// Both lists as small tokens with their indices, without the elements that occur on one side only, and the number of
/// distinct tokens in them.
fn common<K: Hash + Eq>(old: &[K], new: &[K]) -> (Tokens, Tokens, usize) {
    let mut tokens: HashMap<&K, u32> = HashMap::with_capacity(old.len());
    let mut next = 0;
    let mut old_tokens: Tokens = Vec::with_capacity(old.len());
    for (index, key) in old.iter().enumerate() {
        let token = *tokens.entry(key).or_insert_with(|| {
            next += 1;
            next - 1
        });
        old_tokens.push((token, index));
    }
    let new_tokens: Tokens =
        new.iter().enumerate().filter_map(|(index, key)| Some((*tokens.get(key)?, index))).collect();
    let mut shared = vec![false; tokens.len()];
    new_tokens.iter().for_each(|(token, _)| shared[*token as usize] = true);
    old_tokens.retain(|(token, _)| shared[*token as usize]);
    let distinct = shared.iter().filter(|&&shared| shared).count();
    (old_tokens, new_tokens, distinct)
}
