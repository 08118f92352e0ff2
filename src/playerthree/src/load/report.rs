//! What a run found, as one JSON object. Every rate stands on the time it was measured over, and what was not measured
//! is null instead of zero.

use super::args::Plan;
use super::measured::Measured;
use super::tally::{Latencies, Tally};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// Share of the processors from which on this process, not the server, may have set the pace.
const BUSY: f64 = 0.95;

/// The p99 of how late messages left from which on this process did not keep its schedule.
const LATE: Duration = Duration::from_millis(20);

/// What a run found.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) scenario: &'static str,
    pub(super) room: String,
    pub(super) clients: usize,
    pub(super) rooms: usize,
    /// Stopped before its time.
    pub(super) interrupted: bool,
    pub(super) ramp_seconds: f64,
    pub(super) measured_seconds: f64,
    pub(super) joins: Joins,
    pub(super) messages: Messages,
    pub(super) latency: Option<Measure>,
    /// The latencies of other kinds of clients than `latency` is of, in microseconds.
    pub(super) parts: BTreeMap<&'static str, Percentiles>,
    pub(super) rounds: Option<Rounds>,
    pub(super) errors: BTreeMap<String, u64>,
    pub(super) generator: Generator,
    pub(super) server: Option<Server>,
}

/// Joins: of the ramp, or of the window where joining is the scenario's work.
#[derive(Debug, Serialize)]
pub(super) struct Joins {
    pub(super) completed: u64,
    pub(super) failed: u64,
    pub(super) per_second: Option<f64>,
    pub(super) latency_us: Option<Percentiles>,
}

/// Messages of the protocol within the window.
#[derive(Debug, Serialize)]
pub(super) struct Messages {
    pub(super) sent: u64,
    pub(super) received: u64,
    pub(super) sent_bytes: u64,
    pub(super) received_bytes: u64,
    pub(super) sent_per_second: Option<f64>,
    pub(super) received_per_second: Option<f64>,
}

/// What the scenario measures.
#[derive(Debug, Serialize)]
pub(super) struct Measure {
    pub(super) of: &'static str,
    /// What was due for all that was done within the window.
    pub(super) expected: u64,
    /// What came of it; the latencies are of these.
    pub(super) arrived: u64,
    /// Messages that were due within the window and never left; no latency stands for them.
    pub(super) unsent: u64,
    pub(super) us: Option<Percentiles>,
}

/// Whole rounds within the window.
#[derive(Debug, Serialize)]
pub(super) struct Rounds {
    pub(super) of: &'static str,
    pub(super) completed: u64,
    pub(super) per_second: Option<f64>,
}

/// Durations in microseconds, exact to three digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Percentiles {
    pub(super) min: u64,
    pub(super) p50: u64,
    pub(super) p95: u64,
    pub(super) p99: u64,
    pub(super) max: u64,
}

/// What this process took. Where it was the bottleneck, rates and latencies are its own and not the server's.
#[derive(Debug, Serialize)]
pub(super) struct Generator {
    /// 100 is one processor.
    pub(super) cpu_percent: Option<f64>,
    pub(super) processors: usize,
    /// How late messages left, by their schedule.
    pub(super) late_us: Option<Percentiles>,
    pub(super) bottleneck: bool,
}

/// What the server took.
#[derive(Debug, Serialize)]
pub(super) struct Server {
    /// 100 is one processor.
    pub(super) cpu_percent: Option<f64>,
    /// The same of the processes that it started: its policies.
    pub(super) children_cpu_percent: Option<f64>,
    /// Processor time for each message that went in or out.
    pub(super) cpu_us_per_message: Option<f64>,
    pub(super) rss_bytes_before: u64,
    pub(super) rss_bytes: u64,
    pub(super) connections: usize,
    /// Growth since before the first client.
    pub(super) rss_bytes_per_connection: Option<f64>,
}

impl Report {
    pub(super) fn new(plan: &Plan, tally: &Tally, measured: &Measured, interrupted: bool) -> Self {
        let window = measured.window();
        let joining = if plan.scenario.joins_in_window() { window } else { measured.ramp() };
        let traffic = tally.traffic;
        Self {
            scenario: plan.scenario.as_str(),
            room: plan.room.clone(),
            clients: plan.clients,
            rooms: plan.rooms,
            interrupted,
            ramp_seconds: measured.ramp().as_secs_f64(),
            measured_seconds: window.as_secs_f64(),
            joins: Joins {
                completed: tally.joins,
                failed: tally.failed_joins,
                per_second: per_second(tally.joins, joining),
                latency_us: Percentiles::of(&tally.join_latencies),
            },
            messages: Messages {
                sent: traffic.sent,
                received: traffic.received,
                sent_bytes: traffic.sent_bytes,
                received_bytes: traffic.received_bytes,
                sent_per_second: per_second(traffic.sent, window),
                received_per_second: per_second(traffic.received, window),
            },
            latency: plan.scenario.measures().map(|of| Measure {
                of,
                expected: tally.expected,
                arrived: tally.arrived,
                unsent: tally.unsent,
                us: Percentiles::of(&tally.latencies),
            }),
            parts: tally
                .parts
                .iter()
                .filter_map(|(part, latencies)| Some((part.as_str(), Percentiles::of(latencies)?)))
                .collect(),
            rounds: plan.scenario.round().map(|of| Rounds {
                of,
                completed: tally.rounds,
                per_second: per_second(tally.rounds, window),
            }),
            errors: tally.errors.clone(),
            generator: Generator::new(tally, measured),
            server: Server::new(tally, measured),
        }
    }

    /// Whether anything of what the scenario is for came about.
    pub(super) fn worked(&self) -> bool {
        match &self.latency {
            Some(measure) => measure.arrived > 0,
            None => self.joins.completed > 0,
        }
    }
}

impl Percentiles {
    /// None where nothing was measured.
    fn of(latencies: &Latencies) -> Option<Self> {
        let histogram = latencies.histogram();
        (!histogram.is_empty()).then(|| Self {
            min: histogram.min(),
            p50: histogram.value_at_quantile(0.5),
            p95: histogram.value_at_quantile(0.95),
            p99: histogram.value_at_quantile(0.99),
            max: histogram.max(),
        })
    }
}

impl Generator {
    fn new(tally: &Tally, measured: &Measured) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let share = measured.own_cpu().and_then(|cpu| share(cpu, measured.window()));
        let late_us = Percentiles::of(&tally.lateness);
        let is_busy = share.is_some_and(|share| share >= BUSY * processors as f64);
        let is_late = late_us.is_some_and(|late| u128::from(late.p99) >= LATE.as_micros());
        Self {
            cpu_percent: share.map(percent),
            processors,
            late_us,
            bottleneck: is_busy || is_late || tally.unsent > 0,
        }
    }
}

impl Server {
    fn new(tally: &Tally, measured: &Measured) -> Option<Self> {
        let server = measured.server()?;
        let messages = tally.traffic.sent + tally.traffic.received;
        let grown = server.rss_bytes.saturating_sub(server.rss_bytes_before);
        Some(Self {
            cpu_percent: share(server.cpu, measured.window()).map(percent),
            children_cpu_percent: server
                .children_cpu
                .and_then(|cpu| share(cpu, measured.window()))
                .map(percent),
            cpu_us_per_message: ratio(server.cpu.as_secs_f64() * 1e6, messages as f64),
            rss_bytes_before: server.rss_bytes_before,
            rss_bytes: server.rss_bytes,
            connections: server.connections,
            rss_bytes_per_connection: ratio(grown as f64, server.connections as f64),
        })
    }
}

fn per_second(count: u64, time: Duration) -> Option<f64> {
    ratio(count as f64, time.as_secs_f64())
}

fn share(cpu: Duration, time: Duration) -> Option<f64> {
    ratio(cpu.as_secs_f64(), time.as_secs_f64())
}

fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

fn percent(share: f64) -> f64 {
    share * 100.0
}
