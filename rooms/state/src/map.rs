//! Maps from strings.
//!
//! An entry's place is its index on the wire. A removed entry keeps its place until the patch that says so is written.

mod places;
mod writing;

use crate::identity::Identity;
use crate::value::Item;
use crate::view::Id;
use places::Places;
use std::fmt;

/// A map that every client sees whole.
pub type Map<V> = Table<V, false>;

/// A map of which a client sees the items that its [`View`](crate::View) holds, and no trace of others.
pub type ViewMap<V> = Table<V, true>;

/// The common form of [`Map`] and [`ViewMap`]: clients see it as a `MapSchema`.
///
/// `get_mut` and `iter_mut` mark what they hand out as touched; the next patch compares what was touched
/// with what the clients hold and carries the fields that differ.
pub struct Table<V: Item, const BY_VIEW: bool> {
    identity: Identity,
    /// Places of keys, with those of removed entries that clients still hold.
    places: Places,
    slots: Vec<Slot<V>>,
    touched: Vec<u32>,
    /// Entries came or went, so that the map itself has something to say.
    reshaped: bool,
    /// The clients hold entries of before a `clear`.
    cleared: bool,
    /// Places of entries that clients hold and that are gone, with their names in views. Only a map by view needs it.
    lost: Vec<(u32, Id)>,
    len: usize,
}

struct Slot<V: Item> {
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
            identity: Identity::UNTOLD,
            places: Places::default(),
            slots: Vec::new(),
            touched: Vec::new(),
            reshaped: false,
            cleared: false,
            lost: Vec::new(),
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

    fn slot(&self, key: &str) -> Option<&Slot<V>> {
        self.places.find(key).map(|place| &self.slots[place as usize])
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
        let place = self.places.find(key)?;
        self.slots[place as usize].borrow(place, &mut self.touched)
    }

    /// Sets the entry of `key`, and returns the one before it. Clients see a struct that takes another's place as a
    /// new instance; to change the one they have, assign to what [`get_mut`](Self::get_mut) returns.
    pub fn insert(&mut self, key: impl Into<Box<str>>, value: V) -> Option<V> {
        let key = key.into();
        self.reshaped = true;
        let place = self.places.find(&key).unwrap_or_else(|| self.places.enter(key));
        if self.slots.len() <= place as usize {
            self.slots.push(Slot::default());
        }
        let slot = &mut self.slots[place as usize];
        slot.touch(place, &mut self.touched);
        let before = slot.value.replace(value);
        // Of a value without identity this is an assignment: the entry stays, and so does its name in views.
        if V::IS_REFERENCE || before.is_none() {
            self.forget(place);
        }
        self.len += usize::from(before.is_none());
        before
    }

    /// What is in a place from now on is not the entry that clients hold.
    fn forget(&mut self, place: u32) {
        let slot = &mut self.slots[place as usize];
        if slot.held && !slot.replaced {
            slot.replaced = true;
            if BY_VIEW {
                self.lost.push((place, slot.id));
            }
        }
        slot.id = Id::NONE;
    }

    /// Takes the entry of `key` out.
    pub fn remove(&mut self, key: &str) -> Option<V> {
        self.take(self.places.find(key)?)
    }

    fn take(&mut self, place: u32) -> Option<V> {
        let slot = &mut self.slots[place as usize];
        let removed = slot.value.take()?;
        slot.touch(place, &mut self.touched);
        self.forget(place);
        if !self.slots[place as usize].held {
            self.leave(place);
        }
        self.reshaped = true;
        self.len -= 1;
        Some(removed)
    }

    /// Frees the place of an entry that no client holds. It stays touched if it was.
    fn leave(&mut self, place: u32) {
        let slot = &mut self.slots[place as usize];
        *slot = Slot { touched: slot.touched, ..Slot::default() };
        self.places.leave(place);
    }

    /// Takes all entries out.
    pub fn clear(&mut self) {
        if BY_VIEW {
            // Each client is told of the entries it sees, one by one.
            return self.retain(|_, _| false);
        }
        self.cleared |= self.slots.iter().any(|slot| slot.held);
        self.reshaped |= self.cleared;
        self.places.clear();
        self.slots.clear();
        self.touched.clear();
        self.len = 0;
    }

    /// Keeps the entries for which `keep` is true. It may change those it keeps.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &mut V) -> bool) {
        for at in 0..self.slots.len() {
            #[expect(clippy::cast_possible_truncation, reason = "as in `Places::enter`")]
            let place = at as u32;
            if let Some(value) = self.slots[at].borrow(place, &mut self.touched)
                && !keep(self.places.key(place), value)
            {
                self.take(place);
            }
        }
    }

    /// Keys and entries, in the order of their places.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &V)> {
        let slots = self.places.keys().iter().zip(&self.slots);
        slots.filter_map(|(key, slot)| Some((&**key, slot.value.as_ref()?)))
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
        let places = (0..).zip(&mut self.slots).zip(self.places.keys());
        places.filter_map(move |((place, slot), key)| Some((&**key, slot.borrow(place, touched)?)))
    }

    /// Entries to change, as [`iter_mut`](Self::iter_mut).
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        let touched = &mut self.touched;
        (0..).zip(&mut self.slots).filter_map(move |(place, slot)| slot.borrow(place, touched))
    }

    /// The name of the entry of `key` in views.
    pub fn id(&mut self, key: &str) -> Option<Id> {
        let place = self.places.find(key)?;
        let slot = &mut self.slots[place as usize];
        slot.value.as_ref()?;
        Some(slot.id.or_fresh())
    }

    /// The name of the entry of `key` in views, if anybody asked for it: otherwise no view holds it.
    #[must_use]
    pub fn known_id(&self, key: &str) -> Option<Id> {
        self.slot(key)?.id.known()
    }
}

impl<V: Item> Slot<V> {
    /// The entry, to change.
    #[inline]
    fn borrow(&mut self, place: u32, touched: &mut Vec<u32>) -> Option<&mut V> {
        if self.value.is_some() {
            self.touch(place, touched);
        }
        self.value.as_mut()
    }

    #[inline]
    fn touch(&mut self, place: u32, touched: &mut Vec<u32>) {
        if !self.touched {
            self.touched = true;
            touched.push(place);
        }
    }
}

impl<V: Item> Default for Slot<V> {
    /// A place without an entry.
    fn default() -> Self {
        Self {
            value: None,
            shadow: V::Shadow::default(),
            id: Id::NONE,
            held: false,
            replaced: false,
            touched: false,
        }
    }
}

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
