//! Artifacts and what is known of one that plays (§4 `Stats`, §11). Retained versions are in `library`, what a seat's
//! policies go through in `policy_slot`.
//!
//! The code itself runs elsewhere. What a policy of the pool wrote never gets into its statistics: whoever drafted it may
//! read those (§13).

use crate::Code;
use crate::pool::PolicyId;
use playerthree_game::Runtime;
use playerthree_schema::sha256_hex;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// An artifact as an agent deployed it: JavaScript source, or a WebAssembly module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// The language.
    pub runtime: Runtime,
    /// UTF-8 source or module bytes.
    pub code: Arc<[u8]>,
}

impl Artifact {
    /// The artifact hash (§20.10.1): SHA-256 of the code as it is probed, stored and published, in lower-case hexadecimal.
    pub fn hash(&self) -> String {
        sha256_hex(&self.code)
    }
}

/// The wire name of a policy language.
pub fn runtime_name(runtime: Runtime) -> &'static str {
    match runtime {
        Runtime::Js => "js",
        Runtime::Wasm => "wasm",
    }
}

/// The closed codes of a policy's failure (§11).
pub const POLICY_ERROR_CODES: [&str; 10] = [
    "runtime_not_allowed",
    "too_large",
    "compile",
    "missing_export",
    "bad_module",
    "imports_not_allowed",
    "memory_limit",
    "timeout",
    "threw",
    "bad_output",
];

/// Why a policy failed: one of §11's codes and, for the policy's own author, bounded text of the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyError {
    /// One of [`POLICY_ERROR_CODES`].
    pub code: &'static str,
    /// At most 1 KiB of the engine's text.
    pub message: Option<String>,
    /// What the call logged before it failed, bounded by the sandbox.
    pub logs: Vec<String>,
    /// CPU time of the call in microseconds; 0 where nobody could measure it.
    pub cpu_micros: u64,
}

impl PolicyError {
    /// A failure about which nothing but its code is known.
    pub fn of(code: &'static str) -> Self {
        Self { code, message: None, logs: Vec::new(), cpu_micros: 0 }
    }

    /// The error on the wire, for the policy's own author.
    pub fn to_json(&self) -> Value {
        match &self.message {
            None => json!({ "code": self.code }),
            Some(message) => json!({ "code": self.code, "message": message }),
        }
    }
}

/// What one think brought back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Thought {
    /// The intents, untrusted.
    pub intents: Vec<Value>,
    /// How many more there were than one call may send (§11).
    pub dropped: u32,
    /// CPU time of the call in microseconds.
    pub cpu_micros: u64,
    /// Log lines of the call, bounded by the sandbox.
    pub logs: Vec<String>,
}

/// What the statistics are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// A version of the owner's own; 0 for code that was never deployed.
    Version(u32),
    /// A policy of the pool, whose author is somebody else for all we show.
    Drafted(PolicyId),
}

/// Statistics of one policy (§4 `Stats`).
#[derive(Clone, Debug)]
pub struct Stats {
    subject: Subject,
    runtime: Runtime,
    calls: u64,
    timeouts: u64,
    errors: u64,
    /// Calls whose CPU time is known.
    measured: u64,
    total_micros: u64,
    max_micros: u64,
    emitted: u64,
    rejected: BTreeMap<String, u64>,
    last_error: Option<PolicyError>,
    logs: VecDeque<String>,
}

/// Log lines that statistics keep, and the JSON bytes that they may take together, so that a status always fits into
/// one result (§4 `RESULT_TEXT_MAX`).
const LOG_LINES: usize = 50;
const LOG_JSON_BYTES: usize = 12_000;

impl Stats {
    /// Nothing counted yet.
    pub fn new(version: u32, runtime: Runtime) -> Self {
        Self::of(Subject::Version(version), runtime)
    }

    pub(crate) fn of(subject: Subject, runtime: Runtime) -> Self {
        Self {
            subject,
            runtime,
            calls: 0,
            timeouts: 0,
            errors: 0,
            measured: 0,
            total_micros: 0,
            max_micros: 0,
            emitted: 0,
            rejected: BTreeMap::new(),
            last_error: None,
            logs: VecDeque::new(),
        }
    }

    /// Counts one call of the policy.
    pub fn count(&mut self, result: &Result<Thought, PolicyError>) {
        self.calls += 1;
        match result {
            Ok(thought) => {
                self.emitted += thought.intents.len() as u64 + u64::from(thought.dropped);
                if thought.dropped > 0 {
                    *self.rejected.entry(Code::RateLimited.as_str().to_owned()).or_default() +=
                        u64::from(thought.dropped);
                }
            }
            Err(error) => {
                self.errors += 1;
                self.timeouts += u64::from(error.code == "timeout");
                let message = error.message.clone().filter(|_| self.is_own());
                self.last_error = Some(PolicyError { message, ..PolicyError::of(error.code) });
            }
        }
        let (Ok(Thought { logs, cpu_micros, .. }) | Err(PolicyError { logs, cpu_micros, .. })) = result;
        self.measured += u64::from(result.is_ok() || *cpu_micros > 0);
        self.total_micros = self.total_micros.saturating_add(*cpu_micros);
        self.max_micros = self.max_micros.max(*cpu_micros);
        if self.is_own() && !logs.is_empty() {
            self.logs.extend(logs.iter().cloned());
            self.bound_logs();
        }
    }

    fn bound_logs(&mut self) {
        let mut room = LOG_JSON_BYTES;
        let fits = |line: &&String| match room.checked_sub(json!(line).to_string().len() + 1) {
            Some(left) => {
                room = left;
                true
            }
            None => false,
        };
        let kept = self.logs.iter().rev().take(LOG_LINES).take_while(fits).count();
        self.logs.drain(..self.logs.len() - kept);
    }

    /// What is counted.
    pub(crate) fn subject(&self) -> Subject {
        self.subject
    }

    fn is_own(&self) -> bool {
        matches!(self.subject, Subject::Version(_))
    }

    /// The code of the newest failure.
    pub(crate) fn last_error_code(&self) -> Option<&'static str> {
        self.last_error.as_ref().map(|error| error.code)
    }

    /// Counts an intent that a gate or the game refused. Codes are closed, so the map is bounded.
    pub(crate) fn reject(&mut self, code: &str) {
        *self.rejected.entry(code.to_owned()).or_default() += 1;
    }

    /// The statistics on the wire.
    pub fn to_json(&self) -> Value {
        // Microsecond totals stay far below 2^52, so these conversions are exact enough to print.
        #[expect(clippy::cast_precision_loss, reason = "a display value")]
        let ms = |micros: u64| micros as f64 / 1000.0;
        let rejected: Vec<Value> =
            self.rejected.iter().map(|(code, count)| json!({ "code": code, "count": count })).collect();
        let version = match self.subject {
            Subject::Version(version) => json!(version),
            Subject::Drafted(_) => Value::Null,
        };
        let mut stats = json!({
            "version": version,
            "runtime": runtime_name(self.runtime),
            "calls": self.calls,
            "timeouts": self.timeouts,
            "errors": self.errors,
            "meanMs": ms(self.total_micros / self.measured.max(1)),
            "maxMs": ms(self.max_micros),
            "intentsEmitted": self.emitted,
            "intentsRejected": rejected,
            "logs": self.logs,
        });
        if let Subject::Drafted(id) = self.subject {
            stats["policyId"] = json!(id.to_string());
        }
        if let Some(error) = &self.last_error {
            stats["lastError"] = error.to_json();
        }
        stats
    }
}
