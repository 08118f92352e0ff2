//! The page: the files that `build.rs` made, embedded in the program and served under a strict security policy. It
//! reads nothing from disk and knows nothing of matches; the page's script talks to the same doors as any client.

use axum::Router;
use axum::body::Bytes;
use axum::http::StatusCode;
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

/// The page loads from its own origin alone, runs no inline script, and is framed by nobody.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// One embedded file.
struct Asset {
    content_type: &'static str,
    /// A quoted hash of the content.
    etag: &'static str,
    body: &'static [u8],
}

/// A file of the built page with its `ETag`.
macro_rules! asset {
    ($name:literal, $content_type:literal) => {
        Asset {
            content_type: $content_type,
            etag: include_str!(concat!(env!("OUT_DIR"), "/", $name, ".etag")),
            body: include_bytes!(concat!(env!("OUT_DIR"), "/", $name)),
        }
    };
}

static INDEX: Asset = asset!("index.html", "text/html; charset=utf-8");
static SCRIPT: Asset = asset!("app.js", "text/javascript; charset=utf-8");
static STYLE: Asset = asset!("style.css", "text/css; charset=utf-8");
static ICON: Asset = asset!("icon.svg", "image/svg+xml");

/// The page itself.
pub(crate) async fn index(headers: HeaderMap) -> impl IntoResponse {
    serve(&INDEX, &headers)
}

/// What the page loads.
pub(crate) fn routes() -> Router {
    Router::new()
        .route("/page/app.js", file(&SCRIPT))
        .route("/page/style.css", file(&STYLE))
        .route("/page/icon.svg", file(&ICON))
}

fn file(asset: &'static Asset) -> axum::routing::MethodRouter {
    get(move |headers: HeaderMap| async move { serve(asset, &headers) })
}

/// The file, or 304 where the browser holds it already. Browsers ask every time, so a new program is a new page.
fn serve(asset: &'static Asset, request: &HeaderMap) -> Response {
    let held = request.get_all(header::IF_NONE_MATCH).iter().any(|tags| names(tags, asset.etag));
    let (status, body) =
        if held { (StatusCode::NOT_MODIFIED, &[][..]) } else { (StatusCode::OK, asset.body) };
    let headers: [(HeaderName, &'static str); 6] = [
        (header::CONTENT_TYPE, asset.content_type),
        (header::ETAG, asset.etag),
        (header::CACHE_CONTROL, "no-cache"),
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    (status, headers, Bytes::from_static(body)).into_response()
}

/// Whether a list of entity tags names this one. A weak tag names it too: the comparison is weak for reading.
fn names(tags: &HeaderValue, etag: &str) -> bool {
    let listed = tags.to_str().unwrap_or_default().split(',');
    listed.map(|tag| tag.trim().trim_start_matches("W/")).any(|tag| tag == etag || tag == "*")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(if_none_match: &[&'static str]) -> Response {
        let mut headers = HeaderMap::new();
        for tags in if_none_match {
            headers.append(header::IF_NONE_MATCH, HeaderValue::from_static(tags));
        }
        serve(&INDEX, &headers)
    }

    #[test]
    fn the_page_comes_with_its_policy_and_an_entity_tag() {
        let response = asked(&[]);
        assert_eq!(response.status(), StatusCode::OK);
        let value = |name: HeaderName| response.headers()[name].to_str().unwrap().to_owned();
        assert!(value(header::CONTENT_SECURITY_POLICY).starts_with("default-src 'none'"));
        assert_eq!(value(header::X_CONTENT_TYPE_OPTIONS), "nosniff");
        assert_eq!(value(header::ETAG), INDEX.etag);
        assert!(INDEX.etag.len() == 34 && INDEX.etag.starts_with('"') && INDEX.etag.ends_with('"'));
    }

    #[test]
    fn a_browser_that_holds_the_file_is_told_so() {
        assert_eq!(asked(&[INDEX.etag]).status(), StatusCode::NOT_MODIFIED);
        assert_eq!(asked(&["\"other\"", "*"]).status(), StatusCode::NOT_MODIFIED);
        assert_eq!(asked(&["\"other\", W/\"another\""]).status(), StatusCode::OK);
        assert_eq!(asked(&["W/"]).status(), StatusCode::OK);
    }

    #[test]
    fn the_page_has_no_inline_script_or_style() {
        let html = std::str::from_utf8(INDEX.body).unwrap();
        assert!(!html.contains("<style") && !html.contains(" style=") && !html.contains(" onclick"));
        assert_eq!(html.matches("<script").count(), html.matches("<script type=\"module\" src=").count());
    }
}
