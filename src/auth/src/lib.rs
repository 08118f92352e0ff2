//! The authorization server of the MCP endpoint (§5): an owner signs in with the game, chooses one of their named
//! commanders and some of its roles, and an agent's program gets tokens for exactly that.
//!
//! It authenticates nobody: the game does. It keeps no secret but as a digest, echoes nothing that a client sent except to
//! that client's own registered address, and never grants a scope.

mod authorize;
mod client;
mod consent;
mod documents;
mod endpoints;
mod fault;
mod fetch;
mod ledger;
mod page;
mod params;
mod pkce;
mod proof;
mod public;
mod redirect;
mod refresh;
mod registry;
mod request;
mod server;
mod site;

pub use fetch::{Fetcher, PublicOnly};
pub use ledger::{ACCESS_LIFETIME, CODE_LIFETIME, CONNECTIONS_PER_OWNER, REFRESH_LIFETIME};
pub use page::page;
pub use server::{AuthConfig, AuthorizationServer, Owners, REQUESTS_PER_SECOND, SignedIn};
pub use site::Site;

use axum::Router;
use axum::routing::{get, post};
use http::header;
use site::RESOURCE_METADATA;
use std::sync::Arc;

/// Serves `/oauth/*` and the metadata under `/.well-known/`.
pub fn router(server: Arc<AuthorizationServer>) -> Router {
    let style = [(header::CONTENT_TYPE, "text/css; charset=utf-8"), (header::CACHE_CONTROL, "max-age=600")];
    Router::new()
        .route(RESOURCE_METADATA, get(endpoints::protected_resource))
        .route(&format!("{RESOURCE_METADATA}/mcp"), get(endpoints::protected_resource))
        .route("/.well-known/oauth-authorization-server", get(endpoints::authorization_server))
        .route("/oauth/register", post(endpoints::register))
        .route("/oauth/authorize", get(authorize::ask).post(authorize::answer))
        .route("/oauth/token", post(endpoints::token))
        .route("/oauth/revoke", post(endpoints::revoke))
        .route(page::STYLE_PATH, get(move || async move { (style, page::STYLE) }))
        .with_state(server)
}
