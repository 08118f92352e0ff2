//! Progress of long calls (§4): once a second while a call runs, to a client that gave a token.

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use std::pin::pin;
use std::time::Duration;
use tokio::time::{Instant, interval_at};

/// How often progress is told.
const EVERY: Duration = Duration::from_secs(1);

/// Whom to tell, and perhaps when the call will have ended.
pub(crate) struct Progress {
    /// The client.
    pub(crate) peer: Peer<RoleServer>,
    /// Its token.
    pub(crate) token: ProgressToken,
    /// Seconds that the call takes at most, where that is known.
    pub(crate) total: Option<f64>,
}

/// Runs a call and tells its progress in elapsed seconds, which never pass a total.
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
async fn tell(progress: Progress) {
    let mut ticks = interval_at(Instant::now() + EVERY, EVERY);
    let mut elapsed = 1.0;
    while progress.total.is_none_or(|total| elapsed <= total) {
        ticks.tick().await;
        let mut told = ProgressNotificationParam::new(progress.token.clone(), elapsed);
        told.total = progress.total;
        if progress.peer.notify_progress(told).await.is_err() {
            return;
        }
        elapsed += 1.0;
    }
}
