//! What an honest WebAssembly policy can rely on (§11).

mod support;

use playerthree_sandbox::{Detail, PolicyErrorCode};
use support::{load, load_blocking, run, think, wasm};

/// A policy whose parts can be replaced one by one.
const POLICY: &str = r#"(module
    (import "env" "log" (func $log (param i32 i32)))
    (memory (export "memory") 1 4)
    (global $n (mut i32) (i32.const 48))
    (data (i32.const 0) "[\"0\"]")
    (func (export "alloc") (param i32) (result i32) (i32.const 1024))
    (func (export "think") (param i32 i32) (result i64)
        (call $log (local.get 0) (local.get 1))
        (global.set $n (i32.add (global.get $n) (i32.const 1)))
        (i32.store8 (i32.const 2) (global.get $n))
        (i64.const 5)))"#;

// §11: the observation comes as UTF-8 JSON bytes in a region from alloc; the output is a packed region.
#[test]
fn think_gets_the_observation_and_returns_intents() {
    let (policy, _) = load(wasm(POLICY));
    for n in ["1", "2"] {
        let answer = think(&policy);
        assert_eq!(answer.logs, [r#"{"tick":1,"units":[{""#[..20].to_owned()]);
        assert_eq!(answer.result.unwrap().intents, [n]);
    }
}

// §11: instances of one artifact share its compiled code and nothing else.
#[test]
fn state_lives_in_one_instance() {
    let policy = wasm(POLICY);
    let (first, _) = load(policy.clone());
    let (second, _) = load(policy);
    assert_eq!(think(&first).result.unwrap().intents, ["1"]);
    assert_eq!(think(&second).result.unwrap().intents, ["1"]);
}

// §10: init(ptr, len) gets the match data before any think; null without.
#[test]
fn init_gets_the_match_data() {
    let echo = r#"(module
        (memory (export "memory") 1 1)
        (global $at (mut i64) (i64.const 0))
        (global $next (mut i32) (i32.const 1024))
        (func (export "alloc") (param i32) (result i32)
            (global.get $next)
            (global.set $next (i32.add (global.get $next) (local.get 0))))
        (func (export "init") (param i32 i32)
            (global.set $at (i64.or (i64.shl (i64.extend_i32_u (local.get 0)) (i64.const 32))
                                    (i64.extend_i32_u (local.get 1)))))
        (func (export "think") (param i32 i32) (result i64) (global.get $at)))"#;
    let mut policy = wasm(echo);
    policy.match_data = r#"["map",{"é":1}]"#.into();
    assert_eq!(run(policy).as_deref(), Ok(r#"["map",{"é":1}]"#));
    assert_eq!(run(wasm(echo)), Err(PolicyErrorCode::BadOutput));
}

// §11: the custom section playerthree.detail is read before instantiation.
#[test]
fn detail_is_declared_by_a_custom_section() {
    let declared = |sections: &str| {
        let text = POLICY.replace("(module", &format!("(module {sections}"));
        let (_, answer) = load_blocking(wasm(&text));
        answer.result.map(|loaded| loaded.detail).map_err(|error| error.code)
    };
    assert_eq!(declared(""), Ok(Detail::Undeclared));
    assert_eq!(declared(r#"(@custom "playerthree.detail" "\"all\"")"#), Ok(Detail::All));
    assert_eq!(
        declared(r#"(@custom "playerthree.detail" "[\"a\"]") (@custom "other" "\ff")"#),
        Ok(Detail::Sections(vec!["a".into()]))
    );
    let bad = Err(PolicyErrorCode::BadOutput);
    assert_eq!(declared(r#"(@custom "playerthree.detail" "all")"#), bad);
    assert_eq!(declared(r#"(@custom "playerthree.detail" "\ff")"#), bad);
    assert_eq!(declared(r#"(@custom "playerthree.detail" "[\"a\",\"a\"]")"#), bad);
    assert_eq!(
        declared(r#"(@custom "playerthree.detail" "\"all\"") (@custom "playerthree.detail" "\"all\"")"#),
        bad
    );
    let long = format!(r#"(@custom "playerthree.detail" "[\"{}\"]")"#, "x".repeat(100_000));
    assert_eq!(declared(&long), bad);
}
