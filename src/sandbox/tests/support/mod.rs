//! What the tests share: limits, loading, and one table-shaped check.

#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(clippy::expect_used, reason = "a test that cannot run fails")]

use std::sync::{Arc, LazyLock};

use playerthree_sandbox::{
    Answer, Artifact, Instance, Limits, Loaded, PolicyErrorCode, Runtime, Setup, Thought, Workers,
};

/// Workers that are this test program: it is started with the name of the test below as its filter.
pub(crate) fn workers() -> &'static Workers {
    static WORKERS: LazyLock<Workers> = LazyLock::new(Workers::of_this_program);
    &WORKERS
}

#[test]
fn sandbox_worker() {
    playerthree_sandbox::serve_if_worker();
}

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

pub(crate) fn load_blocking(setup: Setup) -> (Instance, Answer<Loaded>) {
    Instance::load_blocking(workers(), setup)
}

/// Loads a policy that must load.
pub(crate) fn load(setup: Setup) -> (Instance, Answer<Loaded>) {
    let (instance, answer) = load_blocking(setup);
    assert!(answer.result.is_ok(), "{answer:?}");
    (instance, answer)
}

pub(crate) fn think(instance: &Instance) -> Answer<Thought> {
    instance.think_blocking(OBSERVATION.into()).expect("no other call runs")
}

/// Loads a policy and lets it think once: the intents as JSON text, or the code of the failed step.
pub(crate) fn run(setup: Setup) -> Result<String, PolicyErrorCode> {
    let (instance, loaded) = load_blocking(setup);
    loaded.result.map_err(|error| error.code)?;
    let thought = think(&instance).result.map_err(|error| error.code)?;
    Ok(serde_json::to_string(&thought.intents).expect("JSON values have a JSON form"))
}

/// Ids of the processes whose parent is this one.
pub(crate) fn children() -> Vec<u32> {
    let own = std::process::id().to_string();
    let parent =
        |stat: &str| stat.rsplit(')').next().and_then(|rest| rest.split(' ').nth(2).map(str::to_owned));
    let processes = std::fs::read_dir("/proc").expect("the kernel lists processes").flatten();
    processes
        .filter(|process| {
            let stat = std::fs::read_to_string(process.path().join("stat"));
            stat.is_ok_and(|stat| parent(&stat).as_ref() == Some(&own))
        })
        .filter_map(|process| process.file_name().to_str()?.parse().ok())
        .collect()
}
