//! Control modes, each limit at its edge and past it (§3).

use super::Break;
use super::check;
use crate::common::manifest;
use playerthree_game::*;

/// §3 "Control modes and limits": each limit at its edge and past it.
#[test]
fn control_limits_are_checked() {
    fn policy(m: &mut Manifest) -> &mut PolicyLimits {
        m.control.policy.as_mut().expect("declared")
    }
    let range = "out of range";
    let table: [(Break, &str); 40] = [
        (|m| m.control.intents.per_second = 0.009, "intents.perSecond"),
        (|m| m.control.intents.per_second = 1000.5, "intents.perSecond"),
        (|m| m.control.intents.per_second = f64::NAN, "intents.perSecond"),
        (|m| m.control.intents.burst = 0, "intents.burst"),
        (|m| m.control.intents.burst = 10_001, "intents.burst"),
        (|m| m.control.sequence.as_mut().unwrap().max_steps = 0, "sequence.maxSteps"),
        (|m| m.control.sequence.as_mut().unwrap().max_steps = 10_001, "sequence.maxSteps"),
        (|m| m.control.sequence.as_mut().unwrap().max_ticks_ahead = 2_147_483_648, "sequence.maxTicksAhead"),
        (|m| m.control.sequence.as_mut().unwrap().min_spacing_ticks = 0, "sequence.minSpacingTicks"),
        (|m| policy(m).hz = 10.5, "policy.hz"),
        (|m| policy(m).hz = 0.0, "policy.hz"),
        (|m| policy(m).ms_per_call = 0, "policy.msPerCall"),
        (|m| policy(m).ms_per_call = 1001, "policy.msPerCall"),
        (|m| policy(m).memory_bytes = 1_048_575, "policy.memoryBytes"),
        (|m| policy(m).memory_bytes = 1_073_741_825, "policy.memoryBytes"),
        (|m| policy(m).max_artifact_bytes = 0, "policy.maxArtifactBytes"),
        (|m| policy(m).max_artifact_bytes = 700_001, "policy.maxArtifactBytes"),
        (|m| policy(m).max_intents_per_call = 0, "policy.maxIntentsPerCall"),
        (|m| policy(m).max_intents_per_call = 1001, "policy.maxIntentsPerCall"),
        (|m| policy(m).max_log_lines = 1001, "policy.maxLogLines"),
        (|m| policy(m).max_log_line_bytes = 0, "policy.maxLogLineBytes"),
        (|m| policy(m).max_log_line_bytes = 4097, "policy.maxLogLineBytes"),
        (|m| m.control.stream.as_mut().unwrap().max_hz = 10.5, "stream.maxHz"),
        (|m| m.control.stream.as_mut().unwrap().intents_per_tick = 0, "stream.intentsPerTick"),
        (|m| m.control.practice.as_mut().unwrap().max_ticks = 0, "practice.maxTicks"),
        (|m| m.control.practice.as_mut().unwrap().max_ticks = 10_000_001, "practice.maxTicks"),
        (|m| m.control.practice.as_mut().unwrap().concurrent = 65, "practice.concurrent"),
        (
            |m| m.control.pool.as_mut().unwrap().max_published_per_principal = 0,
            "pool.maxPublishedPerPrincipal",
        ),
        (
            |m| m.control.pool.as_mut().unwrap().max_published_per_principal = 1001,
            "pool.maxPublishedPerPrincipal",
        ),
        (|m| m.control.chat.as_mut().unwrap().max_tell_chars = 501, "chat.maxTellChars"),
        (|m| m.control.chat.as_mut().unwrap().max_tell_chars = 0, "chat.maxTellChars"),
        (|m| m.control.chat.as_mut().unwrap().max_say_chars = 281, "chat.maxSayChars"),
        (
            |m| m.control.pausable = Some(PauseLimits { max_pause_seconds: Some(0) }),
            "pausable.maxPauseSeconds",
        ),
        (
            |m| m.control.pausable = Some(PauseLimits { max_pause_seconds: Some(604_801) }),
            "pausable.maxPauseSeconds",
        ),
        (|m| m.control.signals.as_mut().unwrap().per_second = 100.5, "signals.perSecond"),
        (|m| m.control.signals.as_mut().unwrap().per_second = 0.0, "signals.perSecond"),
        (|m| m.control.signals.as_mut().unwrap().burst = 101, "signals.burst"),
        (|m| m.control.signals.as_mut().unwrap().ttl_ticks = 0, "signals.ttlTicks"),
        (|m| m.control.signals.as_mut().unwrap().ttl_ticks = 2_147_483_648, "signals.ttlTicks"),
        (|m| m.control.signals.as_mut().unwrap().keep_ticks = 2_147_483_648, "signals.keepTicks"),
    ];
    for (breaks, path) in table {
        check(breaks, &[(&format!("control.{path}"), range)]);
    }
    check(|m| policy(m).runtimes.clear(), &[("control.policy.runtimes", "no runtime")]);
    check(|m| policy(m).runtimes.push(Runtime::Js), &[("control.policy.runtimes", "repeated")]);
    check(
        |m| m.control.policy = None,
        &[("control.practice", "needs policies"), ("control.pool", "needs policies")],
    );
    check(
        |m| m.control.chat.as_mut().unwrap().ping = Some(t::id("X")),
        &[("control.chat.ping", "id prefix")],
    );
    let mut open = manifest();
    open.control.pausable = Some(PauseLimits { max_pause_seconds: None });
    assert_eq!(open.faults(), vec![]);
}
