//! A policy's code as it is deployed, stored and loaded (§§4, 11).
//!
//! It must never run any of the code.

use std::sync::OnceLock;

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
    /// An artifact from UTF-8 source or the bytes of a module. Whether the limits admit it shows when it is loaded.
    pub fn from_stored(runtime: Runtime, code: Vec<u8>) -> Self {
        Self { runtime, code, module: OnceLock::new() }
    }

    /// The engine that the code is written for.
    pub fn runtime(&self) -> Runtime {
        self.runtime
    }

    /// The composed source as UTF-8, or the module.
    pub fn code(&self) -> &[u8] {
        &self.code
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
