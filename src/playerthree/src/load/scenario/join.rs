//! `join`: arrivals at a fixed rate that waits for nobody, each of whom stays. The first tasks only hold the rooms open.

use crate::load::context::Context;
use crate::load::window::{Phase, Schedule};
use std::time::Instant;

pub(super) async fn run(context: &Context, index: usize) {
    if index < context.plan.rooms {
        return super::idle::run(context, index).await;
    }
    let Some(room_id) = context.room_of(index).await else { return };
    let mut phase = context.phase.clone();
    let Ok(Phase::Run(window)) = phase.wait_for(|phase| *phase != Phase::Ramp).await.map(|phase| *phase)
    else {
        return;
    };
    // The client's place in the line, as the one message of a schedule as long as the window.
    let place = (index - context.plan.rooms) as f64 / context.plan.clients as f64;
    let length = window.until - window.from;
    let mut schedule = Schedule::new(window.from, window.until, 1.0 / length.as_secs_f64(), place);
    let Some(due) = schedule.next() else { return };
    tokio::select! {
        () = tokio::time::sleep_until(due.into()) => {}
        _ = phase.wait_for(|phase| !phase.is_running()) => return,
    }
    let due = schedule.take(Instant::now());
    context.board.shard(index).lateness.record(due.late);
    let Some(mut seat) = context.join(index, &room_id, due.charged).await else { return };
    if seat.stay_while(|phase| phase != Phase::Done).await {
        seat.leave().await;
    }
}
