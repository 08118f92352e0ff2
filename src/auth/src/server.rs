//! The authorization server as one value: its rules with the locks around them, and what an owner may ask of it.

use crate::client::Client;
use crate::documents::{DocumentId, Documents};
use crate::fault::Fault;
use crate::fetch::Fetcher;
use crate::ledger::{Connection, ConnectionId, Ledger};
use crate::proof::Proofs;
use crate::registry::Registry;
use crate::site::Site;
use axum::extract::ConnectInfo;
use http::{HeaderMap, Request};
use playerthree_game::Name;
use playerthree_host::{Agents, Commanders};
use playerthree_rooms::{Source, SourceRate, client_address};
use playerthree_session::{OwnerId, Surface};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::time::Instant;

/// Requests that one address keeps up in a second; ten seconds' worth may come at once. Hundreds of people may share an
/// address, so this stops a flood and nothing less; what a flood could fill is bounded by itself.
pub const REQUESTS_PER_SECOND: u32 = 100;

/// Somebody who signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedIn {
    /// Opaque identity.
    pub owner: OwnerId,
    /// The name that they know themselves by.
    pub display: String,
}

/// How the game authenticates its owners (§5: the game does, not this server).
pub trait Owners: Send + Sync + 'static {
    /// Whose browser sends these headers.
    fn signed_in(&self, headers: &HeaderMap) -> Option<SignedIn>;

    /// Where a browser signs in. It is given `?return=` with a path of this server to come back to.
    fn sign_in_path(&self) -> &'static str;
}

/// What the server is told at its start.
pub struct AuthConfig {
    /// The names under which it is reached. Others are answered as if it were not there.
    pub sites: Vec<Site>,
    /// Proxies in front that each add the caller's address to `X-Forwarded-For`.
    pub trusted_proxies: usize,
    /// Requests that one address keeps up in a second; ten seconds' worth may come at once.
    pub requests_per_second: u32,
    /// The games whose commanders may be chosen.
    pub surfaces: Vec<Arc<Surface>>,
    /// How the documents of clients are fetched.
    pub fetcher: Fetcher,
}

/// The authorization server of the MCP endpoint.
pub struct AuthorizationServer {
    pub(crate) config: AuthConfig,
    pub(crate) owners: Box<dyn Owners>,
    pub(crate) proofs: Proofs,
    agents: Arc<Agents>,
    registry: Mutex<Registry>,
    documents: Documents,
    ledger: Mutex<Ledger>,
    rate: SourceRate,
}

impl AuthorizationServer {
    /// A server that has granted nothing yet.
    pub fn new(config: AuthConfig, agents: Arc<Agents>, owners: impl Owners) -> Self {
        Self {
            rate: SourceRate::new(config.requests_per_second),
            documents: Documents::new(config.fetcher.clone()),
            config,
            owners: Box::new(owners),
            proofs: Proofs::new(),
            agents,
            registry: Mutex::default(),
            ledger: Mutex::default(),
        }
    }

    /// The owner's connections, oldest first: `{id, commander: {id, name}, client: {name?, domain?, verified}, roles,
    /// createdAt, authorizedAt, active}`, times in milliseconds since 1970.
    pub fn connections(&self, owner: &OwnerId) -> Vec<Value> {
        let ledger = self.ledger();
        let mut own: Vec<_> = ledger.of(owner, Instant::now()).collect();
        own.sort_by_key(|(id, connection)| (connection.created_at, *id));
        own.into_iter().map(|(id, connection)| self.info(id, connection)).collect()
    }

    /// Ends one of the owner's connections at once, open waits included. Says whether it was theirs.
    pub fn revoke(&self, owner: &OwnerId, connection: &str) -> bool {
        self.ledger().revoke_own(self.commanders(), owner, &ConnectionId(connection.to_owned()))
    }

    /// Replaces the roles of one of the owner's connections from its next call on (§5). Says whether it was theirs, and
    /// the roles some of its commander's and at least one.
    pub fn set_roles(&self, owner: &OwnerId, connection: &str, roles: &[Name]) -> bool {
        let ledger = self.ledger();
        let mut own = ledger.of(owner, Instant::now());
        own.find(|(id, _)| id.0 == connection).is_some_and(|(_, it)| it.grant.set_roles(roles).is_ok())
    }

    pub(crate) fn commanders(&self) -> &Commanders {
        self.agents.commanders()
    }

    pub(crate) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn registry(&self) -> MutexGuard<'_, Registry> {
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The client of an id, registered or described by a document.
    pub(crate) async fn client(&self, id: &str) -> Option<Arc<Client>> {
        if DocumentId::is_meant(id) {
            return self.documents.client(&DocumentId::parse(id)?).await;
        }
        self.registry().find(id, Instant::now())
    }

    /// Accounts for one request of an address, and says where it comes from.
    pub(crate) fn within_rate<B>(&self, request: &Request<B>) -> Result<Source, Fault> {
        let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip());
        let address = client_address(peer, request.headers(), self.config.trusted_proxies);
        let source = Source::of(address);
        if self.rate.allows(source, Instant::now()) { Ok(source) } else { Err(Fault::TemporarilyUnavailable) }
    }

    fn info(&self, id: &ConnectionId, connection: &Connection) -> Value {
        let approval = &connection.approval;
        let commander = &approval.commander;
        let listed = self.commanders().list(&approval.surface, &approval.owner);
        let name = listed.iter().find(|status| status["id"] == *commander.0).map(|status| &status["name"]);
        let Client { name: client, domain, .. } = &*approval.client;
        let mut info = json!({
            "id": id.0,
            "commander": { "id": commander.0, "name": name },
            "client": { "verified": domain.is_some() },
            "roles": connection.grant.roles(),
            "createdAt": connection.created_at,
            "authorizedAt": approval.authorized_at,
            "active": connection.grant.is_active(),
        });
        for (member, value) in [("name", client), ("domain", domain)] {
            if let Some(value) = value {
                info["client"][member] = json!(value);
            }
        }
        info
    }
}

/// Milliseconds since 1970.
pub(crate) fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
