//! The two people of a match: one moves workers over the room, the other looks after a policy.

use super::{Member, PERSON, TEAMS, within};
use crate::load::tally::Part;
use crate::load::window::Window;
use playerthree_client::Result;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::time::{MissedTickBehavior, interval};

/// How often the player acts: what a quick person does.
const ACT_EVERY: Duration = Duration::from_millis(500);
/// How often the owner asks after the policy.
const ASK_EVERY: Duration = Duration::from_secs(1);

/// Moves a worker twice a second.
pub(super) async fn play(mut player: Member<'_>, window: Window) -> Result<()> {
    let mut due = interval(ACT_EVERY);
    due.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            happening = player.next(window) => drop(happening?),
            _ = due.tick() => act(&mut player, window).await?,
        }
    }
}

async fn act(player: &mut Member<'_>, window: Window) -> Result<()> {
    let Some(worker) = player.link.view(TEAMS[0]).and_then(|view| worker(&view.value)) else { return Ok(()) };
    let (x, y) = (400 + fastrand::u32(..800), 400 + fastrand::u32(..800));
    let args = json!({ "intents": [{ "kind": "move", "units": [worker], "x": x, "y": y }] });
    let begun = Instant::now();
    if window.contains(begun) {
        player.context.board.shard(player.index).expected += 1;
    }
    let answer = within(player.link.call(PERSON, "act", &args)).await?;
    if window.contains(begun) {
        let mut tally = player.context.board.shard(player.index);
        tally.arrive(begun.elapsed());
        tally.ack(&answer["acks"][0]);
    }
    player.count(window);
    Ok(())
}

/// One of one's own workers in a side's view.
fn worker(view: &Value) -> Option<Value> {
    let units = view["units"].as_array()?;
    let own: Vec<&Value> =
        units.iter().filter(|unit| unit["side"] == TEAMS[0] && unit["kind"] == "worker").collect();
    Some(fastrand::choice(own)?["id"].clone())
}

/// Reads what a person with a policy is sent, and asks after it every now and then.
pub(super) async fn look_after(mut owner: Member<'_>, window: Window) -> Result<()> {
    let mut due = interval(ASK_EVERY);
    due.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            happening = owner.next(window) => drop(happening?),
            _ = due.tick() => {
                let begun = Instant::now();
                let status = within(owner.link.call(PERSON, "policyStatus", &json!({}))).await?;
                let mut tally = owner.context.board.shard(owner.index);
                if window.contains(begun) {
                    tally.part(Part::Owner, begun.elapsed());
                }
                if status["policy"]["version"].is_null() {
                    tally.fault("policy_stopped");
                }
            }
        }
    }
}
