//! A policy's code as it is deployed, stored, hashed and loaded (§§4, 11, 20.10.1).
//!
//! It must never run any of the code.

use std::sync::OnceLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::error::{PolicyError, PolicyErrorCode};
use crate::limits::Limits;

/// The engine that an artifact is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Runtime {
    /// A classic JavaScript script.
    Js,
    /// A core WebAssembly module.
    Wasm,
}

impl Runtime {
    /// The runtime's name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Js => "js",
            Self::Wasm => "wasm",
        }
    }
}

/// The code of one policy. Share it in an `Arc`: instances of one artifact share its compiled module.
#[derive(Debug)]
pub struct Artifact {
    runtime: Runtime,
    code: Vec<u8>,
    /// The compiled module, kept by the first load that stayed within its budget.
    module: OnceLock<wasmtime::Module>,
}

impl Artifact {
    /// Reads an artifact as it comes over the wire: composed source for `js`, base64 for `wasm`.
    ///
    /// # Errors
    ///
    /// `runtime_not_allowed` for a runtime that the limits do not list; `too_large` past `max_artifact_bytes`, counted
    /// in UTF-8 bytes of source or decoded bytes of a module; `compile` for text that is not base64 (§11).
    pub fn decode(runtime: Runtime, code: &str, limits: &Limits) -> Result<Self, PolicyError> {
        if !limits.runtimes.contains(&runtime) {
            return Err(PolicyErrorCode::RuntimeNotAllowed.into());
        }
        let code = match runtime {
            Runtime::Js => code.as_bytes().to_vec(),
            Runtime::Wasm => decode_base64(code, limits.max_artifact_bytes)?,
        };
        let artifact = Self::from_stored(runtime, code);
        artifact.check(limits)?;
        Ok(artifact)
    }

    /// An artifact from the bytes that [`Artifact::code`] gave: UTF-8 source, or a decoded module.
    pub fn from_stored(runtime: Runtime, code: Vec<u8>) -> Self {
        Self { runtime, code, module: OnceLock::new() }
    }

    /// The engine that the code is written for.
    pub fn runtime(&self) -> Runtime {
        self.runtime
    }

    /// The composed source as UTF-8, or the decoded module.
    pub fn code(&self) -> &[u8] {
        &self.code
    }

    /// The artifact hash: SHA-256 of [`Artifact::code`] in lower-case hexadecimal (§20.10.1).
    pub fn hash(&self) -> String {
        use std::fmt::Write as _;
        Sha256::digest(&self.code).iter().fold(String::with_capacity(64), |mut hex, byte| {
            // Writing to a String cannot fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }

    /// Whether these limits admit the artifact; a stored artifact may be older than the limits.
    pub(crate) fn check(&self, limits: &Limits) -> Result<(), PolicyError> {
        if !limits.runtimes.contains(&self.runtime) {
            return Err(PolicyErrorCode::RuntimeNotAllowed.into());
        }
        if self.code.len() > limits.max_artifact_bytes {
            return Err(PolicyErrorCode::TooLarge.into());
        }
        Ok(())
    }

    pub(crate) fn module(&self) -> &OnceLock<wasmtime::Module> {
        &self.module
    }
}

/// Joins included skill files and a policy's own code into the source that is probed, stored and hashed (§11).
pub fn compose(included: &[&str], code: &str) -> String {
    included.iter().copied().chain([code]).collect::<Vec<_>>().join("\n")
}

fn decode_base64(code: &str, max_bytes: usize) -> Result<Vec<u8>, PolicyError> {
    // Four characters carry three bytes, so longer text cannot decode to an admissible module.
    if code.len() > max_bytes.div_ceil(3).saturating_mul(4) {
        return Err(PolicyErrorCode::TooLarge.into());
    }
    STANDARD
        .decode(code)
        .map_err(|_| PolicyError::with_text(PolicyErrorCode::Compile, "the code is not base64"))
}
