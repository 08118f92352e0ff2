//! The seam for a room listing that several processes share: a [`Driver`] keeps what is public about every room and
//! answers the queries of matchmaking, lobbies and listings. [`MemoryDriver`], the default, holds it in this process.
//!
//! A driver never decides who gets a seat: it says which rooms are worth asking. Seats are given out by the room
//! itself, in its own task; rooms of another process are listed and not asked.

use crate::id::RoomId;
use crate::registry::Listing;
use dashmap::DashMap;
use futures_util::future::{BoxFuture, ready};
use serde_json::Value;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering as Atomic};

/// The listing cannot be asked right now. Matchmaking answers 503.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the room listing is not available")]
pub struct DriverError;

/// Where the rooms of one or more processes are listed.
///
/// Rooms write from inside their turns, so `put` and `remove` must not wait: a store behind a network queues the write
/// and keeps the newest of each room. Reads may wait.
pub trait Driver: Send + Sync + 'static {
    /// Enters a room, or replaces what is known about it. Writes about one room come in order.
    fn put(&self, room: Arc<Listing>);

    /// Takes out a room that ended. One that is not there is no error.
    fn remove(&self, room: RoomId);

    /// What is known about a room.
    fn get(&self, room: RoomId) -> BoxFuture<'_, Result<Option<Arc<Listing>>, DriverError>>;

    /// The rooms that a query names: in its order, then from the oldest on, and no more than its limit.
    fn find<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, Result<Vec<Arc<Listing>>, DriverError>>;
}

/// Which rooms to look at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Among {
    /// Every room.
    #[default]
    All,
    /// Those that everybody may see: neither private nor unlisted.
    Public,
    /// Those that matchmaking may ask: neither private nor locked.
    Open,
}

impl Among {
    pub(crate) fn has(self, room: &Listing) -> bool {
        match self {
            Self::All => true,
            Self::Public => !room.private && !room.unlisted,
            Self::Open => !room.private && !room.locked,
        }
    }
}

/// A question about rooms.
#[derive(Clone, Debug)]
pub struct Query {
    /// Rooms of this name alone.
    pub name: Option<Arc<str>>,
    /// Rooms whose [`Listing::filter`] is this alone.
    pub filter: Option<Arc<str>>,
    /// Which of those.
    pub among: Among,
    /// What comes first. Rooms that are equal in all of it come from the oldest on.
    pub sort: Vec<SortBy>,
    /// The most rooms to answer with.
    pub limit: usize,
}

impl Default for Query {
    fn default() -> Self {
        Self { name: None, filter: None, among: Among::All, sort: Vec::new(), limit: 1_000 }
    }
}

impl Query {
    fn matches(&self, room: &Listing) -> bool {
        self.among.has(room)
            && self.name.as_ref().is_none_or(|name| *name == room.name)
            && self.filter.as_ref().is_none_or(|filter| *filter == room.filter)
    }
}

/// One key of an order of rooms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortBy {
    /// What is compared.
    pub field: SortField,
    /// Which end comes first.
    pub order: Order,
}

/// What rooms are compared by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SortField {
    /// Seats that are taken.
    Clients,
    /// Seats in all.
    MaxClients,
    /// The time of creation.
    CreatedAt,
    /// A member of the metadata: a number, a text or a boolean. Rooms that have none come last in either order.
    Metadata(String),
}

/// Which end of an order comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The smallest.
    Ascending,
    /// The largest.
    Descending,
}

impl SortBy {
    /// The smallest first.
    #[must_use]
    pub fn ascending(field: SortField) -> Self {
        Self { field, order: Order::Ascending }
    }

    /// The largest first.
    #[must_use]
    pub fn descending(field: SortField) -> Self {
        Self { field, order: Order::Descending }
    }

    fn compare(&self, one: &Listing, other: &Listing) -> Ordering {
        let directed = |ordering: Ordering| match self.order {
            Order::Ascending => ordering,
            Order::Descending => ordering.reverse(),
        };
        match &self.field {
            SortField::Clients => directed(one.clients.cmp(&other.clients)),
            SortField::MaxClients => directed(one.max_clients.cmp(&other.max_clients)),
            SortField::CreatedAt => directed(one.created_at.cmp(&other.created_at)),
            SortField::Metadata(member) => {
                match (Comparable::of(one.metadata.get(member)), Comparable::of(other.metadata.get(member))) {
                    (Some(one), Some(other)) => directed(one.compare(&other)),
                    (one, other) => other.is_some().cmp(&one.is_some()),
                }
            }
        }
    }
}

/// A metadata value that has an order. Values of different kinds stand in the order of the variants.
enum Comparable<'a> {
    Boolean(bool),
    Number(f64),
    Text(&'a str),
}

impl<'a> Comparable<'a> {
    fn of(value: Option<&'a Value>) -> Option<Self> {
        match value? {
            Value::Bool(value) => Some(Self::Boolean(*value)),
            Value::Number(value) => value.as_f64().map(Self::Number),
            Value::String(value) => Some(Self::Text(value)),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }

    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Boolean(one), Self::Boolean(other)) => one.cmp(other),
            (Self::Number(one), Self::Number(other)) => one.total_cmp(other),
            (Self::Text(one), Self::Text(other)) => one.cmp(other),
            (Self::Boolean(_), _) | (Self::Number(_), Self::Text(_)) => Ordering::Less,
            (Self::Text(_), _) | (Self::Number(_), Self::Boolean(_)) => Ordering::Greater,
        }
    }
}

/// Rooms that matchmaking may ask, by filter and age.
type Open = BTreeMap<(Arc<str>, u64), Arc<Listing>>;

/// The listing of this process alone, in memory.
#[derive(Default)]
pub struct MemoryDriver {
    /// Every room, with its age: the number of its first entry.
    rooms: DashMap<RoomId, (u64, Arc<Listing>)>,
    open: DashMap<Arc<str>, Open>,
    ages: AtomicU64,
}

impl MemoryDriver {
    fn found(&self, query: &Query) -> Vec<Arc<Listing>> {
        let mut found = match (query.among, &query.name, &query.filter) {
            (Among::Open, Some(name), Some(filter)) => self.found_open(name, filter, query),
            _ => self.found_anywhere(query),
        };
        if !query.sort.is_empty() {
            let keys = |one: &Arc<Listing>, other: &Arc<Listing>| {
                query.sort.iter().map(|key| key.compare(one, other)).find(|order| order.is_ne())
            };
            found.sort_by(|one, other| keys(one, other).unwrap_or(Ordering::Equal));
        }
        found.truncate(query.limit);
        found
    }

    /// The way of matchmaking, which without an order of its own takes no more steps than its limit.
    fn found_open(&self, name: &Arc<str>, filter: &Arc<str>, query: &Query) -> Vec<Arc<Listing>> {
        let Some(open) = self.open.get(name) else { return Vec::new() };
        let range = open.range((filter.clone(), 0)..=(filter.clone(), u64::MAX));
        let limit = if query.sort.is_empty() { query.limit } else { usize::MAX };
        range.take(limit).map(|(_, room)| room.clone()).collect()
    }

    fn found_anywhere(&self, query: &Query) -> Vec<Arc<Listing>> {
        let mut found: Vec<_> = self
            .rooms
            .iter()
            .filter(|room| query.matches(&room.1))
            .map(|room| room.value().clone())
            .collect();
        found.sort_by_key(|(age, _)| *age);
        found.into_iter().map(|(_, room)| room).collect()
    }
}

impl Driver for MemoryDriver {
    fn put(&self, room: Arc<Listing>) {
        let known = self.rooms.get(&room.room_id).map(|known| known.0);
        let age = known.unwrap_or_else(|| self.ages.fetch_add(1, Atomic::Relaxed));
        self.rooms.insert(room.room_id, (age, room.clone()));
        let key = (room.filter.clone(), age);
        let mut open = self.open.entry(room.name.clone()).or_default();
        if Among::Open.has(&room) {
            open.insert(key, room);
        } else {
            open.remove(&key);
        }
    }

    fn remove(&self, room: RoomId) {
        let Some((_, (age, room))) = self.rooms.remove(&room) else { return };
        if let Some(mut open) = self.open.get_mut(&room.name) {
            open.remove(&(room.filter.clone(), age));
        }
        self.open.remove_if(&room.name, |_, open| open.is_empty());
    }

    fn get(&self, room: RoomId) -> BoxFuture<'_, Result<Option<Arc<Listing>>, DriverError>> {
        Box::pin(ready(Ok(self.rooms.get(&room).map(|known| known.1.clone()))))
    }

    fn find<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, Result<Vec<Arc<Listing>>, DriverError>> {
        Box::pin(ready(Ok(self.found(query))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn room(name: &str, filter: &str, clients: usize, metadata: Value) -> Listing {
        let mut room =
            Listing::unpublished(name.into(), filter.into(), RoomId::random(), crate::ProcessId::random());
        (room.clients, room.max_clients, room.locked, room.metadata) =
            (clients, 10, false, Arc::new(metadata));
        room
    }

    fn clients(driver: &MemoryDriver, query: &Query) -> Vec<usize> {
        driver.found(query).iter().map(|room| room.clients).collect()
    }

    #[test]
    fn a_query_sees_the_rooms_it_names_from_the_oldest_on() {
        let driver = MemoryDriver::default();
        let mut hidden = room("a", "x", 3, Value::Null);
        hidden.private = true;
        let mut full = room("a", "x", 4, Value::Null);
        full.locked = true;
        let mut unlisted = room("a", "x", 5, Value::Null);
        unlisted.unlisted = true;
        let plain = [room("a", "x", 1, Value::Null), room("a", "y", 2, Value::Null)];
        let other = room("b", "x", 6, Value::Null);
        for room in plain.into_iter().chain([hidden, full, unlisted, other]) {
            driver.put(Arc::new(room));
        }
        let ask = |name: Option<&str>, filter: Option<&str>, among| {
            let query = Query {
                name: name.map(Into::into),
                filter: filter.map(Into::into),
                among,
                ..Query::default()
            };
            clients(&driver, &query)
        };
        assert_eq!(ask(None, None, Among::All), [1, 2, 3, 4, 5, 6]);
        assert_eq!(ask(None, None, Among::Public), [1, 2, 4, 6]);
        assert_eq!(ask(Some("a"), None, Among::Open), [1, 2, 5]);
        assert_eq!(ask(Some("a"), Some("x"), Among::Open), [1, 5]);
        assert_eq!(ask(Some("nothing"), Some("x"), Among::Open), [0; 0]);
    }

    #[test]
    fn a_room_that_changes_or_ends_is_found_so() {
        let driver = MemoryDriver::default();
        let mut room = room("a", "x", 1, Value::Null);
        driver.put(Arc::new(room.clone()));
        let open = Query {
            name: Some("a".into()),
            filter: Some("x".into()),
            among: Among::Open,
            ..Query::default()
        };
        assert_eq!(clients(&driver, &open), [1]);
        room.locked = true;
        driver.put(Arc::new(room.clone()));
        assert_eq!(clients(&driver, &open), [0; 0]);
        assert_eq!(clients(&driver, &Query::default()), [1]);
        driver.remove(room.room_id);
        driver.remove(room.room_id);
        assert_eq!(clients(&driver, &Query::default()), [0; 0]);
        assert!(driver.open.is_empty() && driver.rooms.is_empty(), "nothing is kept of a room that ended");
    }

    #[test]
    fn orders_take_their_keys_in_turn_and_rooms_without_the_value_come_last() {
        let driver = MemoryDriver::default();
        for (clients, metadata) in [
            (1, json!({ "level": 5 })),
            (2, json!({ "level": 9.5 })),
            (3, json!({})),
            (4, json!({ "level": 5 })),
            (5, json!({ "level": "x" })),
            (6, Value::Null),
        ] {
            driver.put(Arc::new(room("a", "", clients, metadata)));
        }
        let ordered = |sort: Vec<SortBy>| clients(&driver, &Query { sort, ..Query::default() });
        let level = || SortField::Metadata("level".into());
        assert_eq!(ordered(vec![SortBy::ascending(level())]), [1, 4, 2, 5, 3, 6]);
        assert_eq!(ordered(vec![SortBy::descending(level())]), [5, 2, 1, 4, 3, 6]);
        let both = vec![SortBy::ascending(level()), SortBy::descending(SortField::Clients)];
        assert_eq!(ordered(both), [4, 1, 2, 5, 6, 3]);
        let few = Query { sort: vec![SortBy::descending(SortField::Clients)], limit: 2, ..Query::default() };
        assert_eq!(clients(&driver, &few), [6, 5]);
    }
}
