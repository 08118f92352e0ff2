//! Seats: minting pairing codes, redeeming them, rotating and revoking keys.
//!
//! A refused operation changes nothing, except that a failed proof is counted against its code.

use std::sync::Arc;

use crate::error::PipesError;
use crate::inbox::{Inbox, lock};
use crate::keys::{self, Token};
use crate::limits::{HOUR_MS, parse_timestamp};
use crate::meta::{Code, InboxKind, Meta, Seat, SeatRole};
use crate::pairing::{PairingCode, Proof};
use crate::service::{Pipes, SeatGrant, permit};
use crate::verify;

/// How far a proof's time may be off.
const PROOF_SKEW_MS: u64 = 5 * 60_000;
/// Characters of a seat's label.
const MAX_LABEL: usize = 64;
const SEAT_HOURS: std::ops::RangeInclusive<u64> = 1..=168;
const CODE_MINUTES: std::ops::RangeInclusive<u64> = 1..=1440;

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
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) seat_ref: String,
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

impl Pipes {
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
        if !is_label || !SEAT_HOURS.contains(&offer.seat_hours) || !CODE_MINUTES.contains(&offer.code_minutes)
        {
            return Err(PipesError::BadRequest);
        }
        let now = self.now_ms();
        let code = self.reserve_code(inbox.id())?;
        let (limits, minted) = (self.limits().clone(), code.clone());
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
    pub async fn redeem(
        self: &Arc<Self>,
        proof: Proof,
        public_key: Option<String>,
    ) -> Result<Redeemed, PipesError> {
        if public_key.as_deref().is_some_and(|key| !verify::verify_tag(key)) {
            return Err(PipesError::BadRequest);
        }
        self.redeem_for(proof, Recipient::Software { public_key }).await
    }

    /// Redeems a code for a recipient.
    pub(crate) async fn redeem_for(
        self: &Arc<Self>,
        proof: Proof,
        recipient: Recipient,
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
        let (seats, digest) = (self.limits().seats, token.digest());
        let handle = proof.handle.clone();
        let outcome =
            inbox.change(move |meta| Ok(seat_guest(meta, &proof, recipient, seat_ref, digest, now, seats)));
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
            let seat =
                meta.seat_mut(&seat_ref).filter(|seat| seat.is_live(now)).ok_or(PipesError::NotFound)?;
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
}

/// Seats a guest whose proof is good. The inner result is stored either way: a failed proof counts.
fn seat_guest(
    meta: &mut Meta,
    proof: &Proof,
    recipient: Recipient,
    seat_ref: String,
    token: String,
    now: u64,
    seats: usize,
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
