//! Random mutations of valid artifacts: each ends in a value or in a code, and none breaks an engine.
//!
//! `MUTATIONS` is how many of each kind there are, and `SEED`, which every run prints, repeats one.

#![allow(clippy::expect_used, reason = "a test that cannot run fails")]

mod support;

use std::env;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::Write as _;
use std::time::Instant;

use playerthree_sandbox::{Answer, AnsweredBy, Limits, PolicyErrorCode, Runtime};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use support::{OBSERVATION, limits, load_blocking, setup};

const SOURCE: &str = r#"
    const detail = ["near", "far"];
    let memory = new Map();
    function init(data) { memory.set("data", data); }
    class Unit { #x = 0; constructor(u) { this.#x = u.x; } get x() { return this.#x; } static of(u) { return new Unit(u); } }
    function* pairs(units) { for (const [i, unit] of units.entries()) yield [i, Unit.of(unit)]; }
    function think(obs) {
        const { tick, units = [], ...rest } = obs;
        log(`tick ${tick}`, Object.keys(rest));
        return [...pairs(units)].map(([i, u]) => ({
            kind: /^u(\d+)$/.test(units[i].id) ? "go" : "stay", x: u.x ** 2, r: Math.random() }));
    }
"#;

const MODULE: &str = r#"(module
    (@custom "playerthree.detail" "[\"near\"]")
    (import "env" "log" (func $log (param i32 i32)))
    (type $t (func (param i32) (result i32)))
    (table 2 8 funcref)
    (memory (export "memory") 1 4)
    (global $n (mut i32) (i32.const 0))
    (elem (i32.const 0) $inc $inc)
    (data (i32.const 0) "[{\"kind\":\"go\"}]")
    (func $inc (type $t) (i32.add (local.get 0) (i32.const 1)))
    (func (export "alloc") (param i32) (result i32)
        (if (i32.gt_u (local.get 0) (i32.const 60000)) (then (drop (memory.grow (i32.const 1)))))
        (i32.const 1024))
    (func (export "init") (param i32 i32) (global.set $n (local.get 1)))
    (func (export "think") (param i32 i32) (result i64) (local $i i32)
        (call $log (local.get 0) (local.get 1))
        (loop $l
            (local.set $i (call_indirect (type $t) (local.get $i) (i32.const 1)))
            (br_if $l (i32.lt_u (local.get $i) (local.get 1))))
        (i64.const 15)))"#;

/// One change of a byte string; positions wrap around its length.
#[derive(Debug, Clone)]
enum Mutation {
    Replace(usize, u8),
    Insert(usize, u8),
    Remove(usize, usize),
    Copy(usize, usize, usize),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    prop_oneof![
        4 => (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| Mutation::Replace(at, byte)),
        1 => (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| Mutation::Insert(at, byte)),
        1 => (any::<usize>(), 1..8usize).prop_map(|(at, length)| Mutation::Remove(at, length)),
        1 => (any::<usize>(), any::<usize>(), 1..16usize).prop_map(|(from, to, length)| Mutation::Copy(from, to, length)),
    ]
}

fn mutate(bytes: &mut Vec<u8>, mutation: &Mutation) {
    let wrap = |at: usize| at % bytes.len().max(1);
    match *mutation {
        Mutation::Replace(at, byte) => {
            let at = wrap(at);
            bytes.splice(at..(at + 1).min(bytes.len()), [byte]);
        }
        Mutation::Insert(at, byte) => bytes.insert(wrap(at), byte),
        Mutation::Remove(at, length) => {
            let at = wrap(at);
            bytes.drain(at..(at + length).min(bytes.len()));
        }
        Mutation::Copy(from, to, length) => {
            let (from, to) = (wrap(from), wrap(to));
            let piece = bytes[from..(from + length).min(bytes.len())].to_vec();
            bytes.splice(to..to, piece);
        }
    }
}

/// Every call of a mutated policy is answered; what the answer is does not matter, as long as the engine gave it.
fn survives(runtime: Runtime, code: &[u8], mutations: &[Mutation]) {
    let mut code = code.to_vec();
    mutations.iter().for_each(|mutation| mutate(&mut code, mutation));
    let limits = Limits { ms_per_call: 5, memory_bytes: 2 << 20, ..limits() };
    let (instance, loaded) = load_blocking(setup(runtime, &code, limits));
    unbroken(&loaded);
    for _ in 0..if loaded.result.is_ok() { 2 } else { 0 } {
        unbroken(&instance.think_blocking(OBSERVATION.into()).expect("no other call runs"));
    }
}

/// An engine that broke answers for itself no more, and is said to have thrown.
fn unbroken<T: std::fmt::Debug>(answer: &Answer<T>) {
    let threw = answer.result.as_ref().is_err_and(|error| error.code == PolicyErrorCode::Threw);
    assert!(!threw || answer.by == AnsweredBy::Engine, "the engine broke: {answer:?}");
}

/// As many as the issue "Policies" asks for in the build that ships.
fn count() -> u32 {
    let given = env::var("MUTATIONS").ok().map(|count| count.parse().expect("MUTATIONS is a number"));
    given.unwrap_or(if cfg!(debug_assertions) { 300 } else { 10_000 })
}

fn seed() -> u64 {
    let given = env::var("SEED").ok().map(|seed| seed.parse().expect("SEED is a number"));
    given.unwrap_or_else(|| RandomState::new().build_hasher().finish())
}

fn survive_all(runtime: Runtime, code: &[u8]) {
    let (count, seed, started) = (count(), seed(), Instant::now());
    // Not through the test's own output, which is lost with a process that crashes.
    let mut stderr = std::io::stderr();
    let name = runtime.as_str();
    writeln!(stderr, "{name}: MUTATIONS={count} SEED={seed}").expect("the seed is printed");
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config { cases: count, failure_persistence: None, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let survived = TestRunner::new_with_rng(config, rng).run(&vec(mutation(), 1..6), |mutations| {
        survives(runtime, code, &mutations);
        Ok(())
    });
    survived.unwrap_or_else(|failure| panic!("SEED={seed}: {failure}"));
    writeln!(stderr, "{name}: {count} mutations in {:.1?}", started.elapsed()).expect("the time is printed");
}

// Issue "Policies": random mutations of valid artifacts crash nothing.
#[test]
fn mutated_scripts_crash_nothing() {
    survive_all(Runtime::Js, SOURCE.as_bytes());
}

#[test]
fn mutated_modules_crash_nothing() {
    survive_all(Runtime::Wasm, &wat::parse_str(MODULE).expect("the test's module parses"));
}
