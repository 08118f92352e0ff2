//! What the server sends, built once for all its readers.

use playerthree_host::Answer;
use playerthree_rooms::{Cx, Frame, Room, SessionId};
use playerthree_session::{ObserverState, Pushed, ViewMessage};
use serde::Serialize;
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970, for times that clients read.
pub(crate) fn unix_millis() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// One message of a side's view stream (§4).
pub(crate) fn view(team: &str, message: &ViewMessage) -> Frame {
    #[derive(Serialize)]
    struct Body<'a> {
        op: &'static str,
        team: &'a str,
        version: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        view: Option<&'a Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        delta: Option<&'a Value>,
    }
    let (view, delta) = match message {
        ViewMessage::Keyframe { view, .. } => (Some(view.value()), None),
        ViewMessage::Delta { delta, .. } => (None, Some(delta.as_wire())),
    };
    frame("playerthree:view", &Body { op: "view", team, version: message.version(), view, delta })
}

/// The answer to a numbered operation.
pub(crate) fn result<R: Room>(cx: &mut Cx<'_, R>, client: SessionId, seq: Option<u32>, answer: &Answer) {
    #[derive(Serialize)]
    struct Body<'a> {
        op: &'static str,
        seq: Option<u32>,
        ok: bool,
        data: &'a Value,
    }
    let kind = "playerthree:result";
    let frame = match answer {
        Ok(data) => frame(kind, &Body { op: "result", seq, ok: true, data }),
        Err(error) => {
            let mut body = error.to_json("code");
            body["op"] = json!("result");
            body["seq"] = json!(seq);
            body["ok"] = json!(false);
            frame(kind, &body)
        }
    };
    cx.send_frame(client, &frame);
}

/// One observation of a seat's stream (§9), for its one reader.
pub(crate) fn observation<R: Room>(cx: &mut Cx<'_, R>, client: SessionId, pushed: &Pushed) {
    #[derive(Serialize)]
    struct Body<'a> {
        op: &'static str,
        role: &'a str,
        tick: u64,
        observation: &'a Value,
    }
    let Pushed { seat, tick, observation, .. } = pushed;
    let body = Body { op: "observation", role: &seat.role, tick: *tick, observation };
    cx.send_frame(client, &frame("playerthree:observation", &body));
}

/// The identity cards of a match (§20.2).
pub(crate) fn cards(cards: &[Value]) -> Value {
    json!({ "op": "cards", "cards": cards })
}

/// The state of an observer's stream on the wire.
pub(crate) fn observer_state(state: ObserverState) -> &'static str {
    match state {
        ObserverState::Buffering => "buffering",
        ObserverState::Ready => "ready",
        ObserverState::Closed => "closed",
    }
}

/// One message for one client.
pub(crate) fn send<R: Room>(cx: &mut Cx<'_, R>, client: SessionId, kind: &str, body: &Value) {
    cx.send_frame(client, &frame(kind, body));
}

/// One message for many clients, encoded once.
pub(crate) fn to_all<R: Room>(cx: &mut Cx<'_, R>, clients: &[SessionId], kind: &str, body: &Value) {
    if clients.is_empty() {
        return;
    }
    let frame = frame(kind, body);
    for client in clients {
        cx.send_frame(*client, &frame);
    }
}

/// A message, encoded.
pub(crate) fn frame<T: Serialize>(kind: &str, body: &T) -> Frame {
    #[expect(clippy::expect_used, reason = "JSON values have a MessagePack form, whatever they hold")]
    Frame::message(kind, body).expect("a JSON value encodes")
}
