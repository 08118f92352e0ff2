//! The wake channel (§17): four kinds of events of the client's own seats, in fixed words, from its status resources. No
//! observation, no text of anybody and nothing that the endpoint could phrase ever gets into one.

use crate::Wake;
use crate::envelope::Request;
use crate::fault::Fault;
use crate::forward::{Bridge, events, whole};
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
        _ = follow(bridge, &mut seen).await;
        tokio::time::sleep(AGAIN).await;
    }
    std::future::pending::<()>().await;
}

/// Follows the status resources that exist now. Terminates when their stream does.
async fn follow(bridge: &Bridge, seen: &mut BTreeMap<String, Status>) -> Result<(), Fault> {
    let listed = ask(bridge, "resources/list", json!({})).await?;
    let resources = listed["resources"].as_array().into_iter().flatten();
    let uris = resources.filter_map(|resource| resource["uri"].as_str());
    let uris: Vec<String> =
        uris.filter(|uri| uri.starts_with(STATUS_PREFIX)).take(FOLLOWED).map(str::to_owned).collect();
    seen.retain(|uri, _| uris.contains(uri));
    let filter = json!({ "notifications": { "resourceSubscriptions": uris } });
    let answer = bridge.send(&Request::own("bridge:listen", "subscriptions/listen", filter)).await?;
    if !answer.is_stream() {
        return Err(Fault::Answer);
    }
    let (body, _connection) = answer.stream();
    let mut events = pin!(events(body));
    while let Some(event) = events.next().await {
        let message: Value = serde_json::from_str(&event?).map_err(|_| Fault::Answer)?;
        match message["method"].as_str() {
            // What happened before the stream was open is read once it is.
            Some("notifications/subscriptions/acknowledged") => {
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
            _ => return Ok(()),
        }
    }
    Ok(())
}

/// Reads a status and tells what is new about it.
async fn look(bridge: &Bridge, uri: &str, seen: &mut BTreeMap<String, Status>) -> Result<(), Fault> {
    let read = ask(bridge, "resources/read", json!({ "uri": uri })).await?;
    let text = read["contents"][0]["text"].as_str().ok_or(Fault::Answer)?;
    let now = Status::of(&serde_json::from_str(text).map_err(|_| Fault::Answer)?);
    let before = seen.insert(uri.to_owned(), now.clone()).unwrap_or_default();
    for event in now.since(&before) {
        let params = json!({ "content": event.text(), "meta": event.meta() });
        let message = json!({ "jsonrpc": "2.0", "method": "notifications/claude/channel", "params": params });
        bridge.tell(message.to_string().into()).await;
    }
    Ok(())
}

async fn ask(bridge: &Bridge, method: &str, params: Value) -> Result<Value, Fault> {
    let request = Request::own("bridge:ask", method, params);
    let answer = bridge.send(&request).await?;
    let answer = whole(answer, &bridge.remote, &request.id).await?;
    let mut answer: Value = serde_json::from_slice(&answer).map_err(|_| Fault::Answer)?;
    Ok(answer["result"].take())
}

/// What is known of a seat.
#[derive(Clone, Debug, Default, PartialEq)]
struct Status {
    in_match: bool,
    /// The side of its seat, held or reserved before the match starts (§4), too.
    team: Option<String>,
    outcome: Option<Outcome>,
    /// The approval that its owner has yet to answer.
    pending: Option<String>,
    unread: u64,
}

/// How a match ended for the seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Win,
    Loss,
    Draw,
}

/// Something that wakes a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Seated,
    MatchEnded(Outcome),
    ApprovalResolved,
    OwnerMessage,
}

impl Status {
    fn of(status: &Value) -> Self {
        let approval = status.get("approval").filter(|approval| approval["status"] == "pending");
        Self {
            in_match: status["phase"] == "match",
            team: status["team"].as_str().map(str::to_owned),
            outcome: status["outcome"].as_str().and_then(Outcome::of),
            pending: approval.and_then(|approval| approval["id"].as_str()).map(str::to_owned),
            unread: status["unreadOwnerMessages"].as_u64().unwrap_or_default(),
        }
    }

    /// What happened between two looks.
    fn since(&self, before: &Self) -> Vec<Event> {
        let is_seated = |status: &Self| status.team.is_some() && status.outcome.is_none();
        let is_new = !is_seated(before) || self.team != before.team;
        // A client that fell asleep again while its match was held is woken by the start.
        let starts = self.in_match && !before.in_match;
        let seated = (is_seated(self) && (is_new || starts)).then_some(Event::Seated);
        let ended = match self.outcome {
            Some(outcome) if before.outcome.is_none() => Some(Event::MatchEnded(outcome)),
            _ => None,
        };
        let resolved = before.pending.is_some() && before.pending != self.pending;
        let resolved = resolved.then_some(Event::ApprovalResolved);
        let told = (self.unread > before.unread).then_some(Event::OwnerMessage);
        [seated, ended, resolved, told].into_iter().flatten().collect()
    }
}

impl Outcome {
    /// Nothing while the match runs.
    fn of(outcome: &str) -> Option<Self> {
        [Self::Win, Self::Loss, Self::Draw].into_iter().find(|known| known.word() == outcome)
    }

    fn word(self) -> &'static str {
        match self {
            Self::Win => "win",
            Self::Loss => "loss",
            Self::Draw => "draw",
        }
    }
}

impl Event {
    fn text(self) -> &'static str {
        match self {
            Self::Seated => {
                "You have a seat in a match. Call game_wait, then game_briefing, and play, or call game_ready if it has yet to start."
            }
            Self::MatchEnded(_) => "Your match is over. Call game_wait for how it ended.",
            Self::ApprovalResolved => "Your owner answered your request. Call policy_status.",
            Self::OwnerMessage => "Your owner wrote to you. Call game_wait to read it.",
        }
    }

    fn meta(self) -> Value {
        match self {
            Self::Seated => json!({ "event": "seated" }),
            Self::MatchEnded(outcome) => json!({ "event": "match_ended", "outcome": outcome.word() }),
            Self::ApprovalResolved => json!({ "event": "approval_resolved" }),
            Self::OwnerMessage => json!({ "event": "owner_message" }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn happened(before: &Value, now: &Value) -> Vec<Event> {
        Status::of(now).since(&Status::of(before))
    }

    // §17: the four kinds, once each, and nothing for what stays as it was.
    #[test]
    fn events_are_what_changed_between_two_looks() {
        let lobby = json!({ "phase": "lobby", "unreadOwnerMessages": 0 });
        let playing =
            json!({ "phase": "match", "team": "red", "outcome": "running", "unreadOwnerMessages": 0 });
        let over = json!({ "phase": "match", "team": "red", "outcome": "win", "unreadOwnerMessages": 0 });
        assert_eq!(happened(&lobby, &playing), [Event::Seated]);
        assert_eq!(happened(&playing, &over), [Event::MatchEnded(Outcome::Win)]);
        assert_eq!(happened(&over, &over), []);
        let over = json!({ "phase": "match", "team": "red", "outcome": "loss", "unreadOwnerMessages": 0 });
        assert_eq!(happened(&over, &playing), [Event::Seated], "the next match");
        let asking =
            json!({ "phase": "match", "team": "red", "approval": { "id": "a1", "status": "pending" } });
        assert_eq!(happened(&playing, &asking), []);
        let answered =
            json!({ "phase": "match", "team": "red", "approval": { "id": "a1", "status": "approved" } });
        assert_eq!(happened(&asking, &answered), [Event::ApprovalResolved]);
        assert_eq!(happened(&asking, &playing), [Event::ApprovalResolved]);
        let told = json!({ "phase": "lobby", "unreadOwnerMessages": 2 });
        assert_eq!(happened(&lobby, &told), [Event::OwnerMessage]);
        assert_eq!(happened(&told, &told), []);
    }

    // §4 "learns its seat at once": a seat of a match that waits for readiness is a seat.
    #[test]
    fn a_seat_is_told_before_its_match_starts() {
        let lobby = json!({ "phase": "lobby" });
        let held = json!({ "phase": "lobby", "team": "red" });
        let moved = json!({ "phase": "lobby", "team": "blue" });
        let started = json!({ "phase": "match", "team": "red", "outcome": "running" });
        let over = json!({ "phase": "lobby", "team": "red", "outcome": "win" });
        assert_eq!(happened(&lobby, &held), [Event::Seated]);
        assert_eq!(happened(&held, &held), []);
        assert_eq!(happened(&held, &moved), [Event::Seated]);
        assert_eq!(happened(&held, &started), [Event::Seated], "a client may sleep until the start");
        assert_eq!(happened(&started, &held), [], "held again");
        assert_eq!(happened(&held, &lobby), []);
        assert_eq!(happened(&over, &held), [Event::Seated]);
    }
}
