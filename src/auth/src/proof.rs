//! What ties a consent form to the page that showed it: a code over the owner, the site and the request, good for a while.
//! Another page cannot know it, so it cannot answer for the owner; nothing is stored for pages that nobody answers.

use crate::site::Site;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use playerthree_session::OwnerId;
use sha2::Sha256;
use std::time::Duration;
use tokio::time::Instant;

/// How long a person may look at a consent page.
const GOOD_FOR: Duration = Duration::from_secs(600);

/// The key of this process, and the moment that its proofs count from.
pub(crate) struct Proofs {
    key: [u8; 32],
    started: Instant,
}

impl Proofs {
    /// A key that ends with the process.
    ///
    /// # Panics
    /// When the operating system has no randomness to give: no form could be told from a forged one.
    pub(crate) fn new() -> Self {
        let mut key = [0; 32];
        #[expect(clippy::expect_used, reason = "without the system's randomness no proof is safe")]
        getrandom::fill(&mut key).expect("the operating system gives randomness");
        Self { key, started: Instant::now() }
    }

    /// The proof that this owner was shown this request now.
    pub(crate) fn make(&self, owner: &OwnerId, site: &Site, request: &str) -> String {
        let shown_at = self.started.elapsed().as_secs();
        let code = self.code(owner, site, request, shown_at).finalize().into_bytes();
        format!("{shown_at}.{}", URL_SAFE_NO_PAD.encode(code))
    }

    /// Whether a proof is for this owner and request, and not too old.
    pub(crate) fn holds(&self, proof: &str, owner: &OwnerId, site: &Site, request: &str) -> bool {
        let Some((shown_at, code)) = proof.split_once('.') else { return false };
        let (Ok(shown_at), Ok(code)) = (shown_at.parse::<u64>(), URL_SAFE_NO_PAD.decode(code)) else {
            return false;
        };
        let age = self.started.elapsed().as_secs().checked_sub(shown_at);
        age.is_some_and(|age| age < GOOD_FOR.as_secs())
            && self.code(owner, site, request, shown_at).verify_slice(&code).is_ok()
    }

    fn code(&self, owner: &OwnerId, site: &Site, request: &str, shown_at: u64) -> Hmac<Sha256> {
        #[expect(clippy::expect_used, reason = "HMAC takes keys of any length")]
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).expect("HMAC takes keys of any length");
        // Neither an owner id nor an issuer has a line break, so no two triples are the same text.
        mac.update(format!("{}\n{}\n{shown_at}\n{request}", owner.0, site.issuer()).as_bytes());
        mac
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_proof_is_for_one_owner_one_request_and_ten_minutes() {
        let proofs = Proofs::new();
        let (ann, bob) = (OwnerId("ann".into()), OwnerId("bob".into()));
        let (site, other) = (Site::loopback("127.0.0.1:1"), Site::loopback("localhost:1"));
        let proof = proofs.make(&ann, &site, "a=1");
        assert!(proofs.holds(&proof, &ann, &site, "a=1"));
        assert!(!proofs.holds(&proof, &bob, &site, "a=1"));
        assert!(!proofs.holds(&proof, &ann, &other, "a=1"));
        assert!(!proofs.holds(&proof, &ann, &site, "a=2"));
        assert!(!Proofs::new().holds(&proof, &ann, &site, "a=1"));
        let (_, code) = proof.split_once('.').unwrap();
        for forged in ["", ".", "0.", code, &format!("99.{code}"), &format!("x.{code}"), &format!("{proof}A")]
        {
            assert!(!proofs.holds(forged, &ann, &site, "a=1"), "{forged}");
        }
        tokio::time::advance(GOOD_FOR).await;
        assert!(!proofs.holds(&proof, &ann, &site, "a=1"));
    }
}
