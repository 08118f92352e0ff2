//! The handlers: each reads its request, asks the service once and writes the answer.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::rejection::{BytesRejection, JsonRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use serde::Deserialize;
use serde_json::{Value, json};

use super::refusal::Refusal;
use super::{MCP_PATH, SIGNATURE_HEADER};
use crate::error::PipesError;
use crate::inbox::{Inbox, Listing, Page};
use crate::limits::timestamp;
use crate::meta::InboxKind;
use crate::seats::SeatOffer;
use crate::service::{Incoming, Pipes, SeatGrant};
use crate::tools::of_game;
use crate::verify::PROTOCOL;
use crate::{Proof, recipe as recipes};

type App = State<Arc<Pipes>>;
type Answer<T = Response> = Result<T, Refusal>;
type Given<T> = Result<Json<T>, JsonRejection>;
type Asked<T> = Result<Query<T>, QueryRejection>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Open {
    kind: InboxKind,
}

pub(super) async fn open(State(pipes): App, given: Given<Open>) -> Answer {
    let Json(Open { kind }) = given?;
    let opened = pipes.open_inbox(kind).await?;
    let meta = opened.inbox.meta();
    let limits = pipes.limits();
    let captures = match kind {
        InboxKind::Anonymous => limits.anonymous_captures,
        InboxKind::Signed => limits.signed_captures,
    };
    let body = json!({
        "inboxId": meta.id,
        "captureUrl": format!("/pipes/v1/in/{}", opened.capture_token.reveal()),
        "readToken": opened.read_token.reveal(),
        "hostToken": opened.host_token.reveal(),
        "hostSeat": opened.host_seat.as_ref().map(grant),
        "expiresAt": timestamp(meta.expires_ms),
        "limits": {"bodyBytes": limits.body_bytes, "captures": captures},
    });
    Ok((StatusCode::CREATED, secret_headers(), Json(body)).into_response())
}

/// Mints the credential of an agent that knows nothing but this server.
pub(super) async fn mint_agent(State(pipes): App) -> Answer {
    let agent = pipes.mint_agent().await?;
    let body = json!({
        "token": agent.token.reveal(),
        "mcpUrl": format!("{MCP_PATH}/{}", agent.token.reveal()),
        "expiresAt": timestamp(agent.expires_ms),
    });
    Ok((StatusCode::CREATED, secret_headers(), Json(body)).into_response())
}

pub(super) async fn revoke_agent(State(pipes): App, headers: HeaderMap) -> Answer<StatusCode> {
    pipes.revoke_agent(bearer(&headers)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn grant(seat: &SeatGrant) -> Value {
    json!({"seatRef": seat.seat_ref, "signingKey": seat.signing_key, "signatureHeader": SIGNATURE_HEADER})
}

/// An answer with a secret in it is for nobody's cache.
fn secret_headers() -> [(header::HeaderName, &'static str); 1] {
    [(header::CACHE_CONTROL, "no-store")]
}

pub(super) async fn post(
    State(pipes): App,
    Path(capture): Path<String>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Answer {
    let writer = pipes.writer(&capture).await?;
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let incoming = Incoming {
        body: body?,
        content_type: text("content-type"),
        signature: text(SIGNATURE_HEADER),
        idempotency_key: text("idempotency-key"),
    };
    let posted = pipes.post(&writer, incoming).await?;
    Ok((StatusCode::CREATED, Json(json!({"captureId": posted.capture_id, "seq": posted.seq})))
        .into_response())
}

/// The inbox of the path, for whoever shows a token that reads it.
async fn reader(pipes: &Arc<Pipes>, inbox: &str, headers: &HeaderMap) -> Answer<Arc<Inbox>> {
    let found = pipes.reader(bearer(headers)?).await?;
    if found.id() == inbox { Ok(found) } else { Err(PipesError::NotFound.into()) }
}

fn bearer(headers: &HeaderMap) -> Answer<&str> {
    let value = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    Ok(value.and_then(|value| value.strip_prefix("Bearer ")).ok_or(PipesError::NotFound)?)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Rows {
    #[serde(default)]
    after: u64,
    limit: Option<usize>,
    game: Option<String>,
    timeout_seconds: Option<u64>,
}

impl Rows {
    fn listing(self) -> Listing {
        Listing { after: self.after, limit: self.limit, game: self.game }
    }
}

pub(super) async fn list(
    State(pipes): App,
    Path(inbox): Path<String>,
    headers: HeaderMap,
    rows: Asked<Rows>,
) -> Answer {
    let inbox = reader(&pipes, &inbox, &headers).await?;
    let Query(rows) = rows?;
    Ok(page(&inbox.list(rows.listing()).await?))
}

pub(super) async fn wait(
    State(pipes): App,
    Path(inbox): Path<String>,
    headers: HeaderMap,
    rows: Asked<Rows>,
) -> Answer {
    let inbox = reader(&pipes, &inbox, &headers).await?;
    let Query(rows) = rows?;
    let wait = rows.timeout_seconds.map_or(Duration::MAX, Duration::from_secs);
    Ok(page(&inbox.wait(rows.listing(), wait).await?))
}

/// A listing; the rows are sent as they are stored.
fn page(page: &Page) -> Response {
    let mut body = Vec::with_capacity(page.rows.iter().map(|row| row.len() + 1).sum::<usize>() + 96);
    body.extend_from_slice(b"{\"Requests\":[");
    for (at, row) in page.rows.iter().enumerate() {
        if at > 0 {
            body.push(b',');
        }
        body.extend_from_slice(row);
    }
    let rest =
        format!("],\"TotalCount\":{},\"NextCursor\":\"{}\",\"Scope\":\"read\"}}", page.total, page.next);
    body.extend_from_slice(rest.as_bytes());
    ([(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")], body).into_response()
}

pub(super) async fn capture(
    State(pipes): App,
    Path((inbox, capture)): Path<(String, String)>,
    headers: HeaderMap,
) -> Answer {
    let inbox = reader(&pipes, &inbox, &headers).await?;
    let row = inbox.capture(&capture).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], row).into_response())
}

pub(super) async fn games(
    State(pipes): App,
    Path(inbox): Path<String>,
    headers: HeaderMap,
) -> Answer<Json<Value>> {
    let inbox = reader(&pipes, &inbox, &headers).await?;
    Ok(Json(inbox.with_log(|log| log.report().to_json()).await?))
}

pub(super) async fn game(
    State(pipes): App,
    Path((inbox, game)): Path<(String, String)>,
    headers: HeaderMap,
) -> Answer<Json<Value>> {
    let inbox = reader(&pipes, &inbox, &headers).await?;
    let report = of_game(inbox.with_log(|log| log.report().to_json()).await?, &game);
    if report["games"][0].is_null() { Err(PipesError::NotFound.into()) } else { Ok(Json(report)) }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Export {
    game: Option<String>,
}

/// Streams the log in the vectors' shape, a page at a time. A read that fails ends the stream, so that what arrived is
/// no whole document.
pub(super) async fn export(
    State(pipes): App,
    Path(inbox): Path<String>,
    headers: HeaderMap,
    asked: Asked<Export>,
) -> Answer {
    let inbox = reader(&pipes, &inbox, &headers).await?;
    let Query(Export { game }) = asked?;
    let options = json!({
        "assumeProtocol": PROTOCOL, "params": null, "seats": inbox.reader_options().seats, "keys": null,
    });
    let head = format!("{{\"options\":{options},\"inboxes\":[{{\"name\":\"{}\",\"captures\":[", inbox.id());
    let state = ExportState {
        inbox,
        listing: Listing { game, ..Listing::default() },
        rows: 0,
        part: Part::Head(head),
    };
    let chunks = stream::unfold(state, ExportState::chunk);
    Ok(([(header::CONTENT_TYPE, "application/json")], Body::from_stream(chunks)).into_response())
}

enum Part {
    Head(String),
    Rows,
    Done,
}

struct ExportState {
    inbox: Arc<Inbox>,
    listing: Listing,
    rows: u64,
    part: Part,
}

impl ExportState {
    async fn chunk(mut self) -> Option<(Result<Bytes, PipesError>, Self)> {
        match std::mem::replace(&mut self.part, Part::Rows) {
            Part::Head(head) => Some((Ok(head.into()), self)),
            Part::Done => None,
            Part::Rows => {
                let chunk = self.rows().await;
                Some((chunk, self))
            }
        }
    }

    async fn rows(&mut self) -> Result<Bytes, PipesError> {
        let page = self.inbox.list(self.listing.clone()).await.inspect_err(|_| self.part = Part::Done)?;
        let mut chunk = Vec::new();
        for row in &page.rows {
            if self.rows > 0 {
                chunk.push(b',');
            }
            self.rows += 1;
            chunk.extend_from_slice(row);
        }
        self.listing.after = page.next;
        if page.next >= page.total {
            chunk.extend_from_slice(b"]}]}");
            self.part = Part::Done;
        }
        Ok(chunk.into())
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct MintSeat {
    label: Option<String>,
    seat_hours: Option<u64>,
    code_minutes: Option<u64>,
}

pub(super) async fn mint_seat(
    State(pipes): App,
    Path(inbox): Path<String>,
    headers: HeaderMap,
    given: Given<MintSeat>,
) -> Answer {
    let host = host(&pipes, &inbox, &headers).await?;
    let Json(asked) = given?;
    let usual = SeatOffer::default();
    let offer = SeatOffer {
        label: asked.label.unwrap_or(usual.label),
        seat_hours: asked.seat_hours.unwrap_or(usual.seat_hours),
        code_minutes: asked.code_minutes.unwrap_or(usual.code_minutes),
    };
    let code = pipes.mint_seat(&host, offer).await?;
    let body = json!({"pairingCode": code.reveal(), "handle": code.handle()});
    Ok((StatusCode::CREATED, secret_headers(), Json(body)).into_response())
}

async fn host(pipes: &Arc<Pipes>, inbox: &str, headers: &HeaderMap) -> Answer<crate::Host> {
    let host = pipes.host(bearer(headers)?).await?;
    if host.inbox().id() == inbox { Ok(host) } else { Err(PipesError::NotFound.into()) }
}

pub(super) async fn roster(
    State(pipes): App,
    Path(inbox): Path<String>,
    headers: HeaderMap,
) -> Answer<Json<Value>> {
    let inbox = reader(&pipes, &inbox, &headers).await?;
    Ok(Json(json!({"kind": inbox.kind(), "seats": inbox.roster()})))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Redeem {
    handle: String,
    nonce: String,
    timestamp: String,
    proof: String,
    public_key: Option<String>,
}

pub(super) async fn redeem(State(pipes): App, given: Given<Redeem>) -> Answer {
    let Json(Redeem { handle, nonce, timestamp: at, proof, public_key }) = given?;
    let redeemed = pipes.redeem(Proof { handle, nonce, timestamp: at, proof }, public_key).await?;
    let body = json!({
        "inboxId": redeemed.inbox.id(),
        "seat": grant(&redeemed.seat),
        "captureUrl": format!("/pipes/v1/in/{}", redeemed.seat_token.reveal()),
        "seatToken": redeemed.seat_token.reveal(),
        "label": redeemed.label,
        "expiresAt": timestamp(redeemed.expires_ms),
        "cursor": redeemed.cursor.to_string(),
    });
    Ok((secret_headers(), Json(body)).into_response())
}

/// A seat's own token rotates its key; the host's token rotates the host's.
pub(super) async fn rotate(
    State(pipes): App,
    Path((inbox, seat)): Path<(String, String)>,
    headers: HeaderMap,
) -> Answer {
    let token = bearer(&headers)?;
    let owner = match pipes.seat(token).await {
        Ok(owner) => owner,
        Err(_) => host(&pipes, &inbox, &headers).await?.own_seat()?,
    };
    if owner.inbox_id() != inbox || owner.seat_ref() != seat {
        return Err(PipesError::NotFound.into());
    }
    Ok((secret_headers(), Json(grant(&pipes.rotate(&owner).await?))).into_response())
}

pub(super) async fn revoke(
    State(pipes): App,
    Path((inbox, seat)): Path<(String, String)>,
    headers: HeaderMap,
) -> Answer<StatusCode> {
    let host = host(&pipes, &inbox, &headers).await?;
    pipes.revoke(&host, &seat).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(super) async fn verify(
    State(pipes): App,
    asked: Asked<Export>,
    body: Result<Bytes, BytesRejection>,
) -> Answer<Json<Value>> {
    let Query(Export { game }) = asked?;
    Ok(Json(pipes.verify(body?, game).await?.to_json()))
}

pub(super) async fn recipe(Path(reference): Path<String>) -> Answer<Json<Value>> {
    Ok(Json(recipes::recipe(&reference).ok_or(PipesError::NotFound)?))
}
