//! Secrets: the server's master secret, the keys derived from it, bearer tokens and their digests.
//!
//! Seat keys and read tokens are derived, never stored; of tokens and codes digests are stored. Comparisons take
//! constant time, and no type here shows its content in `Debug`.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use crate::canonical::{hex, sha256};

/// HMAC-SHA256.
pub(crate) fn hmac(key: &[u8], message: &[u8]) -> [u8; 32] {
    #[expect(clippy::expect_used, reason = "HMAC takes keys of any length")]
    let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(message);
    mac.finalize().into_bytes().into()
}

/// Random bytes from the operating system.
pub(crate) fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| io::Error::other("the system has no randomness"))?;
    Ok(bytes)
}

/// Compares two secrets of the same length without telling where they differ.
pub(crate) fn same(one: &[u8], other: &[u8]) -> bool {
    one.ct_eq(other).into()
}

/// The secret that all seat keys are derived from.
pub(crate) struct MasterSecret([u8; 32]);

impl std::fmt::Debug for MasterSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MasterSecret")
    }
}

impl MasterSecret {
    pub(crate) fn new(secret: [u8; 32]) -> Self {
        Self(secret)
    }

    /// Reads the secret of a data directory, making it on first use, readable by its owner alone.
    pub(crate) fn load(path: &Path) -> io::Result<Self> {
        match fs::read(path) {
            Ok(bytes) => {
                let secret = bytes.try_into().map_err(|_| io::Error::other("the secret file is damaged"))?;
                Ok(Self(secret))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::create(path),
            Err(error) => Err(error),
        }
    }

    fn create(path: &Path) -> io::Result<Self> {
        let secret = random()?;
        let draft = path.with_extension("new");
        let mut file = private_file(&draft)?;
        file.write_all(&secret)?;
        file.sync_all()?;
        fs::rename(&draft, path)?;
        Ok(Self(secret))
    }

    fn derive(&self, purpose: &str, inbox: &str, seat: &str, generation: u32) -> [u8; 32] {
        hmac(&self.0, format!("{purpose}\0{inbox}\0{seat}\0{generation}").as_bytes())
    }

    /// The key of a seat for the transport signature, as text; a rotation is a new generation.
    pub(crate) fn signing_key(&self, inbox: &str, seat: &str, generation: u32) -> String {
        format!("pk_{}", URL_SAFE_NO_PAD.encode(self.derive("transport", inbox, seat, generation)))
    }

    /// The Ed25519 seed of a seat. It outlives rotations, because the start events of games name its public key.
    pub(crate) fn sig_seed(&self, inbox: &str, seat: &str) -> [u8; 32] {
        self.derive("ed25519", inbox, seat, 0)
    }

    /// The one read token of an inbox. It can be shown again without having been stored.
    pub(crate) fn read_token(&self, inbox: &str) -> Token {
        Token::of(inbox, self.derive("read", inbox, "", 0))
    }
}

/// Opens a file for writing that only its owner may read.
pub(crate) fn private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// A bearer token, shown once. One for an inbox is its id, a dot, and 32 bytes that are random or derived; an
/// agent's is 24 random bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}

impl Token {
    pub(crate) fn mint(inbox: &str) -> io::Result<Self> {
        Ok(Self::of(inbox, random()?))
    }

    fn of(inbox: &str, secret: [u8; 32]) -> Self {
        Self(format!("{inbox}.{}", URL_SAFE_NO_PAD.encode(secret)))
    }

    /// A token of 192 random bits that names no inbox: 32 base64url characters.
    pub(crate) fn mint_agent() -> io::Result<Self> {
        Ok(Self(URL_SAFE_NO_PAD.encode(random::<24>()?)))
    }

    /// The text to hand over; it must not be logged.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    pub(crate) fn digest(&self) -> String {
        digest(&self.0)
    }
}

/// The inbox that a token text names.
pub(crate) fn inbox_of(token: &str) -> Option<&str> {
    token.split_once('.').map(|(inbox, _)| inbox)
}

/// What is stored of a secret that is only compared.
pub(crate) fn digest(secret: &str) -> String {
    hex(&sha256(secret.as_bytes()))
}

/// Whether a secret is the one whose digest is stored.
pub(crate) fn matches(stored: &str, secret: &str) -> bool {
    same(stored.as_bytes(), digest(secret).as_bytes())
}

/// An id of 80 random bits that is safe in paths and file names.
pub(crate) fn new_id() -> io::Result<String> {
    Ok(hex(&random::<10>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_differ_by_seat_and_by_generation_and_not_by_call() {
        let master = MasterSecret::new([1; 32]);
        let key = master.signing_key("box", "seat", 0);
        assert_eq!(key, master.signing_key("box", "seat", 0));
        assert_ne!(key, master.signing_key("box", "seat", 1));
        assert_ne!(key, master.signing_key("box", "taes", 0));
        assert_ne!(key, master.signing_key("xob", "seat", 0));
    }

    #[test]
    fn a_read_token_is_its_inboxs_and_its_servers_alone() {
        let [one, two] = [MasterSecret::new([1; 32]), MasterSecret::new([2; 32])];
        let secret = |master: &MasterSecret, inbox| {
            let token = master.read_token(inbox);
            assert_eq!(inbox_of(token.reveal()), Some(inbox));
            token.reveal().split_once('.').unwrap().1.to_owned()
        };
        assert_eq!(secret(&one, "box"), secret(&one, "box"));
        assert_ne!(secret(&one, "box"), secret(&one, "xob"));
        assert_ne!(secret(&one, "box"), secret(&two, "box"));
        assert!(!one.signing_key("box", "", 0).contains(&secret(&one, "box")));
    }

    #[test]
    fn the_master_secret_is_made_once_and_is_private() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("secret");
        let first = MasterSecret::load(&path).unwrap();
        assert_eq!(first.0, MasterSecret::load(&path).unwrap().0);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o077, 0);
        }
        assert!(!format!("{first:?}").contains('1'));
    }

    #[test]
    fn a_token_matches_its_own_digest_alone() {
        let token = Token::mint("abc").unwrap();
        assert_eq!(inbox_of(token.reveal()), Some("abc"));
        assert!(matches(&token.digest(), token.reveal()));
        assert!(!matches(&token.digest(), Token::mint("abc").unwrap().reveal()));
        assert!(!format!("{token:?}").contains("abc"));
    }
}
