//! What a game's manifest allows one policy to use (§3 "Control modes", row `policy`), and the fixed caps of §11.
//!
//! It must never hold a limit that is not finite.

use std::time::Duration;

use crate::artifact::Runtime;

/// Most UTF-8 bytes of match data that an instance is initialized with (§10).
pub const MATCH_DATA_MAX_BYTES: usize = 131_072;

/// Most bytes of JSON that one think may return (§11).
pub const MAX_OUTPUT_BYTES: usize = 1 << 20;

/// How deep arrays and objects may nest in what a JavaScript policy returns, the intent array included (§11).
pub const MAX_JS_OUTPUT_DEPTH: usize = 32;

/// How deep the JSON that a WebAssembly policy returns may nest: as deep as the JSON reader goes.
pub const MAX_WASM_OUTPUT_DEPTH: usize = 127;

/// The stack of the JavaScript engine, in bytes (§11).
pub const JS_STACK_BYTES: usize = 256 * 1024;

/// Most entries that all tables of one WebAssembly module may have together (§11).
pub const MAX_TABLE_ENTRIES: u64 = 65_536;

/// The load budget is this many times the budget of one call (§11).
pub const LOAD_BUDGET_CALLS: u32 = 10;

/// How long after the hang guard the watchdog answers for a thread that did not (§11).
pub const WATCHDOG_GRACE: Duration = Duration::from_millis(50);

/// How many WebAssembly policies' threads may go on running after the watchdog has answered for them. While so many
/// run, none is loaded: every load fails `timeout`. Only compiling holds a thread that long, and it ends by itself.
pub const MAX_STUCK_THREADS: usize = 32;

/// The limits of one policy. The ranges are those that a manifest may declare; whoever reads the manifest checks them.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Limits {
    /// CPU milliseconds of the sandbox's own thread for one think: 1 to 1000.
    pub ms_per_call: u32,
    /// Bytes of heap (JavaScript) or linear memory (WebAssembly): 1 MiB to 1 GiB.
    pub memory_bytes: usize,
    /// UTF-8 bytes of composed source, or decoded bytes of a module: 1 to 700000.
    pub max_artifact_bytes: usize,
    /// Intents that one think may return: 1 to 1000. More are dropped and counted.
    pub max_intents_per_call: usize,
    /// Log lines that one call may leave: 0 to 1000. More are dropped.
    pub max_log_lines: usize,
    /// UTF-8 bytes of one log line: 1 to 4096. Longer lines are cut.
    pub max_log_line_bytes: usize,
    /// The runtimes that the game allows.
    pub runtimes: Vec<Runtime>,
}

/// How much one call may use before it fails `timeout`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Budget {
    /// CPU time of the sandbox's own thread.
    pub(crate) cpu: Duration,
    /// Wall time on the sandbox's own thread, for work that cannot be interrupted and threads that get no CPU.
    pub(crate) wall: Duration,
}

impl Budget {
    /// The budget of one think.
    pub(crate) fn think(limits: &Limits) -> Self {
        Self::of_cpu(Duration::from_millis(limits.ms_per_call.into()))
    }

    /// The budget of loading: compiling, top-level code and `init` together.
    pub(crate) fn load(limits: &Limits) -> Self {
        Self::of_cpu(Duration::from_millis(limits.ms_per_call.into()) * LOAD_BUDGET_CALLS)
    }

    fn of_cpu(cpu: Duration) -> Self {
        Self { cpu, wall: cpu * 4 + Duration::from_millis(100) }
    }
}
