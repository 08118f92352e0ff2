//! Pipes over HTTP: routes, what each needs to show, and the page.
//!
//! Capabilities travel in the path of a capture or an MCP URL or as a bearer token, never in a query. A refusal has a fixed status
//! and a closed code, and says nothing of what was sent.

mod page;
mod refusal;
mod routes;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{delete, get, post};

use crate::Pipes;

/// The header of the transport signature.
pub const SIGNATURE_HEADER: &str = "x-pipes-signature";

/// Where the tools are served over MCP, by whoever mounts them: for a bearer token, and with `/{token}` behind it.
pub const MCP_PATH: &str = "/pipes/mcp";

/// All routes, under `/pipes`.
pub fn router(pipes: Arc<Pipes>) -> Router {
    let body_bytes = pipes.limits().body_bytes;
    let verify_bytes = pipes.limits().verify_bytes;
    let inbox = Router::new()
        .route("/captures", get(routes::list))
        .route("/captures/wait", get(routes::wait))
        .route("/captures/{capture}", get(routes::capture))
        .route("/games", get(routes::games))
        .route("/games/{game}", get(routes::game))
        .route("/export", get(routes::export))
        .route("/seats", get(routes::roster).post(routes::mint_seat))
        .route("/seats/{seat}", delete(routes::revoke))
        .route("/seats/{seat}/rotate", post(routes::rotate));
    Router::new()
        .route("/pipes/v1/inboxes", post(routes::open))
        .nest("/pipes/v1/inboxes/{inbox}", inbox)
        .route("/pipes/v1/seats/redeem", post(routes::redeem))
        .route("/pipes/v1/agents", post(routes::mint_agent).delete(routes::revoke_agent))
        .route("/pipes/v1/recipes/{reference}", get(routes::recipe))
        // One byte more than allowed, so that a body at the bound is told from one past it.
        .route("/pipes/v1/in/{capture}", post(routes::post).layer(DefaultBodyLimit::max(body_bytes + 1)))
        .route("/pipes/v1/verify", post(routes::verify).layer(DefaultBodyLimit::max(verify_bytes + 1)))
        .merge(page::router())
        .with_state(pipes)
}
