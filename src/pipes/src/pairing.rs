//! Pairing codes: how a guest proves that it knows a code without sending it.
//!
//! Of a code the server keeps its SHA-256, which is the key of the proof; the code itself is shown once, to the host.

use std::io;

use crate::canonical::{hex, sha256};
use crate::keys;

/// Symbols of a code: no 0, 1, I, L and O, which people confuse.
const ALPHABET: &[u8; 31] = b"23456789ABCDEFGHJKMNPQRSTUVWXYZ";
const GROUPS: usize = 3;
const GROUP: usize = 4;
/// Characters of a nonce or a timestamp in a proof.
const MAX_PROOF_TEXT: usize = 128;

/// A code of three groups of four; the first is its public handle.
#[derive(Clone, PartialEq, Eq)]
pub struct PairingCode(String);

impl std::fmt::Debug for PairingCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PairingCode")
    }
}

impl PairingCode {
    /// Draws a code.
    pub(crate) fn mint() -> io::Result<Self> {
        let mut symbols = Vec::with_capacity(GROUPS * GROUP);
        while symbols.len() < GROUPS * GROUP {
            // Bytes past the last whole multiple of the alphabet would favour its first symbols.
            let drawn = keys::random::<32>()?;
            symbols.extend(
                drawn.iter().filter(|b| **b < 248).map(|b| ALPHABET[usize::from(*b) % ALPHABET.len()]),
            );
        }
        let groups = symbols.chunks(GROUP).take(GROUPS);
        let groups: Vec<String> =
            groups.map(|group| group.iter().copied().map(char::from).collect()).collect();
        Ok(Self(groups.join("-")))
    }

    /// Reads a pasted code, forgiving space around it and lower case.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let code = text.trim().to_ascii_uppercase();
        let groups: Vec<&str> = code.split('-').collect();
        let is_group = |group: &&str| group.len() == GROUP && group.bytes().all(|b| ALPHABET.contains(&b));
        (groups.len() == GROUPS && groups.iter().all(is_group)).then_some(Self(code))
    }

    /// The code as text; only its host and its guest may see it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The first group, which is public.
    #[must_use]
    pub fn handle(&self) -> &str {
        &self.0[..GROUP]
    }

    /// SHA-256 of the code: what the server stores and what keys the proof.
    pub(crate) fn digest(&self) -> [u8; 32] {
        sha256(self.0.as_bytes())
    }

    /// The proof of this code for a nonce and an RFC 3339 time.
    #[must_use]
    pub fn prove(&self, nonce: &str, timestamp: &str) -> Proof {
        let proof = hex(&keys::hmac(&self.digest(), message(self.handle(), nonce, timestamp).as_bytes()));
        Proof {
            handle: self.handle().to_owned(),
            nonce: nonce.to_owned(),
            timestamp: timestamp.to_owned(),
            proof,
        }
    }
}

/// A claim to know a code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// The code's public handle.
    pub handle: String,
    /// Text of the guest's choice, fresh for each try.
    pub nonce: String,
    /// RFC 3339 time of the try.
    pub timestamp: String,
    /// Lowercase hex HMAC-SHA256 of `handle.nonce.timestamp`, keyed with the SHA-256 of the code.
    pub proof: String,
}

impl Proof {
    /// Whether the texts are of a size that any honest guest sends.
    pub(crate) fn is_bounded(&self) -> bool {
        [&self.handle, &self.nonce, &self.timestamp, &self.proof]
            .iter()
            .all(|text| text.len() <= MAX_PROOF_TEXT)
    }

    /// Whether the proof was made with the code of this digest.
    pub(crate) fn is_good(&self, code_digest: &[u8; 32]) -> bool {
        let expected =
            hex(&keys::hmac(code_digest, message(&self.handle, &self.nonce, &self.timestamp).as_bytes()));
        keys::same(expected.as_bytes(), self.proof.as_bytes())
    }
}

fn message(handle: &str, nonce: &str, timestamp: &str) -> String {
    format!("{handle}.{nonce}.{timestamp}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transport_signatures_and_proofs_are_those_of_the_vectors() {
        let vectors = include_str!("../tests/vectors/transport.json");
        let vectors: serde_json::Value = serde_json::from_str(vectors).unwrap();
        let text = |case: &serde_json::Value, name: &str| case[name].as_str().unwrap().to_owned();
        for case in vectors["cases"].as_array().unwrap() {
            if case["kind"] == "post" {
                let signature = hex(&keys::hmac(text(case, "key").as_bytes(), text(case, "body").as_bytes()));
                assert_eq!(signature, text(case, "signature"), "{}", case["name"]);
                continue;
            }
            let code = PairingCode::parse(&text(case, "code")).unwrap();
            assert_eq!(code.reveal(), text(case, "canonicalCode"));
            let proof = code.prove(&text(case, "nonce"), &text(case, "timestamp"));
            assert_eq!(
                (proof.handle.clone(), proof.proof.clone()),
                (text(case, "handle"), text(case, "proof"))
            );
            assert!(proof.is_good(&code.digest()));
        }
    }

    #[test]
    fn minted_codes_are_read_back_and_malformed_ones_are_not() {
        for _ in 0..100 {
            let code = PairingCode::mint().unwrap();
            assert_eq!(PairingCode::parse(code.reveal()), Some(code));
        }
        for text in
            ["", "ABCD-EFGH", "ABCD-EFGH-JKM1", "ABCD-EFGH-JKMN-PQRS", "ABCDEFGHJKMN", "ABCD-EFGH-JKLO"]
        {
            assert_eq!(PairingCode::parse(text), None, "{text}");
        }
    }
}
