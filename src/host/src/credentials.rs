//! Human, spectator and observer tokens of one match (§5, §20 "start-mode primitives", §20.9): what lets a client in
//! besides its account.
//!
//! Time is handed in. Only digests are kept, a token is told once, and nothing of one is logged. A claimed token is a
//! token no more: its authority belongs to one lease, and no second connection ever gets it. Whoever delivers for
//! leases settles first and serves none that came out.

use crate::accounts::Account;
use crate::secret::{self, Digest, Token};
use playerthree_game::{Name, Seat};
use playerthree_session::{CallError, Code, Match, Millis, ObserverGrant, OwnerId};
use std::collections::BTreeMap;
use std::time::Duration;

/// Unclaimed spectator tokens of one side, and unclaimed observer tokens of the match. A seat has one human token.
pub const TOKENS_WAITING_MAX: usize = 64;

/// How long a token is good for, and a seat or observer token may wait for its claim: at least 5 seconds, at most 600
/// (§20), 120 where nothing is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ttl(u64);

impl Ttl {
    /// The longest time.
    pub const MAX: Self = Self(600);
    /// The shortest time: less would end before its client has connected.
    pub const MIN: Self = Self(5);

    /// So many seconds.
    ///
    /// # Errors
    /// `invalid` out of bounds.
    pub fn of(seconds: Option<u64>) -> Result<Self, CallError> {
        match seconds {
            None => Ok(Self::default()),
            Some(seconds) if (Self::MIN.0..=Self::MAX.0).contains(&seconds) => Ok(Self(seconds)),
            Some(_) => Err(Code::Invalid.into()),
        }
    }

    /// As wall time.
    pub fn duration(self) -> Duration {
        Duration::from_secs(self.0)
    }

    fn after(self, now: Millis) -> Millis {
        now.saturating_add(self.0 * 1000)
    }
}

impl Default for Ttl {
    fn default() -> Self {
        Self(120)
    }
}

/// How much of a match a person sees or has seen, beside the agents and policies that they own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// Nothing but the side in question.
    OwnSide,
    /// Another side too, or everything.
    Broader,
}

/// Whoever asks for a human token.
#[derive(Clone, Copy, Debug)]
pub struct Holder<'a> {
    /// Who they are.
    pub account: &'a Account,
    /// What they see beside the seat's side.
    pub sight: Sight,
}

impl Holder<'_> {
    /// The holder rule (§20). Agents and policies of theirs on another side do not count.
    fn may_hold(self, game: &Match, seat: &Seat) -> Result<(), CallError> {
        let owner = &self.account.owner;
        let holds = game.owner(seat) == Some(owner) && game.is_held_in_person(seat);
        let elsewhere = self.sight == Sight::Broader || game.holds_in_person_elsewhere(owner, &seat.team);
        if holds && !elsewhere { Ok(()) } else { Err(Code::Forbidden.into()) }
    }
}

/// What a token is good for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grant {
    /// One seat in its owner's name: the side's fogged view, and the owner's operations on that seat alone.
    Human {
        /// Who owns the seat.
        account: Account,
        /// The seat.
        seat: Seat,
    },
    /// One side's fogged view, and no other side's ever.
    Spectator {
        /// The side.
        team: Name,
    },
    /// A place among the observers of a private match. Its time is the time to claim it (§20.9).
    Observer {
        /// The player who invited them, and who may end it.
        inviter: OwnerId,
        /// What they may see.
        sight: ObserverGrant,
    },
}

impl Grant {
    fn is_human_of(&self, seat: &Seat) -> bool {
        matches!(self, Self::Human { seat: own, .. } if own == seat)
    }

    fn is_observer(&self) -> bool {
        matches!(self, Self::Observer { .. })
    }

    fn is_observer_of(&self, player: &OwnerId) -> bool {
        matches!(self, Self::Observer { inviter, .. } if inviter == player)
    }

    /// Whether both take a place under one bound. Observers do, whoever invited them.
    fn is_counted_with(&self, other: &Self) -> bool {
        self == other || (self.is_observer() && other.is_observer())
    }

    /// Whether the match still bears it out: a seat is its holder's only while they own it and hold it in person.
    fn stands(&self, game: &Match) -> bool {
        match self {
            Self::Human { account, seat } => {
                game.owner(seat) == Some(&account.owner) && game.is_held_in_person(seat)
            }
            Self::Spectator { .. } | Self::Observer { .. } => true,
        }
    }
}

#[derive(Debug)]
struct Credential {
    /// What it was minted as. A claimed one is known to its inviter by it still.
    token: Digest,
    grant: Grant,
    /// Nothing for who observes already: their lease ends with its connection or on a word (§20.9).
    expires_at: Option<Millis>,
}

impl Credential {
    fn is_in_time(&self, now: Millis) -> bool {
        self.expires_at.is_none_or(|end| end > now)
    }

    fn stands(&self, game: &Match, now: Millis) -> bool {
        self.is_in_time(now) && self.grant.stands(game)
    }
}

/// The tokens and leases of one match. A lease is named by its connection, `L`.
#[derive(Debug)]
pub struct Credentials<L> {
    waiting: BTreeMap<Digest, Credential>,
    leases: BTreeMap<L, Credential>,
    /// Leases that were revoked and not told yet.
    ended: Vec<L>,
}

impl<L> Default for Credentials<L> {
    fn default() -> Self {
        Self { waiting: BTreeMap::new(), leases: BTreeMap::new(), ended: Vec::new() }
    }
}

impl<L: Ord + Copy> Credentials<L> {
    // --- minting -------------------------------------------------------------------------------------------------

    /// A human token for a seat that this person holds in person. It ends the seat's earlier one, joined or not.
    ///
    /// # Errors
    /// `forbidden` by the holder rule (§20): the seat is not theirs in person, or they see more of the match than its
    /// side, or hold a seat of another side in person. `not_in_match` once the match is over.
    pub fn mint_human(
        &mut self,
        game: &Match,
        holder: Holder<'_>,
        seat: &Seat,
        ttl: Ttl,
        now: Millis,
    ) -> Result<Token, CallError> {
        holder.may_hold(game, seat)?;
        self.revoke_seat(seat);
        let grant = Grant::Human { account: holder.account.clone(), seat: seat.clone() };
        self.mint(game, grant, ttl, now)
    }

    /// A token for one spectator of a side of the match.
    ///
    /// # Errors
    /// `invalid` for a side that does not play, `busy` while [`TOKENS_WAITING_MAX`] of the side wait, `not_in_match` once the
    /// match is over.
    pub fn mint_spectator(
        &mut self,
        game: &Match,
        team: &Name,
        ttl: Ttl,
        now: Millis,
    ) -> Result<Token, CallError> {
        if !game.teams().contains(team) {
            return Err(Code::Invalid.into());
        }
        self.mint(game, Grant::Spectator { team: team.clone() }, ttl, now)
    }

    /// A token for one observer of a private match, on a player's word, with what they may see (§20.9
    /// `mintObserverToken`).
    ///
    /// # Errors
    /// `busy` while [`TOKENS_WAITING_MAX`] wait.
    pub fn mint_observer(
        &mut self,
        inviter: &OwnerId,
        sight: ObserverGrant,
        ttl: Ttl,
        now: Millis,
    ) -> Result<Token, CallError> {
        self.keep(Grant::Observer { inviter: inviter.clone(), sight }, ttl, now)
    }

    fn mint(&mut self, game: &Match, grant: Grant, ttl: Ttl, now: Millis) -> Result<Token, CallError> {
        if game.is_over() {
            return Err(Code::NotInMatch.into());
        }
        self.keep(grant, ttl, now)
    }

    fn keep(&mut self, grant: Grant, ttl: Ttl, now: Millis) -> Result<Token, CallError> {
        self.waiting.retain(|_, waiting| waiting.is_in_time(now));
        let alike = self.waiting.values().filter(|waiting| waiting.grant.is_counted_with(&grant));
        if alike.count() >= TOKENS_WAITING_MAX {
            return Err(Code::Busy.into());
        }
        let (token, digest) = Token::mint();
        let credential = Credential { token: digest, grant, expires_at: Some(ttl.after(now)) };
        self.waiting.insert(digest, credential);
        Ok(token)
    }

    // --- claiming ------------------------------------------------------------------------------------------------

    /// What a human or spectator token that could be claimed now is good for. Nothing is claimed.
    pub fn claimable(&self, token: &str, game: &Match, now: Millis) -> Option<&Grant> {
        let waiting = self.waiting.get(&secret::digest(token))?;
        (!waiting.grant.is_observer() && waiting.stands(game, now)).then_some(&waiting.grant)
    }

    /// Binds a human or spectator token to the lease of one connection, for good.
    ///
    /// # Errors
    /// `bad_token`, whatever is wrong: unknown, expired, revoked, claimed before, another match's or another kind's, or
    /// a connection that has a lease.
    pub fn claim(&mut self, token: &str, lease: L, game: &Match, now: Millis) -> Result<Grant, CallError> {
        if self.leases.contains_key(&lease) || self.claimable(token, game, now).is_none() {
            return Err(Code::BadToken.into());
        }
        let credential = self.waiting.remove(&secret::digest(token)).ok_or(Code::BadToken)?;
        let grant = credential.grant.clone();
        self.leases.insert(lease, credential);
        Ok(grant)
    }

    /// What an observer token that could be claimed now lets its bearer see. Nothing is claimed.
    pub fn claimable_sight(&self, token: &str, now: Millis) -> Option<&ObserverGrant> {
        match self.waiting.get(&secret::digest(token)).filter(|waiting| waiting.is_in_time(now))?.grant {
            Grant::Observer { ref sight, .. } => Some(sight),
            Grant::Human { .. } | Grant::Spectator { .. } => None,
        }
    }

    /// Binds an observer token to the lease of one connection, which has no end of its own (§20.9).
    ///
    /// # Errors
    /// `bad_token`, whatever is wrong.
    pub fn claim_observer(&mut self, token: &str, lease: L, now: Millis) -> Result<(), CallError> {
        if self.leases.contains_key(&lease) || self.claimable_sight(token, now).is_none() {
            return Err(Code::BadToken.into());
        }
        let credential = self.waiting.remove(&secret::digest(token)).ok_or(Code::BadToken)?;
        self.leases.insert(lease, Credential { expires_at: None, ..credential });
        Ok(())
    }

    /// Whether somebody observes on a ticket, or holds one that is good still.
    pub fn has_observers(&self, now: Millis) -> bool {
        let waiting = self.waiting.values().filter(|waiting| waiting.is_in_time(now));
        waiting.chain(self.leases.values()).any(|credential| credential.grant.is_observer())
    }

    // --- leases --------------------------------------------------------------------------------------------------

    /// Ends every token and lease that is expired or that the match no longer bears out, and returns all leases that have
    /// ended since the last call. To be asked before each operation of a leased connection and each delivery to one
    /// (§20 `authorizeLease`): a lease that did not come out is authorized at `now`.
    pub fn settle(&mut self, game: &Match, now: Millis) -> Vec<L> {
        self.revoke_where(|credential| !credential.stands(game, now));
        std::mem::take(&mut self.ended)
    }

    /// The connection is gone, and its lease with it. Returns whether it had one.
    pub fn disconnect(&mut self, lease: L) -> bool {
        self.leases.remove(&lease).is_some()
    }

    /// Moves the expiry of a seat's human credential, which its client has claimed and holds still.
    ///
    /// # Errors
    /// `forbidden` by the holder rule, `bad_token` where no such lease is.
    pub fn renew_human(
        &mut self,
        game: &Match,
        holder: Holder<'_>,
        seat: &Seat,
        ttl: Ttl,
        now: Millis,
    ) -> Result<(), CallError> {
        holder.may_hold(game, seat)?;
        let is_its = |lease: &&mut Credential| lease.grant.is_human_of(seat) && lease.stands(game, now);
        let lease = self.leases.values_mut().find(is_its).ok_or(Code::BadToken)?;
        lease.expires_at = Some(ttl.after(now));
        Ok(())
    }

    // --- revoking ------------------------------------------------------------------------------------------------

    /// Ends the human credential of a seat, joined or not.
    pub fn revoke_seat(&mut self, seat: &Seat) {
        self.revoke_where(|credential| credential.grant.is_human_of(seat));
    }

    /// Ends the ticket of one observer, or lets them go who came with it, on the word of whoever invited them.
    ///
    /// # Errors
    /// `bad_token` unless there is such a ticket or observer of this player's.
    pub fn revoke_observer(&mut self, inviter: &OwnerId, token: &str) -> Result<(), CallError> {
        let token = secret::digest(token);
        let is_theirs =
            |credential: &Credential| credential.token == token && credential.grant.is_observer_of(inviter);
        let ended = self.revoke_where(is_theirs);
        if ended { Ok(()) } else { Err(Code::BadToken.into()) }
    }

    /// Ends every human and spectator credential: the match is over. Observers stay and may still come: what they see is
    /// late (§20.9).
    pub fn end_match(&mut self) {
        self.revoke_where(|credential| !credential.grant.is_observer());
    }

    /// Returns whether any has ended.
    fn revoke_where(&mut self, ends: impl Fn(&Credential) -> bool) -> bool {
        let before = self.waiting.len() + self.leases.len();
        self.waiting.retain(|_, credential| !ends(credential));
        let ended = self.leases.extract_if(.., |_, credential| ends(credential));
        self.ended.extend(ended.map(|(lease, _)| lease));
        self.waiting.len() + self.leases.len() < before
    }
}
