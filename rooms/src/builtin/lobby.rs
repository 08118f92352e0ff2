//! A room whose clients see the public rooms of the server and every change to them, each through a filter of its own.
//!
//! To a client: `rooms` with all it may see, then `+` with `[roomId, room]` for one that is new or changed, and `-`
//! with the id of one that ended, hid, or no longer passes the filter. From a client: `filter` with
//! `{name?, metadata?}`, also as an option of its join; a room passes that has the name and each of the metadata's
//! members.
//!
//! Changes are heard through presence as mere ids and looked up together, so a room that changes a hundred times in
//! [`COALESCE`] is looked up and told once. Filters are gathered too: a client gets at most one listing in
//! [`FILTERS`], with its newest filter, however many it sends.

use crate::cx::{Cx, TimerId, Visibility};
use crate::driver::{Among, DriverError, Query};
use crate::frame::Frame;
use crate::id::{RoomId, SessionId};
use crate::messages::Messages;
use crate::presence::{Delivery, Subscription};
use crate::refusal::Refusal;
use crate::registry::Listing;
use crate::room::{AuthRequest, Definition, Join, Room};
use crate::server::Server;
use crate::shared::LISTINGS;
use crate::weight;
use futures_util::FutureExt;
use serde::ser::{SerializeStruct, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

/// How long changes are gathered before they are told.
const COALESCE: Duration = Duration::from_millis(50);

/// How long filters are gathered before they are answered. A listing may be large and a filter is a few bytes.
const FILTERS: Duration = Duration::from_millis(250);

/// Changed rooms that are looked up one by one. With more of them the whole listing is asked for instead.
const CHANGES_MAX: usize = 256;

/// How long to wait for a driver or presence that failed.
const RETRY: Duration = Duration::from_secs(1);

/// Rooms that a lobby shows if it is not told otherwise.
const ROOMS: usize = 1_000;

/// What a listing may take, about, in bytes. What rooms say about themselves is often their clients' choice, and a few
/// long ones must not fill up the queue of everybody who looks. Rooms beyond are left out until they change.
const LISTING_BYTES: usize = 1024 * 1024;

/// What a room takes in a listing beside its metadata, at most.
const ROOM_BYTES: usize = 512;

/// Lobby rooms. Anyone may join; the lobby itself is unlisted.
#[derive(Clone, Copy, Debug)]
pub struct Lobby {
    /// The most rooms that are shown; the oldest are. Default 1,000. A listing of more than about a mebibyte is cut
    /// there.
    pub rooms: usize,
}

impl Default for Lobby {
    fn default() -> Self {
        Self { rooms: ROOMS }
    }
}

impl Definition for Lobby {
    type Room = LobbyRoom;

    async fn authorize(&self, _: &AuthRequest) -> Result<(), Refusal> {
        Ok(())
    }

    fn create(&self, cx: &mut Cx<'_, LobbyRoom>, _: &Value) -> Result<LobbyRoom, Refusal> {
        cx.set_visibility(Visibility::Unlisted);
        cx.spawn(News::start(cx.server(), self.rooms));
        Ok(LobbyRoom { limit: self.rooms, rooms: None, filters: HashMap::new(), unanswered: HashSet::new() })
    }

    fn messages(&self) -> Messages<LobbyRoom> {
        Messages::new().on("filter", LobbyRoom::set_filter)
    }
}

/// What a client wants to see.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Filter {
    name: Option<String>,
    metadata: Map<String, Value>,
}

impl Filter {
    fn passes(&self, room: &Listing) -> bool {
        self.name.as_ref().is_none_or(|name| **name == *room.name)
            && self.metadata.iter().all(|(member, value)| room.metadata.get(member) == Some(value))
    }

    /// What a client with this filter is told about a room that was `before` and is `now`.
    fn news(&self, before: Option<&Listing>, now: Option<&Listing>) -> Option<Change> {
        match (before.is_some_and(|room| self.passes(room)), now.is_some_and(|room| self.passes(room))) {
            (_, true) => Some(Change::Shown),
            (true, false) => Some(Change::Gone),
            (false, false) => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Shown,
    Gone,
}

/// One lobby.
pub struct LobbyRoom {
    limit: usize,
    /// The public rooms, once they are known; some are left out only while there are `limit` of them.
    rooms: Option<BTreeMap<RoomId, Arc<Listing>>>,
    filters: HashMap<SessionId, Filter>,
    /// Clients that sent a filter and wait for the listing.
    unanswered: HashSet<SessionId>,
}

impl LobbyRoom {
    fn set_filter(&mut self, cx: &mut Cx<'_, Self>, client: SessionId, filter: Option<Filter>) {
        self.filters.insert(client, filter.unwrap_or_default());
        if self.unanswered.is_empty() {
            cx.set_timeout(FILTERS);
        }
        self.unanswered.insert(client);
    }

    fn is_full(&self) -> bool {
        self.rooms.as_ref().is_some_and(|rooms| rooms.len() >= self.limit)
    }

    fn show_all(&self, cx: &mut Cx<'_, Self>, client: SessionId) {
        let (Some(rooms), Some(filter)) = (&self.rooms, self.filters.get(&client)) else { return };
        let mut left = LISTING_BYTES;
        let fits = |room: &&Arc<Listing>| {
            let bytes = ROOM_BYTES + weight::length(&room.metadata);
            left.checked_sub(bytes).inspect(|rest| left = *rest).is_some()
        };
        let shown: Vec<_> = rooms
            .values()
            .filter(|room| filter.passes(room))
            .take_while(fits)
            .map(|room| Shown(room))
            .collect();
        if let Err(error) = cx.send(client, "rooms", &shown) {
            tracing::error!(%error, "a listing could not be sent");
        }
    }

    /// The first listing is shown whole; of a later one only what changed.
    fn replace(&mut self, cx: &mut Cx<'_, Self>, rooms: Vec<Arc<Listing>>) {
        let now: BTreeMap<_, _> = rooms.into_iter().map(|room| (room.room_id, room)).collect();
        let Some(before) = &self.rooms else {
            self.rooms = Some(now);
            return self.filters.keys().for_each(|client| self.show_all(cx, *client));
        };
        let gone: Vec<_> = before.keys().filter(|room| !now.contains_key(room)).copied().collect();
        let changed: Vec<_> = now.into_iter().filter(|(id, room)| before.get(id) != Some(room)).collect();
        for room in gone {
            self.changed(cx, room, None);
        }
        for (id, room) in changed {
            self.changed(cx, id, Some(&room));
        }
    }

    fn changed(&mut self, cx: &mut Cx<'_, Self>, id: RoomId, now: Option<&Arc<Listing>>) {
        let Some(rooms) = &mut self.rooms else { return };
        let before = match now {
            Some(room) if rooms.len() < self.limit || rooms.contains_key(&id) => {
                rooms.insert(id, room.clone())
            }
            Some(_) => return,
            None => rooms.remove(&id),
        };
        let shown = now.map(|room| Frame::message("+", &(id, Shown(room))));
        let frames = (shown.transpose(), Frame::message("-", &id));
        let (Ok(shown), Ok(gone)) = frames else {
            tracing::error!("a listing could not be sent");
            return;
        };
        for (client, filter) in &self.filters {
            match filter.news(before.as_deref(), now.map(|room| &**room)) {
                Some(Change::Shown) => shown.iter().for_each(|shown| cx.send_frame(*client, shown)),
                Some(Change::Gone) => cx.send_frame(*client, &gone),
                None => {}
            }
        }
    }
}

impl Room for LobbyRoom {
    type Event = News;
    type Auth = ();

    fn on_join(&mut self, cx: &mut Cx<'_, Self>, client: SessionId, join: Join<()>) -> Result<(), Refusal> {
        let filter = join.options.get("filter").map(Filter::deserialize).transpose();
        self.filters.insert(client, filter.map_err(|_| Refusal::bad_options())?.unwrap_or_default());
        self.show_all(cx, client);
        Ok(())
    }

    fn on_event(&mut self, cx: &mut Cx<'_, Self>, news: News) {
        let was_full = self.is_full();
        match news.content {
            Content::All(rooms) => self.replace(cx, rooms),
            Content::Changes(mut changes) => {
                // What ended first, so that a room is left out only when there is no place in the end.
                changes.sort_by_key(|(_, now)| now.is_some());
                for (room, now) in changes {
                    self.changed(cx, room, now.as_ref());
                }
            }
        }
        // A place is free: a room that was left out may take it.
        if was_full && !self.is_full() {
            cx.spawn(news.feed.everything());
        } else {
            cx.spawn(news.feed.next());
        }
    }

    fn on_timer(&mut self, cx: &mut Cx<'_, Self>, _: TimerId) {
        for client in std::mem::take(&mut self.unanswered) {
            self.show_all(cx, client);
        }
    }

    fn on_leave(&mut self, _: &mut Cx<'_, Self>, client: SessionId, _: crate::CloseReason) {
        self.filters.remove(&client);
        self.unanswered.remove(&client);
    }
}

/// News for a lobby, and where more of it comes from.
pub struct News {
    content: Content,
    feed: Feed,
}

enum Content {
    All(Vec<Arc<Listing>>),
    Changes(Vec<(RoomId, Option<Arc<Listing>>)>),
}

struct Feed {
    server: Server,
    subscription: Subscription,
    limit: usize,
}

impl News {
    /// Subscribes before it asks for the listing, so that no change falls between the two.
    async fn start(server: Server, limit: usize) -> Self {
        loop {
            if let Ok(subscription) = server.presence().subscribe(LISTINGS).await {
                let feed = Feed { server, subscription, limit };
                return feed.everything().await;
            }
            tokio::time::sleep(RETRY).await;
        }
    }
}

impl Feed {
    async fn everything(self) -> News {
        let query = Query { among: Among::Public, limit: self.limit, ..Query::default() };
        loop {
            match self.server.query(&query).await {
                Ok(rooms) => return News { content: Content::All(rooms), feed: self },
                Err(DriverError) => tokio::time::sleep(RETRY).await,
            }
        }
    }

    /// Waits for a change and gathers what else changes meanwhile.
    async fn next(mut self) -> News {
        let mut changed = BTreeSet::new();
        let mut heard = self.subscription.next().await;
        tokio::time::sleep(COALESCE).await;
        loop {
            match heard {
                Some(Delivery::Message(id)) => {
                    changed.extend(str::from_utf8(&id).ok().and_then(RoomId::parse));
                }
                Some(Delivery::Missed(_)) => return self.everything().await,
                None => return News::start(self.server, self.limit).await,
            }
            if changed.len() > CHANGES_MAX {
                return self.everything().await;
            }
            match self.subscription.next().now_or_never() {
                Some(next) => heard = next,
                None => break,
            }
        }
        let mut changes = Vec::new();
        for room in changed {
            match self.server.room(room).await {
                Ok(now) => changes.push((room, now.filter(|room| Among::Public.has(room)))),
                Err(DriverError) => return self.everything().await,
            }
        }
        News { content: Content::Changes(changes), feed: self }
    }
}

/// A room as clients of a lobby read it.
struct Shown<'a>(&'a Listing);

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let room = self.0;
        let mut shown = serializer.serialize_struct("Room", 10)?;
        shown.serialize_field("clients", &room.clients)?;
        shown.serialize_field("maxClients", &room.max_clients)?;
        shown.serialize_field("locked", &room.locked)?;
        shown.serialize_field("private", &room.private)?;
        shown.serialize_field("unlisted", &room.unlisted)?;
        shown.serialize_field("metadata", &room.metadata)?;
        shown.serialize_field("createdAt", &Timestamp(room.created_at))?;
        shown.serialize_field("name", &room.name)?;
        shown.serialize_field("processId", &room.process_id)?;
        shown.serialize_field("roomId", &room.room_id)?;
        shown.end()
    }
}

/// Milliseconds since 1970 as MessagePack's timestamp, which JavaScript reads as a `Date`.
struct Timestamp(u64);

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (seconds, nanoseconds) = (self.0 / 1_000, self.0 % 1_000 * 1_000_000);
        // Nanoseconds in the upper 30 bits, seconds in the lower 34.
        let bits = nanoseconds << 34 | seconds & ((1 << 34) - 1);
        let extension = (-1_i8, Bits(bits.to_be_bytes()));
        serializer.serialize_newtype_struct(rmp_serde::MSGPACK_EXT_STRUCT_NAME, &extension)
    }
}

struct Bits([u8; 8]);

impl Serialize for Bits {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}
