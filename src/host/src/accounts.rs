//! The demo's simple login: a name for a token. Real games bring their own accounts (§2: the game authenticates owners).
//!
//! Kept in memory and bounded; tokens are kept as digests. An owner id is random and says nothing about the name.

use crate::secret::{self, Digest, Token};
use dashmap::DashMap;
use playerthree_session::{Bucket, OwnerId};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Most accounts at once. Those used longest ago make room.
pub const ACCOUNTS_MAX: usize = 10_000;

/// Logins of the whole process: so many a second, and so many at once.
const LOGINS_PER_SECOND: f64 = 50.0;
const LOGINS_BURST: u32 = 1_000;

/// Longest name, in Unicode code points.
pub const NAME_MAX: usize = 24;

/// A person who logged in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Opaque identity.
    pub owner: OwnerId,
    /// What other people read. Never sent to agents.
    pub display: String,
}

/// The name is not 1 to [`NAME_MAX`] letters, digits, spaces, `-`, `_`, `.` or `'`, or only spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a name has 1 to {NAME_MAX} letters, digits, spaces or any of - _ . '")]
pub struct BadName;

/// Why nobody is logged in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoginRefused {
    /// The name is out of bounds.
    #[error("{0}")]
    Name(#[from] BadName),
    /// Too many logins in the whole process; it passes.
    #[error("too many logins; try again in a moment")]
    TooMany,
}

/// All accounts of this process.
#[derive(Debug)]
pub struct Accounts {
    by_token: DashMap<Digest, (u64, Account)>,
    /// Counts logins and uses, so that the least recently used accounts make room.
    uses: AtomicU64,
    rate: Mutex<Bucket>,
    started: Instant,
}

impl Default for Accounts {
    fn default() -> Self {
        Self {
            by_token: DashMap::new(),
            uses: AtomicU64::new(0),
            rate: Mutex::new(Bucket::new(LOGINS_PER_SECOND, LOGINS_BURST, 0)),
            started: Instant::now(),
        }
    }
}

impl Accounts {
    /// Logs a name in. The same name twice is two people: the demo has no passwords.
    pub fn login(&self, name: &str) -> Result<(Token, Account), LoginRefused> {
        let display = checked_name(name)?;
        let now = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        if !self.rate.lock().unwrap_or_else(PoisonError::into_inner).take(now) {
            return Err(LoginRefused::TooMany);
        }
        let (token, digest) = Token::mint();
        let owner = OwnerId(Token::mint().0.reveal().into());
        let account = Account { owner, display };
        self.make_room();
        self.by_token.insert(digest, (self.next_use(), account.clone()));
        Ok((token, account))
    }

    /// The account of a login token, which is thereby in use.
    pub fn find(&self, token: &str) -> Option<Account> {
        let mut entry = self.by_token.get_mut(&secret::digest(token))?;
        entry.0 = self.next_use();
        Some(entry.1.clone())
    }

    fn next_use(&self) -> u64 {
        self.uses.fetch_add(1, Ordering::Relaxed)
    }

    fn make_room(&self) {
        if self.by_token.len() < ACCOUNTS_MAX {
            return;
        }
        // Dropping a tenth at once keeps the scan rare however fast logins come.
        let mut uses: Vec<u64> = self.by_token.iter().map(|entry| entry.0).collect();
        let (_, keep_from, _) = uses.select_nth_unstable(ACCOUNTS_MAX / 10);
        let keep_from = *keep_from;
        self.by_token.retain(|_, (used, _)| *used >= keep_from);
    }
}

fn checked_name(name: &str) -> Result<String, BadName> {
    let name = name.trim();
    let allowed = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.' | '\'');
    let length = name.chars().take(NAME_MAX + 1).count();
    if length == 0 || length > NAME_MAX || !name.chars().all(allowed) {
        return Err(BadName);
    }
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_finds_its_own_account_and_no_other_token_does() {
        let accounts = Accounts::default();
        let (ann, account) = accounts.login(" Ann ").unwrap();
        let (bob, _) = accounts.login("Bob").unwrap();
        assert_eq!(account.display, "Ann");
        assert_eq!(accounts.find(ann.reveal()), Some(account.clone()));
        assert_ne!(accounts.find(bob.reveal()).unwrap().owner, account.owner);
        assert_eq!(accounts.find("nonsense"), None);
        assert_eq!(accounts.find(""), None);
    }

    #[test]
    fn names_out_of_bounds_are_refused() {
        let accounts = Accounts::default();
        let long = "x".repeat(NAME_MAX + 1);
        for name in ["", "   ", "a\nb", "<b>", "a\u{202e}b", long.as_str()] {
            assert_eq!(accounts.login(name).map(|_| ()), Err(LoginRefused::Name(BadName)), "{name:?}");
        }
        assert!(accounts.login(&"é".repeat(NAME_MAX)).is_ok());
    }

    #[test]
    fn a_flood_of_logins_is_refused_past_its_burst() {
        let accounts = Accounts::default();
        let refused =
            (0..2 * LOGINS_BURST).filter(|_| accounts.login("x") == Err(LoginRefused::TooMany)).count();
        assert!(refused > 0);
    }

    #[test]
    fn accounts_stay_within_their_bound_and_those_in_use_stay() {
        let accounts = Accounts::default();
        *accounts.rate.lock().unwrap() = Bucket::new(1.0, u32::MAX, 0);
        let (kept, _) = accounts.login("in use").unwrap();
        let (idle, _) = accounts.login("idle").unwrap();
        for _ in 0..ACCOUNTS_MAX + 10 {
            accounts.login("x").unwrap();
            assert!(accounts.find(kept.reveal()).is_some());
        }
        assert!(accounts.by_token.len() <= ACCOUNTS_MAX);
        assert_eq!(accounts.find(idle.reveal()), None);
    }
}
