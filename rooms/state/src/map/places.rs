//! Which key has which place in a map. The place is the entry's index on the wire.

use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::{BuildHasher as _, Hasher as _};

/// Keys and their places. Nothing here knows what is at a place.
#[derive(Default)]
pub(super) struct Places {
    hasher: DefaultHashBuilder,
    table: HashTable<u32>,
    keys: Vec<Box<str>>,
    free: Vec<u32>,
}

impl Places {
    /// The place of `key`.
    #[inline]
    pub(super) fn find(&self, key: &str) -> Option<u32> {
        self.table.find(hash(&self.hasher, key), |place| &*self.keys[*place as usize] == key).copied()
    }

    /// The keys by place; those of free places are empty.
    pub(super) fn keys(&self) -> &[Box<str>] {
        &self.keys
    }

    /// The key at a place.
    #[inline]
    pub(super) fn key(&self, place: u32) -> &str {
        &self.keys[place as usize]
    }

    /// A place for a key that has none: a free one, or the next.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "memory ends before 2^32 places do, and a patch checks"
    )]
    pub(super) fn enter(&mut self, key: Box<str>) -> u32 {
        let hash_of_key = hash(&self.hasher, &key);
        let place = match self.free.pop() {
            Some(place) => {
                self.keys[place as usize] = key;
                place
            }
            None => {
                self.keys.push(key);
                (self.keys.len() - 1) as u32
            }
        };
        let (keys, hasher) = (&self.keys, &self.hasher);
        self.table.insert_unique(hash_of_key, place, |place| hash(hasher, &keys[*place as usize]));
        place
    }

    /// Frees a place.
    pub(super) fn leave(&mut self, place: u32) {
        let key = std::mem::take(&mut self.keys[place as usize]);
        if let Ok(entry) = self.table.find_entry(hash(&self.hasher, &key), |other| *other == place) {
            entry.remove();
        }
        self.free.push(place);
    }

    pub(super) fn clear(&mut self) {
        self.table.clear();
        self.keys.clear();
        self.free.clear();
    }
}

/// A key is hashed alone, so that its bytes need no end.
#[inline]
fn hash(hasher: &DefaultHashBuilder, key: &str) -> u64 {
    let mut state = hasher.build_hasher();
    state.write(key.as_bytes());
    state.finish()
}
