//! The names under which this server is reached, and the addresses that its metadata states for each. A client compares
//! them with the address that it was given, so an answer always speaks of the name that was asked for.

use http::{HeaderMap, header};

/// Where agents connect, below every name.
const MCP_PATH: &str = "/mcp";

/// Where the metadata of the MCP endpoint is (RFC 9728 §3.1).
pub(crate) const RESOURCE_METADATA: &str = "/.well-known/oauth-protected-resource";

/// One name of this server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    host: String,
    issuer: String,
}

impl Site {
    /// A name that clients reach over HTTPS, as their `Host` header writes it: `game.example` or `game.example:8443`.
    pub fn https(host: &str) -> Self {
        let name = host.strip_suffix(":443").unwrap_or(host);
        Self { host: host.to_owned(), issuer: format!("https://{name}") }
    }

    /// The exception for development (§5): a name of the server's own machine, such as `127.0.0.1:2567`, without TLS.
    pub fn loopback(host: &str) -> Self {
        let name = host.strip_suffix(":80").unwrap_or(host);
        Self { host: host.to_owned(), issuer: format!("http://{name}") }
    }

    /// As clients write it in `Host`.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The issuer (RFC 8414), which is also the origin of the consent page.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// The MCP endpoint, which every token is bound to (RFC 8707).
    pub fn resource(&self) -> String {
        format!("{}{MCP_PATH}", self.issuer)
    }

    /// Where the metadata of the MCP endpoint is.
    pub fn resource_metadata(&self) -> String {
        format!("{}{RESOURCE_METADATA}{MCP_PATH}", self.issuer)
    }

    /// Whether a client names this endpoint.
    pub(crate) fn is_resource(&self, named: &str) -> bool {
        named == self.resource()
    }
}

/// The site that a request names. A repeated or foreign `Host` is none.
pub(crate) fn named<'a>(sites: &'a [Site], headers: &HeaderMap) -> Option<&'a Site> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = hosts.next()?.to_str().ok()?;
    if hosts.next().is_some() {
        return None;
    }
    sites.iter().find(|site| site.host.eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_states_the_address_that_its_clients_use() {
        let site = Site::https("game.example:443");
        assert_eq!((site.issuer(), &*site.resource()), ("https://game.example", "https://game.example/mcp"));
        let own = Site::loopback("127.0.0.1:2567");
        assert_eq!(own.resource_metadata(), "http://127.0.0.1:2567/.well-known/oauth-protected-resource/mcp");
        assert!(own.is_resource("http://127.0.0.1:2567/mcp"));
        for other in ["http://127.0.0.1:2567/mcp/", "http://127.0.0.1:2567", "http://localhost:2567/mcp"] {
            assert!(!own.is_resource(other), "{other}");
        }
    }
}
