//! The session at the endpoint (§20). The first message that is more than a probe acquires it with a request of the
//! bridge's own; from then on it is kept, and a seat token is never shown without it again.

use crate::envelope::Request;
use crate::fault::Fault;
use crate::remote::Remote;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use tokio::sync::{Notify, OnceCell};

/// The header that names a seat token's session.
pub(crate) const HEADER: HeaderName = HeaderName::from_static("mcp-session-id");

/// What came of the acquisition.
#[derive(Debug)]
enum Held {
    /// A seat token's: this session and no other.
    Session(HeaderValue),
    /// A commander's or a sign-in's: it has none.
    Free,
}

/// The session of this process.
#[derive(Debug, Default)]
pub(crate) struct Session {
    held: OnceCell<Held>,
    acquired: Notify,
}

impl Session {
    /// Acquires the session, unless it is held. Requests that come meanwhile wait for it; after a failure the next one
    /// tries again.
    pub(crate) async fn acquire(&self, remote: &Remote) -> Result<(), Fault> {
        let claim = async {
            let held = claim(remote).await?;
            self.acquired.notify_one();
            Ok(held)
        };
        self.held.get_or_try_init(|| claim).await.map(|_| ())
    }

    /// Resolves once the session is held, for one caller.
    pub(crate) async fn acquired(&self) {
        self.acquired.notified().await;
    }

    /// The header of the session, if there is one.
    pub(crate) fn header(&self) -> Option<HeaderValue> {
        match self.held.get()? {
            Held::Session(session) => Some(session.clone()),
            Held::Free => None,
        }
    }
}

async fn claim(remote: &Remote) -> Result<Held, Fault> {
    let request = Request::own("bridge:acquire", "tools/list", json!({}));
    let answer = remote.post(&request, HeaderMap::new()).await?;
    let session = answer.header(&HEADER);
    let body: Value = serde_json::from_slice(&answer.whole(remote).await?).map_err(|_| Fault::Answer)?;
    match (body.get("error"), session) {
        (Some(error), _) => Err(Fault::Refused(error.clone())),
        (None, Some(session)) => Ok(Held::Session(session)),
        (None, None) => Ok(Held::Free),
    }
}
