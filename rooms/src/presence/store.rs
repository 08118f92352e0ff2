//! Keys with what they hold, when they expire and what they cost, within a number of bytes.
//!
//! Nothing here reads a clock: the time is handed in. An operation that fails changes nothing.

use super::PresenceError;
use bytes::Bytes;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use tokio::time::Instant;

/// What a key or member costs beside its own bytes, about.
pub(super) const ENTRY_BYTES: usize = 64;

pub(super) struct Store {
    pub(super) keys: HashMap<String, Entry>,
    /// When keys expire, the next first.
    pub(super) expiries: BTreeSet<(Instant, String)>,
    pub(super) used: usize,
    capacity: usize,
}

pub(super) struct Entry {
    held: Held,
    pub(super) until: Option<Instant>,
    /// What the key and all it holds cost.
    bytes: usize,
}

pub(super) enum Held {
    Value(Bytes),
    Set(BTreeSet<String>),
    Hash(BTreeMap<String, Bytes>),
}

/// What a key or member costs with a value of that size.
pub(super) fn cost(name: &str, value: usize) -> usize {
    name.len() + value + ENTRY_BYTES
}

impl Held {
    pub(super) fn set() -> Self {
        Self::Set(BTreeSet::new())
    }

    pub(super) fn hash() -> Self {
        Self::Hash(BTreeMap::new())
    }

    pub(super) fn as_set(&mut self) -> Result<&mut BTreeSet<String>, PresenceError> {
        match self {
            Self::Set(members) => Ok(members),
            Self::Value(_) | Self::Hash(_) => Err(PresenceError::WrongKind),
        }
    }

    pub(super) fn as_hash(&mut self) -> Result<&mut BTreeMap<String, Bytes>, PresenceError> {
        match self {
            Self::Hash(fields) => Ok(fields),
            Self::Value(_) | Self::Set(_) => Err(PresenceError::WrongKind),
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::Value(_) => false,
            Self::Set(members) => members.is_empty(),
            Self::Hash(fields) => fields.is_empty(),
        }
    }
}

impl Store {
    pub(super) fn new(capacity: usize) -> Self {
        Self { keys: HashMap::new(), expiries: BTreeSet::new(), used: 0, capacity }
    }

    pub(super) fn expire(&mut self, now: Instant) {
        while let Some((until, key)) = self.expiries.first()
            && *until <= now
        {
            let key = key.clone();
            self.take(&key);
        }
    }

    pub(super) fn held(&self, key: &str) -> Option<&Held> {
        self.keys.get(key).map(|entry| &entry.held)
    }

    /// Takes a key out with all that belongs to it.
    pub(super) fn take(&mut self, key: &str) {
        let Some(entry) = self.keys.remove(key) else { return };
        if let Some(until) = entry.until {
            self.expiries.remove(&(until, key.to_owned()));
        }
        self.used -= entry.bytes;
    }

    /// Puts a value in the place of what a key held, or leaves all as it was where there is no room.
    pub(super) fn put(
        &mut self,
        key: &str,
        value: Bytes,
        until: Option<Instant>,
    ) -> Result<(), PresenceError> {
        let before = self.keys.get(key).map_or(0, |entry| entry.bytes);
        let bytes = cost(key, value.len());
        if self.used - before + bytes > self.capacity {
            return Err(PresenceError::Full);
        }
        self.take(key);
        self.insert(key, Entry { held: Held::Value(value), until, bytes });
        Ok(())
    }

    fn insert(&mut self, key: &str, entry: Entry) {
        self.used += entry.bytes;
        if let Some(until) = entry.until {
            self.expiries.insert((until, key.to_owned()));
        }
        self.keys.insert(key.to_owned(), entry);
    }

    /// Changes what a key holds, or `fresh` where it holds nothing, if there is room for `growth`. The change says what
    /// came of it, and how many bytes it added and freed.
    pub(super) fn change<T>(
        &mut self,
        key: &str,
        growth: usize,
        fresh: impl FnOnce() -> Held,
        change: impl FnOnce(&mut Held) -> Result<(T, usize, usize), PresenceError>,
    ) -> Result<T, PresenceError> {
        if !self.keys.contains_key(key) {
            self.insert(key, Entry { held: fresh(), until: None, bytes: cost(key, 0) });
        }
        let fits = growth == 0 || self.used + growth <= self.capacity;
        let Some(entry) = self.keys.get_mut(key).filter(|_| fits) else {
            self.drop_empty(key);
            return Err(PresenceError::Full);
        };
        let (result, added, freed) = change(&mut entry.held)?;
        entry.bytes = entry.bytes + added - freed;
        self.used = self.used + added - freed;
        self.drop_empty(key);
        Ok(result)
    }

    fn drop_empty(&mut self, key: &str) {
        if self.held(key).is_some_and(Held::is_empty) {
            self.take(key);
        }
    }
}
