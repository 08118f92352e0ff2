//! Checks of the HTTP head (§15 "Transport and credentials"). They look at headers alone.

use crate::config::McpConfig;
use crate::refusal::Refusal;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, ORIGIN};
use http::{HeaderMap, HeaderName};

/// The lease of a seat token (§20).
pub(crate) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// Characters of a bearer token (§5).
const TOKEN_LENGTH: usize = 32;

/// Refuses pages of other origins. Agents send none.
pub(crate) fn origin(headers: &HeaderMap, config: &McpConfig) -> Result<(), Refusal> {
    let known =
        |origin: &http::HeaderValue| config.origins.iter().any(|known| known.as_bytes() == origin.as_bytes());
    if headers.get_all(ORIGIN).iter().all(known) { Ok(()) } else { Err(Refusal::Origin) }
}

/// Refuses names that are not ours: a page whose name was rebound to our address sends its own.
pub(crate) fn host(headers: &HeaderMap, config: &McpConfig) -> Result<(), Refusal> {
    let known = |host: &str| config.hosts.iter().any(|known| known.eq_ignore_ascii_case(host));
    only(headers, &HOST).filter(|host| known(host)).map(|_| ()).ok_or(Refusal::Host)
}

/// The presented bearer token: of the right form, and no more than that.
pub(crate) fn bearer(headers: &HeaderMap) -> Result<&str, Refusal> {
    if !headers.contains_key(AUTHORIZATION) {
        return Err(Refusal::NoCredential);
    }
    let value = only(headers, &AUTHORIZATION).ok_or(Refusal::Credential)?;
    let (scheme, token) = value.split_once(' ').ok_or(Refusal::Credential)?;
    if scheme.eq_ignore_ascii_case("bearer") { formed(token) } else { Err(Refusal::Credential) }
}

/// A token of the right form, wherever it was shown.
pub(crate) fn formed(token: &str) -> Result<&str, Refusal> {
    let base64url = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let is_formed = token.len() == TOKEN_LENGTH && token.bytes().all(base64url);
    if is_formed { Ok(token) } else { Err(Refusal::Credential) }
}

/// Refuses bodies that are not declared as JSON.
pub(crate) fn content_type(headers: &HeaderMap) -> Result<(), Refusal> {
    let essence =
        only(headers, &CONTENT_TYPE).map(|value| value.split(';').next().unwrap_or_default().trim());
    let json = essence.is_some_and(|essence| essence.eq_ignore_ascii_case("application/json"));
    if json { Ok(()) } else { Err(Refusal::ContentType) }
}

/// The session that the caller names, if it names any. A repeated or unreadable header names none that exists.
pub(crate) fn session(headers: &HeaderMap) -> Option<&str> {
    headers.contains_key(SESSION).then(|| only(headers, &SESSION).unwrap_or_default())
}

/// The value of a header that is present exactly once and is text.
pub(crate) fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    if values.next().is_some() { None } else { value.to_str().ok() }
}
