//! The demo's sign-in for browsers that come from the consent page: a name, or the token of somebody who is signed in
//! elsewhere. It is kept in a cookie that nothing but the consent page is sent.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Request, StatusCode, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::get;
use maud::html;
use playerthree_auth::{Owners, SignedIn};
use playerthree_host::{Accounts, LoginRefused};
use std::sync::Arc;
use url::form_urlencoded;

const PATH: &str = "/demo/sign-in";

/// The only place of this server that a sign-in comes back to.
const CONSENT: &str = "/oauth/authorize?";

const COOKIE: &str = "playerthree_owner";

/// Most bytes of a form: a name or a token, and the way back.
const FORM_BYTES: usize = 32_768;

/// How the demo tells the authorization server whose browser it is.
pub(crate) struct DemoOwners(pub(crate) Arc<Accounts>);

impl Owners for DemoOwners {
    fn signed_in(&self, headers: &HeaderMap) -> Option<SignedIn> {
        let pairs = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs = pairs.flat_map(|list| list.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let (_, token) = pairs.find(|(name, _)| *name == COOKIE)?;
        let account = self.0.find(token)?;
        Some(SignedIn { owner: account.owner, display: account.display })
    }

    fn sign_in_path(&self) -> &'static str {
        PATH
    }
}

/// `GET` and `POST /demo/sign-in`.
pub(crate) fn routes(accounts: Arc<Accounts>) -> Router {
    Router::new().route(PATH, get(show).post(sign_in)).with_state(accounts)
}

async fn show(request: Request<Body>) -> Response {
    let query = request.uri().query().unwrap_or_default();
    form(StatusCode::OK, &field(query, "return"), None)
}

async fn sign_in(State(accounts): State<Arc<Accounts>>, request: Request<Body>) -> Response {
    let Some(origin) = own_origin(request.headers()).map(str::to_owned) else {
        return form(StatusCode::FORBIDDEN, "", Some("This form came from another page."));
    };
    let Ok(body) = to_bytes(request.into_body(), FORM_BYTES).await else {
        return form(StatusCode::BAD_REQUEST, "", Some("The form could not be read."));
    };
    let body = String::from_utf8_lossy(&body);
    let (back, token) = (field(&body, "return"), field(&body, "token"));
    let token = if token.is_empty() {
        match accounts.login(&field(&body, "name")) {
            Ok((token, _)) => token.reveal().to_owned(),
            Err(LoginRefused::Name(_)) => {
                let told = "Use 1 to 24 letters, digits, spaces and - _ . '";
                return form(StatusCode::UNPROCESSABLE_ENTITY, &back, Some(told));
            }
            Err(LoginRefused::TooMany) => {
                let told = "Too many sign in at once. Try again in a moment.";
                return form(StatusCode::TOO_MANY_REQUESTS, &back, Some(told));
            }
        }
    } else if accounts.find(&token).is_some() {
        token
    } else {
        return form(StatusCode::UNPROCESSABLE_ENTITY, &back, Some("Nobody is signed in with this token."));
    };
    let mut response = Redirect::to(way_back(&back)).into_response();
    remember(&mut response, &token, &origin);
    response
}

/// Lets the browser consent as this login, at the consent page and nowhere else.
pub(crate) fn remember(response: &mut Response, token: &str, origin: &str) {
    let secure = if origin.starts_with("https:") { "; Secure" } else { "" };
    let cookie = format!("{COOKIE}={token}; Path=/oauth; HttpOnly; SameSite=Lax{secure}");
    // A good token is base64url, which every header can carry.
    if let Ok(cookie) = HeaderValue::try_from(cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
}

/// The origin of a form that this server's own page sent.
pub(crate) fn own_origin(headers: &HeaderMap) -> Option<&str> {
    let origin = headers.get(header::ORIGIN)?.to_str().ok()?;
    let host = headers.get(header::HOST)?.to_str().ok()?;
    let (_, authority) = origin.split_once("://")?;
    authority.eq_ignore_ascii_case(host).then_some(origin)
}

/// Back to the consent page, and nowhere else.
fn way_back(wanted: &str) -> &str {
    let plain = wanted.bytes().all(|byte| byte.is_ascii_graphic());
    if plain && wanted.starts_with(CONSENT) { wanted } else { "/" }
}

fn field(form: &str, name: &str) -> String {
    let mut pairs = form_urlencoded::parse(form.as_bytes());
    pairs.find(|(field, _)| field == name).map(|(_, value)| value.into_owned()).unwrap_or_default()
}

fn form(status: StatusCode, back: &str, problem: Option<&str>) -> Response {
    let body = html! {
        h1 { "Who are you?" }
        @if let Some(problem) = problem { p.warning role="alert" { (problem) } }
        form method="post" action=(PATH) {
            input type="hidden" name="return" value=(way_back(back));
            label { "Your name " input type="text" name="name" maxlength="24" autocomplete="nickname"; }
            p { "Signed in elsewhere already? Then show the token of that sign-in instead of a name:" }
            label { "Token " input type="password" name="token" maxlength="32" autocomplete="off"; }
            p { button type="submit" { "Sign in" } }
        }
    };
    playerthree_auth::page(status, "Sign in", &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_in_comes_back_to_the_consent_page_alone() {
        assert_eq!(way_back("/oauth/authorize?a=1"), "/oauth/authorize?a=1");
        for elsewhere in
            ["//evil.example", "https://evil.example/oauth/authorize?", "/x", "/oauth/authorize?a b", ""]
        {
            assert_eq!(way_back(elsewhere), "/", "{elsewhere}");
        }
    }

    #[test]
    fn the_cookie_of_a_signed_in_owner_names_them() {
        let accounts = Arc::new(Accounts::default());
        let (token, account) = accounts.login("Ann").unwrap();
        let owners = DemoOwners(accounts);
        let named = |cookie: String| {
            let mut headers = HeaderMap::new();
            headers.insert(header::COOKIE, HeaderValue::try_from(cookie).unwrap());
            owners.signed_in(&headers).map(|it| it.owner)
        };
        assert_eq!(named(format!("a=b; {COOKIE}={}", token.reveal())), Some(account.owner));
        assert_eq!(named(format!("{COOKIE}=nonsense")), None);
        assert_eq!(named(format!("other={}", token.reveal())), None);
    }
}
