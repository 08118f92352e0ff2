//! To which of the protocol's two eras a request belongs: that of the one revision that is spoken, or the one before it,
//! of clients that open with a handshake. An older request is answered on its own too: no session is kept for it.

use super::envelope::Request;
use super::http::only;
use super::revision::{VERSION_HEADER, named};
use http::HeaderMap;
use rmcp::model::ProtocolVersion;

/// The older revisions that are answered where they are at all: those whose requests all name their revision, so that a
/// request that names none stays one of no era (-32020).
pub(crate) const OLDER: [ProtocolVersion; 2] = [ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25];

/// The era of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// Each request says everything about itself.
    Current,
    /// A handshake, then requests that name the revision that it agreed on in a header.
    Older,
}

impl Era {
    /// The era that a request says it belongs to.
    pub(crate) fn of(headers: &HeaderMap, request: &Request) -> Self {
        let is_older = || {
            let header = only(headers, &VERSION_HEADER);
            request.method == "initialize"
                || header.is_some_and(|header| OLDER.iter().any(|older| older.as_str() == header))
        };
        if named(request).is_none() && is_older() { Self::Older } else { Self::Current }
    }
}
