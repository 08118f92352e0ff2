//! What one think costs from end to end on a real observation, what the observation's way in costs of that, and what it
//! costs to start an instance. Goals: a script's think under 300 us, a module's under 80, a start under 2 ms.
#![allow(clippy::expect_used, reason = "a benchmark that cannot run has to stop")]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::{Duration, Instant};

use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group};
use playerthree_agent_command::AgentCommand;
use playerthree_game::{Context, Game as _, Name, Outcome, Seat, Setup as MatchSetup, Source};
use playerthree_sandbox::{Artifact, Instance, Limits, Runtime, Setup, Workers};
use rquickjs::{Context as JsContext, Function, Runtime as JsRuntime};
use serde_json::json;

static WORKERS: LazyLock<Workers> = LazyLock::new(Workers::of_this_program);

/// The policy that the game's own skill teaches.
const GROUND: &str = include_str!("../../../examples/agent-command/src/knowledge/policies/ground.js");

/// Takes the observation in and does nothing with it.
const IDLE_JS: &str = "function think() { return []; }";
const IDLE_WASM: &str = r#"(module (memory (export "memory") 8 8) (data (i32.const 0) "[]")
    (func (export "alloc") (param i32) (result i32) (i32.const 65536))
    (func (export "think") (param i32 i32) (result i64) (i64.const 2)))"#;

/// Reads every byte of the observation, and returns one intent.
const READER: &str = r#"(module
    (memory (export "memory") 4 4)
    (data (i32.const 0) "[{\"kind\":\"stop\",\"units\":[\"e_1\",\"e_2\",\"e_3\"]}]")
    (func (export "alloc") (param i32) (result i32) (i32.const 65536))
    (func (export "think") (param $at i32) (param $len i32) (result i64) (local $end i32) (local $sum i32)
        (local.set $end (i32.add (local.get $at) (local.get $len)))
        (loop $l
            (local.set $sum (i32.add (i32.mul (local.get $sum) (i32.const 31)) (i32.load8_u (local.get $at))))
            (local.set $at (i32.add (local.get $at) (i32.const 1)))
            (br_if $l (i32.lt_u (local.get $at) (local.get $end))))
        (i32.store (i32.const 1024) (local.get $sum))
        (i64.const 45)))"#;

/// Bytes of a long observation.
const LONG: usize = 20_000;

/// What a seat of agent-command sees, and the data of its match.
struct Shown {
    observation: Arc<str>,
    match_data: Arc<str>,
}

/// The first observation of at least so many bytes, every section included, in a rich match of bots where three sides are
/// allied against one and so see everything of each other; or the longest one, where the match ends before.
fn shown(bytes: usize) -> Shown {
    let teams: Vec<Name> = ["red", "blue", "green", "gold"].map(Into::into).to_vec();
    let sections: Vec<Name> = ["economy", "ground", "air"].map(Into::into).to_vec();
    let alliances =
        BTreeMap::from([("most".into(), teams[..3].to_vec()), ("one".into(), teams[3..].to_vec())]);
    let options = json!({ "start": { "alloy": 5000, "energy": 5000, "workers": 6 } });
    let setup =
        MatchSetup { seed: 2, options: Some(options), teams: teams.clone(), alliances: Some(alliances) };
    let mut game = AgentCommand.create(&setup).expect("the match is valid");
    let seats = teams.iter().flat_map(|team| sections.iter().map(move |role| Seat::new(team, role)));
    let mut bots: Vec<_> = seats
        .map(|seat| {
            let mut bot = AgentCommand.create_bot(&seat, "commander").expect("the tier is the game's");
            bot.init(&game.match_data(&seat).expect("the game has match data"));
            (seat, bot)
        })
        .collect();
    let context = Context { source: Source::Bot, owner_roles: None };
    let seat = Seat::new(&teams[0], "ground");
    let mut longest = String::new();
    while longest.len() < bytes && game.outcome(&teams[0]) == Outcome::Running {
        for (seat, bot) in &mut bots {
            for intent in bot.think(&game.observe(seat, -1, &sections)) {
                // A bot's intent may be late, as in any match.
                _ = game.apply(seat, &intent, &context);
            }
        }
        game.step();
        let observation = game.observe(&seat, -1, &sections).to_string();
        if observation.len() > longest.len() {
            longest = observation;
        }
    }
    let match_data = game.match_data(&seat).expect("the game has match data").to_string().into();
    Shown { observation: longest.into(), match_data }
}

fn setup(runtime: Runtime, code: &[u8], match_data: &Arc<str>) -> Setup {
    let limits = Limits {
        ms_per_call: 1000,
        memory_bytes: 64 << 20,
        max_artifact_bytes: 700_000,
        max_intents_per_call: 64,
        max_log_lines: 20,
        max_log_line_bytes: 256,
        runtimes: vec![runtime],
    };
    let artifact = Arc::new(Artifact::from_stored(runtime, code.to_vec()));
    Setup { artifact, limits, match_data: Arc::clone(match_data), seed: 1 }
}

fn module(text: &str) -> Vec<u8> {
    wat::parse_str(text).expect("the module parses")
}

fn bench_think(
    group: &mut BenchmarkGroup<'_, impl criterion::measurement::Measurement>,
    name: &str,
    policy: Setup,
    observation: &Arc<str>,
) {
    let (instance, loaded) = Instance::load_blocking(&WORKERS, policy);
    loaded.result.expect("the policy loads");
    group.bench_function(name, |b| {
        b.iter(|| {
            let answer = instance.think_blocking(Arc::clone(observation)).expect("no other call runs");
            black_box(answer.result.expect("the policy thinks"))
        });
    });
}

/// A think as a match pays for it: to the policy and back, intents read.
fn think(c: &mut Criterion) {
    let Shown { observation, match_data } = shown(LONG);
    let mut group = c.benchmark_group(format!("think/{}_bytes", observation.len()));
    bench_think(&mut group, "js", setup(Runtime::Js, GROUND.as_bytes(), &match_data), &observation);
    bench_think(&mut group, "wasm", setup(Runtime::Wasm, &module(READER), &match_data), &observation);
    floor(&mut group, &observation, &match_data);
    group.finish();
}

/// The same script in an engine on the calling thread: no budget, no other process, nothing checked.
fn floor(
    group: &mut BenchmarkGroup<'_, impl criterion::measurement::Measurement>,
    observation: &str,
    match_data: &str,
) {
    let runtime = JsRuntime::new().expect("the engine starts");
    let context = JsContext::full(&runtime).expect("the engine starts");
    context.with(|ctx| {
        ctx.eval::<(), _>(GROUND).expect("the script runs");
        let init: Function<'_> = ctx.globals().get("init").expect("the script has init");
        let data = ctx.json_parse(match_data).expect("match data is JSON");
        init.call::<_, ()>((data,)).expect("init runs");
        let think: Function<'_> = ctx.globals().get("think").expect("the script has think");
        group.bench_function("js/engine_alone", |b| {
            b.iter(|| {
                let observation = ctx.json_parse(observation).expect("the observation is JSON");
                let intents: rquickjs::Value<'_> = think.call((observation,)).expect("the policy thinks");
                black_box(ctx.json_stringify(intents).expect("intents are JSON"));
            });
        });
    });
}

/// What the observation's way in costs, by its length.
fn passing(c: &mut Criterion) {
    let observations = [2_000, LONG].map(|bytes| shown(bytes).observation);
    let wasm = module(IDLE_WASM);
    for (runtime, code) in [(Runtime::Js, IDLE_JS.as_bytes()), (Runtime::Wasm, &wasm)] {
        let mut group = c.benchmark_group(format!("passing/{}", runtime.as_str()));
        for observation in &observations {
            group.throughput(Throughput::Bytes(observation.len() as u64));
            let name = format!("{}_bytes", observation.len());
            bench_think(&mut group, &name, setup(runtime, code, &"null".into()), observation);
        }
        group.finish();
    }
}

/// The time from the request to the answer of a load, with everything ready that a server keeps ready.
fn start(c: &mut Criterion) {
    /// Long enough for the spare workers to be there again.
    const REFILLED: Duration = Duration::from_millis(30);
    let match_data = shown(2_000).match_data;
    let wasm = module(READER);
    let compiled = setup(Runtime::Wasm, &wasm, &match_data);
    Instance::load_blocking(&WORKERS, compiled.clone()).1.result.expect("the module loads");
    let mut group = c.benchmark_group("start");
    group.sample_size(20);
    let mut bench = |name: &str, policy: &dyn Fn() -> Setup| {
        group.bench_function(name, |b| {
            b.iter_custom(|times| {
                (0..times).fold(Duration::ZERO, |total, _| {
                    thread::sleep(REFILLED);
                    let policy = policy();
                    let started = Instant::now();
                    let (_instance, loaded) = Instance::load_blocking(&WORKERS, policy);
                    let took = started.elapsed();
                    loaded.result.expect("the policy loads");
                    total + took
                })
            });
        });
    };
    bench("js", &|| setup(Runtime::Js, GROUND.as_bytes(), &match_data));
    bench("wasm", &|| compiled.clone());
    bench("wasm/compiling", &|| setup(Runtime::Wasm, &wasm, &match_data));
    group.finish();
}

/// Instances one after the other: each but the first waits for its worker process to start.
fn start_cold(c: &mut Criterion) {
    let null: Arc<str> = "null".into();
    let cold = Workers::of_this_program();
    c.bench_function("start/js/no_spare_worker", |b| {
        b.iter(|| Instance::load_blocking(&cold, setup(Runtime::Js, IDLE_JS.as_bytes(), &null)));
    });
}

criterion_group!(benches, think, passing, start, start_cold);

fn main() {
    playerthree_sandbox::serve_if_worker();
    benches();
    Criterion::default().configure_from_args().final_summary();
}
