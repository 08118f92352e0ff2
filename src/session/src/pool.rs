//! A game's pool (§13): policies that their authors published, for anybody to put into a seat, and how they fared.
//!
//! Code goes in and comes out to a seat alone; no listing holds any of it, nor whose it is. Every count and every byte has
//! a bound.

use crate::library::Stored;
use crate::policy::{Artifact, runtime_name};
use crate::seat::OwnerId;
use crate::{CallError, Code, Surface};
use playerthree_game::{Name, Outcome};
use playerthree_schema::t;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;

/// Most policies in one game's pool.
pub const POOL_ENTRIES: usize = 1_000;

/// Bytes of code in one game's pool.
pub const POOL_BYTES: usize = 64 << 20;

/// Bytes of code of one owner in one game's pool.
pub const POOL_BYTES_PER_OWNER: usize = 4 << 20;

/// Most entries of one page of a listing.
pub const POOL_PAGE: usize = 50;

/// Digits of an id, which keep its number an exact JSON number.
const ID_DIGITS: usize = 15;

/// Names a published policy: `pol_<digits>`. No secret, and no credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PolicyId(u64);

impl PolicyId {
    /// Reads `pol_<digits>` as it is written, without leading zeros.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("pol_").filter(|digits| digits.len() <= ID_DIGITS)?;
        let id = Self(digits.parse().ok()?);
        (id.to_string() == text).then_some(id)
    }
}

impl fmt::Display for PolicyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pol_{}", self.0)
    }
}

/// How a policy's matches ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Record {
    wins: u64,
    losses: u64,
    draws: u64,
}

#[derive(Debug)]
struct Entry {
    /// The publishing principal. It never leaves.
    author: OwnerId,
    role: Name,
    stored: Stored,
    disabled: bool,
    record: Record,
}

/// A policy of the pool on its way into a seat.
#[derive(Clone, Debug, PartialEq)]
pub struct Draftee {
    /// Its name.
    pub id: PolicyId,
    pub(crate) author: OwnerId,
    pub(crate) stored: Stored,
}

/// What a listing is to show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PoolQuery {
    /// Only policies for this role.
    pub role: Option<Name>,
    /// One's own, those that cannot be drafted included, in place of everybody's that can.
    pub mine: bool,
    /// Only those after this one.
    pub after: Option<PolicyId>,
}

impl PoolQuery {
    /// Reads `{role?, mine?, after?}`. Fails `invalid` with the path of the first fault, `mode_unavailable` in a game
    /// without a pool.
    pub fn parse(surface: &Surface, value: &Value) -> Result<Self, CallError> {
        surface.manifest.control.pool.ok_or(Code::ModeUnavailable)?;
        let role = t::literals(surface.manifest.roles.iter().map(|role| &**role));
        let after = t::str(u32::try_from(ID_DIGITS + 4).unwrap_or(u32::MAX));
        t::obj([("role", t::opt(role)), ("mine", t::opt(t::bool())), ("after", t::opt(after))])
            .validate(value)?;
        let after = value.get("after").and_then(Value::as_str);
        Ok(Self {
            role: value.get("role").and_then(Value::as_str).map(Name::from),
            mine: value.get("mine").and_then(Value::as_bool).unwrap_or(false),
            after: after.map(|id| PolicyId::parse(id).ok_or(Code::Invalid)).transpose()?,
        })
    }
}

/// Every published policy of one game.
#[derive(Debug, Default)]
pub struct Pool {
    entries: BTreeMap<PolicyId, Entry>,
    last: u64,
}

impl Pool {
    /// Publishes a policy. What the same owner published for the role already keeps its name and record.
    ///
    /// Fails `mode_unavailable` in a game without a pool, `busy` past the owner's quota (§3
    /// `maxPublishedPerPrincipal`, [`POOL_BYTES_PER_OWNER`]) and past the pool's own bounds.
    pub fn publish(
        &mut self,
        surface: &Surface,
        author: &OwnerId,
        role: &Name,
        artifact: Artifact,
    ) -> Result<PolicyId, CallError> {
        let limits = surface.manifest.control.pool.ok_or(Code::ModeUnavailable)?;
        let stored = Stored::new(artifact, &surface.hash);
        let same = |entry: &Entry| entry.author == *author && entry.role == *role && entry.stored == stored;
        if let Some((id, _)) = self.entries.iter().find(|(_, entry)| same(entry)) {
            return Ok(*id);
        }
        let own = || self.entries.values().filter(|entry| entry.author == *author);
        let bytes = stored.artifact.code.len();
        let fits = own().count() < limits.max_published_per_principal as usize
            && self.entries.len() < POOL_ENTRIES
            && bytes_of(own()) + bytes <= POOL_BYTES_PER_OWNER
            && bytes_of(self.entries.values()) + bytes <= POOL_BYTES;
        if !fits {
            return Err(Code::Busy.into());
        }
        self.last += 1;
        let id = PolicyId(self.last);
        let entry = Entry {
            author: author.clone(),
            role: role.clone(),
            stored,
            disabled: false,
            record: Record::default(),
        };
        self.entries.insert(id, entry);
        Ok(id)
    }

    /// A policy for a seat of this role. Fails `invalid` for one that does not exist, is for another role or disabled:
    /// nobody is told which. One that was made for another surface comes out, for its seat to say so (§20.5).
    pub fn draft(&self, role: &Name, id: PolicyId) -> Result<Draftee, CallError> {
        let entry = self.entries.get(&id).filter(|entry| entry.role == *role && !entry.disabled);
        let Entry { author, stored, .. } = entry.ok_or(Code::Invalid)?;
        Ok(Draftee { id, author: author.clone(), stored: stored.clone() })
    }

    /// One page of what this owner may know: `{entries: [{policyId, game, role, runtime, wins, losses, draws, mine,
    /// state?, artifactHash?}], next?}`, the last two of one's own alone. Of somebody else's policies only those that can be drafted are there.
    pub fn list(&self, surface: &Surface, owner: &OwnerId, query: &PoolQuery) -> Value {
        let shown = |(id, entry): &(&PolicyId, &Entry)| {
            let mine = entry.author == *owner;
            let wanted = if query.mine { mine } else { entry.state(surface) == State::Open };
            wanted
                && query.role.as_ref().is_none_or(|role| entry.role == *role)
                && query.after.is_none_or(|after| **id > after)
        };
        let mut rest = self.entries.iter().filter(shown);
        let page: Vec<(&PolicyId, &Entry)> = rest.by_ref().take(POOL_PAGE).collect();
        let entries: Vec<Value> =
            page.iter().map(|(id, entry)| entry.to_json(**id, surface, owner)).collect();
        let mut listing = json!({ "entries": entries });
        if let (Some((last, _)), Some(_)) = (page.last(), rest.next()) {
            listing["next"] = json!(last.to_string());
        }
        listing
    }

    /// Takes an owner's own policy out of the pool. Seats that run it run on; its record is gone. Fails `forbidden` for
    /// anything that is not theirs.
    pub fn unpublish(&mut self, owner: &OwnerId, id: PolicyId) -> Result<(), CallError> {
        let own = self.entries.get(&id).is_some_and(|entry| entry.author == *owner);
        if !own {
            return Err(Code::Forbidden.into());
        }
        self.remove(id);
        Ok(())
    }

    /// Takes a policy out of the pool on the operator's word.
    pub fn remove(&mut self, id: PolicyId) {
        self.entries.remove(&id);
    }

    /// Lets nobody draft a policy any more, or everybody again, on the operator's word. Seats that run it run on.
    pub fn set_disabled(&mut self, id: PolicyId, disabled: bool) {
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.disabled = disabled;
        }
    }

    /// A side that a policy played for is final.
    pub fn record(&mut self, id: PolicyId, outcome: Outcome) {
        let Some(Entry { record, .. }) = self.entries.get_mut(&id) else { return };
        match outcome {
            Outcome::Win => record.wins += 1,
            Outcome::Loss => record.losses += 1,
            Outcome::Draw => record.draws += 1,
            Outcome::Running => {}
        }
    }
}

/// Whether a policy can be drafted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    Disabled,
    Stale,
}

impl Entry {
    fn state(&self, surface: &Surface) -> State {
        if self.disabled {
            State::Disabled
        } else if *self.stored.surface != *surface.hash {
            State::Stale
        } else {
            State::Open
        }
    }

    fn to_json(&self, id: PolicyId, surface: &Surface, reader: &OwnerId) -> Value {
        let mine = self.author == *reader;
        let mut json = json!({
            "policyId": id.to_string(),
            "game": surface.manifest.id,
            "role": self.role,
            "runtime": runtime_name(self.stored.artifact.runtime),
            "wins": self.record.wins,
            "losses": self.record.losses,
            "draws": self.record.draws,
            "mine": mine,
        });
        if mine {
            json["state"] = json!(match self.state(surface) {
                State::Open => "open",
                State::Disabled => "disabled",
                State::Stale => "stale",
            });
            // Two equal hashes would tell others whose code they read elsewhere.
            json["artifactHash"] = json!(*self.stored.hash);
        }
        json
    }
}

fn bytes_of<'a>(entries: impl Iterator<Item = &'a Entry>) -> usize {
    entries.map(|entry| entry.stored.artifact.code.len()).sum()
}
