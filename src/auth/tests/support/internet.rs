//! The internet of a test: every name stands for one server of the test's own, which can prove that it is `app.example`.

use playerthree_auth::{Fetcher, PublicOnly};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use ureq::config::Config;
use ureq::http::Uri;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

const CERTIFICATE: &[u8] = include_bytes!("app.example.crt");
const KEY: &[u8] = include_bytes!("app.example.key");

/// What the server answers.
pub enum Page {
    /// These bytes, and the end.
    Whole(String),
    /// This body after a minute of spaces, one now and then.
    Dribbling(String),
}

impl Page {
    pub fn found(body: &str) -> Self {
        Self::Whole(format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len()))
    }

    pub fn missing() -> Self {
        Self::Whole("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_owned())
    }

    pub fn moved(to: &str) -> Self {
        Self::Whole(format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n"))
    }
}

type Pages = dyn Fn(&str) -> Page + Send + Sync;

pub struct Internet {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl Internet {
    pub async fn of(pages: impl Fn(&str) -> Page + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        tokio::spawn(accept(listener, Arc::clone(&connections), Arc::new(pages)));
        Self { address, connections }
    }

    /// How often somebody connected.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Fetches from here by the rules that ship, but for the one of the addresses.
    pub fn fetcher(&self) -> Fetcher {
        Fetcher::over(OneServer(self.address), trust())
    }

    /// Fetches from here by all of the rules that ship.
    pub fn judging_fetcher(&self) -> Fetcher {
        Fetcher::over(PublicOnly(OneServer(self.address)), trust())
    }
}

fn trust() -> TlsConfig {
    let certificate = Certificate::from_pem(CERTIFICATE).unwrap();
    TlsConfig::builder().root_certs(RootCerts::new_with_certs(&[certificate])).build()
}

#[derive(Debug)]
struct OneServer(SocketAddr);

impl Resolver for OneServer {
    fn resolve(&self, _: &Uri, _: &Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let mut found = self.empty();
        found.push(self.0);
        Ok(found)
    }
}

/// Terminates when the test does.
async fn accept(listener: TcpListener, connections: Arc<AtomicUsize>, pages: Arc<Pages>) {
    let chain = vec![CertificateDer::from_pem_slice(CERTIFICATE).unwrap()];
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let config = config.with_single_cert(chain, PrivateKeyDer::from_pem_slice(KEY).unwrap()).unwrap();
    let tls = TlsAcceptor::from(Arc::new(config));
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        connections.fetch_add(1, Ordering::SeqCst);
        tokio::spawn(serve(stream, tls.clone(), Arc::clone(&pages)));
    }
}

/// One request. Whoever does not believe the certificate says nothing.
async fn serve(stream: TcpStream, tls: TlsAcceptor, pages: Arc<Pages>) {
    let Ok(mut stream) = tls.accept(stream).await else { return };
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return,
        }
    }
    let head = String::from_utf8(head).unwrap();
    let path = head.split(' ').nth(1).unwrap();
    match pages(path) {
        Page::Whole(answer) => {
            _ = stream.write_all(answer.as_bytes()).await;
            _ = stream.shutdown().await;
        }
        Page::Dribbling(body) => {
            _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
            for _ in 0..600 {
                if stream.write_all(b" ").await.is_err() || stream.flush().await.is_err() {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            _ = stream.write_all(body.as_bytes()).await;
            _ = stream.shutdown().await;
        }
    }
}
