//! HTTP/1.1 to the endpoint: one exchange a connection at a time, connections kept between exchanges. An exchange that is
//! dropped closes its connection, by which the endpoint learns that nobody waits any more.

use crate::MESSAGE_BYTES;
use crate::envelope::Request;
use crate::fault::Fault;
use bytes::Bytes;
use futures_util::{Stream, TryStreamExt as _};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use http_body_util::{BodyDataStream, BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};
use tokio_util::task::AbortOnDropHandle;
use url::{Host, Url};

/// How long a connection may take to be made.
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);

/// How long an answer may take to begin. The longest calls are practices that tell no progress.
const ANSWER_PATIENCE: Duration = Duration::from_secs(600);

/// Connections that are kept while nobody uses them.
const IDLE_CONNECTIONS: usize = 4;

/// Longest answer that is no stream: several times the longest result (§4), for its two forms and their escapes.
const ANSWER_BYTES: usize = 8 * MESSAGE_BYTES;

/// No endpoint that a token may be shown to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadEndpoint {
    /// The address cannot be read.
    #[error("the address is no http or https URL without credentials")]
    Address,
    /// The token would cross a network in the clear.
    #[error("http is for this machine alone (127.0.0.1, [::1], localhost); use https")]
    Insecure,
    /// No header can carry the token.
    #[error("the token is malformed")]
    Token,
}

/// An endpoint and the credential for it.
#[derive(Debug)]
pub(crate) struct Remote {
    host: String,
    port: u16,
    tls: Option<ServerName<'static>>,
    authority: HeaderValue,
    path: String,
    authorization: HeaderValue,
    idle: Mutex<Vec<Connection>>,
}

/// One connection. Dropped, it is closed.
#[derive(Debug)]
struct Connection {
    sender: SendRequest<Full<Bytes>>,
    _driver: AbortOnDropHandle<()>,
}

/// The head of an answer, and its body to come.
#[derive(Debug)]
pub(crate) struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Incoming,
    connection: Connection,
}

impl Remote {
    /// An endpoint over HTTPS, or over HTTP on the own machine.
    pub(crate) fn new(endpoint: &str, token: &str) -> Result<Self, BadEndpoint> {
        let url = Url::parse(endpoint).map_err(|_| BadEndpoint::Address)?;
        let is_secure = match url.scheme() {
            "https" => true,
            "http" => false,
            _ => return Err(BadEndpoint::Address),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(BadEndpoint::Address);
        }
        let host = url.host().ok_or(BadEndpoint::Address)?;
        if !is_secure && !is_loopback(&host) {
            return Err(BadEndpoint::Insecure);
        }
        let port = url.port_or_known_default().ok_or(BadEndpoint::Address)?;
        let written = host.to_string();
        let authority = url.port().map_or_else(|| written.clone(), |port| format!("{written}:{port}"));
        let host = written.trim_start_matches('[').trim_end_matches(']').to_owned();
        let tls = is_secure.then(|| ServerName::try_from(host.clone())).transpose();
        let mut authorization =
            HeaderValue::from_str(&format!("Bearer {token}")).map_err(|_| BadEndpoint::Token)?;
        authorization.set_sensitive(true);
        let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
        Ok(Self {
            host,
            port,
            tls: tls.map_err(|_| BadEndpoint::Address)?,
            authority: HeaderValue::from_str(&authority).map_err(|_| BadEndpoint::Address)?,
            path: format!("{}{query}", url.path()),
            authorization,
            idle: Mutex::default(),
        })
    }

    /// Sends a request and returns the head of its answer.
    ///
    /// Cancel safe: dropped, it closes its connection.
    pub(crate) async fn post(&self, request: &Request, mut headers: HeaderMap) -> Result<Answer, Fault> {
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(METHOD_HEADER, request.method_header().ok_or(Fault::NotRequest)?);
        if let Some(name) = request.name_header() {
            headers.insert(NAME_HEADER, name);
        }
        if let Some(revision) = &request.revision {
            let revision = HeaderValue::from_str(revision).map_err(|_| Fault::NotRequest)?;
            headers.insert(VERSION_HEADER, revision);
        }
        self.send(Method::POST, headers, request.body.clone()).await
    }

    /// Gives up the session that the headers name.
    pub(crate) async fn delete(&self, headers: HeaderMap) -> Result<(), Fault> {
        self.send(Method::DELETE, headers, Bytes::new()).await.map(|_| ())
    }

    async fn send(&self, method: Method, mut headers: HeaderMap, body: Bytes) -> Result<Answer, Fault> {
        headers.insert(HOST, self.authority.clone());
        headers.insert(AUTHORIZATION, self.authorization.clone());
        let mut request = http::Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = self.path.parse().map_err(|_| Fault::Unreachable)?;
        *request.headers_mut() = headers;
        let exchange = tokio::time::timeout(ANSWER_PATIENCE, self.exchange(request));
        exchange.await.unwrap_or(Err(Fault::Lost))
    }

    /// Sends on a kept connection, or on a fresh one where the kept ones turn out to be closed. What has left is never
    /// sent again: it may have been carried out.
    async fn exchange(&self, mut request: http::Request<Full<Bytes>>) -> Result<Answer, Fault> {
        loop {
            let kept = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let is_kept = kept.is_some();
            let mut connection = match kept {
                Some(connection) => connection,
                None => self.connect().await?,
            };
            match connection.sender.try_send_request(request).await {
                Ok(response) => {
                    let (head, body) = response.into_parts();
                    return Ok(Answer { status: head.status, headers: head.headers, body, connection });
                }
                Err(mut error) => match error.take_message() {
                    Some(unsent) if is_kept => request = unsent,
                    Some(_) => return Err(Fault::Unreachable),
                    None => return Err(Fault::Lost),
                },
            }
        }
    }

    async fn connect(&self) -> Result<Connection, Fault> {
        let connecting = async {
            let stream = TcpStream::connect((&*self.host, self.port)).await.ok()?;
            stream.set_nodelay(true).ok()?;
            match &self.tls {
                Some(name) => shake_hands(connector()?.connect(name.clone(), stream).await.ok()?).await,
                None => shake_hands(stream).await,
            }
        };
        tokio::time::timeout(CONNECT_PATIENCE, connecting).await.ok().flatten().ok_or(Fault::Unreachable)
    }

    fn keep(&self, connection: Connection) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE_CONNECTIONS {
            idle.push(connection);
        }
    }
}

const METHOD_HEADER: HeaderName = HeaderName::from_static("mcp-method");
const NAME_HEADER: HeaderName = HeaderName::from_static("mcp-name");
const VERSION_HEADER: HeaderName = HeaderName::from_static("mcp-protocol-version");

impl Answer {
    /// The status, as long as it is no success.
    pub(crate) fn failure(&self) -> Option<StatusCode> {
        (!self.status.is_success()).then_some(self.status)
    }

    /// The value of a header.
    pub(crate) fn header(&self, name: &HeaderName) -> Option<HeaderValue> {
        self.headers.get(name).cloned()
    }

    /// Whether the answer comes as a stream of events.
    pub(crate) fn is_stream(&self) -> bool {
        let content_type = self.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        content_type.is_some_and(|value| value.starts_with("text/event-stream"))
    }

    /// The whole body, after which the connection is kept for the next exchange.
    pub(crate) async fn whole(self, remote: &Remote) -> Result<Bytes, Fault> {
        let whole = Limited::new(self.body, ANSWER_BYTES).collect();
        let whole = tokio::time::timeout(ANSWER_PATIENCE, whole).await.map_err(|_| Fault::Lost)?;
        let whole = whole.map_err(|_| Fault::Lost)?.to_bytes();
        remote.keep(self.connection);
        Ok(whole)
    }

    /// The body as it comes. The connection lasts as long.
    pub(crate) fn stream(self) -> (impl Stream<Item = std::io::Result<Bytes>>, impl Sized) {
        (BodyDataStream::new(self.body).map_err(std::io::Error::other), self.connection)
    }
}

async fn shake_hands<S>(stream: S) -> Option<Connection>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.ok()?;
    let driver = tokio::spawn(async move {
        // Whoever waits for an answer learns of the end from the exchange.
        _ = connection.await;
    });
    Some(Connection { sender, _driver: AbortOnDropHandle::new(driver) })
}

fn is_loopback(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => name.eq_ignore_ascii_case("localhost"),
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    }
}

/// TLS with the roots that browsers trust.
fn connector() -> Option<TlsConnector> {
    let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let provider = Arc::new(crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().ok()?;
    Some(TlsConnector::from(Arc::new(config.with_root_certificates(roots).with_no_client_auth())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    #[test]
    fn a_token_is_shown_over_https_or_to_the_own_machine_alone() {
        let of =
            |endpoint: &str| Remote::new(endpoint, "token").map(|remote| (remote.host, remote.port)).err();
        for fine in
            ["https://game.example/mcp", "http://127.0.0.1:2567/mcp", "http://[::1]:1/", "http://localhost/"]
        {
            assert_eq!(of(fine), None, "{fine}");
        }
        assert_eq!(of("http://game.example/mcp"), Some(BadEndpoint::Insecure));
        assert_eq!(of("http://192.168.1.2/mcp"), Some(BadEndpoint::Insecure));
        for bad in ["game.example", "ftp://game.example/", "https://a:b@game.example/", ""] {
            assert_eq!(of(bad), Some(BadEndpoint::Address), "{bad}");
        }
        assert_eq!(Remote::new("https://game.example/", "a\nb").err(), Some(BadEndpoint::Token));
    }

    #[test]
    fn nothing_prints_the_token() {
        let remote = Remote::new("https://game.example/mcp", "secret-of-the-seat").unwrap();
        assert!(!format!("{remote:?}").contains("secret"));
    }

    // §5: an endpoint has to prove who it is before it is told anything.
    #[tokio::test]
    async fn over_https_nothing_is_said_to_a_server_without_a_certificate() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("https://{}/mcp", listener.local_addr().unwrap());
        let remote = Remote::new(&endpoint, "secret-of-the-seat").unwrap();
        let request = Request::own("1", "tools/list", serde_json::json!({}));
        let server = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut read = vec![0; 4096];
            let length = stream.read(&mut read).await.unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").await.unwrap();
            read.truncate(length);
            read
        };
        let (answer, read) = tokio::join!(remote.post(&request, HeaderMap::new()), server);
        assert_eq!(answer.err(), Some(Fault::Unreachable));
        let handshake = 22;
        assert_eq!(read[0], handshake);
        assert!(!String::from_utf8_lossy(&read).contains("secret"));
    }
}
