//! Which web pages may use the server, and what every answer tells their browsers about it (CORS).
//!
//! An origin is a browser's word for the page that asks. Programs outside browsers send none and are not meant here:
//! this guards the people who visit other pages, not the server.

use crate::refusal::Refusal;
use crate::server::Server;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, StatusCode, Uri};

/// The pages that may use the server from a browser.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Origins {
    /// Every page.
    #[default]
    Any,
    /// Pages of these origins alone, each as browsers write it: `https://game.example`, `http://127.0.0.1:8080`.
    /// Anything else that names an origin is refused with 403, sockets too.
    Only(Vec<String>),
}

/// Part of every answer to a page that may use the server. Browsers send credentials, so the origin is named.
const GRANTS: [(HeaderName, HeaderValue); 5] = [
    (header::ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true")),
    (
        header::ACCESS_CONTROL_ALLOW_HEADERS,
        HeaderValue::from_static("Origin, X-Requested-With, Content-Type, Accept, Authorization"),
    ),
    (header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET,HEAD,PUT,PATCH,POST,DELETE")),
    (header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("Retry-After")),
    (header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("2592000")),
];

impl Origins {
    /// Whether each listed origin is one that a browser could send.
    pub(crate) fn are_well_formed(&self) -> bool {
        match self {
            Self::Any => true,
            Self::Only(listed) => listed.iter().all(|origin| is_origin(origin)),
        }
    }

    /// What to answer a request with this origin in `access-control-allow-origin`; `None` where it may not ask.
    fn grant(&self, origin: Option<&HeaderValue>) -> Option<HeaderValue> {
        match (self, origin) {
            (Self::Any, Some(origin)) => Some(origin.clone()),
            (Self::Any | Self::Only(_), None) => Some(HeaderValue::from_static("*")),
            (Self::Only(listed), Some(origin)) => {
                listed.iter().any(|listed| listed.as_bytes() == origin.as_bytes()).then(|| origin.clone())
            }
        }
    }
}

/// `scheme://host` or `scheme://host:port`, in lower case and without the scheme's own port.
fn is_origin(text: &str) -> bool {
    let Ok(uri) = text.parse::<Uri>() else { return false };
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else { return false };
    let own_port = match scheme {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    };
    let is_short = authority.port_u16().is_none_or(|port| Some(port) != own_port);
    is_short
        && !authority.as_str().contains('@')
        && text == format!("{scheme}://{authority}")
        && !text.bytes().any(|byte| byte.is_ascii_uppercase())
}

/// Refuses pages that may not use the server, answers preflights, and lets the page read every other answer, errors
/// included.
pub(crate) async fn guard(State(server): State<Server>, request: Request, next: Next) -> Response {
    let origin = request.headers().get(header::ORIGIN);
    let Some(grant) = server.config().origins.grant(origin) else {
        let refusal = Refusal::origin_not_allowed();
        server.shared().counters.refused(&refusal);
        let mut refused = refusal.into_response();
        vary(refused.headers_mut());
        return refused;
    };
    let mut response =
        if is_preflight(&request) { StatusCode::NO_CONTENT.into_response() } else { next.run(request).await };
    let headers = response.headers_mut();
    headers.extend(GRANTS);
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, grant);
    vary(headers);
    response
}

fn vary(headers: &mut HeaderMap) {
    headers.insert(header::VARY, HeaderValue::from_static("Origin"));
}

fn is_preflight(request: &Request) -> bool {
    request.method() == Method::OPTIONS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_what_browsers_send() {
        for origin in [
            "https://game.example",
            "http://127.0.0.1:8080",
            "http://[::1]:1",
            "https://a:80",
            "tauri://localhost",
        ] {
            assert!(is_origin(origin), "{origin}");
        }
        for other in [
            "",
            "*",
            "null",
            "game.example",
            "https://",
            "https://game.example/",
            "https://game.example/path",
            "https://Game.example",
            "https://game.example:443",
            "http://game.example:80",
            "https://user@game.example",
            "https://game.example?query",
            "https://game example",
        ] {
            assert!(!is_origin(other), "{other}");
        }
    }

    #[test]
    fn a_list_grants_what_is_on_it_alone() {
        let origins = Origins::Only(vec!["https://game.example".into()]);
        let asked = |origin: &'static str| origins.grant(Some(&HeaderValue::from_static(origin)));
        assert_eq!(asked("https://game.example").unwrap(), "https://game.example");
        for other in
            ["https://game.example.evil.test", "http://game.example", "null", "", "https://GAME.example"]
        {
            assert_eq!(asked(other), None, "{other}");
        }
        assert_eq!(origins.grant(None).unwrap(), "*", "a program that is no browser");
    }
}
