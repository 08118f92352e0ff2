//! The revision of a request and the headers that repeat what its body says (§20: the header names the revision of
//! `_meta`; missing or different is -32020, another revision is -32022). Intermediaries route by these headers, so they
//! may never say something else than the body.

use super::envelope::{Request, is_id};
use super::http::only;
use crate::refusal::{REVISION, Refusal};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use http::{HeaderMap, HeaderName};
use rmcp::model::{ClientCapabilities, Implementation};
use serde::Deserialize;
use serde_json::{Map, Value};

pub(crate) const VERSION_HEADER: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD_HEADER: HeaderName = HeaderName::from_static("mcp-method");
const NAME_HEADER: HeaderName = HeaderName::from_static("mcp-name");

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";
const PROGRESS: &str = "progressToken";

/// Refuses a request unless headers and body agree on the one revision, the method and the name.
pub(crate) fn agreed(headers: &HeaderMap, request: &Request) -> Result<(), Refusal> {
    let named = named(request);
    if request.method == "initialize" && named.is_none() {
        return Err(old_handshake(request));
    }
    let header = only(headers, &VERSION_HEADER).ok_or(Refusal::Header)?;
    let named = named.ok_or(Refusal::Meta)?;
    if header != named {
        return Err(Refusal::Header);
    }
    if named != REVISION {
        return Err(Refusal::revision(named));
    }
    if !meta(request).is_some_and(is_complete) {
        return Err(Refusal::Meta);
    }
    if only(headers, &METHOD_HEADER) != Some(&request.method) {
        return Err(Refusal::Header);
    }
    match name_of(request) {
        Some(name) if !only(headers, &NAME_HEADER).is_some_and(|header| says(header, name)) => {
            Err(Refusal::Header)
        }
        _ => Ok(()),
    }
}

fn meta(request: &Request) -> Option<&Map<String, Value>> {
    request.params.as_ref()?.get("_meta")?.as_object()
}

/// The revision that a request says it is of.
pub(crate) fn named(request: &Request) -> Option<&str> {
    meta(request)?.get(VERSION)?.as_str()
}

/// The handshake of the revisions before this one.
fn old_handshake(request: &Request) -> Refusal {
    let requested =
        request.params.as_ref().and_then(|params| params.get("protocolVersion")).and_then(Value::as_str);
    Refusal::revision(requested.unwrap_or_default())
}

/// Whether `_meta` holds what every request of this revision carries, each of its type.
fn is_complete(meta: &Map<String, Value>) -> bool {
    meta.get(CAPABILITIES).is_some_and(is_a::<ClientCapabilities>)
        && meta.get(CLIENT).is_none_or(is_a::<Implementation>)
        && meta.get(PROGRESS).is_none_or(is_id)
}

fn is_a<'v, T: Deserialize<'v>>(value: &'v Value) -> bool {
    T::deserialize(value).is_ok()
}

/// What `Mcp-Name` repeats.
fn name_of(request: &Request) -> Option<&str> {
    let member = match request.method.as_str() {
        "tools/call" => "name",
        "resources/read" => "uri",
        _ => return None,
    };
    request.params.as_ref()?.get(member)?.as_str()
}

/// Whether a header value says this text, plain or in the revision's Base64 form for texts that no header can carry.
fn says(header: &str, text: &str) -> bool {
    match header.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        Some(encoded) => BASE64.decode(encoded).is_ok_and(|decoded| decoded == text.as_bytes()),
        None => header == text,
    }
}
