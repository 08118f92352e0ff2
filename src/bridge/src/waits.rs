//! What wakes a client at an endpoint that follows no status of its seats (§17): a wait for each role, and a look once a
//! second at where the seats are.
//!
//! A wait takes what the agent's own would have told it, so the owner's words go on to the client, marked as the owner's,
//! instead of being lost. Nothing else of an answer does.

use crate::channel::{ask, wake};
use crate::fault::Fault;
use crate::forward::Bridge;
use crate::seat::{Event, Status};
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval};

/// How often to look where the seats are.
const EVERY: Duration = Duration::from_secs(1);

/// How long a wait lasts, in seconds: as long as skills teach.
const WAIT_SECONDS: u32 = 45;

/// Roles that are waited for at most: more than a manifest has.
const ROLES_MAX: usize = 64;

/// Messages that one wait may bring, and Unicode code points that are shown of each: more than the contract's endpoints send.
const MESSAGES_MAX: usize = 10;
const MESSAGE_CHARS: usize = 4_000;

/// What is known of one role.
#[derive(Default)]
struct Lane {
    status: Status,
    /// A wait is on its way.
    is_waited_for: bool,
}

/// Tells the client what happens at its seats.
///
/// Terminates when the endpoint fails a look.
pub(crate) async fn watch(bridge: &Bridge) {
    let mut lanes: BTreeMap<String, Lane> = BTreeMap::new();
    let mut waits = FuturesUnordered::new();
    let mut looks = interval(EVERY);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = looks.tick() => {
                let briefing = match call(bridge, "game_briefing", json!({})).await {
                    Ok(Some(briefing)) => briefing,
                    // Its client calls as often as the credential may; the next look comes in a second.
                    Ok(None) => continue,
                    Err(_) => return,
                };
                let commands = commands(&briefing);
                lanes.retain(|role, _| commands.contains_key(role));
                for (role, command) in commands {
                    let lane = lanes.entry(role.clone()).or_default();
                    lane.becomes(bridge, lane.status.briefed(&command)).await;
                    if !lane.is_waited_for {
                        lane.is_waited_for = true;
                        waits.push(wait(bridge, role));
                    }
                }
            }
            Some((role, answer)) = waits.next() => {
                let Some(lane) = lanes.get_mut(&role) else { continue };
                lane.is_waited_for = false;
                // Whatever failed it, the next look finds out whether it lasts.
                if let Ok(Some(answer)) = answer {
                    lane.hears(bridge, &answer).await;
                }
            }
        }
    }
}

impl Lane {
    async fn becomes(&mut self, bridge: &Bridge, now: Status) {
        let events = now.since(&self.status);
        self.status = now;
        for event in events {
            wake(bridge, event, event.text()).await;
        }
    }

    async fn hears(&mut self, bridge: &Bridge, answer: &Value) {
        self.becomes(bridge, self.status.waited(answer)).await;
        if answer["wake"] == "approval" {
            wake(bridge, Event::ApprovalResolved, Event::ApprovalResolved.text()).await;
        }
        let messages = answer["messages"].as_array().into_iter().flatten().take(MESSAGES_MAX);
        for text in messages.filter_map(|message| message["text"].as_str()) {
            let text: String = text.chars().take(MESSAGE_CHARS).collect();
            wake(bridge, Event::OwnerMessage, &format!("Your owner wrote to you: {text}")).await;
        }
    }
}

/// The roles of a briefing, each with what it says of it.
fn commands(briefing: &Value) -> BTreeMap<String, Value> {
    let commands = briefing["commands"].as_array().into_iter().flatten().take(ROLES_MAX);
    commands.filter_map(|command| Some((command["role"].as_str()?.to_owned(), command.clone()))).collect()
}

async fn wait(bridge: &Bridge, role: String) -> (String, Result<Option<Value>, Fault>) {
    let answer = call(bridge, "game_wait", json!({ "role": role, "seconds": WAIT_SECONDS })).await;
    (role, answer)
}

/// What a tool answers, nothing where it fails.
async fn call(bridge: &Bridge, tool: &str, arguments: Value) -> Result<Option<Value>, Fault> {
    let mut result = ask(bridge, "tools/call", json!({ "name": tool, "arguments": arguments })).await?;
    Ok((result["isError"] != true).then(|| result["structuredContent"].take()))
}
