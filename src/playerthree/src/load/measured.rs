//! The stop watch of a run: when its parts began and ended, and what this process and the server used meanwhile.

use super::process::Usage;
use std::time::{Duration, Instant};

/// What a run measures beside its clients.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    started: Instant,
    ramp: Option<Duration>,
    window: Option<Instant>,
    /// The server before the first client.
    server_before: Option<Usage>,
    own_begin: Option<Usage>,
    server_begin: Option<Usage>,
    end: Option<End>,
}

#[derive(Clone, Debug)]
struct End {
    window: Duration,
    own: Option<Usage>,
    server: Option<Usage>,
    connections: usize,
}

/// What the server used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ServerUse {
    /// Processor time within the window.
    pub(super) cpu: Duration,
    /// The same of the processes that it started: its policies.
    pub(super) children_cpu: Option<Duration>,
    /// Resident memory before the first client.
    pub(super) rss_bytes_before: u64,
    /// Resident memory at the end of the window.
    pub(super) rss_bytes: u64,
    /// Connections that were open then.
    pub(super) connections: usize,
}

impl Measured {
    pub(super) fn start(server_before: Option<Usage>) -> Self {
        Self {
            started: Instant::now(),
            ramp: None,
            window: None,
            server_before,
            own_begin: None,
            server_begin: None,
            end: None,
        }
    }

    /// Everybody is through with joining.
    pub(super) fn ramp_ended(&mut self) {
        self.ramp = Some(self.started.elapsed());
    }

    /// The window opens.
    pub(super) fn begin(&mut self, own: Option<Usage>, server: Option<Usage>) {
        self.window = Some(Instant::now());
        self.own_begin = own;
        self.server_begin = server;
    }

    /// The window closes, or the run is stopped before it opened.
    pub(super) fn end(&mut self, own: Option<Usage>, server: Option<Usage>, connections: usize) {
        self.ramp.get_or_insert(self.started.elapsed());
        let window = self.window.map(|begun| begun.elapsed()).unwrap_or_default();
        self.end = Some(End { window, own, server, connections });
    }

    /// How long the ramp took.
    pub(super) fn ramp(&self) -> Duration {
        self.ramp.unwrap_or_default()
    }

    /// How long the window was open.
    pub(super) fn window(&self) -> Duration {
        self.end.as_ref().map(|end| end.window).unwrap_or_default()
    }

    /// Processor time of this process within the window.
    pub(super) fn own_cpu(&self) -> Option<Duration> {
        Some(self.end.as_ref()?.own?.cpu.saturating_sub(self.own_begin?.cpu))
    }

    /// What the server used, where it could be read all along.
    pub(super) fn server(&self) -> Option<ServerUse> {
        let end = self.end.as_ref()?;
        let usage = end.server?;
        let begin = self.server_begin?;
        let children =
            |usage: Usage, begin: Usage| Some(usage.children_cpu?.saturating_sub(begin.children_cpu?));
        Some(ServerUse {
            cpu: usage.cpu.saturating_sub(begin.cpu),
            children_cpu: children(usage, begin),
            rss_bytes_before: self.server_before?.rss_bytes,
            rss_bytes: usage.rss_bytes,
            connections: end.connections,
        })
    }
}
