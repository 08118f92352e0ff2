//! One inbox: posts in, numbered rows out.
//!
//! A single task owns the file's end; it numbers posts, writes all that wait in one go, syncs once and only then
//! acknowledges them. The inbox never judges what is posted and never drops or changes a row while it lives.

use std::collections::HashMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use tokio::sync::{Semaphore, mpsc, oneshot, watch};

use crate::error::PipesError;
use crate::feed::Feed;
use crate::limits::{Bucket, Clock, Limits, timestamp};
use crate::meta::{InboxKind, Meta, SeatRole};
use crate::row::{Recent, names_game, read_row};
use crate::store::{Appended, RowFile, RowLine};
use crate::verify::{Bounds, Detail, LogReader, Options, Request, Seats};

/// Posts that share one sync at most.
const MAX_BATCH: usize = 256;
/// Characters of a content type that is stored.
const MAX_CONTENT_TYPE: usize = 128;

/// An acknowledged post: it is on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posted {
    /// The id of the capture.
    pub capture_id: String,
    /// Its number in the inbox, from 1 without gaps.
    pub seq: u64,
}

/// Some rows of an inbox.
#[derive(Debug, Clone)]
pub struct Page {
    /// Each a JSON object as it is stored.
    pub rows: Vec<Bytes>,
    /// Rows of the inbox.
    pub total: u64,
    /// Where to go on: the number of the last row looked at.
    pub next: u64,
}

/// Which rows to list.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// Only rows with a larger number.
    pub after: u64,
    /// Rows at most; the inbox's own bound holds as well.
    pub limit: Option<usize>,
    /// Only rows whose body names this game.
    pub game: Option<String>,
}

/// Who wrote a post, as the transport found.
#[derive(Debug, Clone)]
pub(crate) struct Signer {
    pub(crate) seat_ref: String,
    pub(crate) label: String,
}

/// A post before it has a number.
#[derive(Debug, Clone)]
pub(crate) struct Post {
    pub(crate) body: Bytes,
    pub(crate) content_type: Option<String>,
    pub(crate) signer: Option<Signer>,
    /// Digest of an idempotency key with signer and body: the same one is stored once.
    pub(crate) digest: Option<String>,
}

/// A post in the mailbox. It keeps its inbox alive, so an inbox with waiting posts is never taken for idle.
struct Waiting {
    post: Post,
    inbox: Arc<Inbox>,
    answer: oneshot::Sender<Result<Posted, PipesError>>,
}

/// An answer that is due, with what it says.
type Acknowledgement = (oneshot::Sender<Result<Posted, PipesError>>, Result<Posted, PipesError>);

/// What a restart finds again by reading the rows.
struct Derived {
    log: LogReader,
    fed: u64,
}

/// An open inbox.
pub struct Inbox {
    id: String,
    meta_path: PathBuf,
    limits: Limits,
    clock: Clock,
    rows: RowFile,
    head: watch::Sender<u64>,
    recent: Mutex<Recent>,
    bucket: Mutex<Bucket>,
    posted: Mutex<HashMap<String, u64>>,
    meta: RwLock<Arc<Meta>>,
    /// Serializes changes of `meta`, which are saved before they are seen.
    changing: tokio::sync::Mutex<()>,
    derived: Mutex<Option<Derived>>,
    waiters: Semaphore,
    mailbox: mpsc::Sender<Waiting>,
}

impl std::fmt::Debug for Inbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inbox").field("id", &self.id).finish()
    }
}

impl Inbox {
    /// Opens the files of an inbox and starts its task, which ends when the inbox is dropped.
    pub(crate) fn open(meta: Meta, dir: &Path, limits: &Limits, clock: &Clock) -> std::io::Result<Arc<Self>> {
        let (rows_path, meta_path) = paths(dir, &meta.id);
        let recovered = RowFile::recover(&rows_path, line_bound(limits))?;
        let (mailbox, posts) = mpsc::channel(limits.mailbox.max(1));
        let inbox = Arc::new(Self {
            id: meta.id.clone(),
            meta_path,
            head: watch::Sender::new(recovered.rows.len()),
            rows: recovered.rows,
            recent: Mutex::default(),
            bucket: Mutex::new(Bucket::new(limits.post_rate, clock.now_ms())),
            posted: Mutex::new(recovered.posted.into_iter().collect()),
            meta: RwLock::new(Arc::new(meta)),
            changing: tokio::sync::Mutex::default(),
            derived: Mutex::new(None),
            waiters: Semaphore::new(limits.waiters),
            mailbox,
            limits: limits.clone(),
            clock: clock.clone(),
        });
        tokio::spawn(write_posts(posts));
        Ok(inbox)
    }

    /// The id, which is public.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Who may post.
    #[must_use]
    pub fn kind(&self) -> InboxKind {
        self.meta().kind
    }

    /// The number of the newest row.
    #[must_use]
    pub fn head(&self) -> u64 {
        *self.head.borrow()
    }

    pub(crate) fn meta(&self) -> Arc<Meta> {
        Arc::clone(&self.meta.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn is_expired(&self) -> bool {
        self.clock.now_ms() >= self.meta().expires_ms
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    /// Changes what is stored about the inbox: saved first, seen after. A refused change changes nothing.
    ///
    /// Cancel safety: a change that was begun is finished, so that memory and disk never differ.
    pub(crate) async fn change<T: Send + 'static>(
        self: &Arc<Self>,
        change: impl FnOnce(&mut Meta) -> Result<T, PipesError> + Send + 'static,
    ) -> Result<T, PipesError> {
        let inbox = Arc::clone(self);
        let changed = tokio::spawn(async move {
            let _turn = inbox.changing.lock().await;
            let mut meta = Meta::clone(&inbox.meta());
            let answer = change(&mut meta)?;
            let meta = Arc::new(meta);
            let (saved, path) = (Arc::clone(&meta), inbox.meta_path.clone());
            blocking(move || saved.save(&path)).await??;
            *inbox.meta.write().unwrap_or_else(PoisonError::into_inner) = meta;
            Ok(answer)
        });
        changed.await.unwrap_or(Err(PipesError::Unavailable))
    }

    /// Makes everybody who waits look again, because the inbox has ended.
    pub(crate) fn wake(&self) {
        self.head.send_modify(|_| {});
    }

    /// Stores a post that was already attributed; it returns after the sync.
    ///
    /// Cancel safety: a call that is dropped may still store its post.
    pub(crate) async fn store(self: &Arc<Self>, post: Post) -> Result<Posted, PipesError> {
        if post.body.len() > self.limits.body_bytes {
            return Err(PipesError::TooLarge);
        }
        if self.is_expired() {
            return Err(PipesError::NotFound);
        }
        let taken = lock(&self.bucket).take(self.clock.now_ms());
        taken.map_err(|retry_after_s| PipesError::RateLimited { retry_after_s })?;
        let (answer, acknowledged) = oneshot::channel();
        let waiting = Waiting { post, inbox: Arc::clone(self), answer };
        self.mailbox.try_send(waiting).map_err(|_| PipesError::RateLimited { retry_after_s: 1 })?;
        acknowledged.await.unwrap_or(Err(PipesError::Unavailable))
    }

    /// Lists rows, oldest first.
    ///
    /// # Errors
    /// [`PipesError::NotFound`] when the inbox has expired; [`PipesError::Unavailable`] when the file cannot be read.
    pub async fn list(self: &Arc<Self>, listing: Listing) -> Result<Page, PipesError> {
        if self.is_expired() {
            return Err(PipesError::NotFound);
        }
        let inbox = Arc::clone(self);
        blocking(move || inbox.page(&listing)).await?
    }

    /// Lists rows, waiting for the first one up to `wait`, bounded by the inbox's own bound.
    ///
    /// # Errors
    /// As [`Inbox::list`]; [`PipesError::RateLimited`] when too many calls wait already.
    pub async fn wait(self: &Arc<Self>, listing: Listing, wait: Duration) -> Result<Page, PipesError> {
        let wait = wait.min(Duration::from_millis(self.limits.wait_ms));
        let _place = self.waiters.try_acquire().map_err(|_| PipesError::RateLimited { retry_after_s: 1 })?;
        let deadline = tokio::time::Instant::now() + wait;
        let mut head = self.head.subscribe();
        let mut listing = listing;
        let kept = listing.after;
        loop {
            head.mark_unchanged();
            let page = self.list(listing.clone()).await?;
            if !page.rows.is_empty() {
                return Ok(page);
            }
            let has_more = page.next < page.total;
            listing.after = page.next;
            if !has_more && tokio::time::timeout_at(deadline, head.changed()).await.is_err() {
                // An empty answer keeps the caller's cursor, past rows that it filtered away.
                return Ok(Page { next: listing.after.max(kept), ..page });
            }
        }
    }

    /// One row by its capture id.
    ///
    /// # Errors
    /// [`PipesError::NotFound`].
    pub async fn capture(self: &Arc<Self>, capture_id: &str) -> Result<Bytes, PipesError> {
        let number = capture_id.strip_prefix(&self.id).and_then(|rest| rest.strip_prefix('-'));
        let seq = number.and_then(|seq| seq.parse::<u64>().ok()).ok_or(PipesError::NotFound)?;
        if capture_id != self.capture_id(seq) || seq == 0 || seq > self.head() || self.is_expired() {
            return Err(PipesError::NotFound);
        }
        let inbox = Arc::clone(self);
        blocking(move || inbox.row(seq)).await?
    }

    /// The rows after a number, each exactly once and in order, for as long as the inbox lives.
    #[must_use]
    pub fn feed(self: &Arc<Self>, after: u64) -> Feed {
        Feed::new(Arc::clone(self), self.head.subscribe(), after)
    }

    /// Asks something of the games of this inbox, after every stored row was read.
    pub(crate) async fn with_log<T: Send + 'static>(
        self: &Arc<Self>,
        ask: impl FnOnce(&LogReader) -> T + Send + 'static,
    ) -> Result<T, PipesError> {
        let inbox = Arc::clone(self);
        blocking(move || {
            let mut derived = lock(&inbox.derived);
            let mut known = match derived.take() {
                Some(known) => known,
                None => Derived { log: inbox.fresh_log()?, fed: 0 },
            };
            while known.fed < inbox.head() {
                let row = inbox.row(known.fed + 1)?;
                known.log.capture(read_row(&row)?).map_err(|_| PipesError::Unavailable)?;
                known.fed += 1;
            }
            let answer = ask(&known.log);
            *derived = Some(known);
            Ok(answer)
        })
        .await?
    }

    /// What a reader of this inbox knows beforehand: the host is X.
    pub(crate) fn reader_options(&self) -> Options {
        let meta = self.meta();
        let host =
            meta.seats.iter().find(|seat| seat.role == SeatRole::Host && meta.kind == InboxKind::Signed);
        Options {
            seats: host.map(|host| Seats { x: Some(host.seat_ref.clone()), o: None }),
            ..Options::default()
        }
    }

    fn fresh_log(&self) -> Result<LogReader, PipesError> {
        let captures = usize::try_from(self.capacity()).unwrap_or(usize::MAX);
        let bounds = Bounds {
            games: captures,
            accepted_events: captures,
            capture_bytes: self.limits.body_bytes,
            listed_rows: 1000,
            ..Bounds::default()
        };
        let request = Request { options: self.reader_options(), game: None, detail: Detail::Chains, bounds };
        LogReader::live(request).map_err(|_| PipesError::Unavailable)
    }

    fn capacity(&self) -> u64 {
        match self.kind() {
            InboxKind::Anonymous => self.limits.anonymous_captures,
            InboxKind::Signed => self.limits.signed_captures,
        }
    }

    fn capture_id(&self, seq: u64) -> String {
        format!("{}-{seq}", self.id)
    }

    /// Blocks on the file.
    fn row(&self, seq: u64) -> Result<Bytes, PipesError> {
        if let Some(row) = lock(&self.recent).get(seq) {
            return Ok(row);
        }
        self.rows.read(seq).map_err(|_| PipesError::Unavailable)
    }

    /// Blocks on the file.
    fn page(&self, listing: &Listing) -> Result<Page, PipesError> {
        let total = self.head();
        let limit = listing.limit.unwrap_or(usize::MAX).clamp(1, self.limits.page_rows);
        let mut page = Page { rows: Vec::new(), total, next: listing.after };
        let (mut bytes, mut looked_at) = (0, 0);
        // A filter looks at ten pages at most; the caller goes on from the cursor.
        while page.next < total && page.rows.len() < limit && looked_at < self.limits.page_rows * 10 {
            let row = self.row(page.next + 1)?;
            if listing.game.as_deref().is_none_or(|game| names_game(&row, game)) {
                if !page.rows.is_empty() && bytes + row.len() > self.limits.page_bytes {
                    break;
                }
                bytes += row.len();
                page.rows.push(row);
            }
            page.next += 1;
            looked_at += 1;
        }
        Ok(page)
    }

    /// Numbers and stores a batch; the answers may be given once this returns. Blocks on the file.
    fn write(&self, batch: Vec<Waiting>) -> Vec<Acknowledgement> {
        let first = self.rows.len() + 1;
        let created_at = timestamp(self.clock.now_ms());
        let (mut lines, mut answers, mut digests) = (Vec::new(), Vec::new(), HashMap::new());
        for Waiting { post, answer, .. } in batch {
            let seq = first + lines.len() as u64;
            let known = post.digest.as_ref().and_then(|digest| {
                digests.get(digest).copied().or_else(|| lock(&self.posted).get(digest).copied())
            });
            if let Some(seq) = known {
                answers.push((answer, Ok(seq)));
            } else if seq > self.capacity() {
                answers.push((answer, Err(PipesError::InboxFull)));
            } else {
                digests.extend(post.digest.clone().map(|digest| (digest, seq)));
                lines.push(self.line(seq, &created_at, &post));
                answers.push((answer, Ok(seq)));
            }
        }
        let appended = if lines.is_empty() { Appended::Synced } else { self.rows.append(&lines) };
        if appended == Appended::Synced {
            lock(&self.posted).extend(digests);
            lock(&self.recent).extend(first, &lines);
            self.head.send_replace(self.rows.len());
        } else {
            tracing::error!(inbox = self.id, ?appended, "an inbox could not store its posts");
        }
        let outcome = |seq: Result<u64, PipesError>| match appended {
            Appended::Synced => seq.map(|seq| Posted { capture_id: self.capture_id(seq), seq }),
            Appended::Failed | Appended::Broken => Err(PipesError::Unavailable),
        };
        answers.into_iter().map(|(answer, seq)| (answer, outcome(seq))).collect()
    }

    fn line(&self, seq: u64, created_at: &str, post: &Post) -> Bytes {
        let encoded;
        let (body, body_encoding) = match std::str::from_utf8(&post.body) {
            Ok(text) => (text, None),
            Err(_) => {
                encoded = STANDARD.encode(&post.body);
                (encoded.as_str(), Some("base64"))
            }
        };
        let row = RowLine {
            seq,
            id: &self.capture_id(seq),
            created_at,
            content_type: post.content_type.as_deref().filter(|kind| kind.len() <= MAX_CONTENT_TYPE),
            matched_signing_ref: post.signer.as_ref().map(|signer| signer.seat_ref.as_str()),
            matched_signer_label: post.signer.as_ref().map(|signer| signer.label.as_str()),
            rejection_reason: None,
            body,
            body_encoding,
            post_digest: post.digest.as_deref(),
        };
        #[expect(clippy::expect_used, reason = "a row has string keys and no maps")]
        let mut line = serde_json::to_vec(&row).expect("a row is JSON");
        line.push(b'\n');
        line.into()
    }
}

/// The task that writes an inbox. Terminates if the inbox is dropped or a write panicked.
async fn write_posts(mut posts: mpsc::Receiver<Waiting>) {
    let mut batch = Vec::new();
    while posts.recv_many(&mut batch, MAX_BATCH).await > 0 {
        let Some(inbox) = batch.first().map(|waiting| Arc::clone(&waiting.inbox)) else { continue };
        let batch = std::mem::take(&mut batch);
        // The inbox is let go before anybody is answered, so that one without callers is idle at once.
        let Ok(answers) = blocking(move || inbox.write(batch)).await else { return };
        for (answer, stored) in answers {
            // A caller that went away has its post stored all the same.
            _ = answer.send(stored);
        }
    }
}

/// The two files of an inbox: its rows and what it knows of itself.
pub(crate) fn paths(dir: &Path, id: &str) -> (PathBuf, PathBuf) {
    (dir.join(format!("{id}.jsonl")), dir.join(format!("{id}.json")))
}

/// A body escapes to six bytes each at worst; the members around it are short.
fn line_bound(limits: &Limits) -> usize {
    limits.body_bytes.saturating_mul(6).saturating_add(4096)
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs what blocks on a file or computes for long away from the tasks.
pub(crate) fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> impl Future<Output = Result<T, PipesError>> {
    let running = tokio::task::spawn_blocking(work);
    async { running.await.map_err(|_| PipesError::Unavailable) }
}
