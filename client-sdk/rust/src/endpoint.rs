//! Where a server is: an address with an optional path prefix and query, both kept in every URL as the SDKs do.
//! Pure: resolves nothing and connects to nothing.

use crate::{Error, Result};
use http::Uri;

const DEFAULT_PORT: u16 = 80;

/// A parsed server address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    /// Host name or address, without brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Host and port as they stand in a URL; the default port is left out.
    pub(crate) authority: String,
    /// Empty, or a path without a slash at its end.
    pub(crate) prefix: String,
    pub(crate) query: Option<String>,
}

impl Endpoint {
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let uri: Uri = text.parse().map_err(|_| Error::Endpoint)?;
        match uri.scheme_str() {
            Some("http" | "ws") => {}
            Some("https" | "wss") => return Err(Error::Tls),
            _ => return Err(Error::Endpoint),
        }
        let authority = uri.authority().ok_or(Error::Endpoint)?;
        let has_login = authority.as_str().contains('@');
        let host = authority.host();
        if has_login || host.is_empty() {
            return Err(Error::Endpoint);
        }
        let port = authority.port_u16().unwrap_or(DEFAULT_PORT);
        Ok(Self {
            host: host.trim_start_matches('[').trim_end_matches(']').to_owned(),
            port,
            authority: if port == DEFAULT_PORT { host.to_owned() } else { format!("{host}:{port}") },
            prefix: uri.path().trim_end_matches('/').to_owned(),
            query: uri.query().map(str::to_owned),
        })
    }

    /// The same endpoint at the `publicAddress` that a matchmaker named: host, port and perhaps a path.
    pub(crate) fn moved_to(&self, public_address: &str) -> Result<Self> {
        let moved = Self::parse(&format!("http://{public_address}")).map_err(|_| Error::Answer)?;
        Ok(Self { query: self.query.clone(), ..moved })
    }

    /// The path and query of an HTTP request. `path` begins with a slash.
    pub(crate) fn target(&self, path: &str) -> String {
        match &self.query {
            Some(query) => format!("{}{path}?{query}", self.prefix),
            None => format!("{}{path}", self.prefix),
        }
    }

    /// The URL of a WebSocket, with `parameters` after the endpoint's own query.
    pub(crate) fn socket_url(&self, path: &str, parameters: &str) -> String {
        let query = self.query.as_deref().unwrap_or_default();
        let joint = if query.is_empty() { "" } else { "&" };
        format!("ws://{}{}{path}?{query}{joint}{parameters}", self.authority, self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_and_query_are_kept_in_both_urls() {
        let endpoint = Endpoint::parse("ws://games.example:2567/v17/?tenant=a").unwrap();
        assert_eq!(endpoint.target("/matchmake/join/chat"), "/v17/matchmake/join/chat?tenant=a");
        assert_eq!(
            endpoint.socket_url("/p/r", "sessionId=s"),
            "ws://games.example:2567/v17/p/r?tenant=a&sessionId=s"
        );
    }

    #[test]
    fn the_default_port_is_left_out_of_urls() {
        let endpoint = Endpoint::parse("http://games.example:80").unwrap();
        assert_eq!(
            (endpoint.port, endpoint.socket_url("/p/r", "x=1").as_str()),
            (80, "ws://games.example/p/r?x=1")
        );
    }

    #[test]
    fn an_ipv6_address_loses_its_brackets_only_for_connecting() {
        let endpoint = Endpoint::parse("http://[::1]:9").unwrap();
        assert_eq!((endpoint.host.as_str(), endpoint.authority.as_str()), ("::1", "[::1]:9"));
    }

    #[test]
    fn other_addresses_are_refused_with_their_code() {
        for (text, code) in [
            ("https://games.example", "tls"),
            ("wss://games.example", "tls"),
            ("ftp://games.example", "endpoint"),
            ("games.example:2567", "endpoint"),
            ("http://user:secret@games.example", "endpoint"),
            ("http://", "endpoint"),
            ("", "endpoint"),
            ("http://a b", "endpoint"),
        ] {
            assert_eq!(Endpoint::parse(text).unwrap_err().code(), code, "{text}");
        }
    }

    #[test]
    fn a_public_address_replaces_host_and_prefix_and_keeps_the_query() {
        let endpoint = Endpoint::parse("http://front.example/a?t=1").unwrap();
        let moved = endpoint.moved_to("back.example:99/b").unwrap();
        assert_eq!(moved.socket_url("/p/r", "s=1"), "ws://back.example:99/b/p/r?t=1&s=1");
        assert_eq!(endpoint.moved_to("not an address").unwrap_err().code(), "answer");
    }
}
