//! The endpoints that programs use: metadata (RFC 9728, RFC 8414), registration (RFC 7591), tokens (RFC 6749) and
//! revocation (RFC 7009). Every client is public, so none shows a secret.

use crate::fault::Fault;
use crate::ledger::{ACCESS_LIFETIME, Tokens};
use crate::params::{FORM_BYTES, Params};
use crate::registry::REGISTRATION_BYTES;
use crate::server::{AuthorizationServer, unix_ms};
use crate::site::{self, Site};
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, Request, StatusCode, header};
use playerthree_schema::strict_json;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long a body may take to arrive.
const BODY_PATIENCE: Duration = Duration::from_secs(10);

type Server = State<Arc<AuthorizationServer>>;

/// `GET /.well-known/oauth-protected-resource/mcp` (RFC 9728).
pub(crate) async fn protected_resource(State(server): Server, headers: HeaderMap) -> Response {
    let document = |site: &Site| {
        json!({
            "resource": site.resource(),
            "authorization_servers": [site.issuer()],
            "bearer_methods_supported": ["header"],
            "resource_name": "playerthree",
        })
    };
    metadata(&server, &headers, document)
}

/// `GET /.well-known/oauth-authorization-server` (RFC 8414).
pub(crate) async fn authorization_server(State(server): Server, headers: HeaderMap) -> Response {
    let document = |site: &Site| {
        let at = |path: &str| format!("{}{path}", site.issuer());
        json!({
            "issuer": site.issuer(),
            "authorization_endpoint": at("/oauth/authorize"),
            "token_endpoint": at("/oauth/token"),
            "registration_endpoint": at("/oauth/register"),
            "revocation_endpoint": at("/oauth/revoke"),
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "revocation_endpoint_auth_methods_supported": ["none"],
            "authorization_response_iss_parameter_supported": true,
            "client_id_metadata_document_supported": true,
        })
    };
    metadata(&server, &headers, document)
}

fn metadata(
    server: &AuthorizationServer,
    headers: &HeaderMap,
    document: impl Fn(&Site) -> Value,
) -> Response {
    match site::named(&server.config.sites, headers) {
        Some(site) => Json(document(site)).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// `POST /oauth/register` (RFC 7591).
pub(crate) async fn register(State(server): Server, request: Request<Body>) -> Response {
    match registered(&server, request).await {
        Ok(client) => {
            (StatusCode::CREATED, [(header::CACHE_CONTROL, "no-store")], Json(client)).into_response()
        }
        Err(fault) => fault.into_response(),
    }
}

async fn registered(server: &AuthorizationServer, request: Request<Body>) -> Result<Value, Fault> {
    let source = server.within_rate(&request)?;
    site::named(&server.config.sites, request.headers()).ok_or(Fault::InvalidRequest)?;
    let wrong = Fault::InvalidClientMetadata;
    let body = body(request, "application/json", REGISTRATION_BYTES).await.map_err(|_| wrong)?;
    let Ok(Value::Object(metadata)) = strict_json(&body) else { return Err(wrong) };
    let client = server.registry().register(&metadata, source, Instant::now())?;
    let mut answer = json!({
        "client_id": client.id,
        "client_id_issued_at": unix_ms() / 1000,
        "redirect_uris": client.redirects(),
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    });
    if let Some(name) = &client.name {
        answer["client_name"] = json!(name);
    }
    Ok(answer)
}

/// `POST /oauth/token`: redeems a code or rotates a refresh token.
pub(crate) async fn token(State(server): Server, request: Request<Body>) -> Response {
    match granted(&server, request).await {
        Ok(Tokens { access, refresh }) => {
            let answer = json!({
                "access_token": access.reveal(),
                "token_type": "Bearer",
                "expires_in": ACCESS_LIFETIME.as_secs(),
                "refresh_token": refresh,
            });
            ([(header::CACHE_CONTROL, "no-store")], Json(answer)).into_response()
        }
        Err(fault) => fault.into_response(),
    }
}

async fn granted(server: &AuthorizationServer, request: Request<Body>) -> Result<Tokens, Fault> {
    let params = form(server, request).await?;
    let client = params.need("client_id")?;
    let (commanders, now) = (server.commanders(), Instant::now());
    match params.need("grant_type")? {
        "authorization_code" => server.ledger().redeem(commanders, &params, client, now, unix_ms()),
        "refresh_token" => {
            let tokens = server.ledger().refresh(commanders, &params, client, now)?;
            // A client in use stays registered.
            server.registry().approve(client, now);
            Ok(tokens)
        }
        _ => Err(Fault::UnsupportedGrantType),
    }
}

/// `POST /oauth/revoke` (RFC 7009): ends the connection of an access or a refresh token.
pub(crate) async fn revoke(State(server): Server, request: Request<Body>) -> Response {
    let revoked = async {
        let params = form(&server, request).await?;
        server.ledger().revoke(server.commanders(), params.need("token")?, params.need("client_id")?)
    };
    match revoked.await {
        Ok(()) => StatusCode::OK.into_response(),
        Err(fault) => fault.into_response(),
    }
}

/// The form of a public client.
async fn form(server: &AuthorizationServer, request: Request<Body>) -> Result<Params, Fault> {
    server.within_rate(&request)?;
    site::named(&server.config.sites, request.headers()).ok_or(Fault::InvalidRequest)?;
    if request.headers().contains_key(header::AUTHORIZATION) {
        return Err(Fault::InvalidClient);
    }
    // What is sent in the address is written into logs, so nothing is read from there.
    let body = body(request, "application/x-www-form-urlencoded", FORM_BYTES).await?;
    let params = Params::parse(&body)?;
    if params.get("client_secret").is_some() || params.get("client_assertion").is_some() {
        return Err(Fault::InvalidClient);
    }
    Ok(params)
}

/// A body of one type, bounded in size and time.
pub(crate) async fn body(request: Request<Body>, of_type: &str, limit: usize) -> Result<String, Fault> {
    let mut types = request.headers().get_all(header::CONTENT_TYPE).iter();
    let essence = types.next().and_then(|value| value.to_str().ok()?.split(';').next()).map(str::trim);
    if types.next().is_some() || !essence.is_some_and(|essence| essence.eq_ignore_ascii_case(of_type)) {
        return Err(Fault::InvalidRequest);
    }
    let whole = axum::body::to_bytes(request.into_body(), limit);
    let bytes = tokio::time::timeout(BODY_PATIENCE, whole).await.map_err(|_| Fault::InvalidRequest)?;
    let bytes = bytes.map_err(|_| Fault::InvalidRequest)?;
    String::from_utf8(bytes.into()).map_err(|_| Fault::InvalidRequest)
}
