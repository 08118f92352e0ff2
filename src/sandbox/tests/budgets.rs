//! How much a call may use, and who ends one whose own process does nothing any more (§11).
//!
//! The tests stop the children of this process, so they take turns.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test that cannot run fails")]

mod support;

use std::fs;
use std::process::Command;
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use playerthree_sandbox::{AnsweredBy, Instance, PolicyErrorCode, SPARE_WORKERS};
use support::{children, js, load, load_blocking, think, wasm, workers};

static TURN: Mutex<()> = Mutex::new(());

const MODULE: &str = r#"(module (memory (export "memory") 1 1) (data (i32.const 0) "[]")
    (func (export "alloc") (param i32) (result i32) (i32.const 100))
    (func (export "think") (param i32 i32) (result i64) (i64.const 2)))"#;

/// Burns as much CPU time as its argument says, in rounds.
const BURN: &str = "function burn(n) { let x = 0; for (let i = 0; i < n * 1e4; i++) x += i; return x; }";

/// A child that ended meanwhile gets none.
fn signal_children(signal: &str) {
    for id in children() {
        Command::new("kill").args([signal, &id.to_string()]).status().unwrap();
    }
}

/// Waits for something that comes by itself; only a fault keeps it for so long.
fn until(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !done() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::yield_now();
    }
}

/// CPU time of a process's own code, in the kernel's ticks of 10 ms.
fn ticks_of(id: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    after_name.split_whitespace().nth(11).and_then(|ticks| ticks.parse().ok()).unwrap_or(0)
}

// §11: a call that its own process leaves without an answer fails `timeout` at the watchdog's hands, and the process,
// whatever keeps it, is gone. A neighbour in this process thinks on.
#[test]
fn a_worker_that_stands_still_is_answered_for_and_ended() {
    let _turn = TURN.lock();
    let (neighbour, _) = load(wasm(MODULE));
    let mut still = js("function think() { return []; }");
    still.limits.ms_per_call = 20;
    let (still, _) = load(still);
    until("the spare workers are there", || children().len() == SPARE_WORKERS + 1);
    signal_children("-STOP");
    let answer = think(&still);
    assert_eq!(answer.result.unwrap_err().code, PolicyErrorCode::Timeout);
    assert!(answer.by == AnsweredBy::Sandbox && still.is_dead());
    assert!(think(&neighbour).result.is_ok());
    until("its process is gone", || children().len() == SPARE_WORKERS);
    signal_children("-KILL");
    assert!(think(&load(js("function think() { return []; }")).0).result.is_ok());
}

#[test]
fn a_load_that_stands_still_is_answered_for_and_ended() {
    let _turn = TURN.lock();
    let mut still = js("for (;;);");
    still.limits.ms_per_call = 100;
    let (send, answered) = channel();
    let instance = Instance::load(workers(), still, move |answer| _ = send.send(answer));
    until("it is loading", || children().into_iter().any(|id| ticks_of(id) > 5));
    signal_children("-STOP");
    let answer = answered.recv().unwrap();
    assert_eq!(answer.result.unwrap_err().code, PolicyErrorCode::Timeout);
    assert!(answer.by == AnsweredBy::Sandbox && instance.is_dead());
    signal_children("-KILL");
    assert!(think(&load(js("function think() { return []; }")).0).result.is_ok());
}

// §11: the load budget is ten times that of a call, and top-level code and `init` share it.
#[test]
fn loading_may_use_what_a_call_may_not() {
    const MS: u32 = 40;
    let _turn = TURN.lock();
    // How many rounds take about three and a half calls' budget here and now.
    let (probe, _) = load(js(&format!("{BURN} function think() {{ burn(20); return []; }}")));
    let cpu = think(&probe).cpu.as_secs_f64();
    let rounds = 20.0 * 3.5 * f64::from(MS) / 1000.0 / cpu;
    let run = |source: String| {
        let mut policy = js(&format!("{BURN} {source}"));
        policy.limits.ms_per_call = MS;
        let (policy, loaded) = load_blocking(policy);
        let code = loaded.result.map_err(|error| error.code).err();
        code.map_or_else(|| think(&policy).result.map(|_| ()).map_err(|error| error.code), Err)
    };
    let timeout = Err(PolicyErrorCode::Timeout);
    assert_eq!(
        run(format!("function init() {{ burn({rounds}); }} function think() {{ return []; }}")),
        Ok(())
    );
    assert_eq!(run(format!("function think() {{ burn({rounds}); return []; }}")), timeout);
    assert_eq!(run(format!("function think() {{ burn({}); return []; }}", rounds / 10.0)), Ok(()));
    let shared = format!(
        "burn({0}); function init() {{ burn({0}); }} function think() {{ return []; }}",
        rounds * 2.5
    );
    assert_eq!(run(shared), timeout);
}
