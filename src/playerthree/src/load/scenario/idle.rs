//! `idle`: join and do nothing but answer pings.

use crate::load::context::Context;
use crate::load::window::Phase;

pub(super) async fn run(context: &Context, index: usize) {
    let Some(mut seat) = context.ramp_up(index).await else { return };
    if seat.stay_while(|phase| phase != Phase::Done).await {
        seat.leave().await;
    }
}
