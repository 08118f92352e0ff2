//! The closed list of ways a policy can fail, and the bounded text that may go with one.
//!
//! It must never carry text about anything but the caller's own artifact, nor text without a bound.

use std::fmt;

/// Most UTF-8 bytes of engine text that an error carries (§11).
pub const MAX_ERROR_TEXT_BYTES: usize = 1024;

/// Why a policy was refused or a call of it failed. §11 lists exactly these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PolicyErrorCode {
    /// The game does not allow this runtime.
    RuntimeNotAllowed,
    /// The artifact, or the match data given to it, is larger than its limit.
    TooLarge,
    /// The source does not parse, or the bytes are not a valid WebAssembly module.
    Compile,
    /// A required entry point is absent or not a function.
    MissingExport,
    /// A WebAssembly module of a shape that the ABI forbids.
    BadModule,
    /// A WebAssembly module imports something other than `env.log`.
    ImportsNotAllowed,
    /// The policy needed more memory than its limit.
    MemoryLimit,
    /// The policy used up its CPU budget, or did not answer within the hang guard.
    Timeout,
    /// The policy threw an exception or trapped.
    Threw,
    /// What the policy returned or declared is not what the ABI asks for.
    BadOutput,
}

impl PolicyErrorCode {
    /// Every code, in the order of §11.
    pub const ALL: [Self; 10] = [
        Self::RuntimeNotAllowed,
        Self::TooLarge,
        Self::Compile,
        Self::MissingExport,
        Self::BadModule,
        Self::ImportsNotAllowed,
        Self::MemoryLimit,
        Self::Timeout,
        Self::Threw,
        Self::BadOutput,
    ];

    /// The code's name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RuntimeNotAllowed => "runtime_not_allowed",
            Self::TooLarge => "too_large",
            Self::Compile => "compile",
            Self::MissingExport => "missing_export",
            Self::BadModule => "bad_module",
            Self::ImportsNotAllowed => "imports_not_allowed",
            Self::MemoryLimit => "memory_limit",
            Self::Timeout => "timeout",
            Self::Threw => "threw",
            Self::BadOutput => "bad_output",
        }
    }
}

impl fmt::Display for PolicyErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A failure of one policy.
///
/// The message may be shown to the artifact's owner and to nobody else (§§11, 13).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}")]
pub struct PolicyError {
    /// What happened.
    pub code: PolicyErrorCode,
    /// What the engine said, at most [`MAX_ERROR_TEXT_BYTES`] bytes.
    pub message: Option<String>,
}

impl PolicyError {
    /// An error whose engine text is cut to its bound.
    pub(crate) fn with_text(code: PolicyErrorCode, text: &str) -> Self {
        let text = cut(text, MAX_ERROR_TEXT_BYTES);
        Self { code, message: (!text.is_empty()).then(|| text.to_owned()) }
    }
}

impl From<PolicyErrorCode> for PolicyError {
    fn from(code: PolicyErrorCode) -> Self {
        Self { code, message: None }
    }
}

/// The longest prefix of `text` that has at most `max_bytes` bytes and ends between two characters.
pub(crate) fn cut(text: &str, max_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(max_bytes)]
}

#[cfg(test)]
mod tests {
    use super::*;

    // §11: engine error text is capped at 1 KiB, and a character is never cut in two.
    #[test]
    fn engine_text_is_cut_between_characters() {
        let error = PolicyError::with_text(PolicyErrorCode::Threw, &"é".repeat(2000));
        assert_eq!(error.message.as_deref().map(str::len), Some(1024));
        let error = PolicyError::with_text(PolicyErrorCode::Threw, &format!("x{}", "é".repeat(2000)));
        assert_eq!(error.message.as_deref().map(str::len), Some(1023));
    }

    // §11: the codes are exactly these.
    #[test]
    fn codes_have_the_names_of_the_specification() {
        let names = PolicyErrorCode::ALL.map(PolicyErrorCode::as_str).join(", ");
        assert_eq!(
            names,
            "runtime_not_allowed, too_large, compile, missing_export, bad_module, imports_not_allowed, \
             memory_limit, timeout, threw, bad_output"
        );
    }
}
