//! Ticks of practice a second (§13): a match of four sides, all bots but the tested policy, on one thread.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot run has to stop")]

use criterion::{Criterion, Throughput, criterion_group};
use playerthree_agent_command::AgentCommand;
use playerthree_game::{Runtime, Seat};
use playerthree_host::{Ended, Trial};
use playerthree_sandbox::Workers;
use playerthree_session::{Artifact, Surface};
use std::sync::Arc;

const TICKS: u64 = 600;

/// The policy that the game's own skill teaches.
const GROUND: &str = include_str!("../../../examples/agent-command/src/knowledge/policies/ground.js");

const IDLE_JS: &str = "function think() { return []; }";
const IDLE_WASM: &str = r#"(module (memory (export "memory") 8 8) (data (i32.const 0) "[]")
    (func (export "alloc") (param i32) (result i32) (i32.const 65536))
    (func (export "think") (param i32 i32) (result i64) (i64.const 2)))"#;

fn trial(runtime: Runtime, code: &[u8]) -> Trial {
    let surface = Arc::new(Surface::new(Arc::new(AgentCommand)).unwrap());
    let tier = surface.manifest.opponents.first().unwrap().clone();
    Trial {
        teams: None,
        alliances: None,
        seat: Seat::new("red", "ground"),
        artifact: Artifact { runtime, code: code.into() },
        version: 0,
        allies: tier.clone(),
        opponent: tier,
        ticks: TICKS,
        seed: 5,
        options: None,
        surface,
    }
}

fn practice(c: &mut Criterion) {
    let workers = Workers::of_this_program();
    let wasm = wat::parse_str(IDLE_WASM).unwrap();
    let mut group = c.benchmark_group("practice");
    group.sample_size(10).throughput(Throughput::Elements(TICKS));
    for (name, trial) in [
        ("js", trial(Runtime::Js, GROUND.as_bytes())),
        ("js/idle", trial(Runtime::Js, IDLE_JS.as_bytes())),
        ("wasm/idle", trial(Runtime::Wasm, &wasm)),
    ] {
        group.bench_function(name, |b| {
            b.iter(|| {
                let result = trial.play(&workers, &mut |_| true).unwrap();
                assert!(matches!(result.ended, Ended::Played { ticks: TICKS, .. }));
            });
        });
    }
    group.finish();
}

criterion_group!(benches, practice);

fn main() {
    playerthree_sandbox::serve_if_worker();
    benches();
    Criterion::default().configure_from_args().final_summary();
}
