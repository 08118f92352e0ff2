//! Client ID Metadata Documents (§5): a client whose id is the address of its metadata. Nobody but a signed-in owner
//! makes this server fetch one.

use crate::client::Client;
use crate::fetch::Fetcher;
use playerthree_schema::strict_json;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use url::{Host, Url};

/// Most documents that are kept.
const KEPT_MAX: usize = 256;

/// How long a document is kept before it is fetched anew.
const KEPT_FOR: Duration = Duration::from_secs(600);

/// How long it is remembered that a document could not be had.
const FAILED_FOR: Duration = Duration::from_secs(30);

/// Most fetches at once; a further one waits its turn.
const FETCHES: usize = 4;

/// How long a fetch waits for its turn: as long as those before it may take.
const TURN_PATIENCE: Duration = Duration::from_secs(5);

/// Longest address of a document, in bytes.
const ADDRESS_BYTES: usize = 512;

/// The address of a document: HTTPS, a public name, the usual port, a path, and nothing that is not sent as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DocumentId {
    pub(crate) text: String,
    domain: String,
}

impl DocumentId {
    /// Whether a client id means to be such an address.
    pub(crate) fn is_meant(client_id: &str) -> bool {
        client_id.starts_with("https://")
    }

    /// Reads an address, which has to be written in its one normal form.
    pub(crate) fn parse(client_id: &str) -> Option<Self> {
        let url = Url::parse(client_id).ok()?;
        let Some(Host::Domain(domain)) = url.host() else { return None };
        let normal = url.as_str() == client_id && client_id.len() <= ADDRESS_BYTES;
        let bare = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
        let named = domain.contains('.') && url.scheme() == "https" && url.port().is_none();
        let domain = domain.to_owned();
        (normal && bare && named && url.path() != "/").then(|| Self { text: client_id.to_owned(), domain })
    }

    /// The client that a fetched document describes. It has to name its own address, and no secret.
    fn read(&self, body: &[u8]) -> Option<Client> {
        let Ok(Value::Object(metadata)) = strict_json(str::from_utf8(body).ok()?) else { return None };
        let says_its_address = metadata.get("client_id").is_some_and(|id| *id == *self.text);
        let is_public = metadata.get("token_endpoint_auth_method").is_none_or(|method| method == "none");
        if !says_its_address || !is_public || metadata.contains_key("client_secret") {
            return None;
        }
        Client::parse(self.text.clone(), Some(self.domain.clone()), &metadata).ok()
    }
}

/// The documents that were fetched of late.
pub(crate) struct Documents {
    fetcher: Fetcher,
    kept: Mutex<HashMap<String, Kept>>,
    /// Each is held by the fetch itself, which goes on where nobody waits for it any more.
    turns: Arc<Semaphore>,
}

/// What came of a fetch.
struct Kept {
    fetched: Instant,
    /// Nothing where the document could not be had.
    client: Option<Arc<Client>>,
}

impl Kept {
    fn is_fresh(&self) -> bool {
        self.fetched.elapsed() < if self.client.is_some() { KEPT_FOR } else { FAILED_FOR }
    }
}

impl Documents {
    pub(crate) fn new(fetcher: Fetcher) -> Self {
        Self { fetcher, kept: Mutex::default(), turns: Arc::new(Semaphore::new(FETCHES)) }
    }

    /// The client of a document, nothing where it cannot be had or says something else than it should.
    ///
    /// Cancel safe: a fetch that nobody waits for any more ends by itself.
    pub(crate) async fn client(&self, id: &DocumentId) -> Option<Arc<Client>> {
        if let Some(kept) = self.kept(&id.text) {
            return kept;
        }
        let turn = tokio::time::timeout(TURN_PATIENCE, Arc::clone(&self.turns).acquire_owned());
        let turn = turn.await.ok()?.ok()?;
        if let Some(kept) = self.kept(&id.text) {
            return kept;
        }
        let body = self.fetcher.fetch(&id.text, turn).await;
        let client = body.and_then(|body| id.read(&body)).map(Arc::new);
        self.keep(id, client.clone());
        client
    }

    /// What came of a fetch of late.
    fn kept(&self, address: &str) -> Option<Option<Arc<Client>>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(address).filter(|kept| kept.is_fresh()).map(|kept| kept.client.clone())
    }

    /// Failures make room before clients do.
    fn keep(&self, id: &DocumentId, client: Option<Arc<Client>>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT_MAX {
            let first = kept.iter().min_by_key(|(_, kept)| (kept.client.is_some(), kept.fetched));
            let first = first.map(|(address, _)| address.clone());
            first.and_then(|address| kept.remove(&address));
        }
        kept.insert(id.text.clone(), Kept { fetched: Instant::now(), client });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::REDIRECTS_MAX;
    use serde_json::json;
    use tokio::io::AsyncWriteExt as _;
    use tokio::net::TcpListener;

    const ADDRESS: &str = "https://app.example/client.json";

    fn read(document: &Value) -> Option<Client> {
        DocumentId::parse(ADDRESS).unwrap().read(document.to_string().as_bytes())
    }

    #[test]
    fn only_public_names_over_https_are_addresses_of_documents() {
        assert!(DocumentId::parse(ADDRESS).is_some());
        assert!(DocumentId::parse("https://app.example/a?b=c").is_some());
        for address in [
            "http://app.example/client.json",
            "https://app.example",
            "https://app.example/",
            "https://127.0.0.1/client.json",
            "https://2130706433/client.json",
            "https://[::1]/client.json",
            "https://localhost/client.json",
            "https://app.example:8443/client.json",
            "https://user@app.example/client.json",
            "https://app.example/client.json#x",
            "https://app.example/a/../client.json",
            "https://APP.example/client.json",
            "https://app.example\\client.json",
            "ftp://app.example/client.json",
            "https://",
        ] {
            assert_eq!(DocumentId::parse(address), None, "{address}");
        }
        assert!(DocumentId::parse(&format!("{ADDRESS}?{}", "x".repeat(ADDRESS_BYTES))).is_none());
    }

    /// §5 "with matching client_id".
    #[test]
    fn a_document_names_its_own_address_and_no_secret() {
        let good = json!({ "client_id": ADDRESS, "client_name": "App", "redirect_uris": ["https://app.example/cb"] });
        let client = read(&good).unwrap();
        assert_eq!((client.id.as_str(), client.domain.as_deref()), (ADDRESS, Some("app.example")));
        let many = vec!["https://app.example/"; REDIRECTS_MAX + 1];
        for (member, value) in [
            ("client_id", json!("https://app.example/other.json")),
            ("client_id", json!(null)),
            ("client_secret", json!("x")),
            ("token_endpoint_auth_method", json!("client_secret_basic")),
            ("redirect_uris", json!(many)),
            ("redirect_uris", json!(["http://app.example/"])),
        ] {
            let mut bad = good.clone();
            bad[member] = value;
            assert_eq!(read(&bad), None, "{member}");
        }
        assert!(DocumentId::parse(ADDRESS).unwrap().read(b"[]").is_none());
        assert!(DocumentId::parse(ADDRESS).unwrap().read(b"\xff").is_none());
    }

    /// A server of the test's own, and ids of documents there.
    async fn server() -> (TcpListener, impl Fn(usize) -> DocumentId) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let id = move |number| DocumentId {
            text: format!("http://{address}/{number}.json"),
            domain: "app.example".to_owned(),
        };
        (listener, id)
    }

    /// A fetch that nobody waits for any more still counts, as it still holds a thread.
    #[tokio::test]
    async fn fetches_at_once_are_bounded_though_their_owners_leave() {
        let (listener, id) = server().await;
        let documents = Documents::new(Fetcher::open());
        let mut open = Vec::new();
        for number in 0..FETCHES {
            let id = id(number);
            tokio::select! {
                _ = documents.client(&id) => panic!("nothing was answered"),
                accepted = listener.accept() => open.push(accepted.unwrap()),
            }
        }
        assert_eq!(documents.turns.available_permits(), 0);
        drop(open);
        let all = u32::try_from(FETCHES).unwrap();
        assert!(documents.turns.acquire_many(all).await.is_ok());
    }

    /// What is kept is bounded, failures make room before clients do, and nothing is kept for good.
    #[tokio::test(start_paused = true)]
    async fn what_is_kept_is_bounded_and_grows_old() {
        let documents = Documents::new(Fetcher::open());
        let id = |number: usize| DocumentId {
            text: format!("https://app.example/{number}.json"),
            domain: "app.example".to_owned(),
        };
        let good = json!({ "client_id": ADDRESS, "redirect_uris": ["https://app.example/cb"] });
        let client = read(&good).map(Arc::new);
        documents.keep(&id(0), client.clone());
        documents.keep(&id(1), None);
        for number in 2..=KEPT_MAX {
            tokio::time::advance(Duration::from_millis(1)).await;
            documents.keep(&id(number), client.clone());
        }
        let is_kept = |number| documents.kept(&id(number).text).is_some();
        assert!(is_kept(0) && !is_kept(1), "the failure made room");
        documents.keep(&id(KEPT_MAX + 1), client);
        assert!(!is_kept(0) && is_kept(2), "then the oldest did");
        assert_eq!(documents.kept.lock().unwrap().len(), KEPT_MAX);
        tokio::time::advance(KEPT_FOR).await;
        assert!(!is_kept(KEPT_MAX + 1));
    }

    #[tokio::test]
    async fn a_document_that_cannot_be_had_is_not_asked_for_again_at_once() {
        let (listener, id) = server().await;
        let documents = Documents::new(Fetcher::open());
        let (bad, other) = (id(0), id(1));
        let refuse = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n").await.unwrap();
            stream
        };
        let (client, _stream) = tokio::join!(documents.client(&bad), refuse);
        assert_eq!(client, None);
        tokio::select! {
            client = documents.client(&bad) => assert_eq!(client, None),
            _ = listener.accept() => panic!("it was asked for again"),
        }
        tokio::select! {
            _ = documents.client(&other) => panic!("nothing was answered"),
            accepted = listener.accept() => assert!(accepted.is_ok()),
        }
    }
}
