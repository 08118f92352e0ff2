//! What was granted (§5): authorization codes, and the connections that they became. Rules alone: the time is handed in.
//!
//! Every secret is a digest here. A presented one is found by its digest or, for the changing half of a refresh token,
//! compared in constant time. A connection remembers a fixed number of digests, however long it lives.

use crate::client::Client;
use crate::fault::Fault;
use crate::params::Params;
use crate::pkce::Challenge;
use crate::refresh::{Family, RefreshToken};
use playerthree_game::Name;
use playerthree_host::{CommanderGrant, Commanders, Digest, Token, secret_digest};
use playerthree_session::{CommanderId, OwnerId, Surface};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long an authorization code lives (§5).
pub const CODE_LIFETIME: Duration = Duration::from_secs(60);

/// How long an access token lives (§5).
pub const ACCESS_LIFETIME: Duration = Duration::from_secs(3_600);

/// How long a refresh token lives (§5).
pub const REFRESH_LIFETIME: Duration = Duration::from_secs(30 * 24 * 3_600);

/// Most connections of one owner.
pub const CONNECTIONS_PER_OWNER: usize = 32;

/// Most connections at once.
const CONNECTIONS_MAX: usize = 20_000;

/// Most codes of one owner that nobody has redeemed; a newer one pushes the oldest out.
const CODES_PER_OWNER: usize = 8;

/// Most codes at once.
const CODES_MAX: usize = 10_000;

/// Access tokens of one connection that are good at once: the newest, and the one before for whoever still uses it.
const ACCESS_KEPT: usize = 2;

/// What an owner approved.
#[derive(Clone, Debug)]
pub(crate) struct Approval {
    pub(crate) owner: OwnerId,
    pub(crate) surface: Arc<Surface>,
    pub(crate) commander: CommanderId,
    pub(crate) roles: Vec<Name>,
    pub(crate) client: Arc<Client>,
    pub(crate) resource: String,
    /// Milliseconds since 1970.
    pub(crate) authorized_at: u64,
}

/// What the answer of the authorization has to be redeemed with.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    pub(crate) redirect: String,
    pub(crate) challenge: Challenge,
    /// The proof of the consent page that was answered.
    pub(crate) page: String,
}

struct Code {
    approval: Approval,
    terms: Terms,
    until: Instant,
}

/// One connection.
pub(crate) struct Connection {
    pub(crate) approval: Approval,
    /// Milliseconds since 1970.
    pub(crate) created_at: u64,
    pub(crate) grant: Arc<CommanderGrant>,
    code: Digest,
    family: Family,
    access: Vec<Digest>,
    /// When the newest refresh token ends, and the connection with it.
    until: Instant,
}

impl Connection {
    fn is_over(&self, now: Instant) -> bool {
        now >= self.until || self.grant.revoked().is_cancelled()
    }

    /// Every digest under which the connection is found.
    fn digests(&self) -> impl Iterator<Item = Digest> + '_ {
        self.access.iter().copied().chain([self.code, self.family.id()])
    }
}

/// An opaque id that its owner names a connection by.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ConnectionId(pub(crate) String);

/// What a client is handed.
pub(crate) struct Tokens {
    pub(crate) access: Token,
    pub(crate) refresh: String,
}

/// Why nothing more can be allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Full {
    /// The owner has [`CONNECTIONS_PER_OWNER`].
    Owner,
    /// The process has as many connections or codes as it holds.
    Server,
}

/// Room for one more code, found before anything is made for it.
pub(crate) struct Room<'a> {
    ledger: &'a mut Ledger,
    now: Instant,
}

impl Room<'_> {
    /// What an earlier answer to this consent page approved, while its code waits: a page may be answered twice by one click.
    pub(crate) fn answered(&self, page: &str) -> Option<&Approval> {
        self.ledger.codes.values().find(|code| code.terms.page == page).map(|code| &code.approval)
    }

    /// Makes a code of an approval. It takes the place of an earlier answer's to the same page.
    pub(crate) fn approve(self, approval: Approval, terms: Terms) -> Token {
        self.ledger.codes.retain(|_, code| code.terms.page != terms.page);
        let (code, digest) = Token::mint();
        self.ledger.codes.insert(digest, Code { approval, terms, until: self.now + CODE_LIFETIME });
        code
    }
}

/// Every code and connection of this process.
#[derive(Default)]
pub(crate) struct Ledger {
    codes: HashMap<Digest, Code>,
    connections: HashMap<ConnectionId, Connection>,
    /// Redeemed codes, access tokens and families of refresh tokens.
    index: HashMap<Digest, ConnectionId>,
}

impl Ledger {
    /// Room for one more code of an owner.
    pub(crate) fn room(
        &mut self,
        commanders: &Commanders,
        owner: &OwnerId,
        now: Instant,
    ) -> Result<Room<'_>, Full> {
        self.sweep(commanders, now);
        let held = self.connections.values().filter(|connection| connection.approval.owner == *owner).count();
        if held >= CONNECTIONS_PER_OWNER {
            return Err(Full::Owner);
        }
        let mut own: Vec<(Instant, Digest)> = self
            .codes
            .iter()
            .filter(|(_, code)| code.approval.owner == *owner)
            .map(|(id, it)| (it.until, *id))
            .collect();
        own.sort_unstable();
        for (_, oldest) in own.iter().rev().skip(CODES_PER_OWNER - 1) {
            self.codes.remove(oldest);
        }
        if self.connections.len() >= CONNECTIONS_MAX || self.codes.len() >= CODES_MAX {
            return Err(Full::Server);
        }
        Ok(Room { ledger: self, now })
    }

    /// Redeems a code (§5, RFC 6749 §4.1.3). A failed attempt leaves it as it was; a redeemed one that is shown again ends
    /// what it gave.
    pub(crate) fn redeem(
        &mut self,
        commanders: &Commanders,
        params: &Params,
        client: &str,
        now: Instant,
        unix_ms: u64,
    ) -> Result<Tokens, Fault> {
        let digest = secret_digest(params.need("code")?);
        if let Some(id) = self.index.get(&digest).cloned() {
            self.end(commanders, &id);
            return Err(Fault::InvalidGrant);
        }
        let code = self.codes.get(&digest).filter(|code| now < code.until).ok_or(Fault::InvalidGrant)?;
        let redirect = params.get("redirect_uri");
        let verified = code.terms.challenge.is_met_by(params.need("code_verifier")?);
        let same_redirect = redirect.is_none_or(|redirect| redirect == code.terms.redirect);
        if code.approval.client.id != client || !same_redirect || !verified {
            return Err(Fault::InvalidGrant);
        }
        if params.get("resource") != Some(&*code.approval.resource) {
            return Err(Fault::InvalidTarget);
        }
        let code = self.codes.remove(&digest).ok_or(Fault::InvalidGrant)?;
        self.open(commanders, code.approval, digest, now, unix_ms)
    }

    /// Rotates a refresh token. One that was used before ends its connection (§5).
    pub(crate) fn refresh(
        &mut self,
        commanders: &Commanders,
        params: &Params,
        client: &str,
        now: Instant,
    ) -> Result<Tokens, Fault> {
        let shown = RefreshToken::parse(params.need("refresh_token")?).ok_or(Fault::InvalidGrant)?;
        let id = self.index.get(&shown.family()).cloned().ok_or(Fault::InvalidGrant)?;
        let connection = self.connections.get_mut(&id).ok_or(Fault::InvalidGrant)?;
        if connection.is_over(now) || !connection.family.is_current(&shown) {
            self.end(commanders, &id);
            return Err(Fault::InvalidGrant);
        }
        if connection.approval.client.id != client {
            return Err(Fault::InvalidGrant);
        }
        if params.get("resource") != Some(&*connection.approval.resource) {
            return Err(Fault::InvalidTarget);
        }
        let refresh = connection.family.rotate(&shown);
        let (access, digest) = commanders.issue(&connection.grant, ACCESS_LIFETIME);
        connection.until = now + REFRESH_LIFETIME;
        connection.access.push(digest);
        if connection.access.len() > ACCESS_KEPT {
            let oldest = connection.access.remove(0);
            commanders.withdraw(&oldest);
            self.index.remove(&oldest);
        }
        self.index.insert(digest, id);
        Ok(Tokens { access, refresh })
    }

    /// Ends the connection of a token (RFC 7009), access or refresh, used or not. A token that is not known needs no
    /// revoking. Fails `invalid_grant` for another client's.
    pub(crate) fn revoke(&mut self, commanders: &Commanders, token: &str, client: &str) -> Result<(), Fault> {
        let family = RefreshToken::parse(token).map(|token| token.family());
        let digest = family.unwrap_or_else(|| secret_digest(token));
        let Some(id) = self.index.get(&digest).cloned() else { return Ok(()) };
        if self.connections.get(&id).is_some_and(|connection| connection.approval.client.id != client) {
            return Err(Fault::InvalidGrant);
        }
        self.end(commanders, &id);
        Ok(())
    }

    /// The owner's connections.
    pub(crate) fn of(
        &self,
        owner: &OwnerId,
        now: Instant,
    ) -> impl Iterator<Item = (&ConnectionId, &Connection)> {
        self.connections
            .iter()
            .filter(move |(_, connection)| connection.approval.owner == *owner && !connection.is_over(now))
    }

    /// Ends one of the owner's connections, if it is theirs.
    pub(crate) fn revoke_own(&mut self, commanders: &Commanders, owner: &OwnerId, id: &ConnectionId) -> bool {
        let own = self.connections.get(id).is_some_and(|connection| connection.approval.owner == *owner);
        if own {
            self.end(commanders, id);
        }
        own
    }

    fn open(
        &mut self,
        commanders: &Commanders,
        approval: Approval,
        code: Digest,
        now: Instant,
        unix_ms: u64,
    ) -> Result<Tokens, Fault> {
        let grant = commanders
            .connect(&approval.surface, &approval.owner, &approval.commander, &approval.roles)
            .map_err(|_| Fault::InvalidGrant)?;
        let (access, digest) = commanders.issue(&grant, ACCESS_LIFETIME);
        let (family, refresh) = Family::mint();
        let id = ConnectionId(format!("con_{}", Token::mint().0.reveal()));
        let until = now + REFRESH_LIFETIME;
        let connection =
            Connection { approval, created_at: unix_ms, grant, code, family, access: vec![digest], until };
        self.index.extend(connection.digests().map(|digest| (digest, id.clone())));
        self.connections.insert(id, connection);
        Ok(Tokens { access, refresh })
    }

    fn end(&mut self, commanders: &Commanders, id: &ConnectionId) {
        let Some(connection) = self.connections.remove(id) else { return };
        connection.grant.revoke();
        for digest in connection.digests() {
            self.index.remove(&digest);
            commanders.withdraw(&digest);
        }
    }

    /// Forgets what is over.
    fn sweep(&mut self, commanders: &Commanders, now: Instant) {
        self.codes.retain(|_, code| now < code.until);
        let over = self.connections.iter().filter(|(_, connection)| connection.is_over(now));
        let over: Vec<ConnectionId> = over.map(|(id, _)| id.clone()).collect();
        for id in &over {
            self.end(commanders, id);
        }
    }
}
