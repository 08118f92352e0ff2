//! The inboxes of one server: opening, finding and expiring them, and who may do what with each.
//!
//! Every operation takes the capability that allows it, checks it here and nowhere else, and answers `NotFound` alike
//! for what does not exist, has ended or is not the caller's.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use bytes::Bytes;

use crate::agents::Agents;
use crate::canonical::hex;
use crate::directory::{Known, find_inboxes, remove};
use crate::error::PipesError;
use crate::inbox::{Inbox, Post, Posted, Signer, blocking, lock, paths};
use crate::keys::{self, MasterSecret, Token, inbox_of, matches};
use crate::limits::{Bucket, Clock, Limits};
use crate::meta::{InboxKind, Meta, Seat, SeatRole, SeatStatus, sync_parent};
use crate::seats::{Host, SeatOwner};
use crate::verify;

/// Bytes of an idempotency key.
const MAX_IDEMPOTENCY_KEY: usize = 128;

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

/// All inboxes of a server.
pub struct Pipes {
    dir: PathBuf,
    limits: Limits,
    clock: Clock,
    master: MasterSecret,
    pub(crate) inboxes: Mutex<Known>,
    /// The turn to open the files of an inbox that exists.
    opening: tokio::sync::Mutex<()>,
    open_rate: Mutex<Bucket>,
    pub(crate) redeem_rate: Mutex<Bucket>,
    verify_rate: Mutex<Bucket>,
    pub(crate) agents: Agents,
    /// Held for as long as the directory is this server's.
    _lock: File,
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
            agents: Agents::load(&dir.join("agents"), limits.agent_rate, now)?,
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

    /// Forgets expired agents and inboxes, and deletes the files of these. To be called now and then; it blocks on the disk.
    ///
    /// # Errors
    /// When a file cannot be deleted.
    pub fn sweep(&self) -> io::Result<()> {
        let now = self.clock.now_ms();
        self.agents.forget_expired(now);
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
        self: &Arc<Self>,
        kind: InboxKind,
        holder: Option<String>,
    ) -> Result<Opened, PipesError> {
        permit(&self.open_rate, self.now_ms())?;
        let pipes = Arc::clone(self);
        blocking(move || pipes.create(kind, holder.as_deref())).await?
    }

    /// Blocks on the disk.
    fn create(&self, kind: InboxKind, holder: Option<&str>) -> Result<Opened, PipesError> {
        let now = self.clock.now_ms();
        let id = keys::new_id()?;
        let life = match kind {
            InboxKind::Anonymous => self.limits.anonymous_life_ms,
            InboxKind::Signed => self.limits.signed_life_ms,
        };
        let [capture_token, host_token] = [Token::mint(&id)?, Token::mint(&id)?];
        let read_token = self.master.read_token(&id);
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
            holder: holder.map(str::to_owned),
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
        if let Some(holder) = holder {
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

    /// The read token of an inbox, to be shown to its host again. None when the inbox was opened with another one: under
    /// another master secret, or before read tokens were derived.
    pub(crate) fn read_token(&self, inbox: &Inbox) -> Option<Token> {
        let token = self.master.read_token(inbox.id());
        matches(&inbox.meta().read, token.reveal()).then_some(token)
    }

    pub(crate) fn grant(&self, meta: &Meta, seat: &Seat) -> SeatGrant {
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
        let may_read = inbox.meta().may_read(&keys::digest(token), self.now_ms());
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
    /// [`PipesError::Unsigned`], [`PipesError::TooLarge`], [`PipesError::BadRequest`] for an idempotency key of more than
    /// 128 bytes, [`PipesError::RateLimited`], [`PipesError::InboxFull`], [`PipesError::NotFound`],
    /// [`PipesError::Unavailable`].
    pub async fn post(&self, writer: &Writer, post: Incoming) -> Result<Posted, PipesError> {
        let Writer(inbox) = writer;
        if post.body.len() > self.limits.body_bytes {
            return Err(PipesError::TooLarge);
        }
        if post.idempotency_key.as_ref().is_some_and(|key| key.len() > MAX_IDEMPOTENCY_KEY) {
            return Err(PipesError::BadRequest);
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
    pub(crate) async fn post_held(
        &self,
        inbox: &Arc<Inbox>,
        seat: &Seat,
        body: Bytes,
    ) -> Result<Posted, PipesError> {
        let key = self.master.signing_key(inbox.id(), &seat.seat_ref, seat.generation);
        let signature = Some(hex(&keys::hmac(key.as_bytes(), &body)));
        let content_type = Some("application/json".to_owned());
        self.post(
            &Writer(Arc::clone(inbox)),
            Incoming { body, content_type, signature, idempotency_key: None },
        )
        .await
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

/// The right to post to an inbox.
#[derive(Debug, Clone)]
pub struct Writer(pub(crate) Arc<Inbox>);

impl Writer {
    /// The inbox.
    #[must_use]
    pub fn inbox(&self) -> &Arc<Inbox> {
        &self.0
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

pub(crate) fn permit(bucket: &Mutex<Bucket>, now_ms: u64) -> Result<(), PipesError> {
    lock(bucket).take(now_ms).map_err(|retry_after_s| PipesError::RateLimited { retry_after_s })
}
