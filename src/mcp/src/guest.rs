//! A mount for a server that somebody else wrote on the protocol library: the guard's checks of head, body, envelope,
//! revision and headers stand before it as they do before `/mcp`. Its callers, what they may do and how often are its own
//! business.

use crate::config::McpConfig;
use crate::guard::{self, Method};
use crate::refusal::Refusal;
use crate::transport::{self, Mount, Visit};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::HeaderMap;
use rmcp::ServerHandler;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The servers of one path, by bearer token.
pub(crate) struct GuestMount<F> {
    config: McpConfig,
    find: F,
}

impl<F> GuestMount<F> {
    pub(crate) fn new(config: McpConfig, find: F) -> Self {
        Self { config, find }
    }
}

/// Answers one HTTP request to a guest.
pub(crate) async fn serve<H, F>(
    State(mount): State<Arc<GuestMount<F>>>,
    request: axum::extract::Request,
) -> Response
where
    H: ServerHandler + Clone,
    F: Fn(&str) -> Option<H> + Send + Sync + 'static,
{
    let (head, body) = request.into_parts();
    let answer = match head.method {
        http::Method::POST => {
            transport::post(&*mount, guard::bearer(&head.headers), &head.headers, body).await
        }
        _ => Err(Refusal::Method.without_id()),
    };
    answer.unwrap_or_else(IntoResponse::into_response)
}

impl<H, F> Mount for GuestMount<F>
where
    H: ServerHandler + Clone,
    F: Fn(&str) -> Option<H> + Send + Sync,
{
    type Caller = H;
    type Visit = GuestVisit<H>;

    fn config(&self) -> &McpConfig {
        &self.config
    }

    fn find(&self, token: &str) -> Option<H> {
        (self.find)(token)
    }

    /// Never: a guest may know nothing of older revisions.
    fn may_speak_older(&self, _: &H) -> bool {
        false
    }

    fn has(&self, guest: &H, method: Method) -> bool {
        let offered = guest.get_info().capabilities;
        match method {
            Method::Discover => true,
            Method::Initialize | Method::Ping => false,
            Method::ListTools | Method::CallTool => offered.tools.is_some(),
            Method::ListResources | Method::ListTemplates | Method::ReadResource => {
                offered.resources.is_some()
            }
            Method::ListSkills | Method::GetSkill => offered.supports_skills(),
            Method::Listen => offered.resources.and_then(|resources| resources.subscribe) == Some(true),
        }
    }

    fn has_tool(&self, guest: &H, name: &str) -> bool {
        guest.get_tool(name).is_some()
    }

    fn admit(&self, guest: &H, _: &HeaderMap, _: Method) -> Result<GuestVisit<H>, Refusal> {
        Ok(GuestVisit { guest: guest.clone(), shutdown: self.config.shutdown.clone() })
    }
}

/// One request to a guest.
pub(crate) struct GuestVisit<H> {
    guest: H,
    shutdown: CancellationToken,
}

impl<H: ServerHandler + Clone> Visit for GuestVisit<H> {
    type Handler = H;

    fn handler(&self) -> H {
        self.guest.clone()
    }

    /// A guest knows of no stop, so that it cannot answer before.
    fn cut(&self) -> CancellationToken {
        self.shutdown.clone()
    }
}
