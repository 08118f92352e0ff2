//! Names of rooms and seats, and the secrets that take a seat back.
//!
//! Ids go into URLs, so they use the protocol's alphabet `[A-Za-z0-9_-]` alone. A reconnection token leaves the
//! server once, in the join answer; only its digest is kept, and nothing here ever prints one.

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

/// `N` characters of the alphabet, six random bits each.
#[expect(clippy::expect_used, reason = "without randomness no secret can be made and nothing can be served")]
fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    bytes.map(|byte| ALPHABET[usize::from(byte & 63)])
}

fn parse<const N: usize>(text: &str) -> Option<[u8; N]> {
    let bytes: [u8; N] = text.as_bytes().try_into().ok()?;
    bytes.iter().all(|byte| ALPHABET.contains(byte)).then_some(bytes)
}

macro_rules! id {
    ($name:ident, $length:literal, $doc:literal) => {
        #[doc = $doc]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name([u8; $length]);

        impl $name {
            pub(crate) fn random() -> Self {
                Self(random())
            }

            /// The id that `text` spells, or `None` where it is none.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                parse(text).map(Self)
            }

            /// The id as it is on the wire.
            #[must_use]
            pub fn as_str(&self) -> &str {
                str::from_utf8(&self.0).unwrap_or_default()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.as_str())
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

id!(SessionId, 12, "One seat in one room, from its reservation to its end; a reconnection keeps it.");
id!(RoomId, 9, "One room of one server.");
id!(ProcessId, 9, "One server process, as clients see it in socket addresses.");

/// The secret that takes a dropped seat back; each connection has its own.
pub(crate) struct Token([u8; 24]);

impl Token {
    pub(crate) fn random() -> Self {
        Self(random())
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn digest(&self) -> TokenDigest {
        TokenDigest::of(&self.0)
    }
}

/// What the server remembers of a [`Token`].
#[derive(Clone, Copy)]
pub(crate) struct TokenDigest([u8; 32]);

impl TokenDigest {
    pub(crate) fn of(presented: &[u8]) -> Self {
        Self(Sha256::digest(presented).into())
    }

    pub(crate) fn matches(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_spells_itself_and_nothing_else_parses() {
        let id = SessionId::random();
        assert_eq!(SessionId::parse(id.as_str()), Some(id));
        for text in ["", "short", "has space in", "thirteen-long", "é-é-é-é-", "../../../../"] {
            assert_eq!(SessionId::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_token_matches_its_own_digest_alone() {
        let token = Token::random();
        assert!(token.digest().matches(&TokenDigest::of(token.as_bytes())));
        assert!(!token.digest().matches(&Token::random().digest()));
    }
}
