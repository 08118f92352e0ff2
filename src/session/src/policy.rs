//! A seat's policies (§7, §11): retained versions, the active one's statistics, and the one pending approval.
//!
//! The code itself runs elsewhere; this is what the rules know about it.

use crate::{CallError, Code};
use playerthree_game::Runtime;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Versions a seat keeps for a rollback. The oldest goes first.
pub const VERSIONS_KEPT: usize = 8;

/// An artifact as an agent deployed it: JavaScript source, or a WebAssembly module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// The language.
    pub runtime: Runtime,
    /// UTF-8 source or module bytes.
    pub code: Arc<[u8]>,
}

/// The wire name of a policy language.
pub fn runtime_name(runtime: Runtime) -> &'static str {
    match runtime {
        Runtime::Js => "js",
        Runtime::Wasm => "wasm",
    }
}

/// Why a policy failed: one of §11's codes and, for the policy's own author, bounded text of the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyError {
    /// One of §11's closed codes.
    pub code: &'static str,
    /// At most 1 KiB of the engine's text.
    pub message: Option<String>,
}

impl PolicyError {
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
    /// CPU time of the call in microseconds.
    pub cpu_micros: u64,
    /// Log lines of the call, bounded by the sandbox.
    pub logs: Vec<String>,
}

/// Statistics of one version (§4 `Stats`).
#[derive(Clone, Debug)]
pub struct Stats {
    version: u32,
    runtime: Runtime,
    calls: u64,
    timeouts: u64,
    errors: u64,
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
        Self {
            version,
            runtime,
            calls: 0,
            timeouts: 0,
            errors: 0,
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
                self.total_micros += thought.cpu_micros;
                self.max_micros = self.max_micros.max(thought.cpu_micros);
                self.emitted += thought.intents.len() as u64;
                self.logs.extend(thought.logs.iter().cloned());
                self.bound_logs();
            }
            Err(error) => {
                self.errors += 1;
                self.timeouts += u64::from(error.code == "timeout");
                self.last_error = Some(error.clone());
            }
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

    /// The version that is counted.
    pub(crate) fn version(&self) -> u32 {
        self.version
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
        let succeeded = self.calls.saturating_sub(self.errors).max(1);
        let rejected: Vec<Value> =
            self.rejected.iter().map(|(code, count)| json!({ "code": code, "count": count })).collect();
        let mut stats = json!({
            "version": self.version,
            "runtime": runtime_name(self.runtime),
            "calls": self.calls,
            "timeouts": self.timeouts,
            "errors": self.errors,
            "meanMs": ms(self.total_micros / succeeded),
            "maxMs": ms(self.max_micros),
            "intentsEmitted": self.emitted,
            "intentsRejected": rejected,
            "logs": self.logs,
        });
        if let Some(error) = &self.last_error {
            stats["lastError"] = error.to_json();
        }
        stats
    }
}

/// What an approval would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ApprovalKind {
    /// Activate a new artifact.
    Deploy,
    /// Reactivate a retained version.
    Rollback,
}

impl ApprovalKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Deploy => "policyDeploy",
            Self::Rollback => "policyRollback",
        }
    }
}

/// Where an approval stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ApprovalStatus {
    /// The owner has not decided.
    Pending,
    /// The owner agreed and the artifact is being probed.
    Resolving,
    /// Done.
    Approved,
    /// The owner refused.
    Rejected,
    /// The owner agreed but the artifact failed.
    Failed,
}

/// A seat's newest approval request (§7): one a lane, the newest replaces the one before.
#[derive(Clone, Debug)]
pub(crate) struct Approval {
    id: String,
    kind: ApprovalKind,
    version: u32,
    status: ApprovalStatus,
    artifact: Artifact,
}

impl Approval {
    /// `{id, kind, version, status}`. A request that is being resolved still counts as pending.
    pub(crate) fn to_json(&self) -> Value {
        let status = match self.status {
            ApprovalStatus::Pending | ApprovalStatus::Resolving => "pending",
            ApprovalStatus::Approved => "approved",
            ApprovalStatus::Rejected => "rejected",
            ApprovalStatus::Failed => "failed",
        };
        json!({ "id": self.id, "kind": self.kind.as_str(), "version": self.version, "status": status })
    }

    fn request(&self) -> Value {
        json!({ "ok": false, "approval": { "id": self.id, "kind": self.kind.as_str(), "version": self.version } })
    }
}

/// A probe that the sandbox must run before a version becomes active.
#[derive(Clone, Debug)]
pub struct Activation {
    /// The version that becomes active if the probe succeeds.
    pub version: u32,
    /// Its code.
    pub artifact: Artifact,
    /// The approval that asked for it, if one did.
    pub approval: Option<String>,
}

/// What a deploy or rollback leads to.
#[derive(Debug)]
pub enum Deploy {
    /// Probe it, then report back with `Match::activated`.
    Probe(Activation),
    /// The owner must approve first; this is the agent's answer.
    Approval(Value),
}

/// What is known of a seat's policies.
#[derive(Debug, Default)]
pub(crate) struct PolicySlot {
    /// The active version's statistics.
    pub(crate) active: Option<Stats>,
    versions: VecDeque<(u32, Artifact)>,
    last_version: u32,
    approval: Option<Approval>,
    approvals_made: u64,
    /// A probe is under way. One at a time, so that version numbers follow activation order.
    probing: bool,
    /// The first tick of the next think.
    pub(crate) due: u64,
}

impl PolicySlot {
    /// Takes an artifact: for the sandbox to probe, or under supervision for the owner to approve.
    pub(crate) fn deploy(&mut self, artifact: Artifact, supervised: bool) -> Result<Deploy, CallError> {
        let version = self.last_version + 1;
        self.start(ApprovalKind::Deploy, version, artifact, supervised)
    }

    /// Takes a retained version back.
    pub(crate) fn rollback(&mut self, version: u32, supervised: bool) -> Result<Deploy, CallError> {
        let kept = self.versions.iter().find(|(kept, _)| *kept == version).ok_or(Code::Invalid)?;
        let artifact = kept.1.clone();
        self.start(ApprovalKind::Rollback, version, artifact, supervised)
    }

    fn start(
        &mut self,
        kind: ApprovalKind,
        version: u32,
        artifact: Artifact,
        supervised: bool,
    ) -> Result<Deploy, CallError> {
        if self.probing {
            return Err(Code::Busy.into());
        }
        if !supervised {
            self.probing = true;
            return Ok(Deploy::Probe(Activation { version, artifact, approval: None }));
        }
        self.approvals_made += 1;
        let id = format!("ap_{}", self.approvals_made);
        let approval = Approval { id, kind, version, status: ApprovalStatus::Pending, artifact };
        let request = approval.request();
        self.approval = Some(approval);
        Ok(Deploy::Approval(request))
    }

    /// The owner's answer to a request. An agreed one comes back as a probe to run.
    pub(crate) fn resolve(&mut self, id: &str, approve: bool) -> Result<Option<Activation>, CallError> {
        let next_version = self.last_version + 1;
        let approval =
            self.approval.as_mut().filter(|approval| approval.id == id).ok_or(Code::ApprovalNotFound)?;
        match approval.status {
            ApprovalStatus::Pending => {}
            ApprovalStatus::Resolving => return Err(Code::ApprovalPending.into()),
            _ => return Err(Code::ApprovalNotFound.into()),
        }
        if !approve {
            approval.status = ApprovalStatus::Rejected;
            return Ok(None);
        }
        if self.probing {
            return Err(Code::Busy.into());
        }
        if approval.kind == ApprovalKind::Deploy && approval.version != next_version {
            approval.status = ApprovalStatus::Failed;
            return Err(Code::ApprovalFailed.into());
        }
        self.probing = true;
        approval.status = ApprovalStatus::Resolving;
        let artifact = approval.artifact.clone();
        Ok(Some(Activation { version: approval.version, artifact, approval: Some(approval.id.clone()) }))
    }

    /// A probe ended. A success makes the version active; a failure leaves the active one alone.
    pub(crate) fn activated(
        &mut self,
        activation: &Activation,
        probe: &Result<Thought, PolicyError>,
        tick: u64,
    ) {
        self.probing = false;
        if let Some(approval) = &mut self.approval
            && activation.approval.as_ref() == Some(&approval.id)
        {
            approval.status = if probe.is_ok() { ApprovalStatus::Approved } else { ApprovalStatus::Failed };
        }
        if probe.is_err() {
            return;
        }
        if activation.version > self.last_version {
            self.last_version = activation.version;
            self.versions.push_back((activation.version, activation.artifact.clone()));
            if self.versions.len() > VERSIONS_KEPT {
                self.versions.pop_front();
            }
        }
        self.active = Some(Stats::new(activation.version, activation.artifact.runtime));
        self.due = tick;
    }

    /// There was no place to try the artifact in: an approval for it is as it was.
    pub(crate) fn not_tried(&mut self, activation: &Activation) {
        self.probing = false;
        if let Some(approval) = &mut self.approval
            && activation.approval.as_ref() == Some(&approval.id)
        {
            approval.status = ApprovalStatus::Pending;
        }
    }

    /// The active version's code and number.
    pub(crate) fn active_artifact(&self) -> Option<(Artifact, u32)> {
        let active = self.active.as_ref()?.version;
        let (version, artifact) = self.versions.iter().find(|(version, _)| *version == active)?;
        Some((artifact.clone(), *version))
    }

    /// The newest request.
    pub(crate) fn approval(&self) -> Option<&Approval> {
        self.approval.as_ref()
    }

    /// `PolicyStatus` (§4): null, or the active statistics (or `{version: null}`) with the newest request.
    pub(crate) fn status(&self) -> Value {
        let mut status = match (&self.active, &self.approval) {
            (None, None) => return Value::Null,
            (None, Some(_)) => json!({ "version": null }),
            (Some(stats), _) => stats.to_json(),
        };
        if let Some(approval) = &self.approval {
            status["approval"] = approval.to_json();
        }
        status
    }
}
