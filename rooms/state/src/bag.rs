//! Collections without keys.
//!
//! Decoders of generations 0.16 and 0.17 ignore the indexes of these collections and count additions themselves, from
//! when they joined, so that no index means the same to all clients. Patches therefore add items at the end, and after
//! a removal say the whole collection again, of structs only the references.

use crate::identity::Identity;
use crate::reflection::{Kind, Types};
use crate::shared::Search;
use crate::value::{Delta, Item, Present, Value};
use crate::view::Id;
use crate::writer::{ADD, CLEAR, Fault, Joining, Writer};
use std::collections::BTreeMap;
use std::fmt;

/// Names an item of a [`Bag`] for as long as it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BagKey(u64);

/// Items without keys or order: clients see it as a `CollectionSchema`.
///
/// A removal makes the next patch carry all items (of structs, their references); in a large collection that shrinks
/// often a [`Map`](crate::Map) is cheaper.
pub struct Bag<T: Item> {
    identity: Identity,
    items: BTreeMap<u64, Slot<T>>,
    next: u64,
    touched: Vec<u64>,
    /// Items the clients hold, which is the index of the next one.
    held: u32,
    /// The clients hold items that are gone.
    stale: bool,
}

struct Slot<T: Value> {
    value: T,
    shadow: T::Shadow,
    id: Id,
    held: bool,
    touched: bool,
}

impl<T: Item> Bag<T> {
    /// An empty bag.
    #[must_use]
    pub fn new() -> Self {
        // Decoders of generations 0.16 and 0.17 may count an instance once that is in a bag twice.
        const { assert!(!T::SHARES, "shared instances stand in fields, maps and lists") };
        Self {
            identity: Identity::UNTOLD,
            items: BTreeMap::new(),
            next: 0,
            touched: Vec::new(),
            held: 0,
            stale: false,
        }
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

    /// Puts an item in.
    pub fn insert(&mut self, value: T) -> BagKey {
        let index = self.next;
        self.next += 1;
        let slot = Slot { value, shadow: T::Shadow::default(), id: Id::NONE, held: false, touched: true };
        self.items.insert(index, slot);
        self.touched.push(index);
        BagKey(index)
    }

    /// Takes an item out.
    pub fn remove(&mut self, key: BagKey) -> Option<T> {
        let slot = self.items.remove(&key.0)?;
        self.stale |= slot.held;
        Some(slot.value)
    }

    /// Takes all items out.
    pub fn clear(&mut self) {
        self.stale |= self.held > 0;
        self.items.clear();
        self.touched.clear();
    }

    /// An item.
    #[must_use]
    pub fn get(&self, key: BagKey) -> Option<&T> {
        self.items.get(&key.0).map(|slot| &slot.value)
    }

    /// An item, to change.
    pub fn get_mut(&mut self, key: BagKey) -> Option<&mut T> {
        let slot = self.items.get_mut(&key.0)?;
        if !slot.touched {
            slot.touched = true;
            self.touched.push(key.0);
        }
        Some(&mut slot.value)
    }

    /// The items, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (BagKey, &T)> {
        self.items.iter().map(|(index, slot)| (BagKey(*index), &slot.value))
    }

    /// The items to change, the oldest first. Only those that the iterator comes to are touched.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (BagKey, &mut T)> {
        let touched = &mut self.touched;
        self.items.iter_mut().map(move |(index, slot)| {
            if !slot.touched {
                slot.touched = true;
                touched.push(*index);
            }
            (BagKey(*index), &mut slot.value)
        })
    }

    /// The name of an item in views.
    pub fn id(&mut self, key: BagKey) -> Option<Id> {
        Some(self.items.get_mut(&key.0)?.id.or_fresh())
    }

    /// The name of an item in views, if anybody asked for it: otherwise no view holds it.
    #[must_use]
    pub fn known_id(&self, key: BagKey) -> Option<Id> {
        self.items.get(&key.0)?.id.known()
    }

    fn renew(&mut self) {
        self.stale = false;
        self.held = 0;
        self.touched = self.items.keys().copied().collect();
        for slot in self.items.values_mut() {
            slot.held = false;
            slot.touched = true;
        }
    }

    fn patch_items(&mut self, w: &mut Writer) {
        if u32::try_from(self.items.len()).is_err() {
            w.fault = Some(Fault::NoIndexes);
            return;
        }
        let touched = std::mem::take(&mut self.touched);
        let altered = |index| self.items.get(index).is_some_and(Slot::is_altered);
        if self.stale || touched.iter().any(altered) {
            self.rebuild(w);
        } else {
            self.append(&touched, w);
        }
        let outer = w.item;
        for index in touched {
            let Some(slot) = self.items.get_mut(&index) else { continue };
            slot.touched = false;
            w.item = slot.id;
            slot.value.patch_content(&mut slot.shadow, w);
        }
        w.item = outer;
    }

    fn rebuild(&mut self, w: &mut Writer) {
        let mark = w.begin(self.identity.reference);
        if self.held > 0 {
            w.op(CLEAR);
        }
        self.stale = false;
        self.held = 0;
        for slot in self.items.values_mut() {
            slot.write(self.held, w);
            self.held += 1;
        }
        w.end(mark);
    }

    fn append(&mut self, touched: &[u64], w: &mut Writer) {
        let mark = w.begin(self.identity.reference);
        for index in touched {
            let Some(slot) = self.items.get_mut(index) else { continue };
            if !slot.held {
                slot.write(self.held, w);
                self.held += 1;
            }
        }
        w.end(mark);
    }

    fn repeat_items(&self, w: &mut Writer) {
        let mark = w.begin(self.identity.reference);
        // An index may be another item's than when a client that comes back went away.
        if w.joining != Joining::New {
            w.op(CLEAR);
        }
        for (index, slot) in (0..).zip(self.items.values()) {
            let op = |w: &mut Writer| {
                w.op(ADD);
                w.count(index);
            };
            slot.value.repeat(op, &slot.shadow, w);
        }
        w.end(mark);
        let outer = w.item;
        for slot in self.items.values() {
            w.item = slot.id;
            w.meet(slot.id);
            slot.value.repeat_content(&slot.shadow, w);
        }
        w.item = outer;
    }
}

impl<T: Item> Slot<T> {
    /// Whether clients hold another value.
    fn is_altered(&self) -> bool {
        self.held && self.value.delta(&self.shadow, false) != Delta::Same
    }

    fn write(&mut self, index: u32, w: &mut Writer) {
        w.op(ADD);
        w.count(index);
        if std::mem::replace(&mut self.held, true) && T::IS_REFERENCE {
            self.value.repeat(|_| {}, &self.shadow, w);
        } else {
            self.value.write(&mut self.shadow, w);
        }
    }
}

impl<T: Item> Value for Bag<T> {
    type Shadow = Option<Id>;
    const IS_REFERENCE: bool = true;

    fn kind(types: &mut Types) -> Kind {
        Kind::collection("collection", T::kind(types))
    }

    fn delta(&self, shadow: &Option<Id>, fresh: bool) -> Delta {
        self.identity.delta(*shadow, fresh)
    }

    fn write(&mut self, shadow: &mut Option<Id>, w: &mut Writer) {
        self.renew();
        self.identity.introduce(shadow, w);
    }

    fn repeat(&self, op: impl FnOnce(&mut Writer), _: &Option<Id>, w: &mut Writer) -> bool {
        self.identity.repeat(op, w)
    }

    fn patch_content(&mut self, _: &mut Option<Id>, w: &mut Writer) {
        if self.stale || !self.touched.is_empty() {
            self.patch_items(w);
        }
    }

    fn repeat_content(&self, _: &Option<Id>, w: &mut Writer) {
        self.repeat_items(w);
    }

    fn find_shared(&self, search: &mut Search) {
        self.items.values().for_each(|slot| slot.value.find_shared(search));
    }
}

impl<T: Item> Present for Bag<T> {}

impl<T: Item> Default for Bag<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Item> FromIterator<T> for Bag<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut bag = Self::new();
        bag.extend(items);
        bag
    }
}

impl<T: Item> Extend<T> for Bag<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        for item in items {
            self.insert(item);
        }
    }
}

impl<T: Item + Clone> Clone for Bag<T> {
    /// A bag of its own with the same items: clients see it as another one, and keys are new.
    fn clone(&self) -> Self {
        self.iter().map(|(_, item)| item.clone()).collect()
    }
}

impl<T: Item + fmt::Debug> fmt::Debug for Bag<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|(_, item)| item)).finish()
    }
}
