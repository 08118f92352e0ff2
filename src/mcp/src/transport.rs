//! One POST from its headers to its answer, the same for every mount: the guard's steps in order, then the protocol
//! library for one request. Whatever the library itself would refuse leaves with our fixed texts instead.
//!
//! A mount says whom a credential stands for and what is done for them; it can skip none of the steps.

use crate::config::McpConfig;
use crate::guard::{self, Era, Incoming, Method, Request};
use crate::refusal::{Refusal, Refused};
use crate::tool_call::ToolCall;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::Value;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The library's codes for a header that differs from the body, and for a capability that the client did not declare.
const HEADER_MISMATCH: i64 = -32020;
const MISSING_CAPABILITY: i64 = -32021;

/// Where requests arrive: the credentials it knows and the tools it has.
pub(crate) trait Mount: Send + Sync {
    /// Whom a credential stands for.
    type Caller: Send + Sync;
    /// One request that was let in.
    type Visit: Visit;

    /// Origins, hosts and bounds.
    fn config(&self) -> &McpConfig;

    /// Whom a well-formed token stands for, if it is good.
    fn find(&self, token: &str) -> Option<Self::Caller>;

    /// Whether the caller may speak a revision before the one that is spoken.
    fn may_speak_older(&self, caller: &Self::Caller) -> bool;

    /// Whether the mount has this method.
    fn has(&self, caller: &Self::Caller, method: Method) -> bool;

    /// Whether a tool of this name exists.
    fn has_tool(&self, caller: &Self::Caller, name: &str) -> bool;

    /// Lets a request in that passed the guard. It has no effect yet.
    fn admit(
        &self,
        caller: &Self::Caller,
        headers: &HeaderMap,
        method: Method,
    ) -> Result<Self::Visit, Refusal>;
}

/// One request that was let in.
pub(crate) trait Visit: Send + Sync {
    /// What serves it.
    type Handler: ServerHandler + Clone;

    /// The server of this request.
    fn handler(&self) -> Self::Handler;

    /// The whole message of a call of a tool that is answered without the library. Nothing where the library answers it.
    fn message(
        &self,
        _id: &Value,
        _call: ToolCall,
    ) -> impl Future<Output = Option<Result<Bytes, Refusal>>> + Send {
        std::future::ready(None)
    }

    /// Fires when the request must be cut, answered or not.
    fn cut(&self) -> CancellationToken;

    /// What the caller has to be answered instead of this answer, if anything.
    fn refusal(&self, _answer: &Response) -> Option<Refusal> {
        None
    }

    /// Adds what belongs to whatever the caller is answered, a refusal too.
    fn sign(&self, _answer: &mut Response) {}
}

/// Answers one POST that shows `token`.
pub(crate) async fn post<M: Mount>(
    mount: &M,
    token: Result<&str, Refusal>,
    headers: &HeaderMap,
    body: Body,
) -> Result<Response, Refused> {
    let caller = caller(mount, token, headers).map_err(Refusal::without_id)?;
    guard::content_type(headers).map_err(Refusal::without_id)?;
    let body = guard::read(body, &mount.config().limits).await.map_err(Refusal::without_id)?;
    match Incoming::parse(&body)? {
        Incoming::Notification => Ok(StatusCode::ACCEPTED.into_response()),
        Incoming::Request(request) => {
            let id = request.id.clone();
            let (visit, era, method) =
                admitted(mount, &caller, headers, &request).map_err(|refusal| refusal.to_request(&id))?;
            let answer = carried(mount.config(), &visit, (era, method), headers, request, body).await;
            let mut answer = answer.unwrap_or_else(|refusal| refusal.to_request(&id).into_response());
            visit.sign(&mut answer);
            Ok(answer)
        }
    }
}

/// Whom a request comes from: checks that come before any look at its body.
pub(crate) fn caller<M: Mount>(
    mount: &M,
    token: Result<&str, Refusal>,
    headers: &HeaderMap,
) -> Result<M::Caller, Refusal> {
    let config = mount.config();
    guard::origin(headers, config)?;
    guard::host(headers, config)?;
    let token = token?;
    if config.shutdown.is_cancelled() {
        return Err(Refusal::Stopping);
    }
    mount.find(token).ok_or(Refusal::Credential)
}

/// Lets a request in that is whole and knows what it asks for.
fn admitted<M: Mount>(
    mount: &M,
    caller: &M::Caller,
    headers: &HeaderMap,
    request: &Request,
) -> Result<(M::Visit, Era, Method), Refusal> {
    let era = match Era::of(headers, request) {
        Era::Older if mount.may_speak_older(caller) => Era::Older,
        Era::Older | Era::Current => {
            guard::agreed(headers, request)?;
            Era::Current
        }
    };
    let has = |method| mount.has(caller, method);
    let method = Method::of(request, era, has, |name| mount.has_tool(caller, name))?;
    Ok((mount.admit(caller, headers, method)?, era, method))
}

/// Carries out a request that was let in.
async fn carried<V: Visit>(
    config: &McpConfig,
    visit: &V,
    (era, method): (Era, Method),
    headers: &HeaderMap,
    request: Request,
    body: Bytes,
) -> Result<Response, Refusal> {
    let message = match directly(era, method, request) {
        Some((id, call)) => visit.message(&id, call).await.transpose()?,
        None => None,
    };
    let response = match message {
        Some(message) => json(message),
        None => dispatch(config, visit, era, headers, body).await,
    };
    finished(visit, response).await
}

/// A call of a tool whose answer is one message. Most of what agents ask is one, and the library's way to an answer costs
/// several times what the rest of it does.
fn directly(era: Era, method: Method, request: Request) -> Option<(Value, ToolCall)> {
    let call = match (era, method) {
        (Era::Current, Method::CallTool) => ToolCall::of(request.params?),
        _ => return None,
    };
    (!call.wants_progress()).then_some((request.id, call))
}

fn json(message: Bytes) -> Response {
    ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], message).into_response()
}

/// Hands a request to the protocol library, with the headers that the library reads and no others.
async fn dispatch<V: Visit>(
    config: &McpConfig,
    visit: &V,
    era: Era,
    headers: &HeaderMap,
    body: Bytes,
) -> Response {
    let settings = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_stateless_protocol_metadata_required(era == Era::Current)
        .disable_allowed_hosts()
        .with_max_request_body_bytes(config.limits.body_bytes)
        .with_cancellation_token(visit.cut());
    let handler = visit.handler();
    let service = StreamableHttpService::new(
        move || Ok(handler.clone()),
        Arc::new(NeverSessionManager::default()),
        settings,
    );
    let mut inner = http::Request::new(Full::new(body));
    *inner.method_mut() = http::Method::POST;
    let passed = inner.headers_mut();
    passed.insert(header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    passed.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for (name, value) in headers.iter().filter(|(name, _)| is_read(name.as_str())) {
        passed.append(name, value.clone());
    }
    service.handle(inner).await.map(Body::new)
}

/// Whether the library reads a header: those that the guard has compared, and the ones that repeat a tool's arguments.
fn is_read(name: &str) -> bool {
    matches!(name, "host" | "mcp-protocol-version" | "mcp-method" | "mcp-name")
        || name.starts_with("mcp-param-")
}

/// Takes out what is not ours to say.
async fn finished<V: Visit>(visit: &V, response: Response) -> Result<Response, Refusal> {
    if let Some(refusal) = visit.refusal(&response) {
        return Err(refusal);
    }
    match response.status() {
        StatusCode::OK => Ok(response),
        status if status.is_client_error() => library_refused(response).await,
        _ => Err(Refusal::Internal),
    }
}

/// What the library's own refusal comes to. Its texts repeat what the caller sent, but for that of a missing capability.
async fn library_refused(response: Response) -> Result<Response, Refusal> {
    let (head, body) = response.into_parts();
    let body = body.collect().await.map_err(|_| Refusal::Internal)?.to_bytes();
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    match message["error"]["code"].as_i64() {
        Some(MISSING_CAPABILITY) => Ok(Response::from_parts(head, Body::from(body))),
        // A header that repeats an argument of a tool, which the guard does not know.
        Some(HEADER_MISMATCH) => Err(Refusal::Header),
        // The library's typed reading is stricter than the guard's in places that no client needs.
        code => {
            tracing::debug!(status = %head.status, code, "the protocol library refuses what the guard let through");
            Err(Refusal::Meta)
        }
    }
}
