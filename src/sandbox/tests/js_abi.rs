//! What an honest JavaScript policy can rely on (§11).

mod support;

use playerthree_sandbox::{Detail, PolicyErrorCode, Runtime};
use support::{js, limits, load, load_blocking, run, setup, think};

fn check(source: &str, expected: &str) {
    assert_eq!(run(js(source)).as_deref(), Ok(expected), "{source}");
}

// §11: a classic script with a global synchronous think(obs) -> intent[].
#[test]
fn think_maps_an_observation_to_intents() {
    check("function think(obs) { return [{ kind: 'go', x: obs.units[0].x }]; }", r#"[{"kind":"go","x":3}]"#);
    check("var think = (obs) => [obs.tick];", "[1]");
    check("const think = (obs) => [obs.tick];", "[1]");
    check("this.think = function () { return [typeof this]; };", r#"["object"]"#);
    check("function think() { return new Proxy([1], {}); }", "[1]");
}

// §11: instance state persists within a match, never between instances.
#[test]
fn state_lives_in_one_instance() {
    let policy = js(
        "let calls = 0; globalThis.shared ??= 0; function think() { shared++; return [++calls, shared]; }",
    );
    let (first, _) = load(policy.clone());
    let (second, _) = load(policy);
    assert_eq!(think(&first).result.unwrap().intents, [1, 1]);
    assert_eq!(think(&first).result.unwrap().intents, [2, 2]);
    assert_eq!(think(&second).result.unwrap().intents, [1, 1]);
}

// §11: each think parses its observation afresh, so a policy that keeps or changes one changes only its copy.
#[test]
fn an_observation_is_an_isolated_copy() {
    let (policy, _) = load(js("let old; function think(obs) { const same = old === obs; old = obs; \
         obs.units.push(1); return [same, obs.units.length]; }"));
    for _ in 0..2 {
        assert_eq!(serde_json::json!(think(&policy).result.unwrap().intents), serde_json::json!([false, 2]));
    }
}

// §10: init(matchData) runs once, after top-level code and before any think; null without match data.
#[test]
fn init_gets_the_match_data_once() {
    let source = "let data = ['top']; function init(d) { data.push(d); } function think() { return data; }";
    check(source, r#"["top",null]"#);
    let mut policy = js(source);
    policy.match_data = r#"{"map":[1,2]}"#.into();
    assert_eq!(run(policy).as_deref(), Ok(r#"["top",{"map":[1,2]}]"#));
}

// §10: match data is bounded to 131072 bytes of UTF-8 JSON.
#[test]
fn match_data_past_its_bound_fails_the_load() {
    let mut policy = js("function think() { return []; }");
    policy.match_data = format!("\"{}\"", "x".repeat(131_070)).into();
    assert!(run(policy.clone()).is_ok());
    policy.match_data = format!("\"{}\"", "x".repeat(131_071)).into();
    assert_eq!(run(policy), Err(PolicyErrorCode::TooLarge));
}

// §11: detail is "all" or a list of distinct names, read after top-level code and before init.
#[test]
fn detail_is_declared_by_a_global() {
    let think = "function think() { return []; }";
    let declared = |source: &str| {
        let (_, answer) = load_blocking(js(&format!("{source}; {think}")));
        answer.result.map(|loaded| loaded.detail).map_err(|error| error.code)
    };
    assert_eq!(declared(""), Ok(Detail::Undeclared));
    assert_eq!(declared("detail = 'all'"), Ok(Detail::All));
    assert_eq!(declared("const detail = ['a', 'b']"), Ok(Detail::Sections(vec!["a".into(), "b".into()])));
    assert_eq!(
        declared("var detail = []; function init() { detail = 'all'; }"),
        Ok(Detail::Sections(vec![]))
    );
    for bad in [
        "null",
        "'none'",
        "['a', 'a']",
        "[1]",
        "{}",
        "() => 'all'",
        "1n",
        "new Proxy([], { get() { throw 1 } })",
    ] {
        assert_eq!(declared(&format!("var detail = {bad}")), Err(PolicyErrorCode::BadOutput), "{bad}");
    }
}

// §11: Math.random is a seeded sfc32; the same seed gives the same numbers, another seed gives others.
#[test]
fn random_numbers_follow_the_seed() {
    let source = "function think() { return [Math.random(), Math.random()]; }";
    let with_seed = |seed| {
        let mut policy = js(source);
        policy.seed = seed;
        run(policy).unwrap()
    };
    assert_eq!(with_seed(1), with_seed(1));
    assert_ne!(with_seed(1), with_seed(2));
    assert_ne!(with_seed(1), with_seed(1 << 32 | 1));
    check(
        "function think() { const n = Array.from({ length: 1000 }, Math.random); \
         return [n.every((x) => x >= 0 && x < 1), new Set(n).size > 990]; }",
        "[true,true]",
    );
}

// §11: Date.now() is 0, new Date() is the epoch, explicit dates work, and no way leads to the engine's clock.
#[test]
fn time_stands_still_at_the_epoch() {
    check(
        "function think() { return [Date.now(), +new Date(), new Date(5).getTime(), Date.UTC(2020, 1), \
         new Date('2020-02-01T00:00:00Z').toISOString()]; }",
        r#"[0,0,5,1580515200000,"2020-02-01T00:00:00.000Z"]"#,
    );
    check(
        "class D extends Date {} function think() { const d = new D(); return [+d, d instanceof D, d instanceof Date, \
         new d.constructor() * 1, new (new Date(1).constructor)() * 1, Date.name, Date.length]; }",
        r#"[0,true,true,0,0,"Date",7]"#,
    );
    check(
        "function think() { return [+new (Date.prototype.constructor)(), Date() === new Date(0).toString()]; }",
        "[0,true]",
    );
}

// §11: no hook over stack frames hands out the engine's own Date, whose clock is live.
#[test]
fn no_stack_frame_leads_to_the_clock() {
    let hook = "let found = []; Error.prepareStackTrace = (error, frames) => { for (const frame of frames) \
                found.push(frame.getFunction()); return ''; };";
    let roads = [
        "new Date({ valueOf() { new Error().stack; return 0; } })",
        "Reflect.construct(Date, [], new Proxy(Date, { get() { new Error().stack; return Date.prototype; } }))",
        "Date.prototype[Symbol.toPrimitive].call({ valueOf() { new Error().stack; return 0; } }, 'number')",
    ];
    for road in roads {
        check(&format!("function think() {{ {hook} {road}; return [found.length]; }}"), "[0]");
    }
    check(
        "function think() { return ['prepareStackTrace' in Error, typeof new Error().stack]; }",
        r#"[false,"string"]"#,
    );
}

// §11: no files, network, environment, timers or host capability; nothing with a clock or with shared memory.
#[test]
fn the_global_scope_holds_the_language_and_log_only() {
    let absent = "setTimeout setInterval setImmediate console performance process require module fetch navigator \
                  Atomics SharedArrayBuffer WeakRef FinalizationRegistry Worker WebAssembly std os print scriptArgs \
                  bjson load gc Intl Temporal crypto structuredClone DOMException";
    let source =
        format!("function think() {{ return '{absent}'.split(' ').filter((name) => name in globalThis); }}");
    check(&source, "[]");
}

// §11: no module imports, neither static nor dynamic.
#[test]
fn modules_cannot_be_imported() {
    assert_eq!(
        run(js("import x from 'std'; function think() { return []; }")),
        Err(PolicyErrorCode::Compile)
    );
    check(
        "let got = []; import('std').then(() => got.push('module'), () => got.push('refused')); \
         function think() { return got; }",
        r#"["refused"]"#,
    );
}

// §11: a promise's jobs run inside the call that queued them, and never later.
#[test]
fn jobs_do_not_outlive_their_call() {
    let (policy, _) = load(js("let n = 0; Promise.resolve().then(() => n++); queueMicrotask(() => n++); \
         (async () => { await null; n++; throw new Error('unhandled'); })(); \
         function think() { const before = n; Promise.resolve().then(() => n++).then(() => n++); return [before]; }"));
    assert_eq!(think(&policy).result.unwrap().intents, [3]);
    assert_eq!(think(&policy).result.unwrap().intents, [5]);
}

// §10: init runs after top-level code, and what that code has queued is a part of it.
#[test]
fn top_level_jobs_run_before_init() {
    check(
        "let ready = 'no'; Promise.resolve().then(() => { ready = 'yes'; }); let seen; \
         function init() { seen = ready; } function think() { return [seen]; }",
        r#"["yes"]"#,
    );
}

// §11: log(...args) leaves bounded lines, of failed calls too.
#[test]
fn logs_are_joined_cut_and_kept_on_failure() {
    let (policy, loaded) = load(js("log('top', 1, null, undefined); \
         function think() { log({ a: [1] }, true); log('é'.repeat(50)); log('\\ud800', Symbol('s'), 1n); log('dropped'); \
         throw new Error('no'); }"));
    assert_eq!(loaded.logs, ["top 1 null undefined"]);
    let answer = think(&policy);
    assert_eq!(answer.logs, [r#"{"a":[1]} true"#, "éééééééééé", r#""\ud800" Symbol() 1"#]);
    let error = answer.result.unwrap_err();
    assert_eq!(error.code, PolicyErrorCode::Threw);
    assert!(error.message.unwrap().starts_with("Error: no\n    at think (policy.js:1:"));
}

// §11: extra intents are dropped and counted.
#[test]
fn intents_past_the_limit_are_dropped_and_counted() {
    let (policy, _) = load(js("function think() { return [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]; }"));
    let thought = think(&policy).result.unwrap();
    assert_eq!((thought.intents.len(), thought.dropped), (8, 2));
}

// §11: output nests at most 32 deep and has at most 1 MiB.
#[test]
fn output_is_capped_in_depth_and_size() {
    let nested = |depth: u32| {
        run(js(&format!(
            "function think() {{ let v = []; for (let i = 1; i < {depth}; i++) v = [v]; return v; }}"
        )))
    };
    assert!(nested(32).is_ok());
    assert_eq!(nested(33), Err(PolicyErrorCode::BadOutput));
    let sized =
        |bytes: usize| run(js(&format!("function think() {{ return ['x'.repeat({})]; }}", bytes - 4)));
    assert!(sized(1 << 20).is_ok());
    assert_eq!(sized((1 << 20) + 1), Err(PolicyErrorCode::BadOutput));
}

// §11: source size is measured in UTF-8 bytes; a runtime that the game does not list is refused.
#[test]
fn an_artifact_outside_the_limits_is_not_loaded() {
    let mut tight = limits();
    tight.max_artifact_bytes = 31;
    assert!(run(setup(Runtime::Js, b"function think() { return []; }", tight.clone())).is_ok());
    let source = "function think() { return []; }é";
    assert_eq!(run(setup(Runtime::Js, source.as_bytes(), tight)), Err(PolicyErrorCode::TooLarge));
    let mut only_wasm = limits();
    only_wasm.runtimes = vec![Runtime::Wasm];
    assert_eq!(run(setup(Runtime::Js, b"", only_wasm)), Err(PolicyErrorCode::RuntimeNotAllowed));
}

// Issue "Policies": same artifact, same inputs, same outputs on every run.
#[test]
fn the_same_policy_gives_the_same_outputs() {
    let source = "const m = new Map(); function think(obs) { const r = Math.random(); m.set(r, obs); \
                  return [r, [...m.keys()].sort(), Object.keys({ b: 1, a: 2, 1: 3 }), Math.sin(r)]; }";
    let outputs = || {
        let (policy, _) = load(js(source));
        (0..5).map(|_| think(&policy).result.unwrap().intents).collect::<Vec<_>>()
    };
    assert_eq!(outputs(), outputs());
}
