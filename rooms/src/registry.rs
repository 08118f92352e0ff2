//! The rooms of this process by id, each with the link into its task, and what is public about a room.
//!
//! The registry answers for this process alone; what several processes share is the [`Driver`](crate::Driver)'s.

use crate::id::{ProcessId, RoomId};
use crate::mail::Link;
use crate::sync::lock;
use dashmap::DashMap;
use serde::Serialize;
use serde_json::Value;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;
use tokio::runtime::Handle;

/// What is public about a room.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    pub metadata: Arc<Value>,
    /// When it was created, in milliseconds since 1970.
    pub created_at: u64,
    /// The options it is found by, [`RoomSettings::filter_by`](crate::RoomSettings): a text that is equal where they
    /// are. Not shown to clients.
    #[serde(skip)]
    pub filter: Arc<str>,
}

impl Listing {
    /// The listing of a room that takes nobody yet.
    pub(crate) fn unpublished(
        name: Arc<str>,
        filter: Arc<str>,
        room_id: RoomId,
        process_id: ProcessId,
    ) -> Self {
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self {
            name,
            room_id,
            process_id,
            connected: 0,
            clients: 0,
            max_clients: 0,
            locked: true,
            private: false,
            unlisted: false,
            metadata: Arc::new(Value::Null),
            created_at: u64::try_from(since_1970.as_millis()).unwrap_or(u64::MAX),
            filter,
        }
    }
}

/// One room as the rest of its process sees it.
pub(crate) struct Entry {
    pub(crate) id: RoomId,
    pub(crate) name: Arc<str>,
    pub(crate) link: Box<dyn Link>,
    /// The runtime of the room's task and its sockets; `None` where they run wherever they came up.
    pub(crate) home: Option<Handle>,
    age: u64,
    listing: Mutex<Arc<Listing>>,
    /// Whether a request for a seat was given up and the room has answered none since.
    silent: AtomicBool,
}

impl Entry {
    pub(crate) fn is_silent(&self) -> bool {
        self.silent.load(Ordering::SeqCst)
    }

    pub(crate) fn set_silent(&self, silent: bool) {
        self.silent.store(silent, Ordering::SeqCst);
    }

    pub(crate) fn listing(&self) -> Arc<Listing> {
        lock(&self.listing).clone()
    }

    pub(crate) fn set_listing(&self, listing: Arc<Listing>) {
        *lock(&self.listing) = listing;
    }
}

pub(crate) struct Registry {
    pub(crate) process_id: ProcessId,
    rooms: DashMap<RoomId, Arc<Entry>>,
    ages: AtomicU64,
}

impl Registry {
    pub(crate) fn new() -> Self {
        Self { process_id: ProcessId::random(), rooms: DashMap::new(), ages: AtomicU64::new(0) }
    }

    /// A new entry, which nobody finds until [`Registry::insert`].
    pub(crate) fn entry(
        &self,
        name: &Arc<str>,
        filter: Arc<str>,
        link: Box<dyn Link>,
        home: Option<Handle>,
    ) -> Arc<Entry> {
        let id = RoomId::random();
        let listing = Listing::unpublished(name.clone(), filter, id, self.process_id);
        let age = self.ages.fetch_add(1, Ordering::Relaxed);
        let listing = Mutex::new(Arc::new(listing));
        Arc::new(Entry { id, name: name.clone(), link, home, age, listing, silent: AtomicBool::new(false) })
    }

    pub(crate) fn insert(&self, entry: &Arc<Entry>) {
        self.rooms.insert(entry.id, entry.clone());
    }

    pub(crate) fn remove(&self, room: RoomId) {
        self.rooms.remove(&room);
    }

    pub(crate) fn get(&self, id: RoomId) -> Option<Arc<Entry>> {
        self.rooms.get(&id).map(|entry| entry.clone())
    }

    /// From the oldest on.
    pub(crate) fn all(&self) -> Vec<Arc<Entry>> {
        let mut all: Vec<_> = self.rooms.iter().map(|entry| entry.clone()).collect();
        all.sort_by_key(|entry| entry.age);
        all
    }
}
