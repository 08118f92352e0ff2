//! The handler of `/mcp`: the guard's steps in order, then the protocol library for one request, then the headers that
//! only this server adds. Whatever the library itself would refuse leaves with our fixed texts instead.

use crate::config::McpConfig;
use crate::guard::{self, Incoming, Method, Request};
use crate::handler::Handler;
use crate::lease::{Admission, Claimed, Leases};
use crate::refusal::{Refusal, Refused};
use crate::surface::Offers;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use http_body_util::Full;
use playerthree_host::{Agents, SeatGrant};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::sync::Arc;

/// What every request shares.
pub(crate) struct Endpoint {
    config: McpConfig,
    agents: Arc<Agents>,
    leases: Arc<Leases>,
    offers: Offers,
}

impl Endpoint {
    pub(crate) fn new(config: McpConfig, agents: Arc<Agents>) -> Self {
        let leases = Arc::new(Leases::new(config.limits, config.shutdown.clone()));
        Self { config, agents, leases, offers: Offers::default() }
    }
}

/// Answers one HTTP request to `/mcp`.
pub(crate) async fn serve(
    State(endpoint): State<Arc<Endpoint>>,
    request: axum::extract::Request,
) -> Response {
    let (head, body) = request.into_parts();
    let answer = match head.method {
        http::Method::POST => post(&endpoint, &head.headers, body).await,
        http::Method::DELETE => delete(&endpoint, &head.headers).map_err(Refusal::without_id),
        _ => Err(Refusal::Method.without_id()),
    };
    answer.unwrap_or_else(IntoResponse::into_response)
}

/// Ends the lease of a seat token (§20), and the token with it.
fn delete(endpoint: &Endpoint, headers: &HeaderMap) -> Result<Response, Refusal> {
    let grant = principal(endpoint, headers)?;
    let session = guard::session(headers).ok_or(Refusal::Method)?;
    if !grant.is_session(session) {
        return Err(Refusal::Session);
    }
    endpoint.agents.revoke(guard::bearer(headers)?);
    Ok(StatusCode::NO_CONTENT.into_response())
}

async fn post(endpoint: &Endpoint, headers: &HeaderMap, body: Body) -> Result<Response, Refused> {
    let grant = principal(endpoint, headers).map_err(Refusal::without_id)?;
    guard::content_type(headers).map_err(Refusal::without_id)?;
    let body = guard::read(body, &endpoint.config.limits).await.map_err(Refusal::without_id)?;
    match Incoming::parse(&body)? {
        Incoming::Notification => Ok(StatusCode::ACCEPTED.into_response()),
        Incoming::Request(request) => {
            let answer = answer(endpoint, &grant, headers, &request, body).await;
            answer.map_err(|refusal| refusal.to_request(&request.id))
        }
    }
}

/// Whom a request comes from: checks that come before any look at its body.
fn principal(endpoint: &Endpoint, headers: &HeaderMap) -> Result<Arc<SeatGrant>, Refusal> {
    guard::origin(headers, &endpoint.config)?;
    guard::host(headers, &endpoint.config)?;
    let token = guard::bearer(headers)?;
    if endpoint.config.shutdown.is_cancelled() {
        return Err(Refusal::Stopping);
    }
    endpoint.agents.find(token).ok_or(Refusal::Credential)
}

async fn answer(
    endpoint: &Endpoint,
    grant: &Arc<SeatGrant>,
    headers: &HeaderMap,
    request: &Request,
    body: Bytes,
) -> Result<Response, Refusal> {
    guard::agreed(headers, request)?;
    let admission = match Method::of(request)? {
        Method::Discover => Admission::Discovery,
        Method::ListTools | Method::CallTool => {
            Admission::of(&endpoint.leases, grant, guard::session(headers)).ok_or(Refusal::Session)?
        }
    };
    let offer = endpoint.offers.of(&grant.surface).map_err(|_| {
        tracing::error!(game = %grant.surface.manifest.id, "an output schema is no JSON Schema");
        Refusal::Internal
    })?;
    let handler = Handler { offer, admission: admission.clone(), shutdown: endpoint.config.shutdown.clone() };
    let response = dispatch(endpoint, handler, headers, body).await;
    decorated(grant, &admission, response)
}

/// Hands a request to the protocol library, with the headers that the library reads and no others.
async fn dispatch(endpoint: &Endpoint, handler: Handler, headers: &HeaderMap, body: Bytes) -> Response {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_stateless_protocol_metadata_required(true)
        .disable_allowed_hosts()
        .with_max_request_body_bytes(endpoint.config.limits.body_bytes)
        .with_cancellation_token(handler.admission.cut());
    let service = StreamableHttpService::new(
        move || Ok(handler.clone()),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    let mut inner = http::Request::new(Full::new(body));
    *inner.method_mut() = http::Method::POST;
    let passed = inner.headers_mut();
    passed.insert(header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    passed.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for name in ["host", "mcp-protocol-version", "mcp-method", "mcp-name"] {
        if let Some(value) = headers.get(name) {
            passed.insert(name, value.clone());
        }
    }
    service.handle(inner).await.map(Body::new)
}

/// Adds the session of a lease that this request claimed, and takes out what is not ours to say.
fn decorated(grant: &SeatGrant, admission: &Admission, mut response: Response) -> Result<Response, Refusal> {
    match admission.outcome() {
        Some(Claimed::Lost) => return Err(Refusal::Session),
        Some(Claimed::Won(session)) => {
            // A token is base64url, which every header can carry.
            let session = HeaderValue::from_str(session.reveal()).map_err(|_| Refusal::Internal)?;
            response.headers_mut().insert(guard::SESSION, session);
        }
        None => {}
    }
    match response.status() {
        StatusCode::OK => Ok(response),
        _ if grant.revoked().is_cancelled() => Err(Refusal::Credential),
        // The library's typed reading is stricter than the guard's in places that no client needs.
        status if status.is_client_error() => {
            tracing::debug!(%status, "the protocol library refuses what the guard let through");
            Err(Refusal::Meta)
        }
        _ => Err(Refusal::Internal),
    }
}
