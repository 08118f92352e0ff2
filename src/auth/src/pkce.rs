//! Proof keys for code exchange (RFC 7636), S256 and nothing else (§5).

use crate::fault::Fault;
use crate::params::Params;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// The challenge of one authorization request: a SHA-256 digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Challenge([u8; 32]);

impl Challenge {
    /// Reads `code_challenge` and `code_challenge_method`. Fails `invalid_request` where either is missing or says
    /// something else than S256: without a method RFC 7636 would mean `plain`.
    pub(crate) fn of(params: &Params) -> Result<Self, Fault> {
        if params.need("code_challenge_method")? != "S256" {
            return Err(Fault::InvalidRequest);
        }
        let digest = URL_SAFE_NO_PAD.decode(params.need("code_challenge")?).ok();
        digest.and_then(|digest| digest.try_into().ok()).map(Self).ok_or(Fault::InvalidRequest)
    }

    /// Whether this is the verifier, of the length and letters that RFC 7636 §4.1 gives one.
    pub(crate) fn is_met_by(&self, verifier: &str) -> bool {
        let unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        let digest = Sha256::digest(verifier.as_bytes());
        (43..=128).contains(&verifier.len())
            && verifier.bytes().all(unreserved)
            && bool::from(digest.as_slice().ct_eq(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7636, appendix B.
    const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

    fn challenge(form: &str) -> Result<Challenge, Fault> {
        Challenge::of(&Params::parse(form).unwrap())
    }

    #[test]
    fn the_verifier_of_a_challenge_meets_it_and_no_other_does() {
        let own = challenge(&format!("code_challenge={CHALLENGE}&code_challenge_method=S256")).unwrap();
        assert!(own.is_met_by(VERIFIER));
        let long = "a".repeat(129);
        for other in ["", CHALLENGE, &VERIFIER[..42], &VERIFIER.replace('d', "e"), "a b", long.as_str()] {
            assert!(!own.is_met_by(other), "{other}");
        }
    }

    /// §5 "PKCE S256 only".
    #[test]
    fn plain_and_missing_challenges_are_refused() {
        for form in [
            String::new(),
            format!("code_challenge={CHALLENGE}"),
            format!("code_challenge={CHALLENGE}&code_challenge_method=plain"),
            format!("code_challenge={CHALLENGE}&code_challenge_method=s256"),
            "code_challenge_method=S256".into(),
            "code_challenge=short&code_challenge_method=S256".into(),
            format!("code_challenge={CHALLENGE}A&code_challenge_method=S256"),
            format!("code_challenge={CHALLENGE}%3D&code_challenge_method=S256"),
        ] {
            assert_eq!(challenge(&form), Err(Fault::InvalidRequest), "{form}");
        }
    }
}
