//! The server as its host sees it: defined once, then asked for routes, rooms, listings, counts and its end.

use crate::close::CloseReason;
use crate::config::{Config, ConfigError};
use crate::counters::{Now, Snapshot};
use crate::definition::Kind;
use crate::driver::{Driver, DriverError, MemoryDriver, Query};
use crate::home::Homes;
use crate::http;
use crate::id::{ProcessId, RoomId};
use crate::mail::Control;
use crate::matchmaker::{GroupRefused, Matchmaker, Method, SeatReservation};
use crate::metrics;
use crate::presence::{MemoryPresence, Presence};
use crate::refusal::Refusal;
use crate::registry::Listing;
use crate::room::{AuthRequest, Definition};
use crate::shared::Shared;
use axum::Router;
use axum::routing::MethodRouter;
use futures_util::future::join_all;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::timeout;

/// How long rooms and sockets that a shutdown cuts off are given to end, besides the sockets' linger.
const CUT_OFF: Duration = Duration::from_secs(1);

/// Collects the room kinds of a server.
pub struct ServerBuilder {
    config: Config,
    kinds: HashMap<Arc<str>, Kind>,
    homes: Vec<Handle>,
    driver: Arc<dyn Driver>,
    presence: Arc<dyn Presence>,
}

impl ServerBuilder {
    /// Defines the rooms that clients ask for by `name`. A name that is defined again is replaced.
    #[must_use]
    pub fn define(mut self, name: &str, definition: impl Definition) -> Self {
        let name: Arc<str> = name.into();
        self.kinds.insert(name.clone(), Kind::new(name, definition));
        self
    }

    /// Where rooms are listed. Default: [`MemoryDriver`].
    #[must_use]
    pub fn driver(mut self, driver: impl Driver) -> Self {
        self.driver = Arc::new(driver);
        self
    }

    /// What processes tell each other through. Default: [`MemoryPresence`].
    #[must_use]
    pub fn presence(mut self, presence: impl Presence) -> Self {
        self.presence = Arc::new(presence);
        self
    }

    /// The runtimes that rooms are spread over, in turn: a room and its sockets stay on one. Each needs time and I/O,
    /// and must run until the server's [`shutdown`](Server::shutdown) is over. Runtimes of one thread each are cheaper
    /// for a message than one runtime of many. Default: rooms live on the runtime that creates them.
    #[must_use]
    pub fn homes(mut self, runtimes: Vec<Handle>) -> Self {
        self.homes = runtimes;
        self
    }

    /// The server.
    ///
    /// # Errors
    /// Where the configuration cannot work.
    pub fn build(self) -> Result<Server, ConfigError> {
        self.config.validate()?;
        let homes = Homes::new(self.homes);
        let shared = Shared::new(self.config, self.kinds, homes, self.driver, self.presence);
        Ok(Server { shared: Arc::new(shared) })
    }
}

/// A server of rooms. Cloning it gives another handle to the same one. Its methods need a tokio runtime.
#[derive(Clone)]
pub struct Server {
    shared: Arc<Shared>,
}

/// What did not end within a shutdown's deadline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stragglers {
    /// Rooms whose task still runs.
    pub rooms: Vec<RoomId>,
    /// Sockets that are still open.
    pub sockets: usize,
}

impl Stragglers {
    /// Whether everything ended in time.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rooms.is_empty() && self.sockets == 0
    }
}

impl Server {
    /// Starts to define a server.
    #[must_use]
    pub fn builder(config: Config) -> ServerBuilder {
        ServerBuilder {
            config,
            kinds: HashMap::new(),
            homes: Vec::new(),
            driver: Arc::new(MemoryDriver::default()),
            presence: Arc::new(MemoryPresence::default()),
        }
    }

    /// The routes for matchmaking and sockets, to be merged with others. They claim `/matchmake/{method}/{room}` and
    /// any `GET` of two path segments that nothing else claims, also under `/v16` and `/v17`.
    pub fn router(&self) -> Router {
        http::router(self)
    }

    /// `/health` (200 `ok` while new clients are taken, 503 `stopping` after), `/health/live` (200 while the process
    /// answers at all) and `/metrics` (Prometheus text), to be merged where operators, and they alone or anybody, may
    /// ask: nothing in the answers is about one client or room.
    pub fn operations(&self) -> Router {
        metrics::router(self)
    }

    /// `page`, for the route `/`, with the clients' latency probe in front: the probe's upgrades are answered here,
    /// all other requests by `page`.
    pub fn root<S: Clone + Send + Sync + 'static>(&self, page: MethodRouter<S>) -> MethodRouter<S> {
        http::root(self, page)
    }

    /// Makes a room. It ends like any other when nobody claims a seat in it.
    ///
    /// # Errors
    /// The definition's refusal; 503 where there are too many rooms or the server shuts down; 520 for an unknown name.
    pub fn create(&self, name: &str, options: &Value) -> Result<RoomId, Refusal> {
        self.matchmaker().create(name, options).map(|entry| entry.id)
    }

    /// Finds or makes a seat, as a client's request over HTTP does. `target` is a room's name or, for
    /// [`Method::JoinById`] and [`Method::Reconnect`], its id.
    ///
    /// # Errors
    /// Whatever the client would be told: see [`Refusal`].
    pub async fn matchmake(
        &self,
        method: Method,
        target: &str,
        request: AuthRequest,
    ) -> Result<SeatReservation, Refusal> {
        self.matchmaker().seat(method, target, request).await
    }

    /// Makes a room with a seat for each of `guests`, in their order, or none at all. Each guest is authorized like
    /// one that asks by itself, and nobody else can take one of the seats.
    ///
    /// # Errors
    /// The first refusal, and whose it was.
    pub async fn create_for(
        &self,
        name: &str,
        options: &Value,
        guests: Vec<AuthRequest>,
    ) -> Result<Vec<SeatReservation>, GroupRefused> {
        self.matchmaker().create_for(name, options, guests).await
    }

    /// The rooms that a query names, those of other processes included where they share a driver.
    ///
    /// # Errors
    /// Where the driver cannot be asked.
    pub async fn query(&self, query: &Query) -> Result<Vec<Arc<Listing>>, DriverError> {
        self.shared.driver.find(query).await
    }

    /// What is public about a room of that id, which may live in another process that shares the driver.
    ///
    /// # Errors
    /// Where the driver cannot be asked.
    pub async fn room(&self, room: RoomId) -> Result<Option<Arc<Listing>>, DriverError> {
        self.shared.driver.get(room).await
    }

    /// What the processes of this game tell each other through.
    #[must_use]
    pub fn presence(&self) -> &Arc<dyn Presence> {
        &self.shared.presence
    }

    /// All rooms of this process, private and unlisted ones included, from the oldest on.
    #[must_use]
    pub fn listing(&self) -> Vec<Arc<Listing>> {
        self.shared().registry.all().iter().map(|entry| entry.listing()).collect()
    }

    /// What the server counted so far.
    #[must_use]
    pub fn counters(&self) -> Snapshot {
        let shared = self.shared();
        let rooms = shared.registry.all();
        let listings: Vec<_> = rooms.iter().map(|entry| entry.listing()).collect();
        shared.counters.snapshot(&Now {
            rooms: rooms.len(),
            clients: listings.iter().map(|listing| listing.connected).sum(),
            seats: listings.iter().map(|listing| listing.clients).sum(),
            connections: shared.config.max_connections - shared.socket_permits.available_permits(),
            queued_bytes: shared.sockets.iter().map(|outbox| outbox.waiting()).sum(),
            queued_mail: rooms.iter().map(|entry| entry.link.waiting()).sum(),
        })
    }

    /// This process, as clients see it in socket addresses.
    #[must_use]
    pub fn process_id(&self) -> ProcessId {
        self.shared().registry.process_id
    }

    /// The limits that hold here.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.shared().config
    }

    /// Ends the server: no more matchmaking (503), every room's `on_shutdown`, close 4001 for every socket. What has
    /// not ended by itself at `deadline` is cut off: its sockets get 4001 from here, and a last moment of one second and [`Config::close_linger`].
    ///
    /// Returns what did not end even then; such a room's handler never returned.
    pub async fn shutdown(&self, deadline: Duration) -> Stragglers {
        let shared = self.shared();
        shared.closing.store(true, Ordering::Release);
        shared.tasks.close();
        let ended = timeout(deadline, async {
            self.tell_rooms(|| Control::Shutdown).await;
            shared.tasks.wait().await;
        });
        if ended.await.is_ok() {
            return Stragglers::default();
        }
        for socket in &shared.sockets {
            socket.close(CloseReason::ServerShutdown);
        }
        let cut_off = async {
            self.tell_rooms(|| Control::Cut).await;
            shared.tasks.wait().await;
        };
        // What is left after this is what the caller is told.
        let _ = timeout(CUT_OFF + shared.config.close_linger, cut_off).await;
        let rooms = shared.registry.all();
        for room in &rooms {
            tracing::warn!(room = %room.id, name = %room.name, "a room did not end with the server");
        }
        let rooms = rooms.iter().map(|room| room.id).collect();
        Stragglers { rooms, sockets: shared.sockets.len() }
    }

    /// Sends a control to every room at once, for one that is stuck must not delay the rest.
    async fn tell_rooms(&self, control: impl Fn() -> Control) {
        let rooms = self.shared().registry.all();
        // A room that is gone already needs no telling.
        let _ = join_all(rooms.iter().map(|entry| entry.link.send(control()))).await;
    }

    pub(crate) fn of(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(crate) fn matchmaker(&self) -> Matchmaker<'_> {
        Matchmaker { shared: &self.shared }
    }
}
