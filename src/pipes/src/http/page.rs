//! The page: boards, chains and the verifier that runs in the browser. Static files, no third party, strict policy.

use std::sync::Arc;

use axum::Router;
use axum::http::header;
use axum::response::{IntoResponse, Redirect};
use axum::routing::get;

use crate::Pipes;

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

pub(super) fn router() -> Router<Arc<Pipes>> {
    Router::new()
        .route("/pipes", get(|| async { Redirect::permanent("/pipes/") }))
        .route("/pipes/", get(|| file("text/html; charset=utf-8", include_str!("../../page/index.html"))))
        .route(
            "/pipes/page.css",
            get(|| file("text/css; charset=utf-8", include_str!("../../page/page.css"))),
        )
        .route("/pipes/page.mjs", get(|| script(include_str!("../../page/page.mjs"))))
        .route("/pipes/view.mjs", get(|| script(include_str!("../../page/view.mjs"))))
        .route("/pipes/verify.mjs", get(|| script(include_str!("../../page/verify.mjs"))))
        .route("/pipes/json.mjs", get(|| script(include_str!("../../page/json.mjs"))))
}

async fn script(text: &'static str) -> impl IntoResponse {
    file("text/javascript; charset=utf-8", text).await
}

async fn file(kind: &'static str, text: &'static str) -> impl IntoResponse {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // The page may be opened with a read token in its fragment; no address of it is told to anyone.
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, text)
}
