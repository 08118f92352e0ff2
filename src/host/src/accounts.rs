//! The demo's simple login: a name for a token. Real games bring their own accounts (§2: the game authenticates owners).
//!
//! Kept in memory and bounded; tokens are kept as digests. An owner id is random and says nothing about the name.

use crate::secret::{self, Digest, Token};
use dashmap::DashMap;
use playerthree_session::OwnerId;
use std::sync::atomic::{AtomicU64, Ordering};

/// Most accounts at once. The one that logged in longest ago makes room.
pub const ACCOUNTS_MAX: usize = 10_000;

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

/// All accounts of this process.
#[derive(Debug, Default)]
pub struct Accounts {
    by_token: DashMap<Digest, (u64, Account)>,
    logins: AtomicU64,
}

impl Accounts {
    /// Logs a name in. The same name twice is two people: the demo has no passwords.
    pub fn login(&self, name: &str) -> Result<(Token, Account), BadName> {
        let display = checked_name(name)?;
        let (token, digest) = Token::mint();
        let owner = OwnerId(Token::mint().0.reveal().into());
        let account = Account { owner, display };
        let number = self.logins.fetch_add(1, Ordering::Relaxed);
        self.make_room();
        self.by_token.insert(digest, (number, account.clone()));
        Ok((token, account))
    }

    /// The account of a login token.
    pub fn find(&self, token: &str) -> Option<Account> {
        Some(self.by_token.get(&secret::digest(token))?.1.clone())
    }

    fn make_room(&self) {
        if self.by_token.len() < ACCOUNTS_MAX {
            return;
        }
        // Dropping a share at once keeps the scan rare however fast logins come.
        let keep_from = self.logins.load(Ordering::Relaxed).saturating_sub(ACCOUNTS_MAX as u64 * 9 / 10);
        self.by_token.retain(|_, (number, _)| *number >= keep_from);
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
            assert_eq!(accounts.login(name).map(|_| ()), Err(BadName), "{name:?}");
        }
        assert!(accounts.login(&"é".repeat(NAME_MAX)).is_ok());
    }

    #[test]
    fn a_flood_of_logins_stays_within_the_bound_and_keeps_the_newest() {
        let accounts = Accounts::default();
        let mut newest = None;
        for _ in 0..ACCOUNTS_MAX + 10 {
            newest = accounts.login("x").ok();
        }
        assert!(accounts.by_token.len() <= ACCOUNTS_MAX);
        assert!(accounts.find(newest.unwrap().0.reveal()).is_some());
    }
}
