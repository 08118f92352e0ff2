//! The demo's own HTTP routes: a login by name, the list of rooms for the page, and what owners do
//! outside of rooms. Not part of any contract.

mod owner;
mod sign_in;

pub(crate) use owner::OwnerApi;
pub(crate) use sign_in::DemoOwners;

use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router, body::Bytes};
use playerthree_host::{Accounts, LoginRefused};
use playerthree_rooms::{Listing, Server};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Most bytes of a login.
const LOGIN_BYTES: usize = 1_024;

/// Most rooms of one list, the newest.
const LISTED: usize = 200;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Login {
    name: String,
}

/// `POST /demo/login`, `GET /demo/rooms`, the sign-in page and the owners' API.
pub(crate) fn routes(owners: OwnerApi, rooms: Server) -> Router {
    let accounts = Arc::clone(&owners.accounts);
    let login = post(login).layer(DefaultBodyLimit::max(LOGIN_BYTES)).with_state(Arc::clone(&accounts));
    Router::new()
        .route("/demo/login", login)
        .route("/demo/rooms", get(list).with_state(rooms))
        .merge(sign_in::routes(accounts))
        .merge(owner::routes(owners))
}

async fn login(State(accounts): State<Arc<Accounts>>, headers: HeaderMap, body: Bytes) -> Response {
    let Ok(login) = serde_json::from_slice::<Login>(&body) else {
        return refused(StatusCode::BAD_REQUEST, "invalid");
    };
    match accounts.login(&login.name) {
        Ok((token, account)) => {
            let body = Json(json!({ "token": token.reveal(), "name": account.display }));
            let mut response = ([(header::CACHE_CONTROL, "no-store")], body).into_response();
            // A page's login is good for the consent page of the same browser; a program has no use for it.
            if let Some(origin) = sign_in::own_origin(&headers) {
                sign_in::remember(&mut response, token.reveal(), origin);
            }
            response
        }
        Err(LoginRefused::Name(_)) => refused(StatusCode::BAD_REQUEST, "invalid"),
        Err(LoginRefused::TooMany) => refused(StatusCode::TOO_MANY_REQUESTS, "rate_limited"),
    }
}

fn refused(status: StatusCode, code: &str) -> Response {
    (status, Json(json!({ "error": code }))).into_response()
}

async fn list(State(rooms): State<Server>) -> Response {
    let mut listed = rooms.listing();
    listed.retain(|room| is_public_match(room));
    listed.sort_by_key(|room| std::cmp::Reverse(room.created_at));
    let rooms: Vec<Value> = listed.iter().take(LISTED).map(|room| entry(room)).collect();
    ([(header::CACHE_CONTROL, "no-store")], Json(json!({ "rooms": rooms }))).into_response()
}

/// A match says about itself whether it is private; a full one only looks private to matchmaking.
fn is_public_match(room: &Listing) -> bool {
    room.metadata["private"] == false
}

fn entry(room: &Listing) -> Value {
    let about = &room.metadata;
    json!({
        "roomId": room.room_id,
        "name": room.name,
        "clients": room.clients,
        "maxClients": room.max_clients,
        "createdAt": room.created_at,
        "game": about["game"],
        "title": about["title"],
        "openSeats": about["openSeats"],
        "over": about["over"],
        "seats": about["seats"],
    })
}
