//! What the tests share: limits, loading, and one table-shaped check.

#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(clippy::expect_used, reason = "a test that cannot run fails")]

use std::sync::Arc;

use playerthree_sandbox::{
    Answer, Artifact, Instance, Limits, Loaded, PolicyErrorCode, Runtime, Setup, Thought,
};

pub(crate) const OBSERVATION: &str = r#"{"tick":1,"units":[{"id":"u1","x":3,"y":4}]}"#;

/// Limits that honest policies never reach, even in an unoptimized build on a busy machine.
pub(crate) fn limits() -> Limits {
    Limits {
        ms_per_call: 1000,
        memory_bytes: 16 << 20,
        max_artifact_bytes: 200_000,
        max_intents_per_call: 8,
        max_log_lines: 3,
        max_log_line_bytes: 20,
        runtimes: vec![Runtime::Js, Runtime::Wasm],
    }
}

pub(crate) fn setup(runtime: Runtime, code: &[u8], limits: Limits) -> Setup {
    let artifact = Arc::new(Artifact::from_stored(runtime, code.to_vec()));
    Setup { artifact, limits, match_data: "null".into(), seed: 7 }
}

pub(crate) fn js(source: &str) -> Setup {
    setup(Runtime::Js, source.as_bytes(), limits())
}

pub(crate) fn wasm(text: &str) -> Setup {
    setup(Runtime::Wasm, &wat::parse_str(text).expect("the test's module parses"), limits())
}

/// Loads a policy that must load.
pub(crate) fn load(setup: Setup) -> (Instance, Answer<Loaded>) {
    let (instance, answer) = Instance::load_blocking(setup);
    assert!(answer.result.is_ok(), "{answer:?}");
    (instance, answer)
}

pub(crate) fn think(instance: &Instance) -> Answer<Thought> {
    instance.think_blocking(OBSERVATION.into()).expect("no other call runs")
}

/// Loads a policy and lets it think once: the intents as JSON text, or the code of the failed step.
pub(crate) fn run(setup: Setup) -> Result<String, PolicyErrorCode> {
    let (instance, loaded) = Instance::load_blocking(setup);
    loaded.result.map_err(|error| error.code)?;
    let thought = think(&instance).result.map_err(|error| error.code)?;
    Ok(serde_json::to_string(&thought.intents).expect("JSON values have a JSON form"))
}
