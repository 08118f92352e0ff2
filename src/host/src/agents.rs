//! Seat tokens (§5, §20): what lets an agent, and only that agent, call for one seat of one match.
//!
//! A token is claimed once, by the lease that first uses it. It dies with its seat's hold or its match, and everybody
//! who waits on it is told at once.

use crate::commanders::Commanders;
use crate::credentials::Ttl;
use crate::listeners::SaidInLobby;
use crate::places::PolicyPlaces;
use crate::secret::{self, Digest, Token};
use crate::status::StatusBoard;
use crate::ticks::Ticks;
use dashmap::DashMap;
use playerthree_game::Seat;
use playerthree_session::{CallError, Code, CommanderId, Label, Message, Settings, Surface};
use serde_json::Value;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use subtle::ConstantTimeEq as _;
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Most unclaimed and live tokens of one seat. Minting past it revokes the oldest.
pub const TOKENS_PER_SEAT: usize = 4;

/// One call of an agent on its way into a match.
#[derive(Debug)]
pub struct AgentCall {
    /// The seat that its credential is for.
    pub seat: Seat,
    /// The method of `SeatControl`.
    pub method: String,
    /// Its arguments, unchecked.
    pub args: Value,
    /// The program that the agent says it runs in, for its card.
    pub harness: Option<Label>,
    /// Whether the caller's right has ended. A call that waited in a mailbox meanwhile must not be carried out.
    pub revoked: Revoked,
    /// Where a practice counts the ticks that it has played.
    pub ticks: Ticks,
    /// Where the answer goes. A caller that went away has dropped the other end.
    pub reply: oneshot::Sender<Result<Value, CallError>>,
}

/// What a call's right stands on: it ends with the first of them.
#[derive(Clone, Debug)]
pub struct Revoked(Vec<CancellationToken>);

impl Revoked {
    /// A right that ends with the first of these.
    pub fn any(tokens: impl IntoIterator<Item = CancellationToken>) -> Self {
        Self(tokens.into_iter().collect())
    }

    /// Whether it has ended.
    pub fn is_cancelled(&self) -> bool {
        self.0.iter().any(CancellationToken::is_cancelled)
    }
}

/// The way into a match that runs in an actor of its own.
pub trait MatchDoor: Send + Sync + 'static {
    /// Hands a call in. Fails `busy` when the match has too much to do, `bad_token` when it is gone.
    fn call(&self, call: AgentCall) -> Result<(), CallError>;

    /// A commander's settings changed: the seats that it holds in this match have to follow (§7). Fails like a call.
    fn follow(&self, commander: CommanderId, settings: Settings) -> Result<(), CallError>;

    /// A commander's owner wrote to it at a seat that it holds in this match (§12). Fails like a call.
    fn tell(&self, commander: CommanderId, seat: Seat, message: Message) -> Result<(), CallError>;

    /// A commander of somebody who listens here said something between matches (§12). Fails like a call.
    fn said(&self, said: SaidInLobby) -> Result<(), CallError>;

    /// What the match shows of its seats without being asked (§17).
    fn board(&self) -> Arc<StatusBoard>;
}

/// What tells one credential of an agent from every other one that this process ever knew. It is no secret and lets nobody
/// in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CredentialId(u64);

impl CredentialId {
    fn next() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed))
    }

    /// Its bytes.
    pub fn to_bytes(self) -> [u8; 8] {
        self.0.to_be_bytes()
    }
}

/// What every credential of an agent has: an end, and what its client says it is.
#[derive(Debug)]
pub(crate) struct Credential {
    id: CredentialId,
    revoked: CancellationToken,
    harness: Mutex<Option<Label>>,
}

impl Credential {
    /// A credential that ends with this.
    pub(crate) fn until(revoked: CancellationToken) -> Self {
        Self { id: CredentialId::next(), revoked, harness: Mutex::default() }
    }

    pub(crate) fn id(&self) -> CredentialId {
        self.id
    }

    pub(crate) fn revoked(&self) -> &CancellationToken {
        &self.revoked
    }

    pub(crate) fn introduce(&self, harness: &str) {
        if let Some(label) = Label::parse(harness) {
            *self.harness.lock().unwrap_or_else(PoisonError::into_inner) = Some(label);
        }
    }

    pub(crate) fn harness(&self) -> Option<Label> {
        self.harness.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A seat token's authority.
pub struct SeatGrant {
    /// The match, by the id of its room.
    pub match_id: Arc<str>,
    /// The seat.
    pub seat: Seat,
    /// The game.
    pub surface: Arc<Surface>,
    pub(crate) door: Arc<dyn MatchDoor>,
    minted: Instant,
    /// How long the token waits for its claim; a claimed one lasts as long as its seat's hold (§5).
    ttl: Ttl,
    lease: Mutex<Option<Digest>>,
    credential: Credential,
}

impl SeatGrant {
    /// Which credential it is.
    pub fn credential(&self) -> CredentialId {
        self.credential.id()
    }

    /// Fires when the token stops being good.
    pub fn revoked(&self) -> &CancellationToken {
        self.credential.revoked()
    }

    /// The client says what program it is. Whatever is no [`Label`] says nothing.
    pub fn introduce(&self, harness: &str) {
        self.credential.introduce(harness);
    }

    /// Claims the token for one lease and returns its session id. Nothing once it is claimed.
    pub fn claim(&self) -> Option<Token> {
        let mut lease = self.lease.lock().unwrap_or_else(PoisonError::into_inner);
        if lease.is_some() {
            return None;
        }
        let (session, digest) = Token::mint();
        *lease = Some(digest);
        Some(session)
    }

    /// Whether nobody claimed the token in its time.
    fn is_expired(&self) -> bool {
        !self.is_claimed() && self.minted.elapsed() > self.ttl.duration()
    }

    /// Whether the token has been claimed.
    pub fn is_claimed(&self) -> bool {
        self.lease.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Whether this session id is the one that claimed the token.
    pub fn is_session(&self, session: &str) -> bool {
        let lease = self.lease.lock().unwrap_or_else(PoisonError::into_inner);
        lease.is_some_and(|digest| digest.ct_eq(&secret::digest(session)).into())
    }

    /// [`Self::call_counting`], for whoever does not ask how far a practice has come.
    ///
    /// Cancel safe: a dropped call is dropped in the match too.
    pub async fn call(&self, method: &str, args: Value) -> Result<Value, CallError> {
        self.call_counting(method, args, Ticks::default()).await
    }

    /// Carries a call into the match and waits for its answer, or for the token's end. A practice counts its ticks meanwhile.
    ///
    /// Cancel safe: a dropped call is dropped in the match too.
    pub async fn call_counting(&self, method: &str, args: Value, ticks: Ticks) -> Result<Value, CallError> {
        let (reply, answer) = oneshot::channel();
        let (seat, revoked) = (self.seat.clone(), Revoked::any([self.revoked().clone()]));
        let (method, harness) = (method.to_owned(), self.credential.harness());
        self.door.call(AgentCall { seat, method, args, harness, revoked, ticks, reply })?;
        tokio::select! {
            // A token that has ended gets no answer, not even one that is ready.
            biased;
            () = self.revoked().cancelled() => Err(Code::BadToken.into()),
            answer = answer => answer.unwrap_or_else(|_| Err(Code::BadToken.into())),
        }
    }
}

impl std::fmt::Debug for SeatGrant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SeatGrant")
            .field("match_id", &self.match_id)
            .field("seat", &self.seat)
            .finish_non_exhaustive()
    }
}

/// Every credential of an agent in this process: seat tokens by digest, and the commanders with theirs.
#[derive(Debug)]
pub struct Agents {
    grants: DashMap<Digest, Arc<SeatGrant>>,
    commanders: Commanders,
}

impl Agents {
    /// Nobody yet. What commanders deploy between matches is tried in these places.
    pub fn new(places: PolicyPlaces) -> Self {
        Self { grants: DashMap::new(), commanders: Commanders::new(places) }
    }

    /// The named commanders.
    pub fn commanders(&self) -> &Commanders {
        &self.commanders
    }

    /// Mints a token for a seat, to be claimed within `ttl`. A claimed one is good for as long as the seat's hold.
    pub fn mint(
        &self,
        match_id: Arc<str>,
        seat: Seat,
        surface: Arc<Surface>,
        door: Arc<dyn MatchDoor>,
        ttl: Ttl,
    ) -> Token {
        self.bound(&match_id, &seat);
        let (token, digest) = Token::mint();
        let grant = SeatGrant {
            match_id,
            seat,
            surface,
            door,
            minted: Instant::now(),
            ttl,
            lease: Mutex::new(None),
            credential: Credential::until(CancellationToken::new()),
        };
        self.grants.insert(digest, Arc::new(grant));
        token
    }

    /// The authority of a presented token, nothing for an unknown, expired or revoked one.
    pub fn find(&self, token: &str) -> Option<Arc<SeatGrant>> {
        let digest = secret::digest(token);
        let grant = Arc::clone(&*self.grants.get(&digest)?);
        if grant.is_expired() {
            self.grants.remove(&digest);
            return None;
        }
        Some(grant)
    }

    /// Ends one token: its lease was deleted by its holder.
    pub fn revoke(&self, token: &str) {
        if let Some((_, grant)) = self.grants.remove(&secret::digest(token)) {
            grant.revoked().cancel();
        }
    }

    /// Ends every token of a seat.
    pub fn revoke_seat(&self, match_id: &str, seat: &Seat) {
        self.revoke_where(|grant| *grant.match_id == *match_id && grant.seat == *seat);
    }

    /// Ends every token of a match.
    pub fn revoke_match(&self, match_id: &str) {
        self.revoke_where(|grant| *grant.match_id == *match_id);
    }

    /// Ends every token: the server stops.
    pub fn revoke_all(&self) {
        self.revoke_where(|_| true);
        self.commanders.revoke_all();
    }

    fn revoke_where(&self, ended: impl Fn(&SeatGrant) -> bool) {
        self.grants.retain(|_, grant| {
            let keep = !ended(grant);
            if !keep {
                grant.revoked().cancel();
            }
            keep
        });
    }

    /// Keeps the tokens of one seat under their bound: expired ones go first, then the oldest.
    fn bound(&self, match_id: &str, seat: &Seat) {
        let mut held: Vec<(Instant, Digest)> = self
            .grants
            .iter()
            .filter(|entry| *entry.match_id == *match_id && entry.seat == *seat)
            .map(|entry| (entry.minted, *entry.key()))
            .collect();
        held.sort_unstable();
        let surplus = (held.len() + 1).saturating_sub(TOKENS_PER_SEAT);
        for (index, (_, digest)) in held.into_iter().enumerate() {
            let expired = self.grants.get(&digest).is_some_and(|grant| grant.is_expired());
            if (index < surplus || expired)
                && let Some((_, grant)) = self.grants.remove(&digest)
            {
                grant.revoked().cancel();
            }
        }
    }
}
