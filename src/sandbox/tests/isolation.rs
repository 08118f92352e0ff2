//! What a policy can reach, to the last name, and what its neighbours can tell it: nothing (§11).

#![allow(clippy::expect_used, reason = "a test that cannot run fails")]

mod support;

use playerthree_sandbox::{Instance, Setup};
use serde_json::Value;
use support::{js, load, run, think, wasm};

/// Every global name, in order. A name that a newer engine brings has to be looked at before it is added here: it must
/// reach no file, network, clock, entropy, host object or other instance.
const GLOBALS: &str = "AggregateError Array ArrayBuffer AsyncDisposableStack BigInt BigInt64Array BigUint64Array Boolean \
    DataView Date DisposableStack Error EvalError Float16Array Float32Array Float64Array Function Infinity Int16Array Int32Array \
    Int8Array InternalError Iterator JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect \
    RegExp Set String SuppressedError Symbol SyntaxError TypeError URIError Uint16Array Uint32Array Uint8Array \
    Uint8ClampedArray WeakMap WeakSet decodeURI decodeURIComponent encodeURI encodeURIComponent escape eval globalThis \
    isFinite isNaN log parseFloat parseInt queueMicrotask think undefined unescape";

// §11: no files, network, environment, timers or host capability: a script has the language and `log`.
#[test]
fn a_script_reaches_the_language_and_its_log_alone() {
    let names = "function think() { return Object.getOwnPropertyNames(globalThis).sort(); }";
    let found: Vec<String> =
        serde_json::from_str(&run(js_with_many_intents(names)).expect("the policy thinks")).expect("names");
    assert_eq!(found.join(" "), GLOBALS);
}

// §11: nor is anything else behind those names: what sounds like a host's is the language's own.
#[test]
fn nothing_behind_the_globals_is_the_hosts() {
    let walk = r"
        const host = /file|open|read|write|exec|process|env|net|sock|fetch|clock|perf|random|entropy|host|module|worker|atomics|shared|agent|rust|wasm/i;
        function think() {
            const seen = new Set(), odd = new Set(), queue = [globalThis];
            for (const object of queue) {
                for (const key of Reflect.ownKeys(object)) {
                    if (host.test(String(key))) odd.add(String(key));
                    const { value, get, set } = Reflect.getOwnPropertyDescriptor(object, key);
                    for (const next of [value, get, set, Reflect.getPrototypeOf(object)]) {
                        if (Object(next) === next && !seen.has(next)) { seen.add(next); queue.push(next); }
                    }
                }
            }
            return [[...odd].sort(), seen.size > 500];
        }";
    // A pattern's method, the fixed name that every script has, a symbol, and the seeded generator.
    let own = r#"[["exec","fileName","isConcatSpreadable","random"],true]"#;
    assert_eq!(run(js(walk)).as_deref(), Ok(own));
}

fn js_with_many_intents(source: &str) -> Setup {
    let mut policy = js(source);
    policy.limits.max_intents_per_call = 1000;
    policy
}

/// Tells everything that it can find out about where it runs.
const SPY: &str = r"
    let calls = 0;
    const made = [];
    function depth() { let n = 0; try { (function f() { n++; f(); })(); } catch {} return n; }
    function regex() { let n = 1; try { for (;; n *= 2) /(?:(a)|b)*$/.test('ab'.repeat(n)); } catch (e) { return [n, e.name]; } }
    function think(obs) {
        made.push(new Array(100).fill(calls));
        const map = new Map([[{}, 1], [Symbol(), 2], ['x', 3]]);
        return [
            ++calls, depth(), Math.random(), Date.now(), String(new Date()), new Date(0).getTimezoneOffset(),
            [...map.values()], [3, 1, 2].sort(), Object.getOwnPropertyNames(globalThis).length,
            typeof Object.prototype.left, typeof globalThis.left, new Error('e').stack, made.length,
            (0.1).toLocaleString(), 'ä'.localeCompare('b'), Object.keys({ 2: 0, b: 0, a: 0, 1: 0 }),
        ].map(String);
    }";

/// Does to its own engine whatever another one might notice.
const VANDAL: &str = r"
    const hoard = [];
    Object.prototype.left = globalThis.left = 'a message';
    Math.random = () => 4;
    Array.prototype.sort = () => [];
    function think() {
        for (let i = 0; i < 1e4; i++) hoard.push({ i }, Math.random(), Symbol(i));
        (function f() { try { f(); } catch {} })();
        return [1];
    }";

/// A module that tells what its memory, table and globals held before it wrote to them, and how deep its stack goes.
const WASM_SPY: &str = r#"(module
    (memory (export "memory") 4 8) (table $t 16 64 funcref) (global $depth (mut i32) (i32.const 0))
    (func $dive (global.set $depth (i32.add (global.get $depth) (i32.const 1))) (call $dive))
    (func $digit (param $at i32) (param $n i32)
        (loop $l
            (i32.store8 (local.get $at) (i32.add (i32.const 48) (i32.rem_u (local.get $n) (i32.const 10))))
            (local.set $n (i32.div_u (local.get $n) (i32.const 10)))
            (local.set $at (i32.sub (local.get $at) (i32.const 1)))
            (br_if $l (local.get $n))))
    (func (export "alloc") (param i32) (result i32) (i32.const 131072))
    (func (export "think") (param i32 i32) (result i64) (local $i i32) (local $sum i32)
        (if (i32.eqz (global.get $depth)) (then (call $dive)))
        (loop $l
            (local.set $sum (i32.add (local.get $sum) (i32.load8_u (local.get $i))))
            (local.set $i (i32.add (local.get $i) (i32.const 1)))
            (br_if $l (i32.lt_u (local.get $i) (i32.const 131072))))
        (local.set $i (i32.const 0))
        (loop $l
            (if (i32.eqz (ref.is_null (table.get $t (local.get $i)))) (then (local.set $sum (i32.add (local.get $sum) (i32.const 1)))))
            (local.set $i (i32.add (local.get $i) (i32.const 1)))
            (br_if $l (i32.lt_u (local.get $i) (i32.const 16))))
        (memory.fill (i32.const 0) (i32.const 32) (i32.const 64))
        (i32.store8 (i32.const 0) (i32.const 91))
        (call $digit (i32.const 12) (local.get $sum))
        (i32.store8 (i32.const 13) (i32.const 44))
        (call $digit (i32.const 30) (global.get $depth))
        (i32.store8 (i32.const 31) (i32.const 44))
        (call $digit (i32.const 40) (memory.grow (i32.const 1)))
        (i32.store8 (i32.const 41) (i32.const 93))
        (i64.const 42)))"#;

/// Writes all over its memory and table, and grows them.
const WASM_VANDAL: &str = r#"(module
    (memory (export "memory") 4 8) (table $t 16 64 funcref) (data (i32.const 0) "[]") (elem declare func $f)
    (func $f)
    (func (export "alloc") (param i32) (result i32) (i32.const 131072))
    (func (export "think") (param i32 i32) (result i64)
        (memory.fill (i32.const 64) (i32.const 255) (i32.const 262080))
        (table.fill $t (i32.const 0) (ref.func $f) (i32.const 16))
        (drop (table.grow $t (ref.func $f) (i32.const 16)))
        (drop (memory.grow (i32.const 1)))
        (i64.const 2)))"#;

/// What a policy says over some calls, with something done before it is loaded and before each of them.
fn transcript(policy: &Setup, mut meanwhile: impl FnMut()) -> Vec<Result<Vec<Value>, &'static str>> {
    meanwhile();
    let (instance, _) = load(policy.clone());
    let mut answer = || {
        meanwhile();
        think(&instance).result.map(|thought| thought.intents).map_err(|error| error.code.as_str())
    };
    (0..4).map(|_| answer()).collect()
}

// §11, issue "Policies": two instances, of one artifact or of two, cannot signal each other.
#[test]
fn a_neighbour_changes_nothing_that_a_policy_can_find_out() {
    for (spy, vandal) in [(js_with_many_intents(SPY), js(VANDAL)), (wasm(WASM_SPY), wasm(WASM_VANDAL))] {
        let alone = transcript(&spy, || ());
        assert!(alone.iter().any(Result::is_ok), "{alone:?}");
        let (twin, _) = load(spy.clone());
        let mut vandals: Vec<Instance> = Vec::new();
        let beside = transcript(&spy, || {
            vandals.push(load(vandal.clone()).0);
            vandals.iter().for_each(|vandal| _ = think(vandal));
            think(&twin);
            // Where a vandal was, the next instance may be.
            vandals.truncate(2);
        });
        assert_eq!(alone, beside);
    }
}
