//! Between the sandbox, which knows no game, and the rules, which run no code: limits, artifacts, details and answers in
//! the terms of each other.

use playerthree_game::{Name, Runtime};
use playerthree_sandbox as sandbox;
use playerthree_session::{Artifact, Millis, PolicyError, Surface, Thought};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// How long after a crash a policy starts again; doubles with every crash in a row.
pub(crate) const RESTART_FIRST: Millis = 1_000;

/// The longest wait before a restart.
const RESTART_MOST: Millis = 60_000;

/// Calls that a policy answers before its crashes are forgotten. One that crashes on every second call is no steadier than
/// one that crashes on every call.
const STEADY_CALLS: u32 = 10;

/// The crashes of one policy, across its instances.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Crashes {
    in_a_row: u32,
    answered: u32,
}

impl Crashes {
    /// The policy crashed once more: how long it stays down.
    pub(crate) fn one_more(&mut self) -> Millis {
        let down = RESTART_FIRST.saturating_mul(1 << self.in_a_row.min(10)).min(RESTART_MOST);
        self.in_a_row = self.in_a_row.saturating_add(1);
        self.answered = 0;
        down
    }

    /// The policy answered a call and lives on.
    pub(crate) fn answered(&mut self) {
        self.answered = self.answered.saturating_add(1);
        if self.answered >= STEADY_CALLS {
            self.in_a_row = 0;
        }
    }
}

/// A value as the sandbox takes it: once into one text, which its thread shares.
pub(crate) fn text(value: &Value) -> Arc<str> {
    #[expect(clippy::expect_used, reason = "every JSON value has a text")]
    serde_json::to_string(value).expect("a JSON value is written").into()
}

/// What a loaded policy has for its first think.
pub(crate) struct Ready {
    /// The sections that it declares.
    pub(crate) detail: Vec<Name>,
    /// What it logged while it was loaded.
    pub(crate) logs: Vec<String>,
}

/// A loaded policy. The manifest must know all sections that it declares (§11: an unknown section is `bad_output`).
pub(crate) fn ready(
    surface: &Surface,
    loaded: sandbox::Answer<sandbox::Loaded>,
) -> Result<Ready, PolicyError> {
    let sandbox::Answer { result, logs, cpu, .. } = loaded;
    let declared = match result {
        Ok(sandbox::Loaded { detail }) => detail,
        Err(error) => return Err(failure(error, logs, cpu)),
    };
    let sections = match &surface.manifest.observation_scope {
        Some(scope) => scope.sections.clone(),
        None => Vec::new(),
    };
    let detail = match declared {
        sandbox::Detail::Undeclared => Vec::new(),
        sandbox::Detail::All => sections,
        sandbox::Detail::Sections(names) => {
            let known = |name: &String| sections.iter().find(|section| ***section == **name).cloned();
            let unknown = || PolicyError { logs: logs.clone(), ..PolicyError::of("bad_output") };
            names.iter().map(|name| known(name).ok_or_else(unknown)).collect::<Result<_, _>>()?
        }
    };
    Ok(Ready { detail, logs })
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

/// Whether the policy ran out of time or broke its engine, and not the host out of room: its worker is gone with it.
pub(crate) fn cost_a_worker<T>(answer: &sandbox::Answer<T>) -> bool {
    use sandbox::{AnsweredBy, PolicyErrorCode};
    let code = answer.result.as_ref().err().map(|error| error.code);
    match (answer.by, code) {
        (AnsweredBy::Host, _) => false,
        (_, Some(PolicyErrorCode::Timeout)) | (AnsweredBy::Sandbox, Some(PolicyErrorCode::Threw)) => true,
        _ => false,
    }
}

/// Whether the host had no process, thread or core for the policy, so that nothing is known of it.
pub(crate) fn is_without_room<T>(answer: &sandbox::Answer<T>) -> bool {
    answer.by == sandbox::AnsweredBy::Host
}

/// What came of one think, after what the policy logged since its last answer.
pub(crate) fn thought(
    answer: sandbox::Answer<sandbox::Thought>,
    mut logs: Vec<String>,
) -> Result<Thought, PolicyError> {
    logs.extend(answer.logs);
    match answer.result {
        Ok(sandbox::Thought { intents, dropped }) => {
            Ok(Thought { intents, dropped, cpu_micros: micros(answer.cpu), logs })
        }
        Err(error) => Err(failure(error, logs, answer.cpu)),
    }
}

/// A failure in the terms of the rules, with what its call logged and took.
fn failure(error: sandbox::PolicyError, logs: Vec<String>, cpu: Duration) -> PolicyError {
    let sandbox::PolicyError { code, message } = error;
    PolicyError { code: code.as_str(), message, logs, cpu_micros: micros(cpu) }
}

fn micros(cpu: Duration) -> u64 {
    u64::try_from(cpu.as_micros()).unwrap_or(u64::MAX)
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

#[cfg(test)]
mod tests {
    use super::*;
    use sandbox::{Answer, AnsweredBy, PolicyErrorCode};

    // §11: the codes are the same ten on both sides.
    #[test]
    fn the_rules_know_the_codes_of_the_sandbox() {
        assert_eq!(
            PolicyErrorCode::ALL.map(PolicyErrorCode::as_str),
            playerthree_session::POLICY_ERROR_CODES
        );
    }

    // §11, §15.5: an engine that ran out of time or broke is gone; what it answered itself otherwise, it survived, and the
    // host's want of room is nobody's fault.
    #[test]
    fn timeouts_and_broken_engines_cost_a_worker() {
        let cost = |code: PolicyErrorCode, by: AnsweredBy| {
            let answer: Answer<()> =
                Answer { result: Err(code.into()), logs: Vec::new(), cpu: Duration::ZERO, by };
            cost_a_worker(&answer)
        };
        for by in [AnsweredBy::Engine, AnsweredBy::Sandbox] {
            assert!(cost(PolicyErrorCode::Timeout, by));
        }
        assert!(cost(PolicyErrorCode::Threw, AnsweredBy::Sandbox));
        assert!(!cost(PolicyErrorCode::Threw, AnsweredBy::Engine));
        assert!(!cost(PolicyErrorCode::TooLarge, AnsweredBy::Sandbox));
        assert!(!cost(PolicyErrorCode::Timeout, AnsweredBy::Host));
    }

    // §11: each crash costs a worker, however many calls a policy answers between two.
    #[test]
    fn a_policy_that_keeps_crashing_stays_down_longer_each_time() {
        let mut crashes = Crashes::default();
        let down: Vec<Millis> = (0..8)
            .map(|_| {
                (1..STEADY_CALLS).for_each(|_| crashes.answered());
                crashes.one_more()
            })
            .collect();
        assert_eq!(down, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
        (0..STEADY_CALLS).for_each(|_| crashes.answered());
        assert_eq!(crashes.one_more(), 1_000);
    }
}
