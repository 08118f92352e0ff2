//! What a game's manifest allows one policy to use (§3 "Control modes", row `policy`), and the fixed caps of §11.
//!
//! It must never hold a limit that is not finite.

use std::time::Duration;

use crate::artifact::Runtime;

/// Most UTF-8 bytes of match data that an instance is initialized with (§10).
pub const MATCH_DATA_MAX_BYTES: usize = 131_072;

/// Most bytes of JSON that one think may return (§11).
pub const MAX_OUTPUT_BYTES: usize = 1 << 20;

/// Most values in what one think returns, those within others included: a megabyte of small ones would take a hundred in
/// memory.
pub const MAX_OUTPUT_VALUES: usize = 32_768;

/// Most log lines that a manifest may let one call leave.
pub(crate) const MAX_LOG_LINES: usize = 1_000;

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

/// How long a load waits while as many engines compute as the machine has cores. Its own time begins when it has one; past
/// this the host answers in its place, since it has no room. A think that a tick waits for waits much less.
pub const CORE_PATIENCE: Duration = Duration::from_secs(10);

/// How long a call that no tick waits for waits for a core.
pub(crate) const BACKGROUND_PATIENCE: Duration = Duration::from_secs(600);

/// How many WebAssembly policies' threads may go on running after the watchdog has answered for them. While so many
/// run, no module is compiled: the host has no room. Only compiling holds a thread that long, and it ends by itself.
pub const MAX_STUCK_THREADS: usize = 32;

/// How many modules of one [`Tenant`](crate::Tenant) are compiled at once, those included whose loads have been answered:
/// nobody fills [`MAX_STUCK_THREADS`] alone.
pub const MAX_COMPILING: usize = 4;

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
    /// Log lines that one call may leave: 0 to 1000 (`MAX_LOG_LINES`). More are dropped.
    pub max_log_lines: usize,
    /// UTF-8 bytes of one log line: 1 to 4096. Longer lines are cut.
    pub max_log_line_bytes: usize,
    /// The runtimes that the game allows.
    pub runtimes: Vec<Runtime>,
}

/// Who waits for a policy's calls, and so how much wall time they may take beyond their CPU time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum Awaited {
    /// The tick of a match: the hang guard is four times the budget and 100 ms (§11).
    ByATick,
    /// Nobody's tick, on threads that everything else goes before: the guard ends what hangs and nothing that merely
    /// had to wait, so that a policy passes or fails the same on a busy machine (§11).
    ByNoTick,
}

/// How long a call waits for a core before the host answers that it has no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    /// So long, and the call's wall time passes meanwhile: whoever waits for it never waits for more than its guard, however
    /// many others compute (§11).
    WithinItsTime(Duration),
    /// So long, and the call's wall time begins when it has its core.
    BeforeItsTime(Duration),
}

/// How much one call may use before it fails `timeout`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Budget {
    /// CPU time of the sandbox's own thread.
    pub(crate) cpu: Duration,
    /// Wall time on the sandbox's own thread, for work that cannot be interrupted and threads that get no CPU.
    pub(crate) wall: Duration,
    /// What it waits for a core.
    pub(crate) patience: Patience,
}

impl Budget {
    /// The budget of one think.
    pub(crate) fn think(limits: &Limits, awaited: Awaited) -> Self {
        let budget = Self::of_cpu(Duration::from_millis(limits.ms_per_call.into()), awaited);
        match awaited {
            // Longer than those in front may compute; the half that is left is more than twice the call's CPU time.
            Awaited::ByATick => Self { patience: Patience::WithinItsTime(budget.wall / 2), ..budget },
            Awaited::ByNoTick => budget,
        }
    }

    /// The budget of loading: compiling, top-level code and `init` together.
    pub(crate) fn load(limits: &Limits, awaited: Awaited) -> Self {
        Self::of_cpu(Duration::from_millis(limits.ms_per_call.into()) * LOAD_BUDGET_CALLS, awaited)
    }

    /// For an engine that shares its core with nobody.
    #[cfg(test)]
    pub(crate) fn alone(cpu: Duration, wall: Duration) -> Self {
        Self { cpu, wall, patience: Patience::BeforeItsTime(Duration::ZERO) }
    }

    fn of_cpu(cpu: Duration, awaited: Awaited) -> Self {
        let (wall, patience) = match awaited {
            Awaited::ByATick => (cpu * 4 + Duration::from_millis(100), CORE_PATIENCE),
            // Those in front may take their whole guards; whoever tires of the result ends it otherwise.
            Awaited::ByNoTick => (cpu * 100 + CORE_PATIENCE, BACKGROUND_PATIENCE),
        };
        Self { cpu, wall, patience: Patience::BeforeItsTime(patience) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // §11: the fixed caps, and the budgets that follow from a manifest's msPerCall.
    #[test]
    fn caps_and_budgets_are_those_of_the_specification() {
        assert_eq!((MAX_OUTPUT_BYTES, MAX_JS_OUTPUT_DEPTH, MATCH_DATA_MAX_BYTES), (1_048_576, 32, 131_072));
        assert_eq!((JS_STACK_BYTES, MAX_TABLE_ENTRIES), (262_144, 65_536));
        let limits = Limits {
            ms_per_call: 20,
            memory_bytes: 1 << 20,
            max_artifact_bytes: 1,
            max_intents_per_call: 1,
            max_log_lines: 0,
            max_log_line_bytes: 1,
            runtimes: vec![],
        };
        let ms = Duration::from_millis;
        let think = Budget::think(&limits, Awaited::ByATick);
        assert_eq!((think.cpu, think.wall), (ms(20), ms(180)));
        // A tick waits for nobody's policies longer than for a policy that hangs.
        assert_eq!(think.patience, Patience::WithinItsTime(ms(90)));
        let load = Budget::load(&limits, Awaited::ByATick);
        assert_eq!((load.cpu, load.wall), (ms(200), ms(900)));
        for background in
            [Budget::think(&limits, Awaited::ByNoTick), Budget::load(&limits, Awaited::ByNoTick)]
        {
            assert_eq!(background.patience, Patience::BeforeItsTime(ms(600_000)));
        }
        assert_eq!(Budget::load(&limits, Awaited::ByNoTick).cpu, ms(200));
        assert_eq!(WATCHDOG_GRACE, ms(50));
    }
}
