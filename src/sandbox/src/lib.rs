//! The policy ABI of the PlayerThree specification (§11): untrusted code that maps observations to intents.
//!
//! An [`Artifact`] is JavaScript or WebAssembly. Loading one gives an [`Instance`]: an isolated engine with a budget
//! of CPU time, a memory limit, and no file, network, clock, entropy or host object in reach. Every call is answered
//! exactly once, in bounded time, with a value or with a closed code.
//!
//! A script runs in a worker process of its own ([`Workers`]): loops inside QuickJS that never look at the budget are
//! ended with the process. A module runs on a thread of this process: compiled code looks at every loop and function
//! entry, and its compiler ends by itself.
//!
//! This crate knows nothing of games or matches: observations go in as JSON text, intents come out as JSON
//! values, and whether an intent is legal is for others to judge.
//!
//! ```
//! use std::sync::Arc;
//!
//! use playerthree_sandbox::{Artifact, Instance, Limits, Runtime, Setup, Workers};
//!
//! // The first lines of `main`: a worker is this program once more.
//! playerthree_sandbox::serve_if_worker();
//! let workers = Workers::of_this_program();
//!
//! let limits = Limits {
//!     ms_per_call: 1000,
//!     memory_bytes: 16 << 20,
//!     max_artifact_bytes: 100_000,
//!     max_intents_per_call: 16,
//!     max_log_lines: 20,
//!     max_log_line_bytes: 200,
//!     runtimes: vec![Runtime::Js],
//! };
//! let source = "function think(obs) { return [{ kind: 'move', by: obs.tick }]; }";
//! let artifact = Arc::new(Artifact::from_stored(Runtime::Js, source.into()));
//! let setup = Setup { artifact, limits, match_data: "null".into(), seed: 7 };
//! let (policy, loaded) = Instance::load_blocking(&workers, setup);
//! loaded.result?;
//! let thought = policy.think_blocking(r#"{"tick":3}"#.into())?.result?;
//! assert_eq!(thought.intents, [serde_json::json!({ "kind": "move", "by": 3 })]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod artifact;
mod call;
mod confined;
mod cores;
mod detail;
mod error;
mod instance;
mod js;
mod limits;
mod output;
mod phase;
mod process;
mod served;
mod stuck;
mod wasm;
mod watchdog;
mod wire;
mod worker;

pub use artifact::{Artifact, Runtime};
pub use cores::{Core, Cores};
pub use detail::{Detail, MAX_DETAIL_BYTES};
pub use error::{MAX_ERROR_TEXT_BYTES, PolicyError, PolicyErrorCode};
pub use instance::{Answer, AnsweredBy, Busy, Instance, Loaded, Setup, Thought};
pub use limits::{
    CORE_PATIENCE, JS_STACK_BYTES, LOAD_BUDGET_CALLS, Limits, MATCH_DATA_MAX_BYTES, MAX_COMPILING,
    MAX_JS_OUTPUT_DEPTH, MAX_OUTPUT_BYTES, MAX_OUTPUT_VALUES, MAX_STUCK_THREADS, MAX_TABLE_ENTRIES,
    MAX_WASM_OUTPUT_DEPTH, WATCHDOG_GRACE,
};
pub use process::{SPARE_WORKERS, WORKER_ARGUMENT, Workers};
pub use served::serve_if_worker;
pub use stuck::{Tenant, yield_to_everything};
