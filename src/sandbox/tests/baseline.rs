//! What hostile policies leave behind: nothing (§11). Its test counts what this process holds, so it is alone here.

#![allow(clippy::expect_used, reason = "a test that cannot run fails")]

mod support;

use std::fs;
use std::time::{Duration, Instant};

use playerthree_sandbox::{SPARE_WORKERS, Setup};
use support::{children, js, load_blocking, think, wasm};

const MIB: u64 = 1 << 20;

/// More than an allocator keeps for itself, less than one policy of [`corpus`] would leave.
const SLACK: u64 = 12 * MIB;

/// Each fills 32 MiB, and ends in its own way.
fn corpus() -> Vec<Setup> {
    let script = |end: &str| {
        let mut policy = js(&format!(
            "const a = new Uint8Array(24e6).fill(1); function think() {{ {end}; return [a.length]; }}"
        ));
        (policy.limits.ms_per_call, policy.limits.memory_bytes) = (100, 32 << 20);
        policy
    };
    let module = |end: &str| {
        let mut policy = wasm(&format!(
            r#"(module (memory (export "memory") 512 1024) (data (i32.const 0) "[]")
                (func (export "alloc") (param i32) (result i32) (i32.const 1024))
                (func (export "think") (param i32 i32) (result i64)
                    (memory.fill (i32.const 16) (i32.const 1) (i32.const 33554416)) {end} (i64.const 2)))"#
        ));
        (policy.limits.ms_per_call, policy.limits.memory_bytes) = (100, 32 << 20);
        policy
    };
    vec![
        script(""),
        script("for (;;)"),
        script("Array(4e9).join('')"),
        script("throw new Error('no')"),
        script("(function f() { f(); })()"),
        script("new Uint8Array(24e6)"),
        script("Promise.resolve().then(function f() { Promise.resolve().then(f); })"),
        module(""),
        module("(loop $l (br $l))"),
        module("unreachable"),
        module("(if (i32.eq (memory.grow (i32.const 1)) (i32.const -1)) (then unreachable))"),
    ]
}

/// What the process holds, but for memory: threads, open files, child processes.
fn held() -> [usize; 3] {
    let count = |directory: &str| fs::read_dir(directory).expect("the kernel tells").count();
    [count("/proc/self/task"), count("/proc/self/fd"), children().len()]
}

/// Bytes of memory of this process and its children that nobody else has.
fn memory() -> u64 {
    let own = std::process::id();
    let anonymous = |id: u32| {
        let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        let row = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        row.and_then(|row| row.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) * 1024
    };
    children().into_iter().chain([own]).map(anonymous).sum()
}

fn play(policies: &[Setup]) {
    let instances: Vec<_> = policies.iter().map(|policy| load_blocking(policy.clone()).0).collect();
    for instance in &instances {
        // Whatever the answer is.
        think(instance);
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

// Issue "Policies": after hostile policies memory is back at the baseline, and so is everything else.
#[test]
fn hostile_policies_leave_nothing_behind() {
    let policies = corpus();
    // The engine, the spare workers and the allocator's own reserves come with the first of them.
    play(&policies);
    play(&policies);
    until("the spare workers are back", || children().len() == SPARE_WORKERS);
    let (before, held_before) = (memory(), held());
    for _ in 0..4 {
        play(&policies);
    }
    // Something of the first rounds may have gone only after it was counted.
    until("threads, files or processes are left", || {
        held().iter().zip(held_before).all(|(now, before)| *now <= before)
    });
    until("memory is left", || memory() <= before + SLACK);
}
