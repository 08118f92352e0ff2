//! Where an authorization may return to (§5): HTTPS addresses and loopback ones, matched exactly but for the port of a
//! loopback address (RFC 8252 §7.3).

use std::net::{Ipv4Addr, Ipv6Addr};
use url::{Host, Url};

/// Longest redirect URI, in bytes.
pub(crate) const REDIRECT_BYTES: usize = 512;

/// The ways to write this computer before a port. Only these may leave the port open.
const LOOPBACKS: [&str; 3] = ["http://127.0.0.1", "http://[::1]", "http://localhost"];

/// One registered redirect URI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Redirect(String);

impl Redirect {
    /// Takes a URI that an authorization may return to: HTTPS anywhere, or plain HTTP to this computer; no fragment, no
    /// user.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.len() > REDIRECT_BYTES || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return None;
        }
        let url = Url::parse(text).ok()?;
        let plain = url.fragment().is_none() && url.username().is_empty() && url.password().is_none();
        let allowed = match url.scheme() {
            "https" => url.has_host(),
            "http" => is_loopback(&url) && loopback_rest(text).is_some(),
            _ => false,
        };
        // A backslash is a slash to browsers and none to a comparison of texts.
        (plain && allowed && !text.contains('\\')).then(|| Self(text.to_owned()))
    }

    /// Whether a presented URI is this one.
    pub(crate) fn matches(&self, presented: &str) -> bool {
        self.0 == presented
            || loopback_rest(&self.0).is_some_and(|rest| loopback_rest(presented) == Some(rest))
    }

    /// As it was registered.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// What a person is told of an address that was accepted: its host, or nothing where that is their own computer.
pub(crate) fn foreign_host(redirect: &str) -> Option<String> {
    let url = Url::parse(redirect).ok()?;
    if is_loopback(&url) { None } else { url.host_str().map(str::to_owned) }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address == Ipv4Addr::LOCALHOST,
        Some(Host::Ipv6(address)) => address == Ipv6Addr::LOCALHOST,
        None => false,
    }
}

/// A loopback URI as what stands before its port and what stands behind it.
fn loopback_rest(uri: &str) -> Option<(&str, &str)> {
    let (before, behind) = LOOPBACKS.iter().find_map(|name| Some((*name, uri.strip_prefix(name)?)))?;
    let rest = match behind.strip_prefix(':') {
        None => behind,
        Some(port) => {
            let rest = port.trim_start_matches(|c: char| c.is_ascii_digit());
            let digits = &port[..port.len() - rest.len()];
            digits.parse::<u16>().ok().filter(|port| *port > 0)?;
            rest
        }
    };
    // Whatever else follows a host is another host, as in `http://127.0.0.1.example/`.
    (rest.is_empty() || rest.starts_with(['/', '?'])).then_some((before, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_https_and_this_computer_are_returned_to() {
        for uri in [
            "https://app.example/callback",
            "https://app.example:8443/a?b=c",
            "http://127.0.0.1:3000/callback",
            "http://127.0.0.1/callback",
            "http://[::1]:9/x",
            "http://localhost:33418",
        ] {
            assert!(Redirect::parse(uri).is_some(), "{uri}");
        }
        for uri in [
            "http://app.example/callback",
            "javascript:alert(1)",
            "data:text/html,x",
            "app.example:/callback",
            "https://app.example/#fragment",
            "https://user@app.example/",
            "https://app.example\\@evil.example/",
            "http://127.0.0.1.evil.example/",
            "http://127.0.0.1@evil.example/",
            "http://localhost.evil.example/",
            "http://127.0.0.2/",
            "http://0x7f000001/",
            "http://127.0.0.1:0/",
            "http://127.0.0.1:99999/",
            "https://app.example/\u{202e}",
            "https://app.example/a b",
            "",
            "/callback",
        ] {
            assert_eq!(Redirect::parse(uri), None, "{uri}");
        }
        assert!(Redirect::parse(&format!("https://app.example/{}", "x".repeat(REDIRECT_BYTES))).is_none());
    }

    /// RFC 8252 §7.3: any port of a loopback address, and nothing else, may differ.
    #[test]
    fn redirects_match_exactly_but_for_a_loopback_port() {
        let check =
            |registered: &str, presented: &str| Redirect::parse(registered).unwrap().matches(presented);
        assert!(check("https://app.example/cb", "https://app.example/cb"));
        assert!(check("http://127.0.0.1:1/cb", "http://127.0.0.1:54321/cb"));
        assert!(check("http://127.0.0.1/cb", "http://127.0.0.1:54321/cb"));
        assert!(check("http://localhost:1/cb", "http://localhost/cb"));
        assert!(check("http://[::1]/cb?x=1", "http://[::1]:5/cb?x=1"));
        for (registered, presented) in [
            ("https://app.example/cb", "https://app.example/cb/"),
            ("https://app.example/cb", "https://app.example:443/cb"),
            ("https://app.example/cb", "https://app.example:444/cb"),
            ("https://app.example/cb", "https://APP.example/cb"),
            ("https://app.example/cb", "https://app.example/cb?x=1"),
            ("http://127.0.0.1:1/cb", "http://localhost:1/cb"),
            ("http://127.0.0.1:1/cb", "http://127.0.0.1:1/cb/../x"),
            ("http://127.0.0.1:1/cb", "http://127.0.0.1:1@evil.example/cb"),
            ("http://127.0.0.1:1/cb", "http://127.0.0.1:x/cb"),
            ("http://127.0.0.1:1/cb", "https://127.0.0.1:1/cb"),
            ("http://127.0.0.1:1/cb", "http://127.0.0.1:1/cb#x"),
        ] {
            assert!(!check(registered, presented), "{registered} {presented}");
        }
    }

    #[test]
    fn a_person_is_told_the_host_of_an_address_that_is_not_their_computer() {
        assert_eq!(foreign_host("https://app.example/cb"), Some("app.example".into()));
        assert_eq!(foreign_host("http://127.0.0.1:3000/cb"), None);
    }
}
