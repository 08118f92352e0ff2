//! One bounded GET for a client's document (§5): HTTPS, public addresses alone, no redirect, 5 seconds, 5 KiB. The name is
//! resolved once, every address is judged, and the connection goes to one that was judged, so that a second look-up
//! cannot differ.

use crate::public::is_public;
use std::io::Read as _;
use std::time::Duration;
use ureq::config::{Config, ConfigBuilder};
use ureq::http::Uri;
use ureq::tls::TlsConfig;
use ureq::typestate::AgentScope;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, Error};

/// Longest document, in bytes.
pub(crate) const DOCUMENT_BYTES: usize = 5 * 1_024;

/// How long a fetch may take from the look-up to the last byte.
const PATIENCE: Duration = Duration::from_secs(5);

/// Fetches documents over HTTPS, each within its bounds of time and size and without a redirect.
#[derive(Clone)]
pub struct Fetcher(Agent);

impl Fetcher {
    /// From public addresses, which prove their names to the authorities that browsers trust.
    pub fn public() -> Self {
        Self::over(PublicOnly(DefaultResolver::default()), TlsConfig::default())
    }

    /// Over a network where `names` says whom a name stands for, in the terms of the HTTP library, and `trust` who can prove
    /// it. Everything else about a fetch stays as it is.
    pub fn over(names: impl Resolver, trust: TlsConfig) -> Self {
        Self::with(Config::builder().https_only(true).tls_config(trust), names)
    }

    /// The rules of a fetch but for those that keep a test from having a server.
    #[cfg(test)]
    pub(crate) fn open() -> Self {
        Self::with(Config::builder(), DefaultResolver::default())
    }

    fn with(config: ConfigBuilder<AgentScope>, names: impl Resolver) -> Self {
        let config = config
            .timeout_global(Some(PATIENCE))
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .http_status_as_error(false)
            .max_response_header_size(16 << 10)
            .max_idle_connections(0)
            .build();
        Self(Agent::with_parts(config, DefaultConnector::default(), names))
    }

    /// The body of a 200, nothing for anything else. The turn lasts as long as the fetch, whether anybody still waits for
    /// it or not.
    pub(crate) async fn fetch(&self, address: &str, turn: impl Send + 'static) -> Option<Vec<u8>> {
        let (agent, address) = (self.0.clone(), address.to_owned());
        let fetching = tokio::task::spawn_blocking(move || {
            let body = fetch(&agent, &address);
            drop(turn);
            body
        });
        fetching.await.ok().flatten()
    }
}

fn fetch(agent: &Agent, address: &str) -> Option<Vec<u8>> {
    let answer = agent.get(address).header("accept", "application/json").call().ok()?;
    if answer.status() != 200 {
        return None;
    }
    let mut body = Vec::new();
    let limit = u64::try_from(DOCUMENT_BYTES).unwrap_or(u64::MAX) + 1;
    answer.into_body().into_reader().take(limit).read_to_end(&mut body).ok()?;
    (body.len() <= DOCUMENT_BYTES).then_some(body)
}

/// Resolves a name, unless one of its addresses is not public: a name with a public and a private address is somebody's
/// trick.
#[derive(Debug)]
pub struct PublicOnly<R>(pub R);

impl<R: Resolver> Resolver for PublicOnly<R> {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let found = self.0.resolve(uri, config, timeout)?;
        if found.iter().all(|address| is_public(address.ip())) { Ok(found) } else { Err(Error::HostNotFound) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{Ipv4Addr, TcpListener};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A server on this computer that answers every request with these bytes. Returns its address, and how many came.
    fn serve(answer: &'static [u8]) -> (String, Arc<AtomicUsize>) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = format!("http://{}/client.json", listener.local_addr().unwrap());
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                count.fetch_add(1, Ordering::SeqCst);
                let mut head = [0; 4096];
                assert!(stream.read(&mut head).is_ok_and(|read| read > 0));
                _ = stream.write_all(answer);
            }
        });
        (address, asked)
    }

    #[tokio::test]
    async fn a_document_is_the_body_of_a_200() {
        let (address, _) = serve(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
        assert_eq!(Fetcher::open().fetch(&address, ()).await.as_deref(), Some(&b"{}"[..]));
        let (address, _) = serve(b"HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\n{}");
        assert_eq!(Fetcher::open().fetch(&address, ()).await, None);
    }

    /// §5 "without redirects".
    #[tokio::test]
    async fn a_redirect_is_not_followed() {
        let (target, asked) = serve(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
        let redirect = format!("HTTP/1.1 302 Found\r\nlocation: {target}\r\ncontent-length: 0\r\n\r\n");
        let (address, _) = serve(Box::leak(redirect.into_bytes().into_boxed_slice()));
        assert_eq!(Fetcher::open().fetch(&address, ()).await, None);
        assert_eq!(asked.load(Ordering::SeqCst), 0);
    }

    /// §5 "within 5 KiB", whether the length is declared or not.
    #[tokio::test]
    async fn a_long_document_is_refused() {
        for (length, fits) in [(DOCUMENT_BYTES, true), (DOCUMENT_BYTES + 1, false), (1 << 20, false)] {
            let answer = format!("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{}", "x".repeat(length));
            let (address, _) = serve(Box::leak(answer.into_bytes().into_boxed_slice()));
            assert_eq!(Fetcher::open().fetch(&address, ()).await.is_some(), fits, "{length}");
        }
    }

    /// §5 "only from vetted public HTTPS addresses": nothing is even connected to.
    #[tokio::test]
    async fn private_addresses_and_plain_http_are_not_reached() {
        let (address, asked) = serve(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
        assert_eq!(Fetcher::public().fetch(&address, ()).await, None);
        let private = Fetcher::with(Config::builder(), PublicOnly(DefaultResolver::default()));
        assert_eq!(private.fetch(&address, ()).await, None);
        assert_eq!(private.fetch(&address.replace("127.0.0.1", "localhost"), ()).await, None);
        assert_eq!(asked.load(Ordering::SeqCst), 0);
    }
}
