//! The progress bar on standard error, shown only to a person: where standard error is no terminal nothing is written.

use super::context::Context;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Redraws per second.
const REDRAWS: u8 = 10;

/// The bar of a run.
pub(super) struct Progress(ProgressBar);

impl Progress {
    /// A bar where a person can see it.
    pub(super) fn on_stderr() -> Self {
        if !std::io::stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr_with_hz(REDRAWS));
        if let Ok(style) = ProgressStyle::with_template("{prefix:>8} {wide_bar} {msg}") {
            bar.set_style(style);
        }
        Self(bar)
    }

    pub(super) fn ramp(&self, clients: usize) {
        self.0.set_prefix("joining");
        self.0.set_length(clients as u64);
    }

    pub(super) fn settled(&self, clients: usize) {
        self.0.set_position(clients as u64);
        self.0.set_message(format!("{clients} of {}", self.0.length().unwrap_or_default()));
    }

    pub(super) fn run(&self, whole: Duration) {
        self.0.set_prefix("running");
        self.0.set_length(millis(whole));
    }

    pub(super) fn elapsed(&self, elapsed: Duration, context: &Context) {
        self.0.set_position(millis(elapsed));
        let open = context.open.load(Ordering::Relaxed);
        self.0.set_message(format!("{} s, {open} connected", elapsed.as_secs()));
    }

    pub(super) fn drain(&self) {
        self.0.set_message("waiting for what is on its way");
    }

    /// Takes the bar away.
    pub(super) fn finish(&self) {
        self.0.finish_and_clear();
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
