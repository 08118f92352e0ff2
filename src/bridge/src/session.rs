//! The session at the endpoint (§20). The first message that is more than a probe acquires it with a request of the
//! bridge's own; from then on it is kept, and a seat token is never shown without it again.
//!
//! The acquisition is nobody's request: one that is taken back while it waits does not end it, since the endpoint may have
//! carried it out by then.

use crate::envelope::Request;
use crate::fault::Fault;
use crate::remote::Remote;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};
use tokio::sync::{Mutex, Notify};
use tokio_util::task::AbortOnDropHandle;

/// The header that names a seat token's session.
pub(crate) const HEADER: HeaderName = HeaderName::from_static("mcp-session-id");

/// What came of the acquisition.
#[derive(Debug)]
enum Held {
    /// A seat token's: this session and no other.
    Session(HeaderValue),
    /// A commander's or a sign-in's: it has none.
    Free,
    /// The answer never came. A seat token may be consumed, so it must not be shown again.
    Lost,
}

/// The acquisition that is on its way.
type Claim = AbortOnDropHandle<Result<Held, Fault>>;

/// The session of this process.
#[derive(Debug, Default)]
pub(crate) struct Session {
    held: OnceLock<Held>,
    /// Whichever request holds the lock waits for it.
    claim: Mutex<Option<Claim>>,
    acquired: Notify,
}

impl Session {
    /// Acquires the session, unless it is held. Requests that come meanwhile wait for it; after a refusal, or without a
    /// connection, the next one tries again.
    ///
    /// Cancel safe: the acquisition goes on, and the next request has what came of it.
    pub(crate) async fn acquire(&self, remote: &Arc<Remote>) -> Result<(), Fault> {
        let mut claiming = self.claim.lock().await;
        if self.held.get().is_none() {
            claiming.get_or_insert_with(|| {
                let remote = Arc::clone(remote);
                AbortOnDropHandle::new(tokio::spawn(async move { claim(&remote).await }))
            });
            self.outcome(&mut claiming).await?;
        }
        match self.held.get() {
            Some(Held::Lost) => Err(Fault::Spent),
            _ => Ok(()),
        }
    }

    /// Waits for the acquisition, if one is on its way, and holds what came of it.
    ///
    /// Cancel safe: it is left as it was.
    async fn outcome(&self, claiming: &mut Option<Claim>) -> Result<(), Fault> {
        let Some(claim) = claiming else { return Ok(()) };
        let outcome = claim.await;
        *claiming = None;
        let held = outcome.unwrap_or(Ok(Held::Lost))?;
        if !matches!(held, Held::Lost) {
            self.acquired.notify_one();
        }
        // The lock lets nobody else set it.
        _ = self.held.set(held);
        Ok(())
    }

    /// Resolves once the session is held, for one caller.
    pub(crate) async fn acquired(&self) {
        self.acquired.notified().await;
    }

    /// Waits for an acquisition that is on its way.
    pub(crate) async fn settle(&self) {
        // A refusal leaves nothing to give up.
        _ = self.outcome(&mut *self.claim.lock().await).await;
    }

    /// The header of the session, if there is one.
    pub(crate) fn header(&self) -> Option<HeaderValue> {
        match self.held.get()? {
            Held::Session(session) => Some(session.clone()),
            Held::Free | Held::Lost => None,
        }
    }
}

async fn claim(remote: &Remote) -> Result<Held, Fault> {
    let request = Request::own("bridge:acquire", "tools/list", json!({}));
    let answer = match remote.post(&request, HeaderMap::new()).await {
        Err(Fault::Lost) => return Ok(Held::Lost),
        answer => answer?,
    };
    if let Some(session) = answer.header(&HEADER) {
        // Whatever the body says, the session is this one. It is read to its end so that the connection can be kept.
        _ = answer.whole(remote).await;
        return Ok(Held::Session(session));
    }
    let body: Value = serde_json::from_slice(&answer.whole(remote).await?).map_err(|_| Fault::Answer)?;
    match body.get("error") {
        Some(error) => Err(Fault::Refused(error.clone())),
        None => Ok(Held::Free),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpStream};

    const SEATED: &[u8] = b"HTTP/1.1 200 OK\r\nmcp-session-id: s1\r\ncontent-length: 2\r\n\r\n{}";

    async fn endpoint() -> (TcpListener, Arc<Remote>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/mcp", listener.local_addr().unwrap());
        (listener, Arc::new(Remote::new(&address, "token").unwrap()))
    }

    /// The next connection, once its request has come.
    async fn asked(listener: &TcpListener) -> TcpStream {
        let (mut stream, _) = listener.accept().await.unwrap();
        assert!(stream.read(&mut [0; 4096]).await.unwrap() > 0);
        stream
    }

    /// The connection of an acquisition that nobody waits for any more, before it is answered.
    async fn asked_and_taken_back(
        session: &Session,
        remote: &Arc<Remote>,
        listener: &TcpListener,
    ) -> TcpStream {
        tokio::select! {
            _ = session.acquire(remote) => unreachable!("nothing was answered"),
            stream = asked(listener) => stream,
        }
    }

    // §20: the session that was acquired is retained, and the consumed token is not shown again.
    #[tokio::test]
    async fn a_request_that_is_taken_back_does_not_lose_the_session() {
        let (listener, remote) = endpoint().await;
        let session = Session::default();
        let mut stream = asked_and_taken_back(&session, &remote, &listener).await;
        stream.write_all(SEATED).await.unwrap();
        tokio::select! {
            acquired = session.acquire(&remote) => assert_eq!(acquired, Ok(())),
            _ = listener.accept() => panic!("the token was shown twice"),
        }
        assert_eq!(session.header().unwrap(), "s1");
    }

    // §20: so does the end of the process find it, to give it up.
    #[tokio::test]
    async fn an_acquisition_on_its_way_is_settled_at_the_end() {
        let (listener, remote) = endpoint().await;
        let session = Session::default();
        let mut stream = asked_and_taken_back(&session, &remote, &listener).await;
        stream.write_all(SEATED).await.unwrap();
        session.settle().await;
        assert_eq!(session.header().unwrap(), "s1");
    }

    // §20: a session is held from its header on.
    #[tokio::test]
    async fn a_session_is_kept_whatever_comes_after_its_header() {
        for rest in ["content-length: 9\r\n\r\n{\"re", "content-length: 4\r\n\r\noops"] {
            let (listener, remote) = endpoint().await;
            let session = Session::default();
            let server = async {
                let mut stream = asked(&listener).await;
                let answer = format!("HTTP/1.1 200 OK\r\nmcp-session-id: s1\r\n{rest}");
                stream.write_all(answer.as_bytes()).await.unwrap();
            };
            let (acquired, ()) = tokio::join!(session.acquire(&remote), server);
            assert_eq!(acquired, Ok(()));
            assert_eq!(session.header().unwrap(), "s1");
        }
    }

    // §20: a token that may be consumed is not replayed.
    #[tokio::test]
    async fn after_a_lost_acquisition_the_token_is_not_shown_again() {
        let (listener, remote) = endpoint().await;
        let session = Session::default();
        let (acquired, ()) = tokio::join!(session.acquire(&remote), async { drop(asked(&listener).await) });
        assert_eq!(acquired, Err(Fault::Spent));
        tokio::select! {
            acquired = session.acquire(&remote) => assert_eq!(acquired, Err(Fault::Spent)),
            _ = listener.accept() => panic!("the token was shown twice"),
        }
    }
}
