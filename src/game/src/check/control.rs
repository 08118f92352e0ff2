//! The input modes and the range of each of their limits (§3 "Control modes and limits").

use crate::fault::Faults;
use crate::{Manifest, PolicyLimits};
use std::ops::RangeInclusive;

/// Longest tick count that the contract names.
const MAX_TICKS: u32 = 2_147_483_647;

/// Judges limits and names each by its wire path.
struct Limits<'a>(&'a mut Faults);

impl Limits<'_> {
    fn integer(&mut self, path: &str, found: u32, range: RangeInclusive<u32>) {
        if !range.contains(&found) {
            let fix = format!("declare {} to {}", range.start(), range.end());
            self.0.add(format!("control.{path}"), "the limit is out of range", fix);
        }
    }

    fn number(&mut self, path: &str, found: f64, range: RangeInclusive<f64>) {
        if !range.contains(&found) {
            let fix = format!("declare {} to {}", range.start(), range.end());
            self.0.add(format!("control.{path}"), "the limit is out of range", fix);
        }
    }
}

pub(super) fn check(manifest: &Manifest, faults: &mut Faults) {
    let control = &manifest.control;
    for (mode, on) in [("practice", control.practice.is_some()), ("pool", control.pool.is_some())] {
        let works = !on || control.policy.is_some();
        faults.expect(
            works,
            &format!("control.{mode}"),
            "the mode needs policies",
            "declare control.policy too",
        );
    }
    if let Some(ping) = control.chat.as_ref().and_then(|chat| chat.ping.as_ref()) {
        faults.schema("control.chat.ping", ping.check());
    }
    if let Some(policy) = &control.policy {
        runtimes(policy, faults);
    }
    ranges(manifest, &mut Limits(faults));
}

fn runtimes(policy: &PolicyLimits, faults: &mut Faults) {
    let path = "control.policy.runtimes";
    let fix = "list js, wasm or both";
    faults.expect(!policy.runtimes.is_empty(), path, "no runtime is listed", fix);
    let repeated =
        (1..policy.runtimes.len()).any(|last| policy.runtimes[..last].contains(&policy.runtimes[last]));
    faults.expect(!repeated, path, "a runtime is repeated", fix);
}

fn ranges(manifest: &Manifest, limits: &mut Limits<'_>) {
    let control = &manifest.control;
    let tick_rate = f64::from(manifest.tick_rate);
    limits.number("intents.perSecond", control.intents.per_second, 0.01..=1000.0);
    limits.integer("intents.burst", control.intents.burst, 1..=10_000);
    if let Some(sequence) = &control.sequence {
        limits.integer("sequence.maxSteps", sequence.max_steps, 1..=10_000);
        limits.integer("sequence.maxTicksAhead", sequence.max_ticks_ahead, 0..=MAX_TICKS);
        limits.integer("sequence.minSpacingTicks", sequence.min_spacing_ticks, 1..=MAX_TICKS);
    }
    if let Some(policy) = &control.policy {
        policy_ranges(policy, tick_rate, limits);
    }
    if let Some(stream) = &control.stream {
        limits.number("stream.maxHz", stream.max_hz, 0.01..=tick_rate);
        limits.integer("stream.intentsPerTick", stream.intents_per_tick, 1..=1000);
    }
    if let Some(practice) = &control.practice {
        limits.integer("practice.maxTicks", practice.max_ticks, 1..=10_000_000);
        limits.integer("practice.concurrent", practice.concurrent, 1..=64);
    }
    if let Some(pool) = &control.pool {
        limits.integer("pool.maxPublishedPerPrincipal", pool.max_published_per_principal, 1..=1000);
    }
    if let Some(chat) = &control.chat {
        limits.integer("chat.maxTellChars", chat.max_tell_chars, 1..=500);
        limits.integer("chat.maxSayChars", chat.max_say_chars, 1..=280);
    }
    if let Some(seconds) = control.pausable.as_ref().and_then(|pausable| pausable.max_pause_seconds) {
        limits.integer("pausable.maxPauseSeconds", seconds, 1..=604_800);
    }
    if let Some(signals) = &control.signals {
        limits.number("signals.perSecond", signals.per_second, 0.01..=100.0);
        limits.integer("signals.burst", signals.burst, 1..=100);
        limits.integer("signals.maxOpen", signals.max_open, 1..=32);
        limits.integer("signals.ttlTicks", signals.ttl_ticks, 1..=MAX_TICKS);
        limits.integer("signals.keepTicks", signals.keep_ticks, 0..=MAX_TICKS);
    }
}

fn policy_ranges(policy: &PolicyLimits, tick_rate: f64, limits: &mut Limits<'_>) {
    limits.number("policy.hz", policy.hz, 0.01..=tick_rate);
    limits.integer("policy.msPerCall", policy.ms_per_call, 1..=1000);
    limits.integer("policy.memoryBytes", policy.memory_bytes, 1_048_576..=1_073_741_824);
    limits.integer("policy.maxArtifactBytes", policy.max_artifact_bytes, 1..=700_000);
    limits.integer("policy.maxIntentsPerCall", policy.max_intents_per_call, 1..=1000);
    limits.integer("policy.maxLogLines", policy.max_log_lines, 0..=1000);
    limits.integer("policy.maxLogLineBytes", policy.max_log_line_bytes, 1..=4096);
}
