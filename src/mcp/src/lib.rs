//! The MCP endpoint (§4, §15, §20): agents play a seat through one HTTP path with a bearer credential.
//!
//! This crate decides nothing about a game: it checks a request, carries a call to the match that the credential is for
//! and renders the answer. It opens no socket, stores nothing, and no part of what a caller sent is ever echoed or
//! logged.

mod call;
mod config;
mod endpoint;
mod guard;
mod handler;
mod lease;
mod pages;
mod progress;
mod refusal;
mod render;
mod surface;

pub use config::{Limits, McpConfig};

use axum::Router;
use axum::routing::any;
use endpoint::Endpoint;
use playerthree_host::Agents;
use std::sync::Arc;

/// The log directive that every subscriber of a binary needs: below `error` the protocol library writes whole requests
/// and answers, private game data included.
pub const RMCP_LOG_DIRECTIVE: &str = "rmcp=error";

/// Serves `/mcp`: POST for messages, DELETE to end a lease, 405 for anything else.
pub fn router(config: McpConfig, agents: Arc<Agents>) -> Router {
    Router::new().route("/mcp", any(endpoint::serve)).with_state(Arc::new(Endpoint::new(config, agents)))
}
