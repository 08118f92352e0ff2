//! Canonical JSON (RFC 8785) and SHA-256, which every hash of the contract stands on.

use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// The canonical text of a value (RFC 8785): keys in UTF-16 order, numbers as ECMAScript prints doubles, no spaces.
pub fn canonical(value: &Value) -> String {
    #[expect(clippy::expect_used, reason = "a Value has string keys, no duplicates and only finite numbers")]
    serde_json_canonicalizer::to_string(value).expect("a JSON value has a canonical form")
}

/// SHA-256 as 64 lowercase hexadecimal digits.
pub fn sha256_hex(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    let mut hex = String::with_capacity(64);
    for byte in digest {
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}
