//! The shared engine and the one thread that advances its epoch while any WebAssembly policy runs.
//!
//! An epoch stops nobody by itself: each store then looks at its own budget, so one policy's timeout touches
//! no other.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, OnceLock};
use std::thread;
use std::time::Duration;

use wasmtime::{Config, Engine, OptLevel};

/// How often running policies look at their budgets.
const TICK: Duration = Duration::from_millis(1);

/// How many ticks without a running policy pass before the ticker sleeps until the next call.
const IDLE_TICKS: u32 = 16;

/// Bytes of stack that compiled code may use.
const WASM_STACK_BYTES: usize = 512 * 1024;

/// Running calls.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

static TICKER: OnceLock<thread::Thread> = OnceLock::new();

/// The engine of every WebAssembly policy in the process.
pub(super) fn engine() -> &'static Engine {
    #[expect(clippy::expect_used, reason = "the settings are constants that every test loads")]
    static ENGINE: LazyLock<Engine> =
        LazyLock::new(|| Engine::new(&config()).expect("the engine's settings are valid"));
    &ENGINE
}

fn config() -> Config {
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        .max_wasm_stack(WASM_STACK_BYTES)
        .cranelift_opt_level(OptLevel::Speed)
        .cranelift_nan_canonicalization(true)
        .wasm_relaxed_simd(false)
        .wasm_multi_memory(false)
        .wasm_memory64(false);
    config
}

/// Starts the thread, with the priority of the caller, unless it runs.
pub(crate) fn start() {
    TICKER.get_or_init(start_ticker);
}

/// The epoch advances at least until this is dropped.
#[must_use]
pub(super) struct Ticking(());

/// Keeps the epoch advancing while a call runs.
pub(super) fn ticking() -> Ticking {
    RUNNING.fetch_add(1, Ordering::SeqCst);
    TICKER.get_or_init(start_ticker).unpark();
    Ticking(())
}

impl Drop for Ticking {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::SeqCst);
    }
}

fn start_ticker() -> thread::Thread {
    #[expect(clippy::expect_used, reason = "a process that cannot start its one ticker cannot run policies")]
    let handle =
        thread::Builder::new().name("policy-epoch".to_owned()).spawn(tick).expect("the epoch ticker starts");
    handle.thread().clone()
}

/// Terminates never: the thread sleeps when no policy runs.
fn tick() {
    let mut idle = 0;
    loop {
        if RUNNING.load(Ordering::SeqCst) > 0 {
            idle = 0;
            engine().increment_epoch();
        } else {
            idle += 1;
        }
        if idle < IDLE_TICKS {
            thread::sleep(TICK);
        } else {
            // A call that starts between the check and this line has left its wake-up for park to take.
            thread::park();
        }
    }
}
