//! The optional `sig` of an event: Ed25519 over the same canonical bytes that are hashed.
//!
//! Keys and signatures are text, `ed25519:` and unpadded base64url; any other spelling of the same bytes is refused.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};

const TAG: &str = "ed25519:";

/// Decodes a tagged value of `N` bytes; `None` unless encoding it again gives the same text.
fn untag<const N: usize>(text: &str) -> Option<[u8; N]> {
    let encoded = text.strip_prefix(TAG)?;
    let bytes: [u8; N] = URL_SAFE_NO_PAD.decode(encoded).ok()?.try_into().ok()?;
    (URL_SAFE_NO_PAD.encode(bytes) == encoded).then_some(bytes)
}

/// A public key as a log names it: 32 bytes that need not be a point of the curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PublicKey([u8; 32]);

impl PublicKey {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        untag(text).map(Self)
    }

    /// Strict RFC 8032 verification: a small-order key or an unreduced scalar never verifies.
    pub(crate) fn accepts(self, sig: &str, message: &[u8]) -> bool {
        let Some(signature) = untag::<64>(sig) else { return false };
        VerifyingKey::from_bytes(&self.0)
            .is_ok_and(|key| key.verify_strict(message, &Signature::from_bytes(&signature)).is_ok())
    }
}

/// Whether a text is a well-formed public key.
pub(crate) fn verify_tag(text: &str) -> bool {
    PublicKey::parse(text).is_some()
}

/// The public key of a seed, as events name it.
pub(crate) fn public_tag(seed: &[u8; 32]) -> String {
    format!("{TAG}{}", URL_SAFE_NO_PAD.encode(SigningKey::from_bytes(seed).verifying_key().to_bytes()))
}

/// The `sig` text of a message.
pub(crate) fn sign(seed: &[u8; 32], message: &[u8]) -> String {
    format!("{TAG}{}", URL_SAFE_NO_PAD.encode(SigningKey::from_bytes(seed).sign(message).to_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_accepted_in_one_spelling_only() {
        let seed = [7; 32];
        let key = PublicKey::parse(&public_tag(&seed)).unwrap();
        let sig = sign(&seed, b"message");
        assert!(key.accepts(&sig, b"message"));
        assert!(!key.accepts(&sig, b"massage"));
        assert!(!key.accepts(&format!("{sig}="), b"message"));
        assert!(!key.accepts(&sig.replace("ed25519:", ""), b"message"));
    }

    #[test]
    fn a_small_order_key_accepts_nothing() {
        let mut identity = [0; 32];
        identity[0] = 1;
        let key = PublicKey(identity);
        let mut forged = [0; 64];
        forged[0] = 1;
        let sig = format!("{TAG}{}", URL_SAFE_NO_PAD.encode(forged));
        assert!(!key.accepts(&sig, b"anything"));
    }
}
