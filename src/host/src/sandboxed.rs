//! Between the sandbox, which knows no game, and the rules, which run no code: limits, artifacts, details and answers in
//! the terms of each other.

use playerthree_game::{Name, Runtime, Seat};
use playerthree_sandbox as sandbox;
use playerthree_session::{Artifact, Millis, PolicyError, Surface, Thought};
use std::sync::Arc;

/// How long after a crash a policy starts again; doubles with every crash in a row.
const RESTART_FIRST: Millis = 1_000;

/// The longest wait before a restart.
const RESTART_MOST: Millis = 60_000;

/// How long a policy stays down after so many crashes in a row before this one.
pub(crate) fn restart_after(crashes: u32) -> Millis {
    RESTART_FIRST.saturating_mul(1 << crashes.min(10)).min(RESTART_MOST)
}

/// The sections that a loaded policy declares, all of which the manifest must know (§11: an unknown section is
/// `bad_output`).
pub(crate) fn detail(
    surface: &Surface,
    loaded: sandbox::Answer<sandbox::Loaded>,
) -> Result<Vec<Name>, PolicyError> {
    let loaded = result(loaded.result, &loaded.logs)?;
    let sections = match &surface.manifest.observation_scope {
        Some(scope) => scope.sections.clone(),
        None => Vec::new(),
    };
    match loaded.detail {
        sandbox::Detail::Undeclared => Ok(Vec::new()),
        sandbox::Detail::All => Ok(sections),
        sandbox::Detail::Sections(names) => {
            let known = |name: &String| sections.iter().find(|section| ***section == **name).cloned();
            let unknown = || PolicyError::of("bad_output");
            names.iter().map(|name| known(name).ok_or_else(unknown)).collect()
        }
    }
}

/// The artifact for the sandbox, if these limits admit it.
pub(crate) fn artifact(
    limits: &sandbox::Limits,
    artifact: &Artifact,
) -> Result<Arc<sandbox::Artifact>, PolicyError> {
    let runtime = runtime(artifact.runtime);
    if !limits.runtimes.contains(&runtime) {
        return Err(no_runtime());
    }
    if artifact.code.len() > limits.max_artifact_bytes {
        return Err(PolicyError::of("too_large"));
    }
    Ok(Arc::new(sandbox::Artifact::from_stored(runtime, artifact.code.to_vec())))
}

/// The game allows no such runtime, or no policies at all.
pub(crate) fn no_runtime() -> PolicyError {
    PolicyError::of("runtime_not_allowed")
}

/// Policies draw the same random numbers in every instance of a seat, so that a restart is no new throw of the dice.
pub(crate) fn seed(seat: &Seat) -> u64 {
    seat.to_string()
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Whether the policy ran out of time, and not the host out of room.
pub(crate) fn is_timeout<T>(answer: &sandbox::Answer<T>) -> bool {
    let timeout = answer.result.as_ref().is_err_and(|error| error.code == sandbox::PolicyErrorCode::Timeout);
    timeout && !is_without_room(answer)
}

/// Whether the host had no process or thread for the policy, so that nothing is known of it.
pub(crate) fn is_without_room<T>(answer: &sandbox::Answer<T>) -> bool {
    answer.by == sandbox::AnsweredBy::Host
}

pub(crate) fn thought(answer: sandbox::Answer<sandbox::Thought>) -> Result<Thought, PolicyError> {
    let cpu_micros = u64::try_from(answer.cpu.as_micros()).unwrap_or(u64::MAX);
    let sandbox::Thought { intents, dropped } = result(answer.result, &answer.logs)?;
    Ok(Thought { intents, dropped, cpu_micros, logs: answer.logs })
}

/// A failure in the terms of the rules, with what its call logged.
fn result<T>(result: Result<T, sandbox::PolicyError>, logs: &[String]) -> Result<T, PolicyError> {
    result.map_err(|sandbox::PolicyError { code, message }| PolicyError {
        code: code.as_str(),
        message,
        logs: logs.to_vec(),
    })
}

fn runtime(runtime: Runtime) -> sandbox::Runtime {
    match runtime {
        Runtime::Js => sandbox::Runtime::Js,
        Runtime::Wasm => sandbox::Runtime::Wasm,
    }
}

pub(crate) fn limits(policy: &playerthree_game::PolicyLimits) -> sandbox::Limits {
    sandbox::Limits {
        ms_per_call: policy.ms_per_call,
        memory_bytes: policy.memory_bytes as usize,
        max_artifact_bytes: policy.max_artifact_bytes as usize,
        max_intents_per_call: policy.max_intents_per_call as usize,
        max_log_lines: policy.max_log_lines as usize,
        max_log_line_bytes: policy.max_log_line_bytes as usize,
        runtimes: policy.runtimes.iter().copied().map(runtime).collect(),
    }
}
