//! Why an operation on pipes was refused: one closed list for callers to match on and for the wire.
//!
//! No error carries any part of what was sent.

use std::io;

/// Why an operation was refused. A refused operation changed nothing, except that a failed proof is counted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PipesError {
    /// No such inbox, capture, seat or code, or not the caller's, or over.
    #[error("not found")]
    NotFound,
    /// An argument has a wrong shape or is outside its bounds.
    #[error("a malformed or out-of-range argument")]
    BadRequest,
    /// The body passes its bound.
    #[error("the body is too large")]
    TooLarge,
    /// Too often; worth trying again after so many seconds.
    #[error("too many requests")]
    RateLimited {
        /// Seconds to wait.
        retry_after_s: u64,
    },
    /// The inbox holds as many captures as it may.
    #[error("the inbox is full")]
    InboxFull,
    /// The post is not signed by a live key of the inbox.
    #[error("the signature is missing or matches no key")]
    Unsigned,
    /// The proof's time is too far off; the code is not spent.
    #[error("the proof is stale")]
    StaleProof,
    /// The code has expired; the host mints another.
    #[error("the code has expired")]
    CodeExpired,
    /// As many seats, codes or inboxes as there may be.
    #[error("there is no room for another")]
    Full,
    /// The operation needs a signed inbox.
    #[error("the inbox is not signed")]
    NotSigned,
    /// The disk failed; nothing is acknowledged.
    #[error("storage is unavailable")]
    Unavailable,
}

impl From<io::Error> for PipesError {
    fn from(error: io::Error) -> Self {
        tracing::error!(kind = %error.kind(), "pipes storage failed");
        Self::Unavailable
    }
}

impl PipesError {
    /// The closed code on the wire.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::BadRequest => "bad_request",
            Self::TooLarge => "too_large",
            Self::RateLimited { .. } => "rate_limited",
            Self::InboxFull => "inbox_full",
            Self::Unsigned => "unsigned",
            Self::StaleProof => "stale_proof",
            Self::CodeExpired => "code_expired",
            Self::Full => "full",
            Self::NotSigned => "not_signed",
            Self::Unavailable => "unavailable",
        }
    }
}
