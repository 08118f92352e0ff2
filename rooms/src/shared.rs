//! What all parts of one server share.

use crate::address::{Occupancy, SourceRate};
use crate::config::Config;
use crate::counters::Counters;
use crate::definition::Kind;
use crate::driver::Driver;
use crate::home::Homes;
use crate::id::RoomId;
use crate::mail::SocketId;
use crate::outbox::Outbox;
use crate::presence::Presence;
use crate::refusal::Refusal;
use crate::registry::Registry;
use bytes::Bytes;
use dashmap::DashMap;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::task::TaskTracker;

/// The topic on which the ids of rooms appear whose listing changed.
pub(crate) const LISTINGS: &str = "rooms:listings";

/// What a client's options take of the server's memory, given back when it is dropped.
pub(crate) struct Space {
    _bytes: OwnedSemaphorePermit,
}

pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) counters: Counters,
    pub(crate) registry: Registry,
    pub(crate) kinds: HashMap<Arc<str>, Kind>,
    pub(crate) homes: Homes,
    pub(crate) driver: Arc<dyn Driver>,
    pub(crate) presence: Arc<dyn Presence>,
    /// One permit a room.
    pub(crate) room_permits: Arc<Semaphore>,
    /// One permit a byte of [`Config::max_reserved_bytes`].
    reserved_bytes: Arc<Semaphore>,
    /// One permit a socket.
    pub(crate) socket_permits: Arc<Semaphore>,
    /// Sockets by the address they come from.
    pub(crate) sockets_from: Arc<Occupancy>,
    /// Matchmaking requests by the address they come from.
    pub(crate) joins_from: SourceRate,
    /// Every open socket's queue, so that shutdown reaches sockets whose room does not.
    pub(crate) sockets: DashMap<u64, Arc<Outbox>>,
    /// Every task of a room or socket.
    pub(crate) tasks: TaskTracker,
    pub(crate) closing: AtomicBool,
    next_socket: AtomicU64,
}

impl Shared {
    pub(crate) fn new(
        config: Config,
        kinds: HashMap<Arc<str>, Kind>,
        homes: Homes,
        driver: Arc<dyn Driver>,
        presence: Arc<dyn Presence>,
    ) -> Self {
        Self {
            room_permits: Arc::new(Semaphore::new(config.max_rooms)),
            reserved_bytes: Arc::new(Semaphore::new(config.max_reserved_bytes)),
            socket_permits: Arc::new(Semaphore::new(config.max_connections)),
            sockets_from: Arc::default(),
            joins_from: SourceRate::new(config.joins_per_second_per_address),
            config,
            counters: Counters::default(),
            registry: Registry::new(),
            kinds,
            homes,
            driver,
            presence,
            sockets: DashMap::new(),
            tasks: TaskTracker::new(),
            closing: AtomicBool::new(false),
            next_socket: AtomicU64::new(0),
        }
    }

    /// Room for options that weigh so many bytes.
    pub(crate) fn space_for(&self, bytes: usize) -> Result<Space, Refusal> {
        let bytes = u32::try_from(bytes).map_err(|_| Refusal::at_capacity())?;
        let permit = self.reserved_bytes.clone().try_acquire_many_owned(bytes);
        permit.map(|bytes| Space { _bytes: bytes }).map_err(|_| Refusal::at_capacity())
    }

    pub(crate) fn next_socket(&self) -> SocketId {
        SocketId(self.next_socket.fetch_add(1, Ordering::Relaxed))
    }

    /// Tells every lobby that the listing of a room changed.
    pub(crate) fn announce(&self, room: RoomId) {
        self.presence.publish(LISTINGS, Bytes::copy_from_slice(room.as_str().as_bytes()));
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }
}
