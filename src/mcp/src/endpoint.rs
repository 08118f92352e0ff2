//! `/mcp`: one seat of one match, or the lanes of one commander, for one token. A seat token is claimed by the first call
//! that is carried out, and its session comes back in a header (§20); a commander token has no session.

use crate::agent::Agent;
use crate::config::{Legacy, McpConfig};
use crate::guard::{self, Method};
use crate::handler::Handler;
use crate::lease::{Admission, Claimed, Leases};
use crate::refusal::Refusal;
use crate::status::Statuses;
use crate::surface::{self, Offers};
use crate::tool_call::ToolCall;
use crate::transport::{self, Mount, Visit};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use playerthree_host::Agents;
use serde_json::Value;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What every request shares.
pub(crate) struct Endpoint {
    config: McpConfig,
    agents: Arc<Agents>,
    leases: Arc<Leases>,
    offers: Offers,
    statuses: Arc<Statuses>,
}

impl Endpoint {
    pub(crate) fn new(config: McpConfig, agents: Arc<Agents>) -> Self {
        let leases = Arc::new(Leases::new(config.limits, config.shutdown.clone()));
        let statuses = Arc::new(Statuses::new());
        Self { config, agents, leases, offers: Offers::default(), statuses }
    }
}

/// Answers one HTTP request to `/mcp`.
pub(crate) async fn serve(
    State(endpoint): State<Arc<Endpoint>>,
    request: axum::extract::Request,
) -> Response {
    let (head, body) = request.into_parts();
    let headers = &head.headers;
    let answer = match head.method {
        http::Method::POST => transport::post(&*endpoint, guard::bearer(headers), headers, body).await,
        http::Method::DELETE => delete(&endpoint, headers).map_err(Refusal::without_id),
        _ => Err(Refusal::Method.without_id()),
    };
    let mut response = answer.unwrap_or_else(IntoResponse::into_response);
    if response.status() == StatusCode::UNAUTHORIZED {
        point_to_sign_in(&endpoint.config, headers, &mut response);
    }
    response
}

/// Adds to the challenge where the client learns how its owner signs in (RFC 9728 §5.1).
fn point_to_sign_in(config: &McpConfig, headers: &HeaderMap, response: &mut Response) {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let Some(sign_in) = config.sign_in.iter().find(|sign_in| sign_in.host.eq_ignore_ascii_case(host)) else {
        return;
    };
    let Some(challenge) = response.headers_mut().get_mut(header::WWW_AUTHENTICATE) else { return };
    let before = challenge.to_str().unwrap_or_default();
    let joint = if before.contains(' ') { "," } else { "" };
    let pointed = format!("{before}{joint} resource_metadata=\"{}\"", sign_in.resource_metadata);
    if let Ok(pointed) = HeaderValue::try_from(pointed) {
        *challenge = pointed;
    }
}

/// Ends the lease of a seat token (§20), and the token with it.
fn delete(endpoint: &Endpoint, headers: &HeaderMap) -> Result<Response, Refusal> {
    let agent = transport::caller(endpoint, guard::bearer(headers), headers)?;
    // A commander token has no lease to end; its owner rotates it.
    let Agent::Seat(grant) = agent else { return Err(Refusal::Method) };
    let session = guard::session(headers).ok_or(Refusal::Method)?;
    if !grant.is_session(session) {
        return Err(Refusal::Session);
    }
    endpoint.agents.revoke(guard::bearer(headers)?);
    Ok(StatusCode::NO_CONTENT.into_response())
}

impl Mount for Endpoint {
    type Caller = Agent;
    type Visit = Handler;

    fn config(&self) -> &McpConfig {
        &self.config
    }

    fn find(&self, token: &str) -> Option<Agent> {
        Agent::find(&self.agents, token)
    }

    fn may_speak_older(&self, agent: &Agent) -> bool {
        match agent {
            Agent::Seat(_) => false,
            Agent::Commander(_) => self.config.legacy == Legacy::Stateless,
        }
    }

    fn has(&self, _: &Agent, _: Method) -> bool {
        true
    }

    fn has_tool(&self, _: &Agent, name: &str) -> bool {
        surface::is_tool(name)
    }

    fn admit(&self, agent: &Agent, headers: &HeaderMap, method: Method) -> Result<Handler, Refusal> {
        let admission = match (method, agent) {
            (Method::Discover | Method::Initialize | Method::Ping, _) => Admission::Discovery,
            (_, Agent::Seat(grant)) => {
                Admission::of(&self.leases, grant, guard::session(headers)).ok_or(Refusal::Session)?
            }
            (_, Agent::Commander(grant)) => Admission::Held(self.leases.shared(grant)),
        };
        let surface = agent.surface();
        let offer = self.offers.of(surface).map_err(|_| {
            tracing::error!(game = %surface.manifest.id, "the game cannot be offered");
            Refusal::Internal
        })?;
        let (statuses, shutdown) = (Arc::clone(&self.statuses), self.config.shutdown.clone());
        Ok(Handler::new(agent.clone(), offer, method, admission, statuses, shutdown))
    }
}

impl Visit for Handler {
    type Handler = Self;

    fn handler(&self) -> Self {
        self.clone()
    }

    async fn message(&self, id: &Value, call: ToolCall) -> Option<Result<Bytes, Refusal>> {
        Some(Handler::message(self, id, call).await)
    }

    fn cut(&self) -> CancellationToken {
        self.admission.cut()
    }

    fn refusal(&self, answer: &Response) -> Option<Refusal> {
        if let Some(Claimed::Lost) = self.admission.outcome() {
            return Some(Refusal::Session);
        }
        let is_over = answer.status() != StatusCode::OK && self.agent.revoked().is_cancelled();
        self.refused_with().or_else(|| is_over.then_some(Refusal::Credential))
    }

    /// Whoever claimed a lease is told its session, whatever else their request comes to: nobody else ever is.
    fn sign(&self, answer: &mut Response) {
        if let Some(Claimed::Won(session)) = self.admission.outcome()
            // A token is base64url, which every header can carry.
            && let Ok(session) = HeaderValue::from_str(session.reveal())
        {
            answer.headers_mut().insert(guard::SESSION, session);
        }
    }
}
