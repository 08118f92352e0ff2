//! What one simulated client does, a file for each scenario. Each function runs one client from its join to its leave
//! and ends soon after the phase is done.

mod churn;
mod idle;
mod join;
mod matches;
mod play;
mod scripted;
mod traffic;
mod watch;

pub(super) use matches::CAST;

use super::args::Scenario;
use super::context::Context;
use std::sync::Arc;

/// The clients of a scenario: what runs each of them, and how many tasks that takes.
pub(super) async fn run(context: Arc<Context>, index: usize) {
    match context.plan.scenario {
        Scenario::Join => join::run(&context, index).await,
        Scenario::Idle => idle::run(&context, index).await,
        Scenario::Broadcast => traffic::run(&context, index, traffic::Way::Broadcast).await,
        Scenario::Echo => traffic::run(&context, index, traffic::Way::Echo).await,
        Scenario::Churn => churn::run(&context, index).await,
        Scenario::Play => play::run(&context, index).await,
        Scenario::Match => matches::run(&context, index).await,
        Scenario::Scripted => scripted::run(&context, index).await,
        Scenario::Watch => watch::run(&context).await,
    }
}

/// How many tasks the scenario takes: one for a client, a pair or a match; and one for each room that is only held open.
pub(super) fn tasks(context: &Context) -> usize {
    let plan = &context.plan;
    match plan.scenario {
        Scenario::Idle | Scenario::Broadcast | Scenario::Echo | Scenario::Scripted => plan.clients,
        Scenario::Join | Scenario::Churn => plan.rooms + plan.clients,
        Scenario::Play => plan.clients / 2,
        Scenario::Match => plan.rooms,
        Scenario::Watch => 1,
    }
}

/// How many clients, or tasks of several, report that they are through with joining before the scenario runs.
pub(super) fn ramp(context: &Context) -> usize {
    let plan = &context.plan;
    match plan.scenario {
        Scenario::Idle | Scenario::Broadcast | Scenario::Echo | Scenario::Scripted => plan.clients,
        Scenario::Join | Scenario::Churn => plan.rooms,
        Scenario::Play => plan.clients / 2,
        Scenario::Match => plan.rooms,
        // The audience and the host of the match.
        Scenario::Watch => plan.clients + 1,
    }
}
