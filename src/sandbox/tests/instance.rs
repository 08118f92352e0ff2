//! What the owner of an instance can rely on: one bounded answer for each call, and no effect on other instances.

#![allow(clippy::expect_used, reason = "a test that cannot run fails")]

mod support;

use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, mpsc};
use std::thread;

use playerthree_sandbox::{Answer, Busy, Instance, PolicyErrorCode, Setup, Thought};
use support::{OBSERVATION, js, load, load_blocking, think, wasm};

const JS_SPINNER: &str = "function think() { for (;;); }";
const WASM_SPINNER: &str = r#"(module (memory (export "memory") 1 1)
    (func (export "alloc") (param i32) (result i32) (i32.const 0))
    (func (export "think") (param i32 i32) (result i64) (loop $l (br $l)) unreachable))"#;
const WASM_HONEST: &str = r#"(module (memory (export "memory") 1 1) (data (i32.const 0) "[]")
    (func (export "alloc") (param i32) (result i32) (i32.const 100))
    (func (export "think") (param i32 i32) (result i64) (i64.const 2)))"#;

/// A policy that spins until it has used up 20 ms.
fn spinning(mut setup: Setup) -> Instance {
    setup.limits.ms_per_call = 20;
    load(setup).0
}

fn thinking(instance: &Instance) -> Receiver<Answer<Thought>> {
    let (send, receive) = channel();
    instance
        .think(OBSERVATION.into(), move |answer| {
            let _ = send.send(answer);
        })
        .expect("no other call runs");
    receive
}

// Field report U109: deadlines are each instance's own; one policy's timeout touches no other.
#[test]
fn a_timeout_touches_no_other_instance() {
    for (spinner, honest) in
        [(wasm(WASM_SPINNER), wasm(WASM_HONEST)), (js(JS_SPINNER), js("function think() { return []; }"))]
    {
        let others: Vec<_> = (0..20).map(|_| load(honest.clone()).0).collect();
        let spinner = spinning(spinner);
        let spun = thinking(&spinner);
        let answer = loop {
            for other in &others {
                assert!(think(other).result.is_ok());
            }
            match spun.try_recv() {
                Ok(answer) => break answer,
                Err(mpsc::TryRecvError::Empty) => {}
                Err(mpsc::TryRecvError::Disconnected) => panic!("the call was never answered"),
            }
        };
        assert_eq!(answer.result.unwrap_err().code, PolicyErrorCode::Timeout);
        assert!(spinner.is_dead() && others.iter().all(|other| !other.is_dead()));
    }
}

// §11: one call at a time; a call during another changes nothing.
#[test]
fn a_call_during_a_call_is_refused() {
    let spinner = spinning(js(JS_SPINNER));
    let spun = thinking(&spinner);
    assert_eq!(spinner.think(OBSERVATION.into(), |_| panic!("answered")), Err(Busy));
    assert_eq!(spun.recv().unwrap().result.unwrap_err().code, PolicyErrorCode::Timeout);
    assert!(spun.recv().is_err(), "the callback is gone after one answer");
}

// A call that runs when its instance is dropped is answered, and the thread ends.
#[test]
fn dropping_an_instance_answers_its_call_and_ends_its_thread() {
    for mut setup in [js(JS_SPINNER), wasm(WASM_SPINNER)] {
        // Only the drop can stop these in time for the test.
        setup.limits.ms_per_call = 1000 * 3600;
        let artifact = Arc::clone(&setup.artifact);
        let (spinner, _) = load(setup);
        let spun = thinking(&spinner);
        drop(spinner);
        assert_eq!(spun.recv().unwrap().result.unwrap_err().code, PolicyErrorCode::Timeout);
        while Arc::strong_count(&artifact) > 1 {
            thread::yield_now();
        }
    }
}

// The answer of a failed load is the only one, and the instance stays dead with that code.
#[test]
fn a_failed_load_leaves_a_dead_instance() {
    let (instance, answer) = load_blocking(js("throw 1;"));
    assert_eq!(answer.result.unwrap_err().code, PolicyErrorCode::Threw);
    assert!(instance.is_dead());
    assert_eq!(think(&instance).result.unwrap_err().code, PolicyErrorCode::Threw);
}

// A callback that panics ends its own instance and nothing else.
#[test]
fn a_panicking_callback_ends_only_its_instance() {
    let (instance, _) = load(js("function think() { return []; }"));
    instance
        .think(OBSERVATION.into(), |_| panic!("the owner's callback panics, as this test wants"))
        .unwrap();
    while !instance.is_dead() {
        thread::yield_now();
    }
    assert_eq!(think(&instance).result.unwrap_err().code, PolicyErrorCode::Timeout);
    assert!(think(&load(js("function think() { return []; }")).0).result.is_ok());
}

// §11: instances of one artifact, whether its module is compiled already or not, behave the same.
#[test]
fn a_shared_artifact_loads_again() {
    let setup: Setup = wasm(WASM_HONEST);
    for _ in 0..3 {
        assert_eq!(think(&load(setup.clone()).0).result.unwrap().intents.len(), 0);
    }
}
