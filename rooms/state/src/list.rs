//! Lists.
//!
//! An item remembers at which index the clients hold it. Decoders close the holes of removed items when they leave
//! the list, so that one patch speaks in the indexes of before it. Inserting an item between others and reordering
//! have no operation that all generations read alike: the indexes from there on are written again, of structs only
//! the references.

use crate::identity::{self, Identity};
use crate::reflection::{Kind, Types};
use crate::shared::Search;
use crate::value::{Delta, Item, Present, Value};
use crate::view::Id;
use crate::writer::{ADD, CLEAR, DELETE, DELETE_AND_ADD, Fault, Fields, Joining, REPLACE, Writer};
use std::cmp::Ordering;
use std::fmt;
use std::ops::{Index, IndexMut};

/// A list: clients see it as an `ArraySchema`.
///
/// `get_mut`, `iter_mut` and indexing mark what they hand out as touched; the next patch compares what was touched
/// with what the clients hold and carries the fields that differ.
pub struct List<T: Item> {
    identity: Identity,
    items: Vec<Slot<T>>,
    /// Items the clients hold.
    held: u32,
    touched: Vec<u32>,
    /// Items came, went or moved; `touched` says nothing then.
    reshaped: bool,
}

struct Slot<T: Value> {
    value: T,
    shadow: T::Shadow,
    id: Id,
    /// The index at which clients hold the item.
    held_at: Option<u32>,
    touched: bool,
}

/// How a list is brought to clients.
enum Plan {
    /// Clear, then add all.
    Rebuild,
    /// Every item gets an index of before the patch, in ascending order, or one after those; what has none goes.
    Align,
    /// Every item gets the index it has; surplus indexes at the end go.
    Overwrite,
}

impl<T: Item> List<T> {
    /// An empty list.
    #[must_use]
    pub fn new() -> Self {
        Self { identity: Identity::UNTOLD, items: Vec::new(), held: 0, touched: Vec::new(), reshaped: false }
    }

    /// Items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is no item.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The item at `index`.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&T> {
        self.items.get(index).map(|slot| &slot.value)
    }

    /// The item at `index`, to change.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "memory ends before 2^32 items do, and a patch checks"
    )]
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        let slot = self.items.get_mut(index)?;
        if !slot.touched {
            slot.touched = true;
            self.touched.push(index as u32);
        }
        Some(&mut slot.value)
    }

    /// The items in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + ExactSizeIterator {
        self.items.iter().map(|slot| &slot.value)
    }

    /// The items to change, in order. Only those that the iterator comes to are touched.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        let touched = &mut self.touched;
        (0..).zip(&mut self.items).map(move |(index, slot)| {
            if !slot.touched {
                slot.touched = true;
                touched.push(index);
            }
            &mut slot.value
        })
    }

    /// Adds an item at the end.
    pub fn push(&mut self, value: T) {
        self.reshaped = true;
        self.items.push(Slot::new(value));
    }

    /// Takes the last item out.
    pub fn pop(&mut self) -> Option<T> {
        self.reshaped = true;
        self.items.pop().map(|slot| slot.value)
    }

    /// Puts an item in front of the one at `index`, or at the end where there is none.
    pub fn insert(&mut self, index: usize, value: T) {
        self.reshaped = true;
        self.items.insert(index.min(self.items.len()), Slot::new(value));
    }

    /// Takes the item at `index` out.
    pub fn remove(&mut self, index: usize) -> Option<T> {
        if index >= self.items.len() {
            return None;
        }
        self.reshaped = true;
        Some(self.items.remove(index).value)
    }

    /// Takes the item at `index` out and puts the last one in its place.
    pub fn swap_remove(&mut self, index: usize) -> Option<T> {
        if index >= self.items.len() {
            return None;
        }
        self.reshaped = true;
        Some(self.items.swap_remove(index).value)
    }

    /// Puts another item at `index`, and returns the one before it. Clients see a struct as a new instance; to change
    /// the one they have, assign to it. Where there is no such index, the item comes back.
    ///
    /// # Errors
    /// The item, where the list has no such index.
    pub fn replace(&mut self, index: usize, value: T) -> Result<T, T> {
        let Some(slot) = self.items.get_mut(index) else { return Err(value) };
        self.reshaped = true;
        Ok(std::mem::replace(slot, Slot::new(value)).value)
    }

    /// Exchanges two items. Indexes past the end change nothing.
    pub fn swap(&mut self, a: usize, b: usize) {
        if a.max(b) < self.items.len() {
            self.reshaped = true;
            self.items.swap(a, b);
        }
    }

    /// Sorts, equal items keeping their order.
    pub fn sort_by(&mut self, mut compare: impl FnMut(&T, &T) -> Ordering) {
        self.reshaped = true;
        self.items.sort_by(|a, b| compare(&a.value, &b.value));
    }

    /// Reverses the order.
    pub fn reverse(&mut self) {
        self.reshaped = true;
        self.items.reverse();
    }

    /// Keeps the first `len` items.
    pub fn truncate(&mut self, len: usize) {
        self.reshaped = true;
        self.items.truncate(len);
    }

    /// Takes all items out.
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// Keeps the items for which `keep` is true. It may change those it keeps.
    pub fn retain(&mut self, mut keep: impl FnMut(&mut T) -> bool) {
        self.reshaped = true;
        self.items.retain_mut(|slot| keep(&mut slot.value));
    }

    /// The name of the item at `index` in views.
    pub fn id(&mut self, index: usize) -> Option<Id> {
        Some(self.items.get_mut(index)?.id.or_fresh())
    }

    /// The name of the item at `index` in views, if anybody asked for it: otherwise no view holds it.
    #[must_use]
    pub fn known_id(&self, index: usize) -> Option<Id> {
        self.items.get(index)?.id.known()
    }

    /// Forgets what the clients hold.
    fn renew(&mut self) {
        self.held = 0;
        self.reshaped = true;
        for slot in &mut self.items {
            slot.held_at = None;
        }
    }

    fn plan(&self) -> Plan {
        let mut next = 0;
        let mut waiting = 0;
        let mut kept = false;
        let mut aligned = true;
        for slot in &self.items {
            let Some(at) = slot.held_at else {
                waiting += 1;
                continue;
            };
            kept = true;
            // Indexes from `next` up to `at` are free for the items that wait.
            aligned &= at >= next && waiting <= at - next;
            next = at + 1;
            waiting = 0;
            if !aligned {
                break;
            }
        }
        match (kept, aligned) {
            (false, _) if self.held > 0 => Plan::Rebuild,
            (_, true) => Plan::Align,
            (_, false) => Plan::Overwrite,
        }
    }

    fn patch_order(&mut self, w: &mut Writer) {
        let Ok(len) = u32::try_from(self.items.len()) else {
            w.fault = Some(Fault::NoIndexes);
            return;
        };
        let mark = w.begin(self.identity.reference);
        match self.plan() {
            Plan::Rebuild => {
                w.op(CLEAR);
                for (index, slot) in (0..).zip(&mut self.items) {
                    slot.write(ADD, index, w);
                }
            }
            Plan::Align => self.align(w),
            Plan::Overwrite => self.overwrite(len, w),
        }
        w.end(mark);
        self.held = len;
        for (index, slot) in (0..).zip(&mut self.items) {
            slot.held_at = Some(index);
        }
    }

    fn align(&mut self, w: &mut Writer) {
        // The index from which on no item has been placed yet.
        let mut next = 0;
        let mut begin = 0;
        while begin < self.items.len() {
            let end = (begin..self.items.len()).find(|at| self.items[*at].held_at.is_some());
            let upto = end.and_then(|at| self.items[at].held_at).unwrap_or(self.held);
            let waiting = begin..end.unwrap_or(self.items.len());
            for slot in &mut self.items[waiting] {
                let op = if next < self.held { T::OVERWRITE } else { ADD };
                slot.write(op, next, w);
                next += 1;
            }
            for index in next..upto {
                withdraw(index, w);
            }
            let Some(end) = end else { return };
            self.items[end].update(upto, w);
            next = upto + 1;
            begin = end + 1;
        }
        for index in next..self.held {
            withdraw(index, w);
        }
    }

    fn overwrite(&mut self, len: u32, w: &mut Writer) {
        let held = self.held;
        for (index, slot) in (0..).zip(&mut self.items) {
            if slot.held_at == Some(index) {
                slot.update(index, w);
            } else {
                slot.write(if index < held { T::OVERWRITE } else { ADD }, index, w);
            }
        }
        for index in len..held {
            withdraw(index, w);
        }
    }
}

fn withdraw(index: u32, w: &mut Writer) {
    w.op(DELETE);
    w.count(index);
}

/// The operation that puts an item at an index where there is one.
trait Overwrite {
    const OVERWRITE: u8;
}

impl<T: Item> Overwrite for T {
    const OVERWRITE: u8 = if T::IS_REFERENCE { DELETE_AND_ADD } else { REPLACE };
}

impl<T: Item> Slot<T> {
    fn new(value: T) -> Self {
        Self { value, shadow: T::Shadow::default(), id: Id::NONE, held_at: None, touched: false }
    }

    /// Writes the item to an index where the clients do not hold it.
    fn write(&mut self, op: u8, index: u32, w: &mut Writer) {
        w.op(op);
        w.count(index);
        let known = self.held_at.is_some() && self.value.delta(&self.shadow, false) == Delta::Same;
        if known && T::IS_REFERENCE {
            self.value.repeat(|_| {}, &self.shadow, w);
        } else {
            self.value.write(&mut self.shadow, w);
        }
    }

    /// Writes the item to the index where the clients hold it, if it differs.
    fn update(&mut self, index: u32, w: &mut Writer) {
        if self.value.delta(&self.shadow, false) != Delta::Same {
            w.op(T::OVERWRITE);
            w.count(index);
            self.value.write(&mut self.shadow, w);
        }
    }

    fn patch_content(&mut self, w: &mut Writer) {
        self.touched = false;
        w.item = self.id;
        self.value.patch_content(&mut self.shadow, w);
    }
}

impl<T: Item> Value for List<T> {
    type Shadow = Option<Id>;
    const IS_REFERENCE: bool = true;
    const SHARES: bool = T::SHARES;

    fn kind(types: &mut Types) -> Kind {
        Kind::collection("array", T::kind(types))
    }

    fn delta(&self, shadow: &Option<Id>, fresh: bool) -> Delta {
        self.identity.delta(*shadow, fresh)
    }

    fn write(&mut self, shadow: &mut Option<Id>, w: &mut Writer) {
        self.renew();
        self.identity.introduce(shadow, w);
    }

    fn write_field(&mut self, op: u8, shadow: &mut Option<Id>, fields: &mut Fields<'_>) {
        identity::write_field::<T>(op, fields, |w| self.write(shadow, w));
    }

    fn repeat(&self, op: impl FnOnce(&mut Writer), _: &Option<Id>, w: &mut Writer) -> bool {
        self.identity.repeat(op, w)
    }

    fn patch_content(&mut self, _: &mut Option<Id>, w: &mut Writer) {
        let outer = w.item;
        let touched = std::mem::take(&mut self.touched);
        if self.reshaped {
            self.patch_order(w);
            self.items.iter_mut().for_each(|slot| slot.patch_content(w));
        } else if !touched.is_empty() {
            if !T::IN_PLACE {
                let mark = w.begin(self.identity.reference);
                for &index in &touched {
                    self.items[index as usize].update(index, w);
                }
                w.end(mark);
            }
            for &index in &touched {
                self.items[index as usize].patch_content(w);
            }
        }
        self.reshaped = false;
        w.item = outer;
    }

    fn repeat_content(&self, _: &Option<Id>, w: &mut Writer) {
        let mark = w.begin(self.identity.reference);
        if w.joining == Joining::Additive {
            w.op(CLEAR);
        }
        for (index, slot) in (0..).zip(&self.items) {
            let op = |w: &mut Writer| {
                w.op(ADD);
                w.count(index);
            };
            slot.value.repeat(op, &slot.shadow, w);
        }
        w.end(mark);
        let outer = w.item;
        for slot in &self.items {
            w.item = slot.id;
            w.meet(slot.id);
            slot.value.repeat_content(&slot.shadow, w);
        }
        w.item = outer;
    }

    fn find_shared(&self, search: &mut Search) {
        self.iter().for_each(|item| item.find_shared(search));
    }
}

impl<T: Item> Present for List<T> {}

impl<T: Item> Index<usize> for List<T> {
    type Output = T;

    fn index(&self, index: usize) -> &T {
        &self.items[index].value
    }
}

impl<T: Item> IndexMut<usize> for List<T> {
    #[expect(clippy::expect_used, reason = "an index past the end panics, as with any list")]
    fn index_mut(&mut self, index: usize) -> &mut T {
        self.get_mut(index).expect("an index of the list")
    }
}

impl<T: Item> Default for List<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Item + Clone> Clone for List<T> {
    /// A list of its own with the same items: clients see it as another one.
    fn clone(&self) -> Self {
        self.iter().cloned().collect()
    }
}

impl<T: Item + fmt::Debug> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: Item> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut list = Self::new();
        list.extend(items);
        list
    }
}

impl<T: Item> From<Vec<T>> for List<T> {
    fn from(items: Vec<T>) -> Self {
        items.into_iter().collect()
    }
}

impl<T: Item> Extend<T> for List<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        items.into_iter().for_each(|item| self.push(item));
    }
}
