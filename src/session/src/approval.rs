//! An approval request (§7): what an agent wants to do and its owner has to agree to.

use crate::policy::Artifact;
use serde_json::{Value, json};

/// What an approval would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ApprovalKind {
    /// Activate a new artifact.
    Deploy,
    /// Reactivate a retained version.
    Rollback,
    /// Publish the active version in the pool.
    Publish,
}

impl ApprovalKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Deploy => "policyDeploy",
            Self::Rollback => "policyRollback",
            Self::Publish => "publish",
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
    pub(crate) id: String,
    pub(crate) kind: ApprovalKind,
    pub(crate) version: u32,
    pub(crate) status: ApprovalStatus,
    pub(crate) artifact: Artifact,
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

    /// The answer to the call that asked.
    pub(crate) fn request(&self) -> Value {
        json!({ "ok": false, "approval": { "id": self.id, "kind": self.kind.as_str(), "version": self.version } })
    }
}
