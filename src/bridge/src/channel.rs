//! The wake channel (§17): four kinds of events of the client's own seats, from its status resources, or from waits where
//! the endpoint follows no status. No observation and nothing that the endpoint could phrase ever gets into one.

use crate::envelope::Request;
use crate::fault::Fault;
use crate::forward::{Bridge, events, whole};
use crate::seat::{Event, Status};
use crate::{Wake, waits};
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::pin::pin;
use std::time::Duration;

/// How long to wait before a lost stream is opened again.
const AGAIN: Duration = Duration::from_secs(5);

/// Status resources that are followed at most: more than a manifest's roles.
const FOLLOWED: usize = 64;

const STATUS_PREFIX: &str = "playerthree://seat/";

/// What an endpoint without a method answers (JSON-RPC 2.0).
const METHOD_NOT_FOUND: i32 = -32601;

/// Tells the client what happens at its seats, from the session's acquisition on; one of an older revision has no channel
/// (§17) and is told nothing.
///
/// Never terminates: a stream that ends is opened again.
pub(crate) async fn watch(bridge: &Bridge) {
    if bridge.wake == Wake::Never {
        return std::future::pending().await;
    }
    bridge.session.acquired().await;
    let mut seen = BTreeMap::new();
    while !bridge.is_older() {
        // Whatever ended the stream, a later one may last; calls tell the client what is wrong.
        if let Ok(Followed::Nothing) = follow(bridge, &mut seen).await {
            waits::watch(bridge).await;
        }
        tokio::time::sleep(AGAIN).await;
    }
    std::future::pending::<()>().await;
}

/// How far the endpoint follows the status of a client's seats.
enum Followed {
    /// It did, until its stream ended.
    All,
    /// It does not, or not of every seat.
    Nothing,
}

/// Follows the status resources that exist now. Terminates when their stream does, or at once where the endpoint honors no
/// such subscription.
async fn follow(bridge: &Bridge, seen: &mut BTreeMap<String, Status>) -> Result<Followed, Fault> {
    let listed = match ask(bridge, "resources/list", json!({})).await {
        Err(Fault::Refused(error)) if error["code"] == METHOD_NOT_FOUND => return Ok(Followed::Nothing),
        listed => listed?,
    };
    let resources = listed["resources"].as_array().into_iter().flatten();
    let uris = resources.filter_map(|resource| resource["uri"].as_str());
    let uris: Vec<String> =
        uris.filter(|uri| uri.starts_with(STATUS_PREFIX)).take(FOLLOWED).map(str::to_owned).collect();
    seen.retain(|uri, _| uris.contains(uri));
    if uris.is_empty() {
        return Ok(Followed::Nothing);
    }
    let filter = json!({ "notifications": { "resourceSubscriptions": uris } });
    let answer = match bridge.send(&Request::own("bridge:listen", "subscriptions/listen", filter)).await {
        Err(Fault::Refused(error)) if error["code"] == METHOD_NOT_FOUND => return Ok(Followed::Nothing),
        answer => answer?,
    };
    if !answer.is_stream() {
        return Ok(Followed::Nothing);
    }
    let (body, _connection) = answer.stream();
    let mut events = pin!(events(body));
    while let Some(event) = events.next().await {
        let message: Value = serde_json::from_str(&event?).map_err(|_| Fault::Answer)?;
        match message["method"].as_str() {
            // What happened before the stream was open is read once it is.
            Some("notifications/subscriptions/acknowledged") => {
                let honored = message["params"]["notifications"]["resourceSubscriptions"].as_array();
                if !uris.iter().all(|uri| honored.is_some_and(|honored| honored.iter().any(|it| it == uri))) {
                    return Ok(Followed::Nothing);
                }
                for uri in &uris {
                    look(bridge, uri, seen).await?;
                }
            }
            Some("notifications/resources/updated") => {
                let updated = message["params"]["uri"].as_str();
                if let Some(uri) = uris.iter().find(|uri| Some(uri.as_str()) == updated) {
                    look(bridge, uri, seen).await?;
                }
            }
            _ => return Ok(Followed::All),
        }
    }
    Ok(Followed::All)
}

/// Reads a status and tells what is new about it.
async fn look(bridge: &Bridge, uri: &str, seen: &mut BTreeMap<String, Status>) -> Result<(), Fault> {
    let read = ask(bridge, "resources/read", json!({ "uri": uri })).await?;
    let text = read["contents"][0]["text"].as_str().ok_or(Fault::Answer)?;
    let now = Status::of(&serde_json::from_str(text).map_err(|_| Fault::Answer)?);
    let events = match seen.insert(uri.to_owned(), now.clone()) {
        Some(before) => now.since(&before),
        None => now.at_first(),
    };
    for event in events {
        wake(bridge, event, event.text()).await;
    }
    Ok(())
}

/// Wakes the client.
pub(crate) async fn wake(bridge: &Bridge, event: Event, content: &str) {
    let params = json!({ "content": content, "meta": event.meta() });
    let message = json!({ "jsonrpc": "2.0", "method": "notifications/claude/channel", "params": params });
    bridge.tell(message.to_string().into()).await;
}

/// The result of a request of the bridge's own.
pub(crate) async fn ask(bridge: &Bridge, method: &str, params: Value) -> Result<Value, Fault> {
    let request = Request::own("bridge:ask", method, params);
    let answer = bridge.send(&request).await?;
    let answer = whole(answer, &bridge.remote, &request.id).await?;
    let mut answer: Value = serde_json::from_slice(&answer).map_err(|_| Fault::Answer)?;
    match answer.get_mut("error") {
        Some(error) => Err(Fault::Refused(error.take())),
        None => Ok(answer["result"].take()),
    }
}
