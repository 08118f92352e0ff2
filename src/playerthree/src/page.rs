//! The page's assets, embedded in the program.

use axum::Router;
use axum::response::Html;

/// The page itself.
pub(crate) async fn index() -> Html<&'static str> {
    Html("<!doctype html><title>playerthree</title>")
}

/// What the page loads.
pub(crate) fn routes() -> Router {
    Router::new()
}
