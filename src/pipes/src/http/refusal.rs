//! How a request is refused: one status and one closed code each.

use axum::Json;
use axum::extract::rejection::{BytesRejection, JsonRejection, QueryRejection};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::PipesError;

/// A refused request.
#[derive(Debug)]
pub(super) struct Refusal(PipesError);

impl From<PipesError> for Refusal {
    fn from(error: PipesError) -> Self {
        Self(error)
    }
}

impl From<BytesRejection> for Refusal {
    fn from(rejection: BytesRejection) -> Self {
        Self::of_body(rejection.status())
    }
}

impl From<JsonRejection> for Refusal {
    fn from(rejection: JsonRejection) -> Self {
        Self::of_body(rejection.status())
    }
}

impl From<QueryRejection> for Refusal {
    fn from(_: QueryRejection) -> Self {
        Self(PipesError::BadRequest)
    }
}

impl Refusal {
    fn of_body(status: StatusCode) -> Self {
        Self(if status == StatusCode::PAYLOAD_TOO_LARGE {
            PipesError::TooLarge
        } else {
            PipesError::BadRequest
        })
    }

    fn status(&self) -> StatusCode {
        match self.0 {
            PipesError::NotFound => StatusCode::NOT_FOUND,
            PipesError::BadRequest => StatusCode::BAD_REQUEST,
            PipesError::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            PipesError::RateLimited { .. } | PipesError::InboxFull => StatusCode::TOO_MANY_REQUESTS,
            PipesError::Unsigned => StatusCode::UNAUTHORIZED,
            PipesError::StaleProof | PipesError::Full | PipesError::NotSigned => StatusCode::CONFLICT,
            PipesError::CodeExpired => StatusCode::GONE,
            PipesError::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// Seconds after which the same request may succeed; a full inbox stays full while it lives.
    fn retry_after_s(&self) -> Option<u64> {
        match self.0 {
            PipesError::RateLimited { retry_after_s } => Some(retry_after_s.max(1)),
            PipesError::InboxFull => Some(86_400),
            _ => None,
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = json!({"error": {"code": self.0.code(), "message": self.0.to_string()}});
        let mut response = (self.status(), Json(body)).into_response();
        if let Some(seconds) = self.retry_after_s() {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
