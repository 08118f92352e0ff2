//! Refresh tokens: a half that names the connection and stays, and a half that every use replaces. Whoever shows the
//! first half with an old second half shows a token that was used before.

use playerthree_host::{Digest, Token, secret_digest};
use subtle::ConstantTimeEq as _;

/// Characters of each half.
const HALF: usize = 32;

/// What is kept of a connection's refresh tokens.
pub(crate) struct Family {
    id: Digest,
    current: Digest,
}

impl Family {
    /// A new family and its first token.
    pub(crate) fn mint() -> (Self, String) {
        let (name, id) = Token::mint();
        let (secret, current) = Token::mint();
        let token = format!("{}{}", name.reveal(), secret.reveal());
        (Self { id, current }, token)
    }

    /// What the family is found by.
    pub(crate) fn id(&self) -> Digest {
        self.id
    }

    /// Whether this is the newest token of the family.
    pub(crate) fn is_current(&self, token: &RefreshToken<'_>) -> bool {
        secret_digest(token.secret).ct_eq(&self.current).into()
    }

    /// Replaces the token that was shown, which is used from now on.
    pub(crate) fn rotate(&mut self, shown: &RefreshToken<'_>) -> String {
        let (secret, current) = Token::mint();
        self.current = current;
        format!("{}{}", shown.name, secret.reveal())
    }
}

/// A presented token of the right form.
pub(crate) struct RefreshToken<'a> {
    name: &'a str,
    secret: &'a str,
}

impl<'a> RefreshToken<'a> {
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let base64url = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if text.len() != 2 * HALF || !text.bytes().all(base64url) {
            return None;
        }
        let (name, secret) = text.split_at(HALF);
        Some(Self { name, secret })
    }

    pub(crate) fn family(&self) -> Digest {
        secret_digest(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// §5: rotation makes the token before a used one.
    #[test]
    fn only_the_newest_token_of_a_family_is_current() {
        let (mut family, first) = Family::mint();
        let first = RefreshToken::parse(&first).unwrap();
        let second = family.rotate(&first);
        let second = RefreshToken::parse(&second).unwrap();
        assert_eq!((first.family(), second.family()), (family.id(), family.id()));
        assert!(!family.is_current(&first) && family.is_current(&second));
    }

    #[test]
    fn texts_of_another_form_are_no_tokens() {
        let (_, token) = Family::mint();
        for text in ["", &token[1..], &format!("{token}A"), &token.replacen(|_: char| true, " ", 1)] {
            assert!(RefreshToken::parse(text).is_none(), "{text}");
        }
    }
}
