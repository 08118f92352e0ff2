//! The inboxes of one server: opening, finding and expiring them, and who may do what with each.
//!
//! Every operation takes the capability that allows it, checks it here and nowhere else, and answers `NotFound` alike
//! for what does not exist, has ended or is not the caller's.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use bytes::Bytes;

use crate::canonical::hex;
use crate::inbox::{Inbox, Post, Posted, Signer, blocking, lock, paths};
use crate::keys::{self, MasterSecret, Token, inbox_of, matches};
use crate::limits::{Bucket, Clock, HOUR_MS, Limits, parse_timestamp};
use crate::meta::{Code, InboxKind, Meta, Seat, SeatRole, SeatStatus, sync_parent};
use crate::pairing::{PairingCode, Proof};
use crate::verify;

/// How far a proof's time may be off.
const PROOF_SKEW_MS: u64 = 5 * 60_000;
/// Characters of a seat's label.
const MAX_LABEL: usize = 64;
const SEAT_HOURS: std::ops::RangeInclusive<u64> = 1..=168;
const CODE_MINUTES: std::ops::RangeInclusive<u64> = 1..=1440;

/// Why an operation was refused. A refused operation changed nothing, except that a failed proof is counted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PipesError {
    /// No such inbox, capture, seat or code, or not the caller's, or over.
    #[error("not found")]
    NotFound,
    /// An argument has a wrong shape or is outside its bounds.
    #[error("a malformed or out-of-range argument")]
    BadRequest,
    /// The body passes its bound.
    #[error("the body is too large")]
    TooLarge,
    /// Too often; worth trying again after so many seconds.
    #[error("too many requests")]
    RateLimited {
        /// Seconds to wait.
        retry_after_s: u64,
    },
    /// The inbox holds as many captures as it may.
    #[error("the inbox is full")]
    InboxFull,
    /// The post is not signed by a live key of the inbox.
    #[error("the signature is missing or matches no key")]
    Unsigned,
    /// The proof's time is too far off; the code is not spent.
    #[error("the proof is stale")]
    StaleProof,
    /// The code has expired; the host mints another.
    #[error("the code has expired")]
    CodeExpired,
    /// As many seats, codes or inboxes as there may be.
    #[error("there is no room for another")]
    Full,
    /// The operation needs a signed inbox.
    #[error("the inbox is not signed")]
    NotSigned,
    /// The disk failed; nothing is acknowledged.
    #[error("storage is unavailable")]
    Unavailable,
}

impl From<io::Error> for PipesError {
    fn from(error: io::Error) -> Self {
        tracing::error!(kind = %error.kind(), "pipes storage failed");
        Self::Unavailable
    }
}

impl PipesError {
    /// The closed code on the wire.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::BadRequest => "bad_request",
            Self::TooLarge => "too_large",
            Self::RateLimited { .. } => "rate_limited",
            Self::InboxFull => "inbox_full",
            Self::Unsigned => "unsigned",
            Self::StaleProof => "stale_proof",
            Self::CodeExpired => "code_expired",
            Self::Full => "full",
            Self::NotSigned => "not_signed",
            Self::Unavailable => "unavailable",
        }
    }
}

/// Where and how the inboxes live.
#[derive(Debug)]
pub struct Config {
    /// The directory, this server's alone; made when it does not exist.
    pub dir: PathBuf,
    /// The secret that seat keys are derived from. Without one, it is kept in the directory.
    pub master_secret: Option<[u8; 32]>,
    /// Bounds.
    pub limits: Limits,
    /// The time.
    pub clock: Clock,
}

impl Config {
    /// The default bounds and the machine's clock.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into(), master_secret: None, limits: Limits::default(), clock: Clock::system() }
    }
}

/// A new inbox with the capabilities that are shown once.
#[derive(Debug)]
pub struct Opened {
    /// The inbox.
    pub inbox: Arc<Inbox>,
    /// To post.
    pub capture_token: Token,
    /// To read.
    pub read_token: Token,
    /// To mint and revoke seats.
    pub host_token: Token,
    /// The host's seat; an anonymous inbox has none.
    pub host_seat: Option<SeatGrant>,
}

/// A seat with its key. Only the player's own software may hold it.
#[derive(Clone)]
pub struct SeatGrant {
    /// The name in `MatchedSigningRef`.
    pub seat_ref: String,
    /// The key of the transport signature.
    pub signing_key: String,
}

impl std::fmt::Debug for SeatGrant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SeatGrant").field("seat_ref", &self.seat_ref).finish()
    }
}

/// What a redeemed code releases, once.
#[derive(Debug)]
pub struct Redeemed {
    /// The inbox.
    pub inbox: Arc<Inbox>,
    /// The guest's seat and key.
    pub seat: SeatGrant,
    /// To post beside the signature, to read, and to rotate the seat's key.
    pub seat_token: Token,
    /// The seat's display name.
    pub label: String,
    /// When the seat ends, Unix milliseconds.
    pub expires_ms: u64,
    /// The newest row before the seat was live; a post that races the redemption is seen twice rather than missed.
    pub cursor: u64,
}

/// A code to be minted.
#[derive(Debug, Clone)]
pub struct SeatOffer {
    /// The guest's display name, 1 to 64 characters without control characters.
    pub label: String,
    /// How long the seat lives, 1 to 168 hours.
    pub seat_hours: u64,
    /// How long the code lives, 1 to 1440 minutes, never past the seat's end.
    pub code_minutes: u64,
}

impl Default for SeatOffer {
    fn default() -> Self {
        Self { label: "Guest".to_owned(), seat_hours: 24, code_minutes: 10 }
    }
}

/// Who a seat is released to.
pub(crate) enum Recipient {
    /// Software that keeps token and key itself, perhaps with a public key of its own.
    Software { public_key: Option<String> },
    /// A caller of the tools, for whom the server keeps the key.
    Holder(String),
}

/// All inboxes of a server.
pub struct Pipes {
    dir: PathBuf,
    limits: Limits,
    clock: Clock,
    master: MasterSecret,
    inboxes: Mutex<Known>,
    /// The turn to open the files of an inbox that exists.
    opening: tokio::sync::Mutex<()>,
    open_rate: Mutex<Bucket>,
    redeem_rate: Mutex<Bucket>,
    verify_rate: Mutex<Bucket>,
    /// Held for as long as the directory is this server's.
    _lock: File,
}

/// Which inboxes exist, and those that are open.
#[derive(Default)]
struct Known {
    expiry: HashMap<String, u64>,
    open: HashMap<String, Arc<Inbox>>,
    /// Inbox of each pairing code by its handle.
    handles: HashMap<String, String>,
    /// Inboxes of each caller of the tools, by the digest of its name.
    held: HashMap<String, BTreeSet<String>>,
}

impl std::fmt::Debug for Pipes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pipes").field("inboxes", &lock(&self.inboxes).expiry.len()).finish()
    }
}

impl Pipes {
    /// Opens a directory of inboxes. Files whose inbox has expired are deleted.
    ///
    /// # Errors
    /// When the directory cannot be used or another server holds it.
    pub fn open(config: Config) -> io::Result<Arc<Self>> {
        let Config { dir, master_secret, limits, clock } = config;
        fs::create_dir_all(&dir)?;
        let lock_file = File::create(dir.join("lock"))?;
        lock_file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => io::Error::other("another server uses the pipes directory"),
            TryLockError::Error(error) => error,
        })?;
        let master = match master_secret {
            Some(secret) => MasterSecret::new(secret),
            None => MasterSecret::load(&dir.join("secret"))?,
        };
        let now = clock.now_ms();
        let pipes = Self {
            inboxes: Mutex::new(find_inboxes(&dir)?),
            opening: tokio::sync::Mutex::default(),
            open_rate: Mutex::new(Bucket::new(limits.open_rate, now)),
            redeem_rate: Mutex::new(Bucket::new(limits.redeem_rate, now)),
            verify_rate: Mutex::new(Bucket::new(limits.verify_rate, now)),
            master,
            dir,
            limits,
            clock,
            _lock: lock_file,
        };
        pipes.sweep()?;
        Ok(Arc::new(pipes))
    }

    /// The bounds.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    /// Forgets expired inboxes and deletes their files. To be called now and then; it blocks on the disk.
    ///
    /// # Errors
    /// When a file cannot be deleted.
    pub fn sweep(&self) -> io::Result<()> {
        let now = self.clock.now_ms();
        let expired: Vec<String> = {
            let mut known = lock(&self.inboxes);
            let expired: Vec<_> =
                known.expiry.iter().filter(|(_, at)| **at <= now).map(|(id, _)| id.clone()).collect();
            for id in &expired {
                known.expiry.remove(id);
                if let Some(inbox) = known.open.remove(id) {
                    inbox.wake();
                }
            }
            known.handles.retain(|_, inbox| !expired.contains(inbox));
            known.held.retain(|_, inboxes| {
                inboxes.retain(|inbox| !expired.contains(inbox));
                !inboxes.is_empty()
            });
            expired
        };
        for id in expired {
            let (rows, meta) = paths(&self.dir, &id);
            // The rows go first: an inbox without its meta file would never be found again.
            remove(&rows)?;
            remove(&meta)?;
        }
        Ok(())
    }

    /// Opens an inbox; a signed one has a seat for its host.
    ///
    /// # Errors
    /// [`PipesError::RateLimited`], [`PipesError::Full`], [`PipesError::Unavailable`].
    pub async fn open_inbox(self: &Arc<Self>, kind: InboxKind) -> Result<Opened, PipesError> {
        self.open_inbox_for(kind, None).await
    }

    /// Opens an inbox whose host is a caller of the tools.
    pub(crate) async fn open_inbox_for(
        self: &Arc<Self>, kind: InboxKind, holder: Option<String>,
    ) -> Result<Opened, PipesError> {
        permit(&self.open_rate, self.now_ms())?;
        let pipes = Arc::clone(self);
        blocking(move || pipes.create(kind, holder)).await?
    }

    /// Blocks on the disk.
    fn create(&self, kind: InboxKind, holder: Option<String>) -> Result<Opened, PipesError> {
        let now = self.clock.now_ms();
        let id = keys::new_id()?;
        let life = match kind {
            InboxKind::Anonymous => self.limits.anonymous_life_ms,
            InboxKind::Signed => self.limits.signed_life_ms,
        };
        let [capture_token, read_token, host_token] = [Token::mint(&id)?, Token::mint(&id)?, Token::mint(&id)?];
        let mut meta = Meta {
            id: id.clone(),
            kind,
            created_ms: now,
            expires_ms: now.saturating_add(life),
            write: capture_token.digest(),
            read: read_token.digest(),
            host: host_token.digest(),
            seats: Vec::new(),
            codes: Vec::new(),
        };
        let host = Seat {
            seat_ref: format!("seat_{}", keys::new_id()?),
            label: "Host".to_owned(),
            role: SeatRole::Host,
            generation: 0,
            revoked: false,
            expires_ms: meta.expires_ms,
            token: None,
            holder: holder.clone(),
            public_key: None,
        };
        let host_seat = (kind == InboxKind::Signed).then(|| self.grant(&meta, &host));
        if kind == InboxKind::Signed || holder.is_some() {
            meta.seats.push(host);
        }
        self.reserve(&meta)?;
        let opened = meta.save(&paths(&self.dir, &id).1).and_then(|()| {
            let inbox = Inbox::open(meta, &self.dir, &self.limits, &self.clock)?;
            sync_parent(&paths(&self.dir, &id).0)?;
            Ok(inbox)
        });
        let inbox = match opened {
            Ok(inbox) => inbox,
            Err(error) => {
                lock(&self.inboxes).expiry.remove(&id);
                return Err(error.into());
            }
        };
        lock(&self.inboxes).open.insert(id.clone(), Arc::clone(&inbox));
        if let Some(holder) = &holder {
            self.remember(holder, &id);
        }
        Ok(Opened { inbox, capture_token, read_token, host_token, host_seat })
    }

    /// Notes that a caller of the tools has a seat at an inbox.
    pub(crate) fn remember(&self, holder: &str, inbox: &str) {
        lock(&self.inboxes).held.entry(holder.to_owned()).or_default().insert(inbox.to_owned());
    }

    /// The inboxes where a caller of the tools has, or had, a seat.
    pub(crate) fn held_by(&self, holder: &str) -> Vec<String> {
        lock(&self.inboxes).held.get(holder).map(|ids| ids.iter().cloned().collect()).unwrap_or_default()
    }

    /// Takes a place among the inboxes.
    fn reserve(&self, meta: &Meta) -> Result<(), PipesError> {
        let mut known = lock(&self.inboxes);
        if known.expiry.len() >= self.limits.inboxes || !known.make_room(self.limits.open_inboxes) {
            return Err(PipesError::Full);
        }
        known.expiry.insert(meta.id.clone(), meta.expires_ms);
        Ok(())
    }

    fn grant(&self, meta: &Meta, seat: &Seat) -> SeatGrant {
        let signing_key = self.master.signing_key(&meta.id, &seat.seat_ref, seat.generation);
        SeatGrant { seat_ref: seat.seat_ref.clone(), signing_key }
    }

    /// An inbox by its id, which gives no right to it.
    pub(crate) async fn find(self: &Arc<Self>, id: &str) -> Result<Arc<Inbox>, PipesError> {
        {
            let known = lock(&self.inboxes);
            let expires = *known.expiry.get(id).ok_or(PipesError::NotFound)?;
            if expires <= self.clock.now_ms() {
                return Err(PipesError::NotFound);
            }
            if let Some(inbox) = known.open.get(id) {
                return Ok(Arc::clone(inbox));
            }
        }
        let (pipes, id) = (Arc::clone(self), id.to_owned());
        // Opening cuts a torn tail, so it must never run beside another opening of the same file nor be left half way
        // by a caller that goes away.
        let opened = tokio::spawn(async move {
            let _turn = pipes.opening.lock().await;
            let pipes = Arc::clone(&pipes);
            blocking(move || pipes.reopen(&id)).await?
        });
        opened.await.unwrap_or(Err(PipesError::Unavailable))
    }

    /// Blocks on the disk; the caller holds the turn to open.
    fn reopen(&self, id: &str) -> Result<Arc<Inbox>, PipesError> {
        {
            let mut known = lock(&self.inboxes);
            if let Some(inbox) = known.open.get(id) {
                return Ok(Arc::clone(inbox));
            }
            if !known.expiry.contains_key(id) {
                return Err(PipesError::NotFound);
            }
            if !known.make_room(self.limits.open_inboxes) {
                return Err(PipesError::RateLimited { retry_after_s: 1 });
            }
        }
        let meta = Meta::load(&paths(&self.dir, id).1)?;
        let inbox = Inbox::open(meta, &self.dir, &self.limits, &self.clock)?;
        lock(&self.inboxes).open.insert(id.to_owned(), Arc::clone(&inbox));
        Ok(inbox)
    }

    /// The inbox that a capture token, or a seat's own token, opens for posting.
    ///
    /// # Errors
    /// [`PipesError::NotFound`].
    pub async fn writer(self: &Arc<Self>, token: &str) -> Result<Writer, PipesError> {
        let inbox = self.find(inbox_of(token).ok_or(PipesError::NotFound)?).await?;
        let meta = inbox.meta();
        let may_post = matches(&meta.write, token) || meta.seat_by_token(token, self.now_ms()).is_some();
        if may_post { Ok(Writer(inbox)) } else { Err(PipesError::NotFound) }
    }

    /// The inbox that a read token, a seat's token or the host's token opens for reading.
    ///
    /// # Errors
    /// [`PipesError::NotFound`].
    pub async fn reader(self: &Arc<Self>, token: &str) -> Result<Arc<Inbox>, PipesError> {
        let inbox = self.find(inbox_of(token).ok_or(PipesError::NotFound)?).await?;
        let meta = inbox.meta();
        let may_read = matches(&meta.read, token)
            || matches(&meta.host, token)
            || meta.seat_by_token(token, self.now_ms()).is_some();
        if may_read { Ok(inbox) } else { Err(PipesError::NotFound) }
    }

    /// The inbox that a host's token runs.
    ///
    /// # Errors
    /// [`PipesError::NotFound`].
    pub async fn host(self: &Arc<Self>, token: &str) -> Result<Host, PipesError> {
        let inbox = self.find(inbox_of(token).ok_or(PipesError::NotFound)?).await?;
        if matches(&inbox.meta().host, token) { Ok(Host(inbox)) } else { Err(PipesError::NotFound) }
    }

    /// The seat that a seat's own token names.
    ///
    /// # Errors
    /// [`PipesError::NotFound`].
    pub async fn seat(self: &Arc<Self>, token: &str) -> Result<SeatOwner, PipesError> {
        let inbox = self.find(inbox_of(token).ok_or(PipesError::NotFound)?).await?;
        let meta = inbox.meta();
        let seat = meta.seat_by_token(token, self.now_ms()).ok_or(PipesError::NotFound)?;
        Ok(SeatOwner { seat_ref: seat.seat_ref.clone(), inbox })
    }

    /// Stores a body from outside. A signed inbox takes it only with the signature of a live key.
    ///
    /// # Errors
    /// [`PipesError::Unsigned`], [`PipesError::TooLarge`], [`PipesError::RateLimited`], [`PipesError::InboxFull`],
    /// [`PipesError::NotFound`], [`PipesError::Unavailable`].
    pub async fn post(&self, writer: &Writer, post: Incoming) -> Result<Posted, PipesError> {
        let Writer(inbox) = writer;
        if post.body.len() > self.limits.body_bytes {
            return Err(PipesError::TooLarge);
        }
        let signer = self.attribute(inbox, &post)?;
        let digest = post.idempotency_key.as_deref().map(|key| {
            let who = signer.as_ref().map_or("", |signer| signer.seat_ref.as_str());
            keys::digest(&format!("{key}\0{who}\0{}", hex(&crate::canonical::sha256(&post.body))))
        });
        inbox.store(Post { body: post.body, content_type: post.content_type, signer, digest }).await
    }

    /// Whose key signed a post: every live key is compared, whichever matches.
    fn attribute(&self, inbox: &Inbox, post: &Incoming) -> Result<Option<Signer>, PipesError> {
        let meta = inbox.meta();
        if meta.kind == InboxKind::Anonymous {
            return Ok(None);
        }
        let given = post.signature.as_deref().ok_or(PipesError::Unsigned)?;
        let mut signer = None;
        for seat in meta.seats.iter().filter(|seat| seat.is_live(self.now_ms())) {
            let key = self.master.signing_key(&meta.id, &seat.seat_ref, seat.generation);
            if keys::same(hex(&keys::hmac(key.as_bytes(), &post.body)).as_bytes(), given.as_bytes()) {
                signer = Some(Signer { seat_ref: seat.seat_ref.clone(), label: seat.label.clone() });
            }
        }
        signer.map(Some).ok_or(PipesError::Unsigned)
    }

    /// Posts for a caller of the tools: the server signs with the key that it keeps for the caller's seat, and the post
    /// goes the way of every other.
    pub(crate) async fn post_held(&self, inbox: &Arc<Inbox>, seat: &Seat, body: Bytes) -> Result<Posted, PipesError> {
        let key = self.master.signing_key(inbox.id(), &seat.seat_ref, seat.generation);
        let signature = Some(hex(&keys::hmac(key.as_bytes(), &body)));
        let content_type = Some("application/json".to_owned());
        self.post(&Writer(Arc::clone(inbox)), Incoming { body, content_type, signature, idempotency_key: None }).await
    }

    /// The seed that signs the events of a seat whose key the server keeps.
    pub(crate) fn sig_seed(&self, inbox: &Inbox, seat: &Seat) -> [u8; 32] {
        self.master.sig_seed(inbox.id(), &seat.seat_ref)
    }

    /// The public key of a seat: the guest's own, or the one the server keeps. A guest's software that gave none signs no
    /// events.
    pub(crate) fn public_key(&self, inbox: &Inbox, seat: &Seat) -> Option<String> {
        match (&seat.public_key, &seat.holder) {
            (Some(key), _) => Some(key.clone()),
            (None, Some(_)) => Some(verify::public_tag(&self.sig_seed(inbox, seat))),
            (None, None) => None,
        }
    }

    /// Mints a pairing code; the seat exists once it is redeemed.
    ///
    /// # Errors
    /// [`PipesError::NotSigned`], [`PipesError::BadRequest`], [`PipesError::Full`], [`PipesError::Unavailable`].
    pub async fn mint_seat(&self, host: &Host, offer: SeatOffer) -> Result<PairingCode, PipesError> {
        let Host(inbox) = host;
        if inbox.kind() == InboxKind::Anonymous {
            return Err(PipesError::NotSigned);
        }
        let is_label = !offer.label.trim().is_empty()
            && offer.label.chars().count() <= MAX_LABEL
            && !offer.label.chars().any(char::is_control);
        if !is_label || !SEAT_HOURS.contains(&offer.seat_hours) || !CODE_MINUTES.contains(&offer.code_minutes) {
            return Err(PipesError::BadRequest);
        }
        let now = self.now_ms();
        let code = self.reserve_code(inbox.id())?;
        let (limits, minted) = (self.limits.clone(), code.clone());
        let saved = inbox.change(move |meta| {
            let (live, ended): (Vec<_>, _) = meta.codes.drain(..).partition(|code| code.expires_ms > now);
            meta.codes = live;
            if meta.codes.len() >= limits.codes || meta.seats.len() >= limits.seats {
                return Err(PipesError::Full);
            }
            let seat_expires = now.saturating_add(offer.seat_hours * HOUR_MS).min(meta.expires_ms);
            let expires = now.saturating_add(offer.code_minutes * 60_000).min(seat_expires);
            meta.codes.push(Code::new(&minted, offer.label, seat_expires, expires));
            Ok(ended.into_iter().map(|code: Code| code.handle).collect::<Vec<_>>())
        });
        let saved = saved.await;
        let mut known = lock(&self.inboxes);
        match saved {
            Ok(ended) => {
                known.handles.retain(|handle, _| !ended.contains(handle));
                Ok(code)
            }
            Err(error) => {
                known.handles.remove(code.handle());
                Err(error)
            }
        }
    }

    /// Draws a code whose handle no live code has.
    fn reserve_code(&self, inbox: &str) -> Result<PairingCode, PipesError> {
        for _ in 0..64 {
            let code = PairingCode::mint()?;
            let mut known = lock(&self.inboxes);
            if !known.handles.contains_key(code.handle()) {
                known.handles.insert(code.handle().to_owned(), inbox.to_owned());
                return Ok(code);
            }
        }
        Err(PipesError::Full)
    }

    /// Redeems a code for software that will sign its posts itself.
    ///
    /// # Errors
    /// [`PipesError::NotFound`] for a code that is unknown, used or burned; [`PipesError::CodeExpired`],
    /// [`PipesError::StaleProof`], [`PipesError::Full`], [`PipesError::RateLimited`], [`PipesError::Unavailable`]. Only
    /// success spends a code; five failed proofs burn it.
    pub async fn redeem(self: &Arc<Self>, proof: Proof, public_key: Option<String>) -> Result<Redeemed, PipesError> {
        if public_key.as_deref().is_some_and(|key| !verify::verify_tag(key)) {
            return Err(PipesError::BadRequest);
        }
        self.redeem_for(proof, Recipient::Software { public_key }).await
    }

    /// Redeems a code for a recipient.
    pub(crate) async fn redeem_for(
        self: &Arc<Self>, proof: Proof, recipient: Recipient,
    ) -> Result<Redeemed, PipesError> {
        permit(&self.redeem_rate, self.now_ms())?;
        if !proof.is_bounded() {
            return Err(PipesError::BadRequest);
        }
        let inbox_id = lock(&self.inboxes).handles.get(&proof.handle).cloned().ok_or(PipesError::NotFound)?;
        let inbox = self.find(&inbox_id).await?;
        let cursor = inbox.head();
        let token = Token::mint(&inbox_id)?;
        let seat_ref = format!("seat_{}", keys::new_id()?);
        let now = self.now_ms();
        let (seats, digest) = (self.limits.seats, token.digest());
        let handle = proof.handle.clone();
        let outcome = inbox.change(move |meta| Ok(seat_guest(meta, &proof, recipient, seat_ref, digest, now, seats)));
        match outcome.await? {
            Ok(seat) => {
                lock(&self.inboxes).handles.remove(&handle);
                if let Some(holder) = &seat.holder {
                    self.remember(holder, &inbox_id);
                }
                let grant = self.grant(&inbox.meta(), &seat);
                let (label, expires_ms) = (seat.label, seat.expires_ms);
                Ok(Redeemed { inbox, seat: grant, seat_token: token, label, expires_ms, cursor })
            }
            Err(error) => {
                if !inbox.meta().codes.iter().any(|code| code.handle == handle) {
                    lock(&self.inboxes).handles.remove(&handle);
                }
                Err(error)
            }
        }
    }

    /// Gives a seat a new key under the same ref; the old key ends at once.
    ///
    /// # Errors
    /// [`PipesError::NotFound`] for a seat that is over; [`PipesError::Unavailable`].
    pub async fn rotate(&self, owner: &SeatOwner) -> Result<SeatGrant, PipesError> {
        let now = self.now_ms();
        let SeatOwner { inbox, seat_ref } = owner;
        let seat_ref = seat_ref.clone();
        let seat = inbox.change(move |meta| {
            let seat = meta.seat_mut(&seat_ref).filter(|seat| seat.is_live(now)).ok_or(PipesError::NotFound)?;
            seat.generation = seat.generation.checked_add(1).ok_or(PipesError::Full)?;
            Ok(seat.clone())
        });
        let seat = seat.await?;
        Ok(self.grant(&inbox.meta(), &seat))
    }

    /// Ends a guest's seat; its past captures keep their ref.
    ///
    /// # Errors
    /// [`PipesError::NotFound`]; the host's own seat cannot be revoked.
    pub async fn revoke(&self, host: &Host, seat_ref: &str) -> Result<(), PipesError> {
        let seat_ref = seat_ref.to_owned();
        let Host(inbox) = host;
        let revoked = inbox.change(move |meta| {
            let seat = meta.seat_mut(&seat_ref).filter(|seat| seat.role == SeatRole::Guest);
            seat.ok_or(PipesError::NotFound)?.revoked = true;
            Ok(())
        });
        revoked.await
    }

    /// Verifies a log for a caller, within [`Limits::verify_bytes`], storing nothing.
    ///
    /// # Errors
    /// [`PipesError::TooLarge`], [`PipesError::RateLimited`], [`PipesError::BadRequest`] when it is no log.
    pub async fn verify(&self, log: Bytes, game: Option<String>) -> Result<verify::Report, PipesError> {
        if log.len() > self.limits.verify_bytes {
            return Err(PipesError::TooLarge);
        }
        permit(&self.verify_rate, self.now_ms())?;
        let request = verify::Request { game, detail: verify::Detail::Chains, ..verify::Request::default() };
        let report = blocking(move || verify::verify(log.as_ref(), request)).await?;
        report.map_err(|_| PipesError::BadRequest)
    }
}

/// Seats a guest whose proof is good. The inner result is stored either way: a failed proof counts.
fn seat_guest(
    meta: &mut Meta, proof: &Proof, recipient: Recipient, seat_ref: String, token: String, now: u64, seats: usize,
) -> Result<Seat, PipesError> {
    let at = meta.codes.iter().position(|code| code.handle == proof.handle).ok_or(PipesError::NotFound)?;
    if meta.codes[at].expires_ms <= now {
        return Err(PipesError::CodeExpired);
    }
    if !proof.is_good(&meta.codes[at].proof_key()) {
        if meta.codes[at].fail() {
            meta.codes.remove(at);
        }
        return Err(PipesError::NotFound);
    }
    let time = parse_timestamp(&proof.timestamp).ok_or(PipesError::StaleProof)?;
    if time.abs_diff(now) > PROOF_SKEW_MS {
        return Err(PipesError::StaleProof);
    }
    if meta.seats.len() >= seats {
        return Err(PipesError::Full);
    }
    let code = meta.codes.remove(at);
    let (token, holder, public_key) = match recipient {
        Recipient::Software { public_key } => (Some(token), None, public_key),
        Recipient::Holder(holder) => (None, Some(holder), None),
    };
    let seat = Seat {
        seat_ref,
        label: code.label,
        role: SeatRole::Guest,
        generation: 0,
        revoked: false,
        expires_ms: code.seat_expires_ms,
        token,
        holder,
        public_key,
    };
    meta.seats.push(seat.clone());
    Ok(seat)
}

/// The right to post to an inbox.
#[derive(Debug, Clone)]
pub struct Writer(pub(crate) Arc<Inbox>);

/// The right to run an inbox.
#[derive(Debug, Clone)]
pub struct Host(pub(crate) Arc<Inbox>);

impl Host {
    /// The inbox.
    #[must_use]
    pub fn inbox(&self) -> &Arc<Inbox> {
        &self.0
    }

    /// The host's own seat, to rotate its key.
    ///
    /// # Errors
    /// [`PipesError::NotSigned`] when the inbox has none.
    pub fn own_seat(&self) -> Result<SeatOwner, PipesError> {
        let meta = self.0.meta();
        let host = meta.seats.iter().find(|seat| seat.role == SeatRole::Host).ok_or(PipesError::NotSigned)?;
        Ok(SeatOwner { inbox: Arc::clone(&self.0), seat_ref: host.seat_ref.clone() })
    }
}

/// The right to a seat's key.
#[derive(Debug, Clone)]
pub struct SeatOwner {
    inbox: Arc<Inbox>,
    seat_ref: String,
}

impl SeatOwner {
    /// The seat's name in `MatchedSigningRef`.
    #[must_use]
    pub fn seat_ref(&self) -> &str {
        &self.seat_ref
    }

    /// The id of its inbox.
    #[must_use]
    pub fn inbox_id(&self) -> &str {
        self.inbox.id()
    }
}

/// A body from outside with what came with it.
#[derive(Debug, Clone, Default)]
pub struct Incoming {
    /// The bytes as sent.
    pub body: Bytes,
    /// The content type, stored as it is.
    pub content_type: Option<String>,
    /// Lowercase hex HMAC-SHA256 of the bytes.
    pub signature: Option<String>,
    /// The same key, signer and body are stored once.
    pub idempotency_key: Option<String>,
}

impl Inbox {
    /// The seats, without anything secret.
    #[must_use]
    pub fn roster(&self) -> Vec<SeatStatus> {
        let now = self.now_ms();
        self.meta().seats.iter().map(|seat| seat.status(now)).collect()
    }
}

impl Known {
    /// Closes an idle inbox when as many are open as may be; whether there is room now. An inbox is idle when nobody
    /// holds it: callers, feeds and waiting posts all do.
    fn make_room(&mut self, bound: usize) -> bool {
        if self.open.len() < bound {
            return true;
        }
        let idle = self.open.iter().find(|(_, inbox)| Arc::strong_count(inbox) == 1).map(|(id, _)| id.clone());
        idle.is_some_and(|id| self.open.remove(&id).is_some())
    }
}

fn find_inboxes(dir: &std::path::Path) -> io::Result<Known> {
    let mut known = Known::default();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let Ok(meta) = Meta::load(&path) else {
                tracing::error!("an inbox is left out because its file is damaged");
                continue;
            };
            known.handles.extend(meta.codes.iter().map(|code| (code.handle.clone(), meta.id.clone())));
            for holder in meta.seats.iter().filter_map(|seat| seat.holder.clone()) {
                known.held.entry(holder).or_default().insert(meta.id.clone());
            }
            known.expiry.insert(meta.id, meta.expires_ms);
        }
    }
    Ok(known)
}

fn remove(path: &std::path::Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn permit(bucket: &Mutex<Bucket>, now_ms: u64) -> Result<(), PipesError> {
    lock(bucket).take(now_ms).map_err(|retry_after_s| PipesError::RateLimited { retry_after_s })
}
