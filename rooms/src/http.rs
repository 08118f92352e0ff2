//! The HTTP side: matchmaking requests, CORS on every answer, and the address scheme of sockets.

use crate::driver::{Among, DriverError, Query};
use crate::generation::Generation;
use crate::id::{RoomId, SessionId, TokenDigest};
use crate::matchmaker::{Method, SeatReservation};
use crate::refusal::Refusal;
use crate::registry::Listing;
use crate::room::AuthRequest;
use crate::server::Server;
use crate::upgrade::{self, Wanted};
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, DefaultBodyLimit, Path, Request, State};
use axum::handler::Handler;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use axum::{Json, Router};
use http::StatusCode;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;

/// The answer to every preflight, and part of every other answer. Browsers send credentials, so the origin is named.
const CORS: [(HeaderName, HeaderValue); 5] = [
    (header::ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true")),
    (
        header::ACCESS_CONTROL_ALLOW_HEADERS,
        HeaderValue::from_static("Origin, X-Requested-With, Content-Type, Accept, Authorization"),
    ),
    (header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET,HEAD,PUT,PATCH,POST,DELETE")),
    (header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("2592000")),
    (header::VARY, HeaderValue::from_static("Origin")),
];

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
            prefix => router
                .nest(prefix, routes)
                .route(&format!("{prefix}/"), get(probe).with_state(server.clone())),
        }
    })
}

fn routes(door: Door) -> Router {
    let limit = DefaultBodyLimit::max(door.server.config().max_options_bytes);
    let matchmake = post(matchmake).options(preflight).fallback(no_such_method);
    Router::new()
        .route("/matchmake/{method}/{target}", matchmake.layer(limit))
        .route("/matchmake/{name}", get(listing).options(preflight).fallback(no_such_method))
        .route("/{process}/{room}", get(connect))
        .layer(middleware::from_fn(cors))
        .with_state(door)
}

/// `page` for `/`, with the latency probe of the clients in front of it.
pub(crate) fn root<S: Clone + Send + Sync + 'static>(
    server: &Server,
    page: MethodRouter<S>,
) -> MethodRouter<S> {
    let probe = probe.with_state(server.clone());
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

async fn probe(State(server): State<Server>, request: Request) -> Response {
    upgrade::probe(&server, request)
}

async fn cors(request: Request, next: Next) -> Response {
    let origin = request.headers().get(header::ORIGIN).cloned().unwrap_or(HeaderValue::from_static("*"));
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.extend(CORS);
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    response
}

async fn preflight() -> StatusCode {
    StatusCode::NO_CONTENT
}

async fn no_such_method() -> StatusCode {
    StatusCode::NOT_FOUND
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (status, Json(json!({ "code": self.code, "reason": self.reason, "error": self.message })))
            .into_response()
    }
}

async fn matchmake(
    State(Door { server, .. }): State<Door>,
    Path((method, target)): Path<(String, String)>,
    remote: Option<axum::Extension<ConnectInfo<SocketAddr>>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<SeatReservation>, Refusal> {
    let method = Method::parse(&method).ok_or_else(Refusal::unknown_method)?;
    let request = AuthRequest {
        token: bearer(&headers),
        options: options(&headers, &body)?,
        headers,
        remote: remote.map(|axum::Extension(ConnectInfo(address))| address.ip()),
    };
    server.matchmake(method, &target, request).await.map(Json)
}

/// `GET /matchmake/{name}`: the public rooms of that name, at most as many as a [`Query`] answers with.
async fn listing(
    State(Door { server, .. }): State<Door>,
    Path(name): Path<String>,
) -> Result<Json<Vec<Arc<Listing>>>, Refusal> {
    let query = Query { name: Some(name.into()), among: Among::Public, ..Query::default() };
    server.query(&query).await.map(Json).map_err(|DriverError| Refusal::unavailable())
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
        return Err(Refusal::new(415, "the request body must be application/json"));
    }
    match serde_json::from_slice(body) {
        Ok(options @ Value::Object(_)) => Ok(options),
        Ok(Value::Null) => Ok(json!({})),
        Ok(Value::Array(list)) if list.is_empty() => Ok(json!({})),
        _ => Err(Refusal::bad_options()),
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
