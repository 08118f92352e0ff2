//! The rooms of a server: by id, and, for matchmaking, the open ones of each name in order of age.
//!
//! The registry never decides who gets a seat; it only says which rooms are worth asking. Rooms keep it up to date.

use crate::id::{ProcessId, RoomId};
use crate::mail::Link;
use crate::sync::lock;
use dashmap::DashMap;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

/// What is public about a room.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Listing {
    /// The name it was defined under.
    pub name: Arc<str>,
    /// Its id.
    pub room_id: RoomId,
    /// The process it lives in.
    pub process_id: ProcessId,
    /// Clients that are connected now.
    pub connected: usize,
    /// Seats that are taken: connected, reserved, or held for a reconnection.
    pub clients: usize,
    /// Seats in all.
    pub max_clients: usize,
    /// Takes no new clients: full, or locked by the room.
    pub locked: bool,
    /// Left out of `join` and `joinOrCreate`.
    pub private: bool,
    /// Left out of public listings; [`Server::listing`](crate::Server::listing) has it all the same.
    pub unlisted: bool,
    /// What the room says about itself.
    pub metadata: Value,
    /// When it was created, in milliseconds since 1970.
    pub created_at: u64,
}

impl Listing {
    fn is_open(&self) -> bool {
        !self.locked && !self.private
    }
}

/// One room as the rest of the server sees it.
pub(crate) struct Entry {
    pub(crate) id: RoomId,
    pub(crate) name: Arc<str>,
    pub(crate) link: Box<dyn Link>,
    /// The filtered options the room was created with, in canonical form.
    filter: String,
    age: u64,
    listing: Mutex<Listing>,
}

impl Entry {
    pub(crate) fn listing(&self) -> Listing {
        lock(&self.listing).clone()
    }
}

type Open = Mutex<BTreeMap<(String, u64), Arc<Entry>>>;

pub(crate) struct Registry {
    pub(crate) process_id: ProcessId,
    rooms: DashMap<RoomId, Arc<Entry>>,
    open: HashMap<Arc<str>, Open>,
    ages: AtomicU64,
}

impl Registry {
    pub(crate) fn new(names: impl Iterator<Item = Arc<str>>) -> Self {
        Self {
            process_id: ProcessId::random(),
            rooms: DashMap::new(),
            open: names.map(|name| (name, Open::default())).collect(),
            ages: AtomicU64::new(0),
        }
    }

    /// A new entry, which nobody finds until [`Registry::insert`].
    pub(crate) fn entry(
        &self,
        id: RoomId,
        name: &Arc<str>,
        filter: String,
        link: Box<dyn Link>,
    ) -> Arc<Entry> {
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let listing = Listing {
            name: name.clone(),
            room_id: id,
            process_id: self.process_id,
            connected: 0,
            clients: 0,
            max_clients: 0,
            locked: true,
            private: false,
            unlisted: false,
            metadata: Value::Null,
            created_at: u64::try_from(since_1970.as_millis()).unwrap_or(u64::MAX),
        };
        let age = self.ages.fetch_add(1, Ordering::Relaxed);
        Arc::new(Entry { id, name: name.clone(), link, filter, age, listing: Mutex::new(listing) })
    }

    pub(crate) fn insert(&self, entry: &Arc<Entry>) {
        self.rooms.insert(entry.id, entry.clone());
        self.index(entry);
    }

    /// Changes what is public about a room.
    pub(crate) fn publish(&self, entry: &Arc<Entry>, change: impl FnOnce(&mut Listing)) {
        change(&mut lock(&entry.listing));
        if self.rooms.contains_key(&entry.id) {
            self.index(entry);
        }
    }

    fn index(&self, entry: &Arc<Entry>) {
        let Some(open) = self.open.get(&entry.name) else { return };
        let key = (entry.filter.clone(), entry.age);
        let is_open = lock(&entry.listing).is_open();
        let mut open = lock(open);
        if is_open {
            open.insert(key, entry.clone());
        } else {
            open.remove(&key);
        }
    }

    pub(crate) fn remove(&self, entry: &Entry) {
        self.rooms.remove(&entry.id);
        if let Some(open) = self.open.get(&entry.name) {
            lock(open).remove(&(entry.filter.clone(), entry.age));
        }
    }

    pub(crate) fn get(&self, id: RoomId) -> Option<Arc<Entry>> {
        self.rooms.get(&id).map(|entry| entry.clone())
    }

    /// The oldest open room of that name and filter that is younger than `after`.
    pub(crate) fn open_after(&self, name: &str, filter: &str, after: Option<&Entry>) -> Option<Arc<Entry>> {
        let first = after.map_or(0, |entry| entry.age + 1);
        let open = lock(self.open.get(name)?);
        open.range((filter.to_owned(), first)..=(filter.to_owned(), u64::MAX))
            .next()
            .map(|(_, entry)| entry.clone())
    }

    pub(crate) fn all(&self) -> Vec<Arc<Entry>> {
        let mut all: Vec<_> = self.rooms.iter().map(|entry| entry.clone()).collect();
        all.sort_by_key(|entry| entry.age);
        all
    }

    pub(crate) fn len(&self) -> usize {
        self.rooms.len()
    }
}
