//! The pages that an owner sees: consent, the way back, and what is wrong. Plain HTML without a script; whatever a
//! client says of itself is escaped and marked as its own word (§5).

use crate::client::Client;
use crate::consent::{Choice, Unclear};
use crate::redirect::foreign_host;
use crate::request::AuthorizationRequest;
use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, StatusCode, header};
use maud::{DOCTYPE, Markup, html};

/// Where the style is served.
pub(crate) const STYLE_PATH: &str = "/oauth/style.css";

/// The style of every page.
pub(crate) const STYLE: &str = include_str!("style.css");

/// Nothing but the own style loads, forms go home, and nobody frames the page.
const CONTENT_SECURITY_POLICY: &str =
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// What a consent page shows.
pub(crate) struct Consent<'a> {
    pub(crate) request: &'a AuthorizationRequest,
    /// The request's own query, which the form carries back.
    pub(crate) query: &'a str,
    pub(crate) proof: &'a str,
    /// The name that the owner signed in by.
    pub(crate) display: &'a str,
    pub(crate) sign_in: &'a str,
    pub(crate) choices: &'a [Choice],
    pub(crate) unclear: Option<Unclear>,
}

/// Asks the owner.
pub(crate) fn consent(page: &Consent<'_>) -> Response {
    let status = if page.unclear.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let body = html! {
        h1 { "An AI agent asks to play for you" }
        p { "Signed in as " strong { (page.display) } ". " a href=(page.sign_in) { "Somebody else?" } }
        dl {
            dt { "Who asks" } dd { (who(&page.request.client)) }
            dt { "Returns to" } dd { (destination(&page.request.back.redirect)) }
        }
        @if let Some(unclear) = page.unclear { p.warning role="alert" { (told(unclear)) } }
        p { "Allow this only if you started it yourself a moment ago. You can remove it again at any time." }
        form method="post" action="/oauth/authorize" {
            input type="hidden" name="request" value=(page.query);
            input type="hidden" name="proof" value=(page.proof);
            @for (index, choice) in page.choices.iter().enumerate() { (commander(choice, index == 0)) }
            button type="submit" name="decision" value="allow" { "Allow" }
            button type="submit" name="decision" value="deny" { "Deny" }
        }
    };
    reply(status, "Allow an agent?", None, &body)
}

/// Hands the answer over. The browser goes on by itself; a form's own redirect may be held back by the page's policy.
pub(crate) fn back(address: &str, redirect: &str) -> Response {
    let body = html! {
        h1 { "Done" }
        p { "You are being sent back to " (destination(redirect)) ". If nothing happens, "
            a href=(address) rel="noreferrer" { "go there" } "." }
    };
    reply(StatusCode::OK, "Done", Some(address), &body)
}

/// Says what is wrong with a request whose way back is not to be trusted.
pub(crate) fn refusal(status: StatusCode, what: &str) -> Response {
    let body = html! {
        h1 { "This did not work" }
        p { (what) }
        p { "Nothing was allowed. Start again from your agent's program." }
    };
    reply(status, "Refused", None, &body)
}

fn who(client: &Client) -> Markup {
    let unnamed = "a program that gives no name";
    html! {
        @match &client.domain {
            Some(domain) => { strong { (domain) } " (verified domain)" br; }
            None => {}
        }
        @match &client.name {
            Some(name) => span.unverified { "calls itself “" (name) "” — nobody verified that" },
            None => span.unverified { (unnamed) },
        }
    }
}

fn destination(redirect: &str) -> Markup {
    html! {
        @match foreign_host(redirect) {
            Some(host) => strong { (host) },
            None => "a program on this computer",
        }
    }
}

fn commander(choice: &Choice, first: bool) -> Markup {
    html! {
        fieldset {
            legend {
                label { input type="radio" name="commander" value=(choice.value) checked[first] required;
                    @match &choice.name {
                        Some(name) => { " " (name) },
                        None => " A new commander",
                    }
                }
            }
            p { "Plays " (choice.surface.manifest.title) "." }
            @if choice.name.is_none() {
                label { "Name " input type="text" name=(choice.name_field()) value="Commander" maxlength="24"; }
            }
            p { "In these roles:" }
            @for role in &choice.roles {
                label { input type="checkbox" name=(choice.box_of(role)) value="on" checked; " " (role) }
            }
            p { "It may, as you set it for this commander:" }
            ul { @for scope in &choice.scopes { li { (meaning(scope)) } } }
            p { (autonomy(&choice.autonomy)) " " (isolation(&choice.isolation)) }
        }
    }
}

fn meaning(scope: &str) -> &str {
    match scope {
        "act" => "play: give orders of its own in your matches",
        "policy" => "deploy programs that play for it",
        "practice" => "run practice matches",
        "publish" => "publish its programs for others to play against",
        "say" => "write messages to you",
        other => other,
    }
}

fn autonomy(autonomy: &str) -> &'static str {
    match autonomy {
        "supervised" => "It asks you before it deploys or publishes a program.",
        _ => "It does so without asking you each time.",
    }
}

fn isolation(isolation: &str) -> &'static str {
    match isolation {
        "shared" => "It shares what it knows with your other commanders.",
        _ => "It knows nothing of your other commanders.",
    }
}

fn told(unclear: Unclear) -> &'static str {
    match unclear {
        Unclear::Commander => "Choose a commander.",
        Unclear::Roles => "Choose at least one role of the commander that you chose.",
        Unclear::Name => "Give the new commander a name of 1 to 24 letters, digits, spaces or any of - _ . '",
        Unclear::TooMany => "You have as many commanders as you may. Choose one of them, or remove one.",
    }
}

/// A page in the manner of the consent page, for the game's own sign-in: no script, no frame, nothing kept.
pub fn page(status: StatusCode, title: &str, body: &Markup) -> Response {
    reply(status, title, None, body)
}

fn reply(status: StatusCode, title: &str, onward: Option<&str>, body: &Markup) -> Response {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                @if let Some(address) = onward { meta http-equiv="refresh" content=(format!("0;url={address}")); }
                title { (title) " · playerthree" }
                link rel="stylesheet" href=(STYLE_PATH);
            }
            body { (body) }
        }
    };
    let headers: [(HeaderName, HeaderValue); 7] = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(CONTENT_SECURITY_POLICY)),
        (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        // Not `no-referrer`: a form of such a page would be sent with no origin to check.
        (header::REFERRER_POLICY, HeaderValue::from_static("same-origin")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    ];
    (status, headers, page.into_string()).into_response()
}
