//! The demo's HTTP API for owners: named commanders with their tokens and settings, sign-in connections, and seats of
//! running matches, for pages and shells that have no room open. Every request shows a login's token; no agent's
//! credential is one.

use axum::Router;
use axum::body::Bytes;
use axum::extract::{ConnectInfo, DefaultBodyLimit, FromRequestParts, Path, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, patch, post};
use axum::{Json, http};
use playerthree_auth::AuthorizationServer;
use playerthree_binding::Matches;
use playerthree_game::Name;
use playerthree_host::{Account, Accounts, Agents, Commanders};
use playerthree_rooms::{Source, SourceRate, client_address};
use playerthree_schema::strict_json;
use playerthree_session::{CallError, Code, CommanderId, Draft, OwnerId, Surface};
use serde_json::{Map, Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::time::Instant;

/// Most bytes of a request's body.
const BODY_BYTES: usize = 65_536;

/// Requests that one address keeps up in a second; ten seconds' worth may come at once.
const REQUESTS_PER_SECOND: u32 = 100;

/// What the API reaches.
pub(crate) struct OwnerApi {
    pub(crate) accounts: Arc<Accounts>,
    pub(crate) agents: Arc<Agents>,
    pub(crate) surfaces: Vec<Arc<Surface>>,
    pub(crate) connections: Arc<AuthorizationServer>,
    pub(crate) matches: Matches,
    pub(crate) trusted_proxies: usize,
}

struct Shared {
    api: OwnerApi,
    rate: SourceRate,
}

type Api = State<Arc<Shared>>;

/// The routes under `/demo/commanders`, `/demo/connections` and `/demo/matches`.
pub(crate) fn routes(api: OwnerApi) -> Router {
    let shared = Shared { api, rate: SourceRate::new(REQUESTS_PER_SECOND) };
    Router::new()
        .route("/demo/commanders", get(commanders).post(add))
        .route("/demo/commanders/{id}", patch(settings).delete(remove))
        .route("/demo/commanders/{id}/token", post(rotate))
        .route("/demo/connections", get(connections))
        .route("/demo/connections/{id}", patch(roles).delete(disconnect))
        .route("/demo/matches/{id}/{op}", post(operate))
        .layer(DefaultBodyLimit::max(BODY_BYTES))
        .with_state(Arc::new(shared))
}

/// Why a request came to nothing.
struct Refused(CallError);

impl From<CallError> for Refused {
    fn from(error: CallError) -> Self {
        Self(error)
    }
}

impl From<Code> for Refused {
    fn from(code: Code) -> Self {
        Self(code.into())
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let status = match self.0.code {
            Code::BadToken => StatusCode::UNAUTHORIZED,
            Code::Forbidden => StatusCode::FORBIDDEN,
            Code::Busy => StatusCode::CONFLICT,
            Code::RateLimited => StatusCode::TOO_MANY_REQUESTS,
            Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::BAD_REQUEST,
        };
        (status, Json(self.0.to_json("error"))).into_response()
    }
}

/// An answer that holds secrets or somebody's own affairs, so nobody keeps it.
fn private(body: Value) -> Response {
    ([(header::CACHE_CONTROL, "no-store")], Json(body)).into_response()
}

type Answer = Result<Response, Refused>;

/// The person whose login a request shows.
struct Owner(Account);

impl FromRequestParts<Arc<Shared>> for Owner {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, Refused> {
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip());
        let address = client_address(peer, &parts.headers, shared.api.trusted_proxies);
        if !shared.rate.allows(Source::of(address), Instant::now()) {
            return Err(Code::RateLimited.into());
        }
        let account = bearer(&parts.headers).and_then(|token| shared.api.accounts.find(token));
        account.map(Owner).ok_or_else(|| Code::BadToken.into())
    }
}

fn bearer(headers: &http::HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token)
}

/// A body's JSON object, in which no member stands twice.
fn object(body: &Bytes) -> Result<Map<String, Value>, Refused> {
    match str::from_utf8(body).ok().and_then(|text| strict_json(text).ok()) {
        Some(Value::Object(object)) => Ok(object),
        _ => Err(Code::Invalid.into()),
    }
}

impl OwnerApi {
    fn commanders(&self) -> &Commanders {
        self.agents.commanders()
    }

    /// The game of one of the owner's commanders.
    fn game_of(&self, owner: &OwnerId, id: &CommanderId) -> Result<&Arc<Surface>, CallError> {
        let has = |surface: &&Arc<Surface>| {
            self.commanders().list(surface, owner).iter().any(|status| status["id"] == *id.0)
        };
        self.surfaces.iter().find(has).ok_or_else(|| Code::Forbidden.into())
    }
}

async fn commanders(State(shared): Api, Owner(account): Owner) -> Response {
    let api = &shared.api;
    let of_game = |surface: &Arc<Surface>| {
        let mut listed = api.commanders().list(surface, &account.owner);
        for status in &mut listed {
            status["game"] = json!(surface.manifest.id);
        }
        listed
    };
    let listed: Vec<Value> = api.surfaces.iter().flat_map(of_game).collect();
    private(json!({ "commanders": listed }))
}

async fn add(State(shared): Api, Owner(account): Owner, body: Bytes) -> Answer {
    let mut draft = object(&body)?;
    let game = draft.remove("game").ok_or(Code::Invalid)?;
    let surface = shared.api.surfaces.iter().find(|surface| game == *surface.manifest.id);
    let surface = surface.ok_or(Code::Invalid)?;
    let draft = Draft::parse(surface, &draft.into())?;
    let (id, token) = shared.api.commanders().add(surface, &account.owner, draft)?;
    Ok(private(json!({ "id": id.0, "token": token.reveal(), "mcpPath": "/mcp" })))
}

async fn remove(State(shared): Api, Owner(account): Owner, Path(id): Path<String>) -> Answer {
    let id = CommanderId(id.into());
    let surface = shared.api.game_of(&account.owner, &id)?;
    shared.api.commanders().remove(surface, &account.owner, &id)?;
    Ok(private(json!({})))
}

async fn rotate(State(shared): Api, Owner(account): Owner, Path(id): Path<String>) -> Answer {
    let id = CommanderId(id.into());
    let surface = shared.api.game_of(&account.owner, &id)?;
    let token = shared.api.commanders().rotate(surface, &account.owner, &id)?;
    Ok(private(json!({ "token": token.reveal(), "mcpPath": "/mcp" })))
}

async fn settings(State(shared): Api, Owner(account): Owner, Path(id): Path<String>, body: Bytes) -> Answer {
    let id = CommanderId(id.into());
    let surface = shared.api.game_of(&account.owner, &id)?;
    let settings = shared.api.commanders().patch(surface, &account.owner, &id, &object(&body)?.into())?;
    Ok(private(json!({ "settings": settings.to_json() })))
}

async fn connections(State(shared): Api, Owner(account): Owner) -> Response {
    private(json!({ "connections": shared.api.connections.connections(&account.owner) }))
}

async fn roles(State(shared): Api, Owner(account): Owner, Path(id): Path<String>, body: Bytes) -> Answer {
    let mut fields = object(&body)?;
    let roles: Option<Vec<Name>> =
        fields.remove("roles").and_then(|roles| serde_json::from_value(roles).ok());
    let roles = roles.filter(|_| fields.is_empty()).ok_or(Code::Invalid)?;
    let changed = shared.api.connections.set_roles(&account.owner, &id, &roles);
    if changed { Ok(private(json!({}))) } else { Err(Code::Forbidden.into()) }
}

async fn disconnect(State(shared): Api, Owner(account): Owner, Path(id): Path<String>) -> Answer {
    let was_theirs = shared.api.connections.revoke(&account.owner, &id);
    if was_theirs { Ok(private(json!({}))) } else { Err(Code::Forbidden.into()) }
}

async fn operate(
    State(shared): Api,
    Owner(account): Owner,
    Path((id, op)): Path<(String, String)>,
    body: Bytes,
) -> Answer {
    let answer = shared.api.matches.operate(&id, account, &op, object(&body)?).await?;
    Ok(private(answer))
}
