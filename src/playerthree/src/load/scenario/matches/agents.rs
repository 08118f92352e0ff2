//! An agent of a match: it observes, acts and waits over MCP, again and again.

use super::{AGENT, within};
use crate::load::context::Context;
use crate::load::tally::Part;
use crate::load::window::Window;
use playerthree_client::Result;
use playerthree_client::playerthree::Agent;
use serde_json::{Value, json};
use std::time::Instant;

/// Seconds that a wait may last.
const WAIT_SECONDS: u32 = 1;

pub(super) async fn play(context: &Context, index: usize, mut agent: Agent, window: Window) -> Result<()> {
    loop {
        let observed =
            timed(context, index, window, Part::Observe, agent.tool("game_observe", &json!({}))).await?;
        if let Some(unit) = unit(&observed) {
            let (x, y) = (400 + fastrand::u32(..2_400), 400 + fastrand::u32(..2_400));
            let args = json!({ "intents": [{ "kind": "move", "units": [unit], "x": x, "y": y }] });
            let answer = timed(context, index, window, Part::AgentAct, agent.tool("game_act", &args)).await?;
            context.board.shard(index).ack(&answer["acks"][0]);
        }
        within(agent.tool("game_wait", &json!({ "seconds": WAIT_SECONDS }))).await?;
    }
}

/// Counts how long a call took.
async fn timed(
    context: &Context,
    index: usize,
    window: Window,
    part: Part,
    call: impl Future<Output = Result<Value>>,
) -> Result<Value> {
    let begun = Instant::now();
    let answer = within(call).await?;
    if window.contains(begun) {
        context.board.shard(index).part(part, begun.elapsed());
    }
    Ok(answer)
}

/// One of the seat's own units in its observation.
fn unit(observed: &Value) -> Option<Value> {
    let units = observed["observation"][AGENT]["units"].as_array()?;
    Some(fastrand::choice(units)?["id"].clone())
}
