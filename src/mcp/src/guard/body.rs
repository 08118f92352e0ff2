//! The request body, read once and bounded in size and time (§15 "Resource bounds").

use crate::config::Limits;
use crate::refusal::Refusal;
use axum::body::Body;
use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

/// Reads the body whole. It holds no more than the limit, whether the length was declared or the body is chunked.
pub(crate) async fn read(body: Body, limits: &Limits) -> Result<Bytes, Refusal> {
    let whole = Limited::new(body, limits.body_bytes).collect();
    match tokio::time::timeout(limits.body_timeout, whole).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Refusal::TooLarge),
        Ok(Err(_)) | Err(_) => Err(Refusal::Incomplete),
    }
}
