//! The closed codes in which a call fails (§4 "Results and errors"). No code carries any part of the input.

use playerthree_schema::Invalid;
use serde_json::{Value, json};

/// Why a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// The message is not of the protocol's shape.
    BadMessage,
    /// The credential is unknown, expired or revoked.
    BadToken,
    /// The principal may not do this.
    Forbidden,
    /// The game does not offer this mode.
    ModeUnavailable,
    /// The owner has not granted the scope.
    OutOfScope,
    /// No pending approval has this id.
    ApprovalNotFound,
    /// The approval is being resolved already.
    ApprovalPending,
    /// The approved action could not be carried out.
    ApprovalFailed,
    /// Too many calls.
    RateLimited,
    /// An argument is out of its schema.
    Invalid,
    /// Too much at once.
    Busy,
    /// The host or the game failed; nothing about it is disclosed.
    Internal,
    /// The seat is in no running match.
    NotInMatch,
    /// The match is held or paused.
    Paused,
}

impl Code {
    /// The code on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BadMessage => "bad_message",
            Self::BadToken => "bad_token",
            Self::Forbidden => "forbidden",
            Self::ModeUnavailable => "mode_unavailable",
            Self::OutOfScope => "out_of_scope",
            Self::ApprovalNotFound => "approval_not_found",
            Self::ApprovalPending => "approval_pending",
            Self::ApprovalFailed => "approval_failed",
            Self::RateLimited => "rate_limited",
            Self::Invalid => "invalid",
            Self::Busy => "busy",
            Self::Internal => "internal",
            Self::NotInMatch => "not_in_match",
            Self::Paused => "paused",
        }
    }
}

/// A failed call: its code and, for an argument out of its schema, where and why.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}", .code.as_str())]
pub struct CallError {
    /// The closed code.
    pub code: Code,
    /// Schema code and path, for [`Code::Invalid`].
    pub detail: Option<Invalid>,
}

impl CallError {
    /// The members that describe the error on the wire, the code under `code_member`.
    pub fn to_json(&self, code_member: &str) -> Value {
        let mut object = json!({ code_member: self.code.as_str() });
        if let Some(detail) = &self.detail {
            object["schemaCode"] = json!(detail.code.as_str());
            object["path"] = detail.path_json();
        }
        object
    }
}

impl From<Code> for CallError {
    fn from(code: Code) -> Self {
        Self { code, detail: None }
    }
}

impl From<Invalid> for CallError {
    fn from(detail: Invalid) -> Self {
        Self { code: Code::Invalid, detail: Some(detail) }
    }
}
