//! The MCP endpoint (§4, §15, §17, §20): agents play a seat through one HTTP path with a bearer credential, and toolboxes
//! and servers that are no game's are mounted behind the same guard.
//!
//! This crate decides nothing about a game: it checks a request, carries a call to the match that the credential is for
//! and renders the answer. It opens no socket, stores nothing, and no part of what a caller sent is ever echoed or
//! logged.

mod agent;
mod call;
mod config;
mod consent;
mod endpoint;
mod guard;
mod guest;
mod handler;
mod hello;
mod lease;
mod listen;
mod pages;
mod progress;
mod quota;
mod refusal;
mod render;
mod reply;
mod skills;
mod status;
mod surface;
mod tool_call;
mod toolbox;
mod transport;

pub use config::{Legacy, Limits, McpConfig, SignIn};
pub use playerthree_session::Tool;
pub use toolbox::{BadToolSchema, Failed, Toolbox};

use axum::Router;
use axum::routing::any;
use endpoint::Endpoint;
use guest::GuestMount;
use playerthree_host::Agents;
use rmcp::ServerHandler;
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

/// Serves other servers that were written on the protocol library at `path`: `find` knows the one of a bearer token of 32
/// base64url characters, if the token is good. POST for messages, 405 for anything else. The guard is that of [`router`];
/// rates and calls in flight are the servers' own to bound. A tool has to be known to `ServerHandler::get_tool`; prompts,
/// completions, tasks and logging are not served.
pub fn guest_router<H, F>(path: &str, config: McpConfig, find: F) -> Router
where
    H: ServerHandler + Clone,
    F: Fn(&str) -> Option<H> + Send + Sync + 'static,
{
    Router::new().route(path, any(guest::serve::<H, F>)).with_state(Arc::new(GuestMount::new(config, find)))
}
