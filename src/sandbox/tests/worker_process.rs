//! What a script's worker process has given up, and what becomes of an instance whose worker dies.
//!
//! Its tests look at the children of this process, so they are one test.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test that cannot run fails")]

mod support;

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use playerthree_sandbox::{PolicyErrorCode, SPARE_WORKERS};
use support::{children, js, load, think};

// §11: no files, network, environment or host capability, in the process that runs the engine either.
#[test]
fn a_worker_reaches_nothing_and_its_death_is_one_failed_call() {
    let (policy, _) = load(js("function think() { return []; }"));
    // Spare workers may still be on their way into their confinement; what keeps them for long is a fault.
    let given_up = ["Max open files", "Max processes", "Max file size", "Max core file size"];
    let limits_of = |id: &u32| fs::read_to_string(format!("/proc/{id}/limits")).unwrap_or_default();
    let confined = |limits: &str| given_up.iter().all(|name| limit(limits, name) == "0");
    let deadline = Instant::now() + Duration::from_secs(30);
    let limits: Vec<String> = loop {
        let limits: Vec<String> = children().iter().map(limits_of).collect();
        if limits.len() == SPARE_WORKERS + 1 && limits.iter().all(|limits| confined(limits)) {
            break limits;
        }
        assert!(Instant::now() < deadline, "{limits:#?}");
        std::thread::yield_now();
    };
    let bounded = limits.iter().filter(|text| limit(text, "Max address space") != "unlimited").count();
    assert!(bounded >= 1, "the address space of a loaded policy is bounded");
    // Of the three only the one with a script has given up the kernel's other calls, in each of its threads.
    let filtered = children().into_iter().map(filtered_threads).filter(|(filtered, _)| *filtered > 0);
    let filtered: Vec<_> = filtered.collect();
    let [(filtered, threads)] = filtered[..] else { panic!("{filtered:?}") };
    assert!(filtered == threads && threads > 1, "an engine and its guard: {filtered} of {threads}");
    for id in children() {
        let environment = fs::read(format!("/proc/{id}/environ")).unwrap();
        assert_eq!(environment, b"PLAYERTHREE_SANDBOX_WORKER=1\0");
        assert_eq!(fs::read_link(format!("/proc/{id}/cwd")).unwrap().to_str(), Some("/"));
        for file in fs::read_dir(format!("/proc/{id}/fd")).unwrap().flatten() {
            let open = fs::read_link(file.path()).unwrap();
            let open = open.to_string_lossy();
            assert!(open.starts_with("socket:") || open == "/dev/null", "{open}");
        }
    }
    for id in children() {
        assert!(Command::new("kill").args(["-9", &id.to_string()]).status().unwrap().success());
    }
    // An engine that breaks is the policy's own failure, and a fresh instance works: dead spare workers are passed over.
    assert_eq!(think(&policy).result.unwrap_err().code, PolicyErrorCode::Threw);
    assert!(policy.is_dead());
    assert!(think(&load(js("function think() { return []; }")).0).result.is_ok());
}

/// How many threads of a process have a filter, and how many it has.
fn filtered_threads(id: u32) -> (usize, usize) {
    let threads: Vec<_> = fs::read_dir(format!("/proc/{id}/task")).unwrap().flatten().collect();
    let status = |thread: &fs::DirEntry| fs::read_to_string(thread.path().join("status")).unwrap();
    let filtered = threads.iter().filter(|thread| status(thread).contains("Seccomp:\t2")).count();
    (filtered, threads.len())
}

/// The soft value of one row of `/proc/<id>/limits`.
fn limit<'a>(text: &'a str, name: &str) -> &'a str {
    let row = text.lines().find(|line| line.starts_with(name)).unwrap_or_default();
    row[name.len().min(row.len())..].split_whitespace().next().unwrap_or_default()
}
