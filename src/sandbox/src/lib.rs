//! The policy ABI of the PlayerThree specification (§11): untrusted code that maps observations to intents.
//!
//! An [`Artifact`] is JavaScript or WebAssembly. Loading one gives an [`Instance`]: an isolated engine on a thread
//! of its own, with a budget of CPU time, a memory limit, and no file, network, clock, entropy or host object in
//! reach. Every call is answered exactly once, in bounded time, with a value or with a closed code.
//!
//! This crate knows nothing of games or matches: observations go in as JSON text, intents come out as JSON
//! values, and whether an intent is legal is for others to judge.

mod artifact;
mod call;
mod detail;
mod error;
mod instance;
mod js;
mod limits;
mod output;
mod phase;
mod stuck;
mod wasm;
mod watchdog;
mod worker;

pub use artifact::{Artifact, Runtime, compose};
pub use detail::{Detail, MAX_DETAIL_BYTES};
pub use error::{MAX_ERROR_TEXT_BYTES, PolicyError, PolicyErrorCode};
pub use instance::{Answer, Busy, Instance, Loaded, Setup, Thought};
pub use limits::{
    JS_STACK_BYTES, LOAD_BUDGET_CALLS, Limits, MATCH_DATA_MAX_BYTES, MAX_JS_OUTPUT_DEPTH, MAX_OUTPUT_BYTES,
    MAX_STUCK_THREADS, MAX_TABLE_ENTRIES, MAX_WASM_OUTPUT_DEPTH, WATCHDOG_GRACE,
};
