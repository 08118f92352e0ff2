//! Progress of long calls (§4): once a second while a call runs, to a client that gave a token.

use playerthree_host::Ticks;
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use std::pin::pin;
use std::time::Duration;
use tokio::time::{Instant, interval_at};

/// How often progress is told.
const EVERY: Duration = Duration::from_secs(1);

/// Whom to tell what.
pub(crate) struct Progress {
    peer: Peer<RoleServer>,
    token: ProgressToken,
    measure: Measure,
}

impl Progress {
    /// The progress that a request asks for, if it does.
    pub(crate) fn asked_for(
        context: &RequestContext<RoleServer>,
        measure: impl FnOnce() -> Measure,
    ) -> Option<Self> {
        let token = context.meta.get_progress_token()?;
        Some(Self { peer: context.peer.clone(), token, measure: measure() })
    }
}

/// What is counted, and how many of it the call comes to at most, where that is known.
pub(crate) struct Measure {
    count: Count,
    total: Option<f64>,
}

enum Count {
    /// Seconds since the call began.
    Seconds(f64),
    /// Ticks of a practice: how many the client was told last, and how often it was told so.
    Ticks { played: Ticks, last: u64, repeated: u32 },
}

impl Measure {
    /// Seconds since the call began.
    pub(crate) fn seconds(total: Option<f64>) -> Self {
        Self { count: Count::Seconds(0.0), total }
    }

    /// Ticks that a practice has played of those that it was asked for.
    pub(crate) fn ticks(played: Ticks, total: Option<f64>) -> Self {
        Self { count: Count::Ticks { played, last: 0, repeated: 0 }, total }
    }

    /// What is told once more. It rises each time, as the protocol has it, and never passes the total: nothing once it would.
    fn rise(&mut self) -> Option<f64> {
        let next = match &mut self.count {
            Count::Seconds(elapsed) => {
                *elapsed += 1.0;
                *elapsed
            }
            Count::Ticks { played, last, repeated } => {
                let now = played.played();
                *repeated = if now > *last { 0 } else { repeated.saturating_add(1) };
                *last = now;
                // A tick under way counts as a part that grows and never becomes a whole one.
                let part = f64::from(*repeated) / (f64::from(*repeated) + 1.0);
                f64::from(u32::try_from(now).unwrap_or(u32::MAX)) + part
            }
        };
        self.total.is_none_or(|total| next <= total).then_some(next)
    }
}

/// Runs a call and tells its progress.
///
/// Terminates when the call does. A client that does not read delays its progress, never its call.
pub(crate) async fn told<T>(call: impl Future<Output = T>, progress: Option<Progress>) -> T {
    let Some(progress) = progress else { return call.await };
    let mut call = pin!(call);
    let mut telling = pin!(tell(progress));
    tokio::select! {
        biased;
        answer = &mut call => answer,
        () = &mut telling => call.await,
    }
}

/// Terminates when the total is reached, if there is one, or the client is gone.
async fn tell(mut progress: Progress) {
    let mut seconds = interval_at(Instant::now() + EVERY, EVERY);
    loop {
        seconds.tick().await;
        let Some(next) = progress.measure.rise() else { return };
        let mut told = ProgressNotificationParam::new(progress.token.clone(), next);
        told.total = progress.measure.total;
        if progress.peer.notify_progress(told).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // §4: a practice that gets no core is still told of every second, and what is told rises.
    #[test]
    fn what_is_told_rises_whether_a_tick_was_played_or_not() {
        let played = Ticks::default();
        let mut measure = Measure::ticks(played.clone(), Some(5.0));
        let mut told = Vec::new();
        for reached in [0, 0, 2, 2, 2, 4, 5, 5] {
            played.reach(reached);
            told.push(measure.rise());
        }
        let parts = [0.5, 2.0 / 3.0, 2.0, 2.5, 2.0 + 2.0 / 3.0, 4.0, 5.0];
        assert_eq!(told[..7], parts.map(Some));
        assert_eq!(told[7], None, "no part of a tick comes after the last");
    }
}
