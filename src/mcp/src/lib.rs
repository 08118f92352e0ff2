//! The MCP endpoint (§4, §15, §20): agents play a seat through one HTTP path with a bearer credential, and toolboxes that
//! are no game's are mounted behind the same guard.
//!
//! This crate decides nothing about a game: it checks a request, carries a call to the match that the credential is for
//! and renders the answer. It opens no socket, stores nothing, and no part of what a caller sent is ever echoed or
//! logged.

mod agent;
mod call;
mod config;
mod endpoint;
mod guard;
mod handler;
mod hello;
mod lease;
mod pages;
mod progress;
mod quota;
mod refusal;
mod render;
mod surface;
mod toolbox;
mod transport;

pub use config::{Legacy, Limits, McpConfig, SignIn};
pub use playerthree_session::Tool;
pub use toolbox::{BadToolSchema, Failed, Toolbox};

use axum::Router;
use axum::routing::any;
use endpoint::Endpoint;
use playerthree_host::Agents;
use std::sync::Arc;
use toolbox::ToolMount;

/// The log directive that every subscriber of a binary needs: below `error` the protocol library writes whole requests
/// and answers, private game data included.
pub const RMCP_LOG_DIRECTIVES: [&str; 2] = ["rmcp=error", "rmcp::service=off"];

/// Serves `/mcp`: POST for messages, DELETE to end a lease, 405 for anything else.
pub fn router(config: McpConfig, agents: Arc<Agents>) -> Router {
    Router::new().route("/mcp", any(endpoint::serve)).with_state(Arc::new(Endpoint::new(config, agents)))
}

/// Serves a toolbox at `path` for a bearer token and at `path/{token}` for clients that can only be given an address:
/// POST for messages, 405 for anything else. Guard, rates and bounds are those of [`router`].
///
/// # Errors
/// [`BadToolSchema`] when an output schema is no JSON Schema.
pub fn toolbox_router<T: Toolbox>(
    path: &str,
    config: McpConfig,
    toolbox: T,
) -> Result<Router, BadToolSchema> {
    let mount = Arc::new(ToolMount::new(config, toolbox)?);
    Ok(Router::new()
        .route(path, any(toolbox::serve_bearer::<T>))
        .route(&format!("{path}/{{token}}"), any(toolbox::serve_path::<T>))
        .with_state(mount))
}
