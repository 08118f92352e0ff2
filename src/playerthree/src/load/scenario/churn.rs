//! `churn`: join, leave and begin again, each client as fast as it can. The first tasks only hold the rooms open.

use crate::load::context::Context;
use crate::load::window::Phase;
use std::time::{Duration, Instant};

/// How long a client waits after a join that failed, so that a server that refuses is not hammered.
const PAUSE: Duration = Duration::from_millis(100);

pub(super) async fn run(context: &Context, index: usize) {
    if index < context.plan.rooms {
        return super::idle::run(context, index).await;
    }
    let Some(room_id) = context.room_of(index).await else { return };
    let mut phase = context.phase.clone();
    if phase.wait_for(|phase| *phase != Phase::Ramp).await.is_err() {
        return;
    }
    loop {
        let now = *phase.borrow();
        if !now.is_running() {
            return;
        }
        let begun = Instant::now();
        let Some(seat) = context.join(index, &room_id, begun).await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let left = seat.leave().await;
        let Some(window) = now.window().filter(|window| window.contains(begun)) else { continue };
        let mut tally = context.board.shard(index);
        tally.expected += 1;
        if left {
            tally.arrive(begun.elapsed());
            tally.rounds += u64::from(window.contains(Instant::now()));
        }
    }
}
