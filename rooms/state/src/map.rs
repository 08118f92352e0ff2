//! Maps from strings.
//!
//! An entry's place is its index on the wire. A removed entry keeps its place until the patch that says so is written.

use crate::bytes;
use crate::reflection::{Kind, Types};
use crate::shared::Search;
use crate::value::{Delta, Item, Present, Value, collection_op};
use crate::view::Id;
use crate::writer::{ADD, CLEAR, DELETE, DELETE_AND_ADD, Fault, Joining, REPLACE, SegmentKind, Writer};
use hashbrown::DefaultHashBuilder;
use hashbrown::HashTable;
use std::fmt;
use std::hash::BuildHasher;

/// A map that every client sees whole.
pub type Map<V> = Table<V, false>;

/// A map of which a client sees the items that its [`View`](crate::View) holds, and no trace of others.
pub type ViewMap<V> = Table<V, true>;

/// The common form of [`Map`] and [`ViewMap`]: clients see it as a `MapSchema`.
///
/// `get_mut` and `iter_mut` mark what they hand out as touched; the next patch compares what was touched
/// with what the clients hold and carries the fields that differ.
pub struct Table<V: Item, const BY_VIEW: bool> {
    /// Zero before clients were told of the map.
    reference: u32,
    /// What the place that clients know it in remembers of it.
    told: Id,
    hasher: DefaultHashBuilder,
    /// Keys to slots, with those of removed entries that clients still hold.
    places: HashTable<u32>,
    slots: Vec<Slot<V>>,
    /// What a patch of changed entries does not need of a slot, so that such a patch reads less memory.
    labels: Vec<Label>,
    free: Vec<u32>,
    touched: Vec<u32>,
    /// Entries came or went, so that the map itself has something to say.
    reshaped: bool,
    /// The clients hold entries of before a `clear`.
    cleared: bool,
    len: usize,
}

struct Label {
    key: Box<str>,
    /// The name in views of the entry that the clients hold.
    held_id: Id,
}

struct Slot<V: Value> {
    value: Option<V>,
    shadow: V::Shadow,
    /// The name of the entry in views.
    id: Id,
    /// The clients hold an entry in this place.
    held: bool,
    /// The entry they hold is not the one that is here now.
    replaced: bool,
    touched: bool,
}

impl<V: Item, const BY_VIEW: bool> Table<V, BY_VIEW> {
    /// An empty map.
    #[must_use]
    pub fn new() -> Self {
        const { assert!(!(BY_VIEW && V::SHARES), "shared instances stand where every client sees them") };
        Self {
            reference: 0,
            told: Id::NONE,
            hasher: DefaultHashBuilder::default(),
            places: HashTable::new(),
            slots: Vec::new(),
            labels: Vec::new(),
            free: Vec::new(),
            touched: Vec::new(),
            reshaped: false,
            cleared: false,
            len: 0,
        }
    }

    /// Entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn place(&self, key: &str) -> Option<u32> {
        let labels = &self.labels;
        self.places.find(self.hasher.hash_one(key), |place| &*labels[*place as usize].key == key).copied()
    }

    fn slot(&self, key: &str) -> Option<&Slot<V>> {
        self.place(key).map(|place| &self.slots[place as usize])
    }

    /// The entry of `key`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&V> {
        self.slot(key)?.value.as_ref()
    }

    /// Whether there is an entry of `key`.
    #[must_use]
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// The entry of `key`, to change.
    #[inline]
    pub fn get_mut(&mut self, key: &str) -> Option<&mut V> {
        let place = self.place(key)?;
        self.touch(place).value.as_mut()
    }

    #[inline]
    fn touch(&mut self, place: u32) -> &mut Slot<V> {
        let slot = &mut self.slots[place as usize];
        if !slot.touched {
            slot.touched = true;
            self.touched.push(place);
        }
        slot
    }

    /// Sets the entry of `key`, and returns the one before it. Clients see a struct that takes another's place as a
    /// new instance; to change the one they have, assign to what [`get_mut`](Self::get_mut) returns.
    pub fn insert(&mut self, key: impl Into<Box<str>>, value: V) -> Option<V> {
        let key = key.into();
        self.reshaped = true;
        let place = match self.place(&key) {
            Some(place) => place,
            None => self.enter(key),
        };
        self.touch(place);
        let slot = &mut self.slots[place as usize];
        let before = slot.value.replace(value);
        // Of a value without identity this is an assignment: the entry stays, and so does its name in views.
        if V::IS_REFERENCE || before.is_none() {
            slot.replace(&mut self.labels[place as usize]);
        }
        self.len += usize::from(before.is_none());
        before
    }

    /// A place for a new key.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "memory ends before 2^32 slots do, and a patch checks"
    )]
    fn enter(&mut self, key: Box<str>) -> u32 {
        let hash = self.hasher.hash_one(&*key);
        let place = if let Some(place) = self.free.pop() {
            self.labels[place as usize].key = key;
            place
        } else {
            self.labels.push(Label { key, held_id: Id::NONE });
            self.slots.push(Slot {
                value: None,
                shadow: V::Shadow::default(),
                id: Id::NONE,
                held: false,
                replaced: false,
                touched: false,
            });
            (self.slots.len() - 1) as u32
        };
        let (labels, hasher) = (&self.labels, &self.hasher);
        self.places.insert_unique(hash, place, |place| hasher.hash_one(&*labels[*place as usize].key));
        place
    }

    /// Takes the entry of `key` out.
    pub fn remove(&mut self, key: &str) -> Option<V> {
        let place = self.place(key)?;
        self.touch(place);
        let slot = &mut self.slots[place as usize];
        let removed = slot.value.take()?;
        slot.replace(&mut self.labels[place as usize]);
        if !slot.held {
            self.leave(place);
        }
        self.reshaped = true;
        self.len -= 1;
        Some(removed)
    }

    /// Frees the place of an entry that no client holds.
    fn leave(&mut self, place: u32) {
        let slot = &mut self.slots[place as usize];
        let label = &mut self.labels[place as usize];
        let hash = self.hasher.hash_one(&*label.key);
        if let Ok(entry) = self.places.find_entry(hash, |other| *other == place) {
            entry.remove();
        }
        label.key = Box::default();
        slot.shadow = V::Shadow::default();
        slot.held = false;
        slot.replaced = false;
        self.free.push(place);
    }

    /// Takes all entries out.
    pub fn clear(&mut self) {
        if BY_VIEW {
            // Each client is told of the entries it sees, one by one.
            let keys: Vec<_> = self.keys().map(Box::<str>::from).collect();
            for key in keys {
                self.remove(&key);
            }
            return;
        }
        self.cleared |= self.slots.iter().any(|slot| slot.held);
        self.reshaped |= self.cleared;
        self.places.clear();
        self.slots.clear();
        self.labels.clear();
        self.free.clear();
        self.touched.clear();
        self.len = 0;
    }

    /// Keeps the entries for which `keep` is true. It may change those it keeps.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &mut V) -> bool) {
        for place in 0..self.slots.len() {
            let slot = &mut self.slots[place];
            let Some(value) = &mut slot.value else { continue };
            let key = self.labels[place].key.clone();
            let kept = keep(&key, value);
            if kept {
                #[expect(clippy::cast_possible_truncation, reason = "as in enter")]
                self.touch(place as u32);
            } else {
                self.remove(&key);
            }
        }
    }

    /// Keys and entries, in the order of their places.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &V)> {
        self.slots
            .iter()
            .zip(&self.labels)
            .filter_map(|(slot, label)| Some((&*label.key, slot.value.as_ref()?)))
    }

    /// Keys, in the order of their places.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.iter().map(|(key, _)| key)
    }

    /// Entries, in the order of their places.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }

    /// Keys and entries to change, in the order of their places. Only those that the iterator comes to are touched.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut V)> {
        let touched = &mut self.touched;
        let places = (0..).zip(&mut self.slots).zip(&self.labels);
        places.filter_map(move |((place, slot), label)| Some((&*label.key, slot.borrow(place, touched)?)))
    }

    /// Entries to change, as [`iter_mut`](Self::iter_mut).
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        let touched = &mut self.touched;
        (0..).zip(&mut self.slots).filter_map(move |(place, slot)| slot.borrow(place, touched))
    }

    /// The name of the entry of `key` in views.
    pub fn id(&mut self, key: &str) -> Option<Id> {
        let place = self.place(key)?;
        let slot = &mut self.slots[place as usize];
        slot.value.as_ref()?;
        if slot.id == Id::NONE {
            slot.id = Id::fresh();
        }
        Some(slot.id)
    }

    /// Forgets what the clients hold: the map comes to a place where they have none, or another.
    fn renew(&mut self) {
        let gone: Vec<u32> = (0..)
            .zip(&self.slots)
            .filter(|(_, slot)| slot.value.is_none() && slot.held)
            .map(|(at, _)| at)
            .collect();
        for place in gone {
            self.leave(place);
        }
        self.touched.clear();
        for (place, slot) in (0..).zip(&mut self.slots) {
            slot.held = false;
            slot.replaced = false;
            slot.touched = slot.value.is_some();
            if slot.touched {
                self.touched.push(place);
            }
        }
        self.cleared = false;
        self.reshaped = true;
    }

    /// Writes what the map itself says: entries that go, then entries that come or take another's place.
    fn patch_entries(&mut self, w: &mut Writer) {
        if u32::try_from(self.slots.len()).is_err() {
            w.fault = Some(Fault::NoIndexes);
            return;
        }
        let mark = w.begin(self.reference);
        if self.cleared {
            w.op(CLEAR);
        }
        for &place in &self.touched {
            let slot = &self.slots[place as usize];
            if slot.held && slot.value.is_none() {
                w.op(DELETE);
                w.count(place);
            }
        }
        for &place in &self.touched {
            let slot = &mut self.slots[place as usize];
            slot.write(place, &self.labels[place as usize].key, w);
        }
        w.end(mark);
    }

    /// Writes each entry that came, changed or went, and what is in it, in a segment of its own.
    fn patch_by_view(&mut self, w: &mut Writer) {
        let reference = self.reference;
        for &place in &self.touched {
            let slot = &self.slots[place as usize];
            if slot.held && (slot.value.is_none() || slot.replaced) {
                let held_id = self.labels[place as usize].held_id;
                w.segment(held_id, 0, SegmentKind::Entry, |w| withdraw(reference, place, w));
            }
        }
        let outer = w.item;
        for &place in &self.touched {
            let slot = &mut self.slots[place as usize];
            if slot.value.is_none() {
                continue;
            }
            slot.held &= !slot.replaced;
            let label = &self.labels[place as usize];
            w.item = slot.id;
            w.segment(slot.id, 0, SegmentKind::Content, |w| {
                let mark = w.begin(reference);
                slot.write(place, &label.key, w);
                w.end(mark);
                if let Some(value) = &mut slot.value {
                    value.patch_content(&mut slot.shadow, w);
                }
            });
        }
        w.item = outer;
    }

    /// Where no entry came or went, this is all there is to do.
    fn patch_items(&mut self, w: &mut Writer) {
        let outer = w.item;
        for &place in &self.touched {
            let slot = &mut self.slots[place as usize];
            if let Some(value) = &mut slot.value {
                slot.touched = false;
                w.item = slot.id;
                value.patch_content(&mut slot.shadow, w);
            }
        }
        w.item = outer;
    }

    /// Everything touched has been written.
    fn settle(&mut self) {
        // `patch_items` has been through the others.
        if self.reshaped || BY_VIEW || !V::IN_PLACE {
            for at in 0..self.touched.len() {
                let place = self.touched[at];
                let slot = &mut self.slots[place as usize];
                slot.touched = false;
                if slot.value.is_none() && slot.held {
                    self.leave(place);
                }
            }
        }
        self.touched.clear();
        self.reshaped = false;
        self.cleared = false;
    }
}

/// Takes an entry away.
fn withdraw(reference: u32, place: u32, w: &mut Writer) {
    w.begin(reference);
    w.op(DELETE);
    w.count(place);
}

impl<V: Item> Slot<V> {
    /// The entry, to change.
    #[inline]
    fn borrow(&mut self, place: u32, touched: &mut Vec<u32>) -> Option<&mut V> {
        let value = self.value.as_mut()?;
        if !self.touched {
            self.touched = true;
            touched.push(place);
        }
        Some(value)
    }

    /// What is in this place from now on is not the entry that clients hold.
    fn replace(&mut self, label: &mut Label) {
        if self.held && !self.replaced {
            label.held_id = self.id;
            self.replaced = true;
        }
        self.id = Id::NONE;
    }

    /// Writes the entry, if it is new to the clients or differs from what they hold.
    fn write(&mut self, place: u32, key: &str, w: &mut Writer) {
        let Some(value) = &mut self.value else { return };
        let replaced = std::mem::take(&mut self.replaced);
        if !self.held {
            self.held = true;
            w.op(ADD);
            w.count(place);
            bytes::string(key, &mut w.bytes);
            value.write(&mut self.shadow, w);
        } else if (V::IN_PLACE && replaced) || value.delta(&self.shadow, false) == Delta::Replaced {
            w.op(DELETE_AND_ADD);
            w.count(place);
            bytes::string(key, &mut w.bytes);
            value.write(&mut self.shadow, w);
        } else if value.delta(&self.shadow, false) != Delta::Same {
            w.op(REPLACE);
            w.count(place);
            value.write(&mut self.shadow, w);
        }
    }

    fn repeat(&self, place: u32, key: &str, w: &mut Writer) {
        let Some(value) = &self.value else { return };
        let op = |w: &mut Writer| {
            w.op(ADD);
            w.count(place);
            bytes::string(key, &mut w.bytes);
        };
        value.repeat(op, &self.shadow, w);
    }
}

impl<V: Item, const BY_VIEW: bool> Value for Table<V, BY_VIEW> {
    type Shadow = Option<Id>;
    const IS_REFERENCE: bool = true;
    const SHARES: bool = V::SHARES;

    fn kind(types: &mut Types) -> Kind {
        Kind::collection("map", V::kind(types))
    }

    fn delta(&self, shadow: &Option<Id>, fresh: bool) -> Delta {
        Delta::of_identity(self.told, *shadow, fresh)
    }

    fn write(&mut self, shadow: &mut Option<Id>, w: &mut Writer) {
        self.renew();
        self.reference = w.fresh_ref();
        self.told = Id::fresh();
        *shadow = Some(self.told);
        w.count(self.reference);
    }

    fn write_field(&mut self, op: u8, shadow: &mut Option<Id>, w: &mut Writer) {
        collection_op::<V>(op, w);
        self.write(shadow, w);
    }

    fn repeat(&self, op: impl FnOnce(&mut Writer), _: &Option<Id>, w: &mut Writer) -> bool {
        op(w);
        w.count(self.reference);
        true
    }

    fn patch_content(&mut self, _: &mut Option<Id>, w: &mut Writer) {
        if self.touched.is_empty() && !self.cleared {
            return;
        }
        if BY_VIEW {
            self.patch_by_view(w);
        } else {
            if self.reshaped || !V::IN_PLACE {
                self.patch_entries(w);
            }
            if V::IS_REFERENCE {
                self.patch_items(w);
            }
        }
        self.settle();
    }

    fn repeat_content(&self, _: &Option<Id>, w: &mut Writer) {
        let mark = w.begin(self.reference);
        if w.joining == Joining::Additive {
            w.op(CLEAR);
        }
        if !BY_VIEW {
            for (place, (slot, label)) in (0..).zip(self.slots.iter().zip(&self.labels)) {
                slot.repeat(place, &label.key, w);
            }
        }
        w.end(mark);
        let outer = w.item;
        for (place, (slot, label)) in (0..).zip(self.slots.iter().zip(&self.labels)) {
            let Some(value) = &slot.value else { continue };
            w.item = slot.id;
            w.meet(slot.id);
            if BY_VIEW {
                w.segment(slot.id, 0, SegmentKind::Content, |w| {
                    w.begin(self.reference);
                    slot.repeat(place, &label.key, w);
                    value.repeat_content(&slot.shadow, w);
                });
                w.segment(slot.id, 0, SegmentKind::Entry, |w| withdraw(self.reference, place, w));
            } else {
                value.repeat_content(&slot.shadow, w);
            }
        }
        w.item = outer;
    }

    fn find_shared(&self, search: &mut Search) {
        self.values().for_each(|item| item.find_shared(search));
    }
}

impl<V: Item, const BY_VIEW: bool> Present for Table<V, BY_VIEW> {}

impl<V: Item, const BY_VIEW: bool> Default for Table<V, BY_VIEW> {
    fn default() -> Self {
        Self::new()
    }
}

impl<V: Item + Clone, const BY_VIEW: bool> Clone for Table<V, BY_VIEW> {
    /// A map of its own with the same entries: clients see it as another one.
    fn clone(&self) -> Self {
        self.iter().map(|(key, value)| (key, value.clone())).collect()
    }
}

impl<V: Item + fmt::Debug, const BY_VIEW: bool> fmt::Debug for Table<V, BY_VIEW> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<K: Into<Box<str>>, V: Item, const BY_VIEW: bool> FromIterator<(K, V)> for Table<V, BY_VIEW> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::new();
        map.extend(entries);
        map
    }
}

impl<K: Into<Box<str>>, V: Item, const BY_VIEW: bool> Extend<(K, V)> for Table<V, BY_VIEW> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}
