//! The HTTP side: matchmaking requests and the address scheme of sockets.

use crate::address::{self, Source};
use crate::counters::count;
use crate::driver::{Among, DriverError, Query};
use crate::generation::Generation;
use crate::id::{RoomId, SessionId, TokenDigest};
use crate::matchmaker::{Method, SeatReservation};
use crate::origin;
use crate::refusal::Refusal;
use crate::registry::Listing;
use crate::room::AuthRequest;
use crate::server::Server;
use crate::state::Knowledge;
use crate::upgrade::{self, Wanted};
use axum::body::{Body, Bytes};
use axum::extract::{Path, Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use axum::{Json, Router};
use http::StatusCode;
use http::header::{self, HeaderMap, HeaderValue};
use serde_json::{Value, json};
use std::net::IpAddr;
use std::sync::Arc;
use tokio::time::{Instant, timeout};

/// Where clients of one generation come in.
#[derive(Clone)]
struct Door {
    server: Server,
    generation: Generation,
}

/// The routes of `server`: matchmaking and sockets, for each generation of clients under its prefix.
pub(crate) fn router(server: &Server) -> Router {
    Generation::ALL.into_iter().fold(Router::new(), |router, generation| {
        let routes = routes(Door { server: server.clone(), generation });
        match generation.prefix() {
            "" => router.merge(routes),
            prefix => router.nest(prefix, routes).route(&format!("{prefix}/"), probe_only(server)),
        }
    })
}

fn routes(door: Door) -> Router {
    let guard = middleware::from_fn_with_state(door.server.clone(), origin::guard);
    Router::new()
        .route("/matchmake/{method}/{target}", post(matchmake).fallback(no_such_method))
        .route("/matchmake/{name}", get(listing).fallback(no_such_method))
        .route("/{process}/{room}", get(connect))
        .layer(guard)
        .with_state(door)
}

/// `page` for `/`, with the latency probe of the clients in front of it.
pub(crate) fn root<S: Clone + Send + Sync + 'static>(
    server: &Server,
    page: MethodRouter<S>,
) -> MethodRouter<S> {
    let probe = probe_only::<()>(server);
    page.layer(middleware::from_fn(move |request: Request, next: Next| {
        let probe = probe.clone();
        async move {
            if upgrade::is_upgrade(request.headers()) {
                // The service of a handler cannot fail.
                tower::ServiceExt::oneshot(probe, request).await.into_response()
            } else {
                next.run(request).await
            }
        }
    }))
}

fn probe_only<S: Clone + Send + Sync + 'static>(server: &Server) -> MethodRouter<S> {
    let guard = middleware::from_fn_with_state(server.clone(), origin::guard);
    get(probe).layer(guard).with_state(server.clone())
}

async fn probe(State(server): State<Server>, request: Request) -> Response {
    upgrade::probe(&server, request)
}

async fn no_such_method() -> StatusCode {
    StatusCode::NOT_FOUND
}

/// Seconds after which a refusal that will pass is worth another try.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("1");

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = Json(json!({ "code": self.code, "reason": self.reason, "error": self.message }));
        match status {
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                (status, [(header::RETRY_AFTER, RETRY_AFTER)], body).into_response()
            }
            _ => (status, body).into_response(),
        }
    }
}

async fn matchmake(
    State(Door { server, .. }): State<Door>,
    Path((method, target)): Path<(String, String)>,
    request: Request,
) -> Result<Json<SeatReservation>, Refusal> {
    count(&server.shared().counters.matchmaking_requests);
    let reserved = reserve(&server, &method, &target, request).await;
    reserved.map(Json).inspect_err(|refusal| server.shared().counters.refused(refusal))
}

async fn reserve(
    server: &Server,
    method: &str,
    target: &str,
    request: Request,
) -> Result<SeatReservation, Refusal> {
    let remote = admit(server, &request)?;
    let method = Method::parse(method).ok_or_else(Refusal::unknown_method)?;
    let (parts, body) = request.into_parts();
    let headers = parts.headers;
    let options = options(&headers, &read(server, body).await?)?;
    if values(&options) > server.config().max_options_values {
        return Err(Refusal::bad_options());
    }
    let request = AuthRequest { token: bearer(&headers), options, headers, remote };
    server.matchmake(method, target, request).await
}

/// `GET /matchmake/{name}`: the public rooms of that name, at most as many as a [`Query`] answers with.
async fn listing(
    State(Door { server, .. }): State<Door>,
    Path(name): Path<String>,
    request: Request,
) -> Result<Json<Vec<Arc<Listing>>>, Refusal> {
    admit(&server, &request)?;
    let query = Query { name: Some(name.into()), among: Among::Public, ..Query::default() };
    server.query(&query).await.map(Json).map_err(|DriverError| Refusal::unavailable())
}

/// Counts a matchmaking request to where it comes from. The address is the client's, where it is known.
fn admit(server: &Server, request: &Request) -> Result<Option<IpAddr>, Refusal> {
    let shared = server.shared();
    let remote = address::of_request(shared, request);
    let allowed = shared.joins_from.allows(Source::of(remote), Instant::now());
    allowed.then_some(remote).ok_or_else(Refusal::too_many_requests)
}

/// A body within its bounds of size and time.
async fn read(server: &Server, body: Body) -> Result<Bytes, Refusal> {
    let config = server.config();
    // What fails besides the size is the caller's connection, and then nobody hears the answer.
    timeout(config.options_timeout, axum::body::to_bytes(body, config.max_options_bytes))
        .await
        .map_err(|_| Refusal::too_slow())?
        .map_err(|_| Refusal::too_large())
}

fn bearer(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim().to_owned())
}

/// The options of a request. No body, `null` and `[]` mean none, as they do for the protocol's other servers.
fn options(headers: &HeaderMap, body: &[u8]) -> Result<Value, Refusal> {
    if body.is_empty() {
        return Ok(json!({}));
    }
    let is_json = headers.get(header::CONTENT_TYPE).is_none_or(|kind| {
        kind.to_str().is_ok_and(|kind| kind.trim_start().to_ascii_lowercase().starts_with("application/json"))
    });
    if !is_json {
        return Err(Refusal::not_json());
    }
    match serde_json::from_slice(body) {
        Ok(options @ Value::Object(_)) => Ok(options),
        Ok(Value::Null) => Ok(json!({})),
        Ok(Value::Array(list)) if list.is_empty() => Ok(json!({})),
        _ => Err(Refusal::bad_options()),
    }
}

/// How many values are in `value`, itself not counted. The parser bounds how deep they are.
fn values(value: &Value) -> usize {
    match value {
        Value::Array(list) => list.iter().map(|value| 1 + values(value)).sum(),
        Value::Object(members) => members.values().map(|value| 1 + values(value)).sum(),
        _ => 0,
    }
}

/// A socket address: `/{processId}/{roomId}?sessionId=…`. Any seat problem is told on the socket itself.
async fn connect(
    State(Door { server, generation }): State<Door>,
    Path((_, room)): Path<(String, String)>,
    request: Request<Body>,
) -> Response {
    let query = request.uri().query().unwrap_or_default();
    let wanted = Wanted {
        room: RoomId::parse(&room),
        session: parameter(query, "sessionId").and_then(SessionId::parse),
        token: parameter(query, "reconnectionToken").map(|token| TokenDigest::of(token.as_bytes())),
        generation,
        knows: Knowledge::of(parameter(query, "skipHandshake")),
    };
    upgrade::room(&server, request, wanted)
}

/// A query parameter as it stands: ids and tokens need no escapes.
fn parameter<'a>(query: &'a str, name: &str) -> Option<&'a str> {
    query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value)
}
