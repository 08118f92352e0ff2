//! The OAuth errors that leave this server: a closed list of codes, each with its status at endpoints that answer JSON.
//! None carries anything of a request.

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde_json::json;

/// Why a request is refused (RFC 6749 §§4.1.2.1 and 5.2, RFC 7591 §3.2.2, RFC 8707 §2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The owner said no.
    AccessDenied,
    /// A missing, repeated or malformed parameter.
    InvalidRequest,
    /// A code or refresh token that is not good, or not for this client, redirect or verifier.
    InvalidGrant,
    /// Not a client that this server knows, or one that shows a secret: all clients are public.
    InvalidClient,
    /// A resource that is not this server's MCP endpoint.
    InvalidTarget,
    /// A grant type other than authorization codes and refresh tokens.
    UnsupportedGrantType,
    /// A response type other than `code`.
    UnsupportedResponseType,
    /// A registration whose redirects are none, too many, or neither HTTPS nor loopback.
    InvalidRedirectUri,
    /// A registration of another shape.
    InvalidClientMetadata,
    /// Too much at once, from one address or of everybody; it passes.
    TemporarilyUnavailable,
}

impl Fault {
    /// The code on the wire.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::AccessDenied => "access_denied",
            Self::InvalidRequest => "invalid_request",
            Self::InvalidGrant => "invalid_grant",
            Self::InvalidClient => "invalid_client",
            Self::InvalidTarget => "invalid_target",
            Self::UnsupportedGrantType => "unsupported_grant_type",
            Self::UnsupportedResponseType => "unsupported_response_type",
            Self::InvalidRedirectUri => "invalid_redirect_uri",
            Self::InvalidClientMetadata => "invalid_client_metadata",
            Self::TemporarilyUnavailable => "temporarily_unavailable",
        }
    }

    fn status(self) -> StatusCode {
        match self {
            Self::InvalidClient => StatusCode::UNAUTHORIZED,
            Self::TemporarilyUnavailable => StatusCode::TOO_MANY_REQUESTS,
            _ => StatusCode::BAD_REQUEST,
        }
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let body = axum::Json(json!({ "error": self.code() }));
        let mut response = (self.status(), [(header::CACHE_CONTROL, "no-store")], body).into_response();
        if self == Self::TemporarilyUnavailable {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}
