//! Bearer secrets: 192 random bits, shown once, kept only as SHA-256 digests (§5).
//!
//! A lookup goes by digest, so comparing it tells an attacker nothing about the secret.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use std::fmt;

/// What is kept of a secret.
pub type Digest = [u8; 32];

/// The digest of a presented secret.
pub fn digest(secret: &str) -> Digest {
    Sha256::digest(secret.as_bytes()).into()
}

/// A fresh secret: 32 characters of base64url. It prints as nothing, so no log can hold it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// Draws a secret and its digest.
    ///
    /// # Panics
    /// When the operating system has no randomness to give: nothing safe can be minted then.
    pub fn mint() -> (Self, Digest) {
        let mut bytes = [0_u8; 24];
        #[expect(clippy::expect_used, reason = "without the system's randomness no credential is safe")]
        getrandom::fill(&mut bytes).expect("the operating system gives randomness");
        let token = Self(URL_SAFE_NO_PAD.encode(bytes));
        let digest = digest(&token.0);
        (token, digest)
    }

    /// The secret itself, for the one answer that hands it out.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_32_base64url_characters_and_does_not_print_itself() {
        let (token, kept) = Token::mint();
        assert_eq!(token.reveal().len(), 32);
        assert!(token.reveal().bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_'));
        assert_eq!(kept, digest(token.reveal()));
        assert!(!format!("{token:?}").contains(token.reveal()));
        assert_ne!(Token::mint().0, token);
    }
}
