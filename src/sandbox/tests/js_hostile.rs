//! JavaScript policies that mean harm or are broken, each with its exact code (§11).

mod support;

use playerthree_sandbox::PolicyErrorCode;
use support::{js, limits, load_blocking, run, setup, think};

fn check(expected: PolicyErrorCode, sources: &[&str]) {
    for source in sources {
        let mut policy = js(source);
        if expected == PolicyErrorCode::Timeout {
            policy.limits.ms_per_call = 20;
        }
        assert_eq!(run(policy), Err(expected), "{source}");
    }
}

// §11: work past the CPU budget fails timeout, wherever the loop hides.
#[test]
fn endless_work_times_out() {
    check(
        PolicyErrorCode::Timeout,
        &[
            "for (;;);",
            "function think() { for (;;); }",
            "function init() { for (;;); } function think() { return []; }",
            "function think() { try { for (;;); } catch {} finally { for (;;); } return []; }",
            "function think() { return [{ get x() { for (;;); } }]; }",
            "function think() { return [{ toJSON() { for (;;); } }]; }",
            "function think() { return Object.assign([], { toJSON() { for (;;); } }); }",
            "function think() { return new Proxy([], { get() { for (;;); } }); }",
            "function think() { return [new Proxy({}, { ownKeys() { for (;;); } })]; }",
            "var detail = { toJSON() { for (;;); } }; function think() { return []; }",
            "var detail = new Proxy([], { get() { for (;;); } }); function think() { return []; }",
            "function think() { throw { get message() { for (;;); } }; }",
            "function think() { throw new Proxy({}, { get() { for (;;); } }); }",
            "function think() { log({ toJSON() { for (;;); } }); return []; }",
            "function think() { log({ toString() { for (;;); }, toJSON() {} }); return []; }",
            "Object.defineProperty(globalThis, 'think', { get() { for (;;); } });",
            "function think() { return /^(a+)+$/.test('a'.repeat(50) + 'b') ? [] : [1]; }",
            "function think() { eval('for (;;);'); }",
            "function think() { new Function('for (;;);')(); }",
            "function think() { const g = (function* () { for (;;) yield 1; })(); for (const x of g); }",
            "function think() { [3, 1, 2].sort(() => { for (;;); }); }",
            "function think() { 'aaaa'.replace(/a/g, () => { for (;;); }); }",
        ],
    );
}

// §11: no promise or job escapes its call, and endless ones are endless work.
#[test]
fn endless_jobs_time_out() {
    check(
        PolicyErrorCode::Timeout,
        &[
            "(function f() { Promise.resolve().then(f); })(); function think() { return []; }",
            "function think() { (async () => { for (;;) await null; })(); return []; }",
            "function think() { queueMicrotask(function f() { queueMicrotask(f); }); return []; }",
            "function think() { new Promise(() => { for (;;); }); return []; }",
            "function think() { Promise.resolve({ then() { for (;;); } }); return []; }",
            "function think() { (async function* () { for (;;) yield 1; })().next(); for (;;); }",
        ],
    );
}

// §11, field report U86: native loops that never look at the budget end their worker's process, and the instance
// is dead.
#[test]
fn native_loops_that_cannot_be_interrupted_time_out() {
    check(
        PolicyErrorCode::Timeout,
        &[
            "function think() { Array.prototype.reverse.call({ length: 2e7 }); return []; }",
            "function think() { 'a'.repeat(6e4).indexOf('a'.repeat(3e4) + 'b'); return []; }",
            "function think() { ((1n << 300000n) - 1n).toString(); return []; }",
            "function think() { Array(3e7).join(''); return []; }",
        ],
    );
}

// §11: a heap past the memory limit fails memory_limit.
#[test]
fn too_much_memory_is_refused() {
    let sources = [
        "const hoard = []; for (;;) hoard.push(new Array(1000).fill(0));",
        "function think() { let s = 'x'; for (;;) { s += s; s.charCodeAt(0); } }",
        "function think() { return ['x'.repeat(2 ** 29)]; }",
        "function think() { return [new Uint8Array(2 ** 30)]; }",
        "function think() { return [new ArrayBuffer(2 ** 30)]; }",
        "function think() { const a = []; for (;;) a.push({ a }); }",
        "const m = new Map(); function think() { for (let i = 0; ; i++) m.set(i, {}); }",
        "function think() { return [Array.from({ length: 1e9 })]; }",
        "function think() { return [Object.keys('x'.repeat(1e6))]; }",
        "function think() { return [/(?:a|b|c)*d/.exec('abc'.repeat(5e5))]; }",
        "function think() { return [[...'x'.repeat(2e6)].map((c) => c + c)]; }",
    ];
    for source in sources {
        let mut policy = js(source);
        policy.limits.memory_bytes = 4 << 20;
        assert_eq!(run(policy), Err(PolicyErrorCode::MemoryLimit), "{source}");
    }
}

// Field report U89: a tiny memory limit is an orderly refusal.
#[test]
fn a_tiny_memory_limit_is_refused_in_order() {
    for kib in [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512] {
        let mut policy =
            js("const a = []; for (let i = 0; i < 1e5; i++) a.push({ i }); function think() { return []; }");
        policy.limits.memory_bytes = kib << 10;
        assert_eq!(run(policy), Err(PolicyErrorCode::MemoryLimit), "{kib} KiB");
    }
}

// Field report U89: a pattern whose compiled form is too long for its own jumps is refused, matches as it should, or
// takes too long; none of it breaks the engine, which would be `threw`.
#[test]
fn a_pattern_with_too_many_alternatives_breaks_no_engine() {
    for alternatives in [1_000, 20_000, 66_000] {
        let last = alternatives - 1;
        let mut policy = js(&format!(
            "function think() {{
                 const pattern = [...Array({alternatives}).keys()].map((n) => `a${{n}}b`).join('|');
                 let r;
                 try {{ r = new RegExp(pattern); }} catch (e) {{ return [e.name]; }}
                 return [r.test('a{last}b'), r.test('a{last}c')];
             }}"
        ));
        policy.limits.memory_bytes = 256 << 20;
        let answer = run(policy);
        let orderly = match &answer {
            Ok(text) => {
                ["[true,false]", r#"["SyntaxError"]"#, r#"["InternalError"]"#].contains(&text.as_str())
            }
            Err(code) => matches!(code, PolicyErrorCode::Timeout | PolicyErrorCode::MemoryLimit),
        };
        assert!(orderly, "{alternatives}: {answer:?}");
    }
}

// §11: exceptions and traps are the policy's own failure; the instance lives on.
#[test]
fn exceptions_are_reported() {
    check(
        PolicyErrorCode::Threw,
        &[
            "throw 1;",
            "throw new SyntaxError('mine');",
            "JSON.parse('{');",
            "eval('(');",
            "function think() { throw undefined; }",
            "throw {};",
            "function think() { return undefinedName; }",
            "function init() { throw new Error('no'); } function think() { return []; }",
            "function think() { return (function f() { return f() + 1; })(); }",
            "function think() { return [[]].map(function f(x) { return [x].map(f); }); }",
            "function think() { throw { get message() { throw 1; }, get name() { throw 2; } }; }",
            "function think() { throw new Proxy({}, { get() { throw 1; } }); }",
            "function think() { log({ toJSON() { throw 1; } }); return []; }",
            "Object.defineProperty(globalThis, 'think', { get() { throw 1; } });",
        ],
    );
}

// §11: what cannot be read as a JSON array is bad_output.
#[test]
fn unreadable_outputs_are_refused() {
    check(
        PolicyErrorCode::BadOutput,
        &[
            "function think() {}",
            "function think() { return null; }",
            "function think() { return 'x'; }",
            "function think() { return {}; }",
            "function think() { return { length: 1, 0: 1 }; }",
            "function think() { return { __proto__: Array.prototype, length: 1 }; }",
            "function think() { return NaN; }",
            "async function think() { return []; }",
            "function think() { return Promise.resolve([]); }",
            "function think() { return new Proxy({}, {}); }",
            "function think() { return [1n]; }",
            "function think() { const a = []; a.push(a); return a; }",
            "function think() { const o = {}; o.o = o; return [o]; }",
            "function think() { return ['\\ud800']; }",
            "function think() { return [{ '\\udfff': 1 }]; }",
            "function think() { return [{ get x() { throw 1; } }]; }",
            "function think() { return Object.assign([], { toJSON() { return {}; } }); }",
            "function think() { return Object.assign([], { toJSON() {} }); }",
            "function think() { let v = []; for (let i = 0; i < 1e3; i++) v = [v]; return v; }",
            "function think() { return new Array(3e5).fill('xxxx'); }",
            "const { proxy, revoke } = Proxy.revocable([], {}); revoke(); function think() { return proxy; }",
        ],
    );
}

// §11: numbers that JSON does not have, functions and holes become null, as the language writes them.
#[test]
fn values_without_a_json_form_become_null() {
    assert_eq!(
        run(js("function think() { return [NaN, -Infinity, undefined, { a: undefined, f() {}, n: NaN }]; }"))
            .as_deref(),
        Ok(r#"[null,null,null,{"n":null}]"#)
    );
}

// §11: a script without a think function, or that does not parse.
#[test]
fn broken_scripts_have_their_own_codes() {
    check(
        PolicyErrorCode::MissingExport,
        &[
            "",
            "var think = 1;",
            "think = {};",
            "(function think() {})",
            "{ let think = () => []; }",
            "let think; export_ = 1",
        ],
    );
    check(
        PolicyErrorCode::Compile,
        &[
            "function think(",
            "return 1",
            "let a; let a;",
            "await 1",
            "export default 1",
            "var x = '\0';",
            "\u{1F4A5}",
        ],
    );
    assert_eq!(
        run(setup(playerthree_sandbox::Runtime::Js, b"'\xff'", limits())),
        Err(PolicyErrorCode::Compile)
    );
}

// Field reports: a policy that rewrites the language's own objects changes nothing for the host.
#[test]
fn polluted_prototypes_do_not_reach_the_host() {
    let source = r#"
        const lie = () => { throw new Error('polluted'); };
        JSON.stringify = lie; JSON.parse = lie; Array.isArray = lie; Math.random = lie;
        globalThis.eval = lie; globalThis.Date = lie; Object.prototype.toString = lie;
        for (const proto of [Array.prototype, Function.prototype, String.prototype, Promise.prototype]) {
            for (const name of Object.getOwnPropertyNames(proto)) {
                if (name !== 'length' && name !== 'constructor') { try { proto[name] = lie; } catch {} }
            }
        }
        Array.prototype[Symbol.iterator] = lie;
        Object.defineProperty(Object.prototype, 'kind', { set: lie, get: lie, configurable: true });
        Object.defineProperty(Object.prototype, '0', { set: lie, configurable: true });
        globalThis.think = undefined;
        function think(obs) { return [{ tick: obs.tick }]; }
    "#;
    let expected = Err(PolicyErrorCode::MissingExport);
    assert_eq!(run(js(source)), expected);
    let source = source.replace("globalThis.think = undefined;", "");
    assert_eq!(run(js(&source)).as_deref(), Ok(r#"[{"tick":1}]"#));
}

// §11: log floods leave only the bounded first lines.
#[test]
fn a_log_flood_is_bounded() {
    let policy =
        js("function think() { for (let i = 0; i < 1000; i++) log('x'.repeat(10000), i); return []; }");
    let (policy, _) = load_blocking(policy);
    assert_eq!(think(&policy).logs, vec!["x".repeat(20); 3]);
}

// Only a timeout or a memory refusal ends an instance; after one, no call enters it again.
#[test]
fn a_timed_out_instance_is_never_entered_again() {
    let mut policy = js("let n = 0; function think(obs) { n++; if (n == 2) throw 1; if (n == 3) return 1; \
                         if (n == 4) for (;;); return [n]; }");
    policy.limits.ms_per_call = 100;
    let (policy, _) = load_blocking(policy);
    let codes: Vec<_> =
        (0..6).map(|_| think(&policy).result.map(|_| ()).map_err(|error| error.code)).collect();
    use PolicyErrorCode::{BadOutput, Threw, Timeout};
    assert_eq!(codes, [Ok(()), Err(Threw), Err(BadOutput), Err(Timeout), Err(Timeout), Err(Timeout)]);
    assert!(policy.is_dead());
}
