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
    loaded: Result<sandbox::Loaded, sandbox::PolicyError>,
) -> Result<Vec<Name>, PolicyError> {
    let loaded = loaded.map_err(policy_error)?;
    let sections = match &surface.manifest.observation_scope {
        Some(scope) => scope.sections.clone(),
        None => Vec::new(),
    };
    match loaded.detail {
        sandbox::Detail::Undeclared => Ok(Vec::new()),
        sandbox::Detail::All => Ok(sections),
        sandbox::Detail::Sections(names) => {
            let known = |name: &String| sections.iter().find(|section| ***section == **name).cloned();
            let unknown = || PolicyError { code: "bad_output", message: None };
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
        return Err(PolicyError { code: "too_large", message: None });
    }
    Ok(Arc::new(sandbox::Artifact::from_stored(runtime, artifact.code.to_vec())))
}

/// The game allows no such runtime, or no policies at all.
pub(crate) fn no_runtime() -> PolicyError {
    PolicyError { code: "runtime_not_allowed", message: None }
}

/// Policies draw the same random numbers in every instance of a seat, so that a restart is no new throw of the dice.
pub(crate) fn seed(seat: &Seat) -> u64 {
    seat.to_string()
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

pub(crate) fn is_timeout<T>(result: &Result<T, sandbox::PolicyError>) -> bool {
    result.as_ref().is_err_and(|error| error.code == sandbox::PolicyErrorCode::Timeout)
}

pub(crate) fn thought(answer: sandbox::Answer<sandbox::Thought>) -> Result<Thought, PolicyError> {
    let cpu_micros = u64::try_from(answer.cpu.as_micros()).unwrap_or(u64::MAX);
    let thought = answer.result.map_err(policy_error)?;
    Ok(Thought { intents: thought.intents, cpu_micros, logs: answer.logs })
}

pub(crate) fn policy_error(error: sandbox::PolicyError) -> PolicyError {
    PolicyError { code: error.code.as_str(), message: error.message }
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
