//! What one think costs end to end, on an observation of about 20 KB, and what it costs to start an instance.

#![expect(clippy::expect_used, reason = "a benchmark that cannot run has to stop")]

use std::hint::black_box;
use std::sync::Arc;

use std::sync::LazyLock;

use criterion::{Criterion, criterion_group};
use playerthree_sandbox::{Artifact, Instance, Limits, Runtime, Setup, Workers};
use serde_json::json;

static WORKERS: LazyLock<Workers> = LazyLock::new(Workers::of_this_program);

const JS: &str = "
    function think(obs) {
        const mine = obs.units.filter((u) => u.team === 'red');
        const theirs = obs.units.filter((u) => u.team !== 'red');
        return mine.slice(0, 16).map((u) => {
            let best = null, least = Infinity;
            for (const t of theirs) {
                const d = (t.x - u.x) ** 2 + (t.y - u.y) ** 2;
                if (d < least) { least = d; best = t; }
            }
            return { kind: 'attack', unit: u.id, target: best.id };
        });
    }
";

/// Reads every byte of the observation, and returns one intent.
const WASM: &str = r#"(module
    (memory (export "memory") 4 4)
    (data (i32.const 0) "[{\"kind\":\"attack\",\"unit\":\"u1\",\"target\":\"u2\"}]")
    (func (export "alloc") (param i32) (result i32) (i32.const 65536))
    (func (export "think") (param $at i32) (param $len i32) (result i64) (local $end i32) (local $sum i32)
        (local.set $end (i32.add (local.get $at) (local.get $len)))
        (loop $l
            (local.set $sum (i32.add (i32.mul (local.get $sum) (i32.const 31)) (i32.load8_u (local.get $at))))
            (local.set $at (i32.add (local.get $at) (i32.const 1)))
            (br_if $l (i32.lt_u (local.get $at) (local.get $end))))
        (i32.store (i32.const 1024) (local.get $sum))
        (i64.const 45)))"#;

fn setup(runtime: Runtime, code: &[u8]) -> Setup {
    let limits = Limits {
        ms_per_call: 1000,
        memory_bytes: 32 << 20,
        max_artifact_bytes: 700_000,
        max_intents_per_call: 64,
        max_log_lines: 10,
        max_log_line_bytes: 200,
        runtimes: vec![runtime],
    };
    let artifact = Arc::new(Artifact::from_stored(runtime, code.to_vec()));
    Setup { artifact, limits, match_data: "null".into(), seed: 1 }
}

/// A view of 200 units of two teams.
fn observation() -> Arc<str> {
    let unit = |i: i32| {
        json!({"id": format!("u{i}"), "team": if i % 2 == 0 { "red" } else { "blue" }, "kind": "tank",
               "x": i * 37 % 500, "y": i * 91 % 500, "hp": 100 - i % 40, "order": {"kind": "hold", "since": i}})
    };
    json!({"tick": 4711, "units": (0..200).map(unit).collect::<Vec<_>>()}).to_string().into()
}

fn think(c: &mut Criterion) {
    let observation = observation();
    let wasm = wat::parse_str(WASM).expect("the module parses");
    for (runtime, code) in [(Runtime::Js, JS.as_bytes()), (Runtime::Wasm, &wasm)] {
        let (instance, loaded) = Instance::load_blocking(&WORKERS, setup(runtime, code));
        loaded.result.expect("the policy loads");
        let name = format!("think/{}/{}_bytes", runtime.as_str(), observation.len());
        c.bench_function(&name, |b| {
            b.iter(|| {
                let answer = instance.think_blocking(Arc::clone(&observation)).expect("no other call runs");
                black_box(answer.result.expect("the policy thinks"))
            });
        });
    }
}

fn load(c: &mut Criterion) {
    let wasm = wat::parse_str(WASM).expect("the module parses");
    c.bench_function("load/js", |b| {
        b.iter(|| Instance::load_blocking(&WORKERS, setup(Runtime::Js, JS.as_bytes())));
    });
    c.bench_function("load/wasm/compile", |b| {
        b.iter(|| Instance::load_blocking(&WORKERS, setup(Runtime::Wasm, &wasm)));
    });
    let compiled = setup(Runtime::Wasm, &wasm);
    c.bench_function("load/wasm/again", |b| b.iter(|| Instance::load_blocking(&WORKERS, compiled.clone())));
}

criterion_group!(benches, think, load);

fn main() {
    playerthree_sandbox::serve_if_worker();
    benches();
    Criterion::default().configure_from_args().final_summary();
}
