//! Every way in which the endpoint refuses a request: a closed list of statuses, codes and fixed texts.
//!
//! No refusal repeats anything that the caller sent, but for what its answer must carry: the JSON-RPC `id`, and the short
//! name of a revision that is not spoken.

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde_json::{Value, json};

/// The one revision that this endpoint speaks.
pub(crate) const REVISION: &str = "2026-07-28";

/// Longest name of a revision that is said back, in bytes.
const REQUESTED_MAX: usize = 16;

/// The revision that a client asked for. The answer has to name it, so that this is the one text of a caller that a refusal
/// repeats: a short name of letters, digits, dots and hyphens, and nothing for any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Requested {
    name: [u8; REQUESTED_MAX],
    length: usize,
}

impl Requested {
    fn new(asked: &str) -> Self {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'-';
        let plain = if asked.bytes().all(is_plain) { asked.as_bytes() } else { b"" };
        let mut name = [0; REQUESTED_MAX];
        match name.get_mut(..plain.len()) {
            Some(fits) => {
                fits.copy_from_slice(plain);
                Self { name, length: plain.len() }
            }
            None => Self { name, length: 0 },
        }
    }

    fn as_str(&self) -> &str {
        let name = self.name.get(..self.length).and_then(|name| std::str::from_utf8(name).ok());
        name.filter(|name| !name.is_empty()).unwrap_or("unknown")
    }
}

/// Why a request goes no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Neither POST nor the DELETE of a lease.
    Method,
    /// The `Origin` is not on the allowlist.
    Origin,
    /// The `Host` is not one of ours.
    Host,
    /// No bearer credential.
    NoCredential,
    /// A bearer credential that is not good, or no longer.
    Credential,
    /// The body is not declared as JSON.
    ContentType,
    /// The body is longer than the limit.
    TooLarge,
    /// The body did not arrive in time, or not whole.
    Incomplete,
    /// The body is not one strict JSON text.
    NotJson,
    /// The JSON is not one JSON-RPC request or notification.
    NotRequest,
    /// A required header is missing, repeated or says something else than the body.
    Header,
    /// A revision that this endpoint does not speak.
    Revision(Requested),
    /// The request's `_meta` lacks what the revision requires.
    Meta,
    /// A method that this endpoint does not have.
    UnknownMethod,
    /// The params of a known method are not of its shape.
    Params,
    /// No tool has this name.
    UnknownTool,
    /// Not the session that holds this seat token's lease (§20).
    Session,
    /// More lists, reads or streams than one credential may have.
    TooMany,
    /// The server is about to stop.
    Stopping,
    /// A fault of ours.
    Internal,
}

impl Refusal {
    /// The refusal of a revision.
    pub(crate) fn revision(requested: &str) -> Self {
        Self::Revision(Requested::new(requested))
    }

    /// HTTP status, JSON-RPC code and text.
    fn parts(self) -> (StatusCode, i32, &'static str) {
        match self {
            Self::Method => (StatusCode::METHOD_NOT_ALLOWED, -32000, "Method not allowed"),
            Self::Origin => (StatusCode::FORBIDDEN, -32000, "Origin not allowed"),
            Self::Host => (StatusCode::FORBIDDEN, -32000, "Host not allowed"),
            Self::NoCredential | Self::Credential => (StatusCode::UNAUTHORIZED, -32000, "Unauthorized"),
            Self::ContentType => {
                (StatusCode::UNSUPPORTED_MEDIA_TYPE, -32000, "Content-Type must be application/json")
            }
            Self::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, -32000, "Request body too large"),
            Self::Incomplete => (StatusCode::REQUEST_TIMEOUT, -32000, "Request body incomplete"),
            Self::NotJson => (StatusCode::BAD_REQUEST, -32700, "Parse error"),
            Self::NotRequest => (StatusCode::BAD_REQUEST, -32600, "Invalid request"),
            Self::Header => (StatusCode::BAD_REQUEST, -32020, "Header mismatch"),
            Self::Revision(_) => (StatusCode::BAD_REQUEST, -32022, "Unsupported protocol version"),
            Self::Meta => (StatusCode::BAD_REQUEST, -32602, "Invalid request _meta"),
            Self::UnknownMethod => (StatusCode::NOT_FOUND, -32601, "Method not found"),
            Self::Params => (StatusCode::OK, -32602, "Invalid params"),
            Self::UnknownTool => (StatusCode::OK, -32602, "Unknown tool"),
            Self::Session => (StatusCode::NOT_FOUND, -32001, "Session not found"),
            Self::TooMany => (StatusCode::TOO_MANY_REQUESTS, -32000, "Too many requests"),
            Self::Stopping => (StatusCode::SERVICE_UNAVAILABLE, -32000, "Server is stopping"),
            Self::Internal => (StatusCode::INTERNAL_SERVER_ERROR, -32603, "Internal error"),
        }
    }

    /// The answer to a request whose `id` is not known.
    pub(crate) fn without_id(self) -> Refused {
        Refused { refusal: self, id: None }
    }

    /// The answer to the request with this `id`.
    pub(crate) fn to_request(self, id: &Value) -> Refused {
        Refused { refusal: self, id: Some(id.clone()) }
    }
}

/// A refusal on its way to the caller.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refused {
    /// Why.
    pub(crate) refusal: Refusal,
    /// The request's `id`, once it is known to be one.
    id: Option<Value>,
}

impl Refused {
    fn body(&self) -> Value {
        let (_, code, message) = self.refusal.parts();
        let mut error = json!({ "code": code, "message": message });
        if let Refusal::Revision(requested) = self.refusal {
            error["data"] = json!({ "supported": [REVISION], "requested": requested.as_str() });
        }
        let mut body = json!({ "jsonrpc": "2.0", "error": error });
        if let Some(id) = &self.id {
            body["id"] = id.clone();
        }
        body
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let (status, ..) = self.refusal.parts();
        let mut response = (status, axum::Json(self.body())).into_response();
        let headers = response.headers_mut();
        match self.refusal {
            Refusal::Method => _ = headers.insert(header::ALLOW, HeaderValue::from_static("POST")),
            Refusal::NoCredential => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            Refusal::Credential => {
                let challenge = HeaderValue::from_static("Bearer error=\"invalid_token\"");
                headers.insert(header::WWW_AUTHENTICATE, challenge);
            }
            Refusal::TooMany => _ = headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1")),
            _ => {}
        }
        response
    }
}
