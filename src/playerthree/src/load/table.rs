//! A report as a table for people.

use super::report::{Percentiles, Report};
use std::fmt::Write as _;

/// The table, ending with a line break.
pub(super) fn render(report: &Report) -> String {
    let mut out = Table::default();
    out.line(
        "scenario",
        &format!("{} in {} {} of {}", report.scenario, report.rooms, rooms(report.rooms), report.room),
    );
    out.line(
        "measured",
        &format!("{:.1} s after {:.1} s of joining", report.measured_seconds, report.ramp_seconds),
    );
    let joins = &report.joins;
    out.line(
        "joins",
        &format!("{} ok, {} failed, {}/s", joins.completed, joins.failed, number(joins.per_second)),
    );
    let messages = &report.messages;
    out.line("sent", &flow(messages.sent, messages.sent_per_second, messages.sent_bytes));
    out.line("received", &flow(messages.received, messages.received_per_second, messages.received_bytes));
    if let Some(measure) = &report.latency {
        let name = measure.of.replace('_', " ");
        let missing = measure.expected.saturating_sub(measure.arrived);
        let unsent =
            if measure.unsent > 0 { format!(", {} never sent", measure.unsent) } else { String::new() };
        out.line(&name, &format!("{} arrived, {missing} missing{unsent}", measure.arrived));
    }
    if let Some(rounds) = &report.rounds {
        out.line(rounds.of, &format!("{}, {}/s", rounds.completed, number(rounds.per_second)));
    }
    latencies(&mut out, report);
    for (label, count) in &report.errors {
        out.line("error", &format!("{label} x {count}"));
    }
    machine(&mut out, report);
    out.0
}

#[derive(Default)]
struct Table(String);

impl Table {
    fn line(&mut self, name: &str, text: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "{name:<16}{text}");
    }
}

fn latencies(out: &mut Table, report: &Report) {
    let head = ["min", "p50", "p95", "p99", "max"].map(|name| format!("{name:>10}")).concat();
    out.line("milliseconds", &head);
    let mut row = |name: &str, percentiles: Option<Percentiles>| {
        if let Some(p) = percentiles {
            let cells = [p.min, p.p50, p.p95, p.p99, p.max].map(|us| format!("{:>10.3}", us as f64 / 1000.0));
            out.line(name, &cells.concat());
        }
    };
    row("join", report.joins.latency_us);
    if let Some(measure) = &report.latency {
        row(&measure.of.replace('_', " "), measure.us);
    }
    for (part, us) in &report.parts {
        row(&part.replace('_', " "), Some(*us));
    }
    row("left late by", report.generator.late_us);
}

fn machine(out: &mut Table, report: &Report) {
    let generator = &report.generator;
    let text = format!("{} % of {} %", number(generator.cpu_percent), 100 * generator.processors);
    out.line("generator CPU", &text);
    if let Some(server) = &report.server {
        let per_message = number(server.cpu_us_per_message);
        let of = |share| format!("{} % of {} %", number(share), 100 * generator.processors);
        out.line("server CPU", &format!("{}, {per_message} us a message", of(server.cpu_percent)));
        if server.children_cpu_percent.is_some() {
            out.line("policies CPU", &of(server.children_cpu_percent));
        }
        let per_connection = number(server.rss_bytes_per_connection.map(|bytes| bytes / 1024.0));
        let memory = mebibytes(server.rss_bytes);
        let text =
            format!("{memory:.1} MiB, {per_connection} KiB for each of {} connections", server.connections);
        out.line("server memory", &text);
    }
    if report.interrupted {
        out.line("note", "stopped early");
    }
    if generator.bottleneck {
        out.line("note", "this generator was the bottleneck: the server may do better than these figures");
    }
}

fn flow(count: u64, per_second: Option<f64>, bytes: u64) -> String {
    format!("{count}, {}/s, {:.1} MiB", number(per_second), mebibytes(bytes))
}

fn rooms(count: usize) -> &'static str {
    if count == 1 { "room" } else { "rooms" }
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1}"))
}

fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / (1024.0 * 1024.0)
}
