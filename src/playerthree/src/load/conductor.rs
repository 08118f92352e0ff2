//! Leads a run through its phases: ramp, warm-up, the measured window, drain, end. It opens no connection itself.

use super::args::{Plan, Scenario};
use super::context::Context;
use super::measured::Measured;
use super::process::Process;
use super::progress::Progress;
use super::report::Report;
use super::scenario;
use super::window::{Phase, Window};
use playerthree_client::Client;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::sleep;

/// How often the conductor looks at the clients.
const LOOK: Duration = Duration::from_millis(50);
/// How long what was sent may take to arrive after the window.
const DRAIN: Duration = Duration::from_secs(2);
/// How long clients may take to leave before they are cut off.
const LEAVE: Duration = Duration::from_secs(6);

/// Whether a run reached its end or was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    InTime,
    Interrupted,
}

/// Runs the plan. `stop` ends it early with what was measured.
pub(super) async fn conduct(
    plan: Plan,
    client: Client,
    server: Option<Process>,
    progress: &Progress,
    stop: impl Future<Output = ()>,
) -> Report {
    let (phase, phases) = watch::channel(Phase::Ramp);
    let context = Arc::new(Context::new(plan, client, phases));
    let mut measured = Measured::start(server.and_then(|server| server.usage().ok()));
    let mut tasks = JoinSet::new();
    for index in 0..scenario::tasks(&context) {
        tasks.spawn(scenario::run(context.clone(), index));
    }
    let run = Run { context: &context, phase: &phase, server };
    let ended = {
        let mut stop = std::pin::pin!(stop);
        tokio::select! {
            () = run.lead(&mut measured, progress) => Ended::InTime,
            () = &mut stop => Ended::Interrupted,
        }
    };
    run.close(&mut measured);
    if ended == Ended::InTime {
        run.drain(progress).await;
    }
    phase.send_replace(Phase::Done);
    let leaving = async { while tasks.join_next().await.is_some() {} };
    if tokio::time::timeout(LEAVE, leaving).await.is_err() {
        context.board.shard(0).fault("did_not_leave");
        tasks.shutdown().await;
    }
    Report::new(&context.plan, &context.board.total(), &measured, ended == Ended::Interrupted)
}

/// A run in progress.
struct Run<'a> {
    context: &'a Context,
    phase: &'a watch::Sender<Phase>,
    server: Option<Process>,
}

impl Run<'_> {
    /// From the ramp to the end of the window.
    async fn lead(&self, measured: &mut Measured, progress: &Progress) {
        let plan = &self.context.plan;
        let ramp = scenario::ramp(self.context);
        progress.ramp(ramp);
        loop {
            let settled = self.context.settled.load(Ordering::Relaxed);
            progress.settled(settled);
            if settled >= ramp {
                break;
            }
            sleep(LOOK).await;
        }
        measured.ramp_ended();
        let begun = Instant::now();
        // A moment at least, so that every client knows the window before it opens.
        let from = begun + plan.warm_up.max(LOOK);
        let window = Window { from, until: from + plan.measured };
        self.phase.send_replace(Phase::Run(window));
        progress.run(window.until - begun);
        self.wait(window.from, begun, progress).await;
        measured.begin(Process::own().usage().ok(), self.server.and_then(|server| server.usage().ok()));
        self.wait(window.until, begun, progress).await;
    }

    /// Waits until `until`, showing how long it has been since `begun`.
    async fn wait(&self, until: Instant, begun: Instant, progress: &Progress) {
        loop {
            progress.elapsed(begun.elapsed(), self.context);
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            sleep(left.min(LOOK)).await;
        }
    }

    /// Ends the window and takes the last measurements.
    fn close(&self, measured: &mut Measured) {
        let connections = self.context.open.load(Ordering::Relaxed);
        measured.end(
            Process::own().usage().ok(),
            self.server.and_then(|server| server.usage().ok()),
            connections,
        );
        self.phase.send_replace(Phase::Drain);
    }

    /// Waits for what is on its way, within bounds.
    async fn drain(&self, progress: &Progress) {
        progress.drain();
        let is_sending = matches!(self.context.plan.scenario, Scenario::Broadcast | Scenario::Echo);
        let deadline = Instant::now() + DRAIN;
        while is_sending && Instant::now() < deadline {
            let total = self.context.board.total();
            if total.arrived >= total.expected {
                return;
            }
            sleep(LOOK).await;
        }
    }
}
