//! What an inbox knows of itself besides its captures: capabilities, seats and pairing codes, in a small file of its own.
//!
//! The file holds digests of tokens and codes and the generation of each key, never a key. It is replaced whole.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::canonical::{hex, unhex32};
use crate::keys;

/// Failed proofs that burn a code.
const MAX_FAILURES: u32 = 5;

/// Who may post.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InboxKind {
    /// Whoever holds the capture URL.
    Anonymous,
    /// Whoever signs with a seat's key.
    Signed,
}

/// What a seat is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SeatRole {
    /// Opened the inbox; X.
    Host,
    /// Redeemed a code; O.
    Guest,
}

/// A seat as everybody at the inbox may see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SeatStatus {
    /// The name of the seat in `MatchedSigningRef`.
    pub seat_ref: String,
    /// Its display name.
    pub label: String,
    /// Host or guest.
    pub role: SeatRole,
    /// Whether it may post now.
    pub active: bool,
    /// When it ends, RFC 3339.
    pub expires_at: String,
}

/// A seat as it is stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Seat {
    pub(crate) seat_ref: String,
    pub(crate) label: String,
    pub(crate) role: SeatRole,
    /// Counts rotations; the key is derived from it.
    pub(crate) generation: u32,
    pub(crate) revoked: bool,
    pub(crate) expires_ms: u64,
    /// Digest of the seat's bearer token, if it was given one.
    pub(crate) token: Option<String>,
    /// Digest of the name of the caller for whom the server holds the key, if it does.
    pub(crate) holder: Option<String>,
    /// A public key of the guest's own for `sig`; without one the server derives it.
    pub(crate) public_key: Option<String>,
}

impl Seat {
    pub(crate) fn is_live(&self, now_ms: u64) -> bool {
        !self.revoked && now_ms < self.expires_ms
    }

    pub(crate) fn status(&self, now_ms: u64) -> SeatStatus {
        SeatStatus {
            seat_ref: self.seat_ref.clone(),
            label: self.label.clone(),
            role: self.role,
            active: self.is_live(now_ms),
            expires_at: crate::limits::timestamp(self.expires_ms),
        }
    }
}

/// A pairing code as it is stored, until it is used, burned or swept.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Code {
    pub(crate) handle: String,
    digest: String,
    pub(crate) label: String,
    pub(crate) seat_expires_ms: u64,
    pub(crate) expires_ms: u64,
    failures: u32,
}

impl Code {
    pub(crate) fn new(
        code: &crate::PairingCode,
        label: String,
        seat_expires_ms: u64,
        expires_ms: u64,
    ) -> Self {
        let (handle, digest) = (code.handle().to_owned(), hex(&code.digest()));
        Self { handle, digest, label, seat_expires_ms, expires_ms, failures: 0 }
    }

    pub(crate) fn proof_key(&self) -> [u8; 32] {
        unhex32(&self.digest).unwrap_or_default()
    }

    /// Counts a failed proof; whether the code is burned by it.
    pub(crate) fn fail(&mut self) -> bool {
        self.failures += 1;
        self.failures >= MAX_FAILURES
    }
}

/// The stored form of an inbox.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Meta {
    pub(crate) id: String,
    pub(crate) kind: InboxKind,
    pub(crate) created_ms: u64,
    pub(crate) expires_ms: u64,
    /// Digests of the capabilities to post, to read and to run the inbox.
    pub(crate) write: String,
    pub(crate) read: String,
    pub(crate) host: String,
    pub(crate) seats: Vec<Seat>,
    pub(crate) codes: Vec<Code>,
}

impl Meta {
    pub(crate) fn seat_mut(&mut self, seat_ref: &str) -> Option<&mut Seat> {
        self.seats.iter_mut().find(|seat| seat.seat_ref == seat_ref)
    }

    /// The live seat that the server plays for a caller.
    pub(crate) fn held_by(&self, holder: &str, now_ms: u64) -> Option<&Seat> {
        self.seats.iter().find(|seat| seat.holder.as_deref() == Some(holder) && seat.is_live(now_ms))
    }

    /// Whether the token of this digest reads the inbox: its read token, its host's or a live seat's.
    pub(crate) fn may_read(&self, digest: &str, now_ms: u64) -> bool {
        let is_same = |stored: &str| keys::same(stored.as_bytes(), digest.as_bytes());
        let mut seats = self.seats.iter().filter(|seat| seat.is_live(now_ms));
        is_same(&self.read)
            || is_same(&self.host)
            || seats.any(|seat| seat.token.as_deref().is_some_and(is_same))
    }

    /// The live seat that a bearer token belongs to.
    pub(crate) fn seat_by_token(&self, token: &str, now_ms: u64) -> Option<&Seat> {
        let mut live = self.seats.iter().filter(|seat| seat.is_live(now_ms));
        live.find(|seat| seat.token.as_deref().is_some_and(|digest| keys::matches(digest, token)))
    }

    pub(crate) fn load(path: &Path) -> io::Result<Self> {
        serde_json::from_slice(&fs::read(path)?).map_err(|_| io::Error::other("an inbox file is damaged"))
    }

    /// Replaces the file whole: a crash leaves the old one or the new one.
    pub(crate) fn save(&self, path: &Path) -> io::Result<()> {
        let draft = path.with_extension("new");
        let mut file = keys::private_file(&draft)?;
        file.write_all(&serde_json::to_vec(self).map_err(io::Error::other)?)?;
        file.sync_all()?;
        fs::rename(&draft, path)?;
        sync_parent(path)
    }
}

/// Makes a created or renamed file survive a crash.
pub(crate) fn sync_parent(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(parent) => File::open(parent)?.sync_all(),
        None => Ok(()),
    }
}
