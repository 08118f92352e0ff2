//! `/oauth/authorize`: an owner's browser brings a request and takes an answer back. Nothing is said of a client, and
//! nothing fetched for one, before the owner has signed in.

use crate::consent::{Allowed, Choice, Unclear};
use crate::endpoints::body;
use crate::fault::Fault;
use crate::ledger::{Approval, Full, Terms};
use crate::page::{self, Consent};
use crate::params::{FORM_BYTES, Params};
use crate::request::{AuthorizationRequest, Return};
use crate::server::{AuthorizationServer, SignedIn, unix_ms};
use crate::site::{self, Site};
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use http::{Request, StatusCode, header};
use std::sync::Arc;
use tokio::time::Instant;
use url::form_urlencoded;

/// Longest form of a consent page: it carries the request back, escaped once more, and a box for every role.
const CONSENT_BYTES: usize = 6 * FORM_BYTES;

/// The page of this endpoint.
const PATH: &str = "/oauth/authorize";

type Server = State<Arc<AuthorizationServer>>;

/// Shows the consent page to a signed-in owner, and sends anybody else to sign in first.
pub(crate) async fn ask(State(server): Server, request: Request<Body>) -> Response {
    if let Err(fault) = server.within_rate(&request) {
        return fault.into_response();
    }
    let Some(site) = site::named(&server.config.sites, request.headers()) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let query = request.uri().query().unwrap_or_default();
    if query.len() > FORM_BYTES {
        return page::refusal(StatusCode::URI_TOO_LONG, "The request of your agent's program is too long.");
    }
    let Some(owner) = server.owners.signed_in(request.headers()) else {
        return Redirect::to(&sign_in(&server, query)).into_response();
    };
    match judged(&server, site, query).await {
        Ok(request) => shown(&server, site, &owner, query, &request, None),
        Err(rejected) => rejected.into_response(),
    }
}

/// Takes the owner's answer.
pub(crate) async fn answer(State(server): Server, request: Request<Body>) -> Response {
    let refused = |what| page::refusal(StatusCode::FORBIDDEN, what);
    if let Err(fault) = server.within_rate(&request) {
        return fault.into_response();
    }
    let Some(site) = site::named(&server.config.sites, request.headers()) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    // A browser says where a form comes from.
    let mut origins = request.headers().get_all(header::ORIGIN).iter();
    if origins.next().is_none_or(|origin| *origin != *site.issuer()) || origins.next().is_some() {
        return refused("This answer came from another page.");
    }
    let Some(owner) = server.owners.signed_in(request.headers()) else {
        return refused("You are not signed in any more.");
    };
    let form = match body(request, "application/x-www-form-urlencoded", CONSENT_BYTES).await {
        Ok(form) => Params::parse_up_to(&form, CONSENT_BYTES),
        Err(fault) => Err(fault),
    };
    let Ok(form) = form else {
        return page::refusal(StatusCode::BAD_REQUEST, "The answer could not be read.");
    };
    let query = form.get("request").unwrap_or_default();
    if !server.proofs.holds(form.get("proof").unwrap_or_default(), &owner.owner, site, query) {
        return refused("This page is too old, or not yours.");
    }
    match judged(&server, site, query).await {
        Ok(request) => decided(&server, site, &owner, &form, query, &request),
        Err(rejected) => rejected.into_response(),
    }
}

/// Why a request is not put to its owner.
enum Rejected {
    /// The person is told, and nobody else.
    Shown(&'static str),
    /// The client is told, at this address.
    Returned(String),
}

impl IntoResponse for Rejected {
    fn into_response(self) -> Response {
        match self {
            Self::Shown(what) => page::refusal(StatusCode::BAD_REQUEST, what),
            Self::Returned(address) => Redirect::to(&address).into_response(),
        }
    }
}

/// The request of a query.
async fn judged(
    server: &AuthorizationServer,
    site: &Site,
    query: &str,
) -> Result<AuthorizationRequest, Rejected> {
    let malformed = Rejected::Shown("The request of your agent's program is malformed.");
    let params = Params::parse(query).map_err(|_| malformed)?;
    let client = match params.get("client_id") {
        Some(id) => server.client(id).await,
        None => None,
    };
    let client = client.ok_or(Rejected::Shown("This server does not know the program that asks."))?;
    let astray = "The program that asks wants the answer sent where it never said it would be.";
    let back = Return::of(&client, &params, site).ok_or(Rejected::Shown(astray))?;
    AuthorizationRequest::judge(client, back.clone(), &params, site)
        .map_err(|fault| Rejected::Returned(back.with_error(fault)))
}

fn decided(
    server: &AuthorizationServer,
    site: &Site,
    owner: &SignedIn,
    form: &Params,
    query: &str,
    request: &AuthorizationRequest,
) -> Response {
    let back = |address: String| page::back(&address, &request.back.redirect);
    match form.get("decision") {
        Some("allow") => {}
        Some("deny") => return back(request.back.with_error(Fault::AccessDenied)),
        _ => return page::refusal(StatusCode::BAD_REQUEST, "The answer could not be read."),
    }
    let (commanders, now) = (server.commanders(), Instant::now());
    let proof = form.get("proof").unwrap_or_default();
    let mut ledger = server.ledger();
    let room = match ledger.room(commanders, &owner.owner, now) {
        Ok(room) => room,
        Err(full) => return page::refusal(StatusCode::TOO_MANY_REQUESTS, without_room(full)),
    };
    let choices = Choice::all(commanders, &server.config.surfaces, &owner.owner);
    let allowed = match Allowed::read(commanders, &choices, &owner.owner, form, room.answered(proof)) {
        Ok(allowed) => allowed,
        Err(unclear) => return shown(server, site, owner, query, request, Some(unclear)),
    };
    let approval = Approval {
        owner: owner.owner.clone(),
        surface: allowed.surface,
        commander: allowed.commander,
        roles: allowed.roles,
        client: Arc::clone(&request.client),
        resource: site.resource(),
        authorized_at: unix_ms(),
    };
    let terms = Terms {
        redirect: request.back.redirect.clone(),
        challenge: request.challenge.clone(),
        page: proof.to_owned(),
    };
    let code = room.approve(approval, terms);
    server.registry().approve(&request.client.id, now);
    back(request.back.with_code(code.reveal()))
}

fn without_room(full: Full) -> &'static str {
    match full {
        Full::Owner => "You have as many connections as you may. Remove one that you do not need.",
        Full::Server => "This server holds as many connections as it can. Try again later.",
    }
}

fn shown(
    server: &AuthorizationServer,
    site: &Site,
    owner: &SignedIn,
    query: &str,
    request: &AuthorizationRequest,
    unclear: Option<Unclear>,
) -> Response {
    page::consent(&Consent {
        request,
        query,
        proof: &server.proofs.make(&owner.owner, site, query),
        display: &owner.display,
        sign_in: &sign_in(server, query),
        choices: &Choice::all(server.commanders(), &server.config.surfaces, &owner.owner),
        unclear,
    })
}

/// Where a browser signs in and comes back from.
fn sign_in(server: &AuthorizationServer, query: &str) -> String {
    let come_back = format!("{PATH}?{query}");
    let pairs = form_urlencoded::Serializer::new(String::new()).append_pair("return", &come_back).finish();
    format!("{}?{pairs}", server.owners.sign_in_path())
}
