//! QuickJS's own loops, one policy each, and what bounds each of them (§11, field report U86).
//!
//! Most never look at the budget. Whatever a row says, the call is answered with that code, and nothing of the policy
//! is left: no process, and no other policy that noticed.

#![allow(clippy::expect_used, reason = "a test that cannot run fails")]

mod support;

use playerthree_sandbox::{AnsweredBy, Instance, PolicyErrorCode, SPARE_WORKERS};
use support::{children, js, think, workers};

use PolicyErrorCode::{MemoryLimit, Threw, Timeout};

/// What ends the loop.
enum By {
    /// The engine looks at the budget in the loop: the instance answers itself.
    Poll,
    /// The memory limit is reached before the budget.
    Memory,
    /// The language's own bounds: it throws, or the output is refused.
    Language(PolicyErrorCode),
    /// Nothing inside the engine: the worker process ends.
    Process,
    /// The engine is done before the budget is: the loop is short.
    Itself,
}

use By::{Itself, Language, Memory, Poll, Process};

const LOOPS: &[(&str, By, &str)] = &[
    ("for", Poll, "for (;;);"),
    ("recursion", Language(Threw), "(function f() { return f() + 1; })()"),
    ("generator spread", Poll, "[...(function* () { for (;;); })()]"),
    ("regex backtracking", Poll, "/^(a+)+$/.test('a'.repeat(50) + 'b')"),
    ("regex back-reference", Poll, "/^(a*)*\\1b$/.test('a'.repeat(60))"),
    (
        "sort with a comparison",
        Poll,
        "const a = Array.from({ length: 3e4 }, (_, i) => i * 7 % 1e4); for (;;) a.sort((x, y) => x - y)",
    ),
    ("Array.from with a function", Poll, "Array.from({ length: 1e6 }, () => { for (;;); })"),
    (
        "proxy trap in a native loop",
        Poll,
        "Array.prototype.indexOf.call(new Proxy({ length: 2 ** 40 }, { has() { for (;;); } }), 1)",
    ),
    ("JSON.stringify of getters", Poll, "JSON.stringify({ get x() { for (;;); } })"),
    ("JSON.parse with a reviver", Poll, "JSON.parse('[1]', () => { for (;;); })"),
    ("join of holes", Process, "Array(4e9).join('')"),
    ("join through a proxy's length", Process, "Array.prototype.join.call({ length: 2 ** 52 }, '')"),
    ("array to string", Process, "Array(4e9) + ''"),
    ("toLocaleString", Process, "Array(4e9).toLocaleString()"),
    ("copyWithin", Process, "Array.prototype.copyWithin.call({ length: 2 ** 52 }, 0, 1)"),
    ("fill", Memory, "Array.prototype.fill.call({ length: 2 ** 52 }, 1)"),
    ("indexOf", Poll, "Array.prototype.indexOf.call({ length: 2 ** 52 }, 1)"),
    ("lastIndexOf", Poll, "Array.prototype.lastIndexOf.call({ length: 2 ** 52 }, 1)"),
    ("includes", Poll, "Array.prototype.includes.call({ length: 2 ** 52 }, 1)"),
    ("reverse", Process, "Array.prototype.reverse.call({ length: 2 ** 52 })"),
    ("shift", Process, "Array.prototype.shift.call({ length: 2 ** 52 })"),
    ("unshift", Process, "Array.prototype.unshift.call({ length: 2 ** 52 }, 1)"),
    ("splice", Process, "Array.prototype.splice.call({ length: 2 ** 52 }, 0, 1)"),
    ("forEach over holes", Poll, "Array.prototype.forEach.call({ length: 2 ** 52 }, () => 0)"),
    ("every over holes", Poll, "Array.prototype.every.call({ length: 2 ** 52 }, () => true)"),
    ("reduce over holes", Poll, "Array.prototype.reduce.call({ length: 2 ** 52 }, () => 0, 0)"),
    ("find", Poll, "Array.prototype.find.call({ length: 2 ** 52 }, () => false)"),
    ("flat of holes", Process, "Array.prototype.flat.call({ length: 2 ** 52 })"),
    ("sort without a comparison", Process, "Array.prototype.sort.call({ length: 2 ** 52 })"),
    ("slice", Language(Threw), "Array.prototype.slice.call({ length: 2 ** 52 })"),
    ("concat of a spreadable", Process, "[].concat({ length: 2 ** 52, [Symbol.isConcatSpreadable]: true })"),
    ("Array.from without a function", Memory, "Array.from({ length: 1e9 })"),
    ("spread", Memory, "[...'x'.repeat(4e6)]"),
    ("apply with a long list", Language(Threw), "Math.max.apply(null, { length: 2 ** 31 })"),
    ("string search", Process, "const s = 'a'.repeat(2e6); s.indexOf('a'.repeat(1e6) + 'b')"),
    (
        "string lastIndexOf",
        Process,
        "const s = 'a'.repeat(2e6); s.lastIndexOf('a'.repeat(5e5) + 'b' + 'a'.repeat(5e5))",
    ),
    ("string includes", Process, "const s = 'a'.repeat(2e6); s.includes('a'.repeat(1e6) + 'b')"),
    ("replaceAll", Process, "'a'.repeat(1e6).replaceAll('a', 'b'.repeat(1e3))"),
    ("split", Memory, "'a'.repeat(4e6).split('')"),
    ("repeat", Memory, "'x'.repeat(2 ** 29)"),
    ("repeat past the longest string", Language(Threw), "'x'.repeat(2 ** 30)"),
    ("padEnd", Memory, "''.padEnd(2 ** 29)"),
    ("normalize", Process, "for (const s = '\\u0344\\u0315'.repeat(4e5);;) s.normalize('NFD')"),
    ("BigInt power", Process, "(3n ** 400000n) ** 2n"),
    ("BigInt product", Process, "const n = (1n << 500000n) - 1n; n * n"),
    ("BigInt to string", Process, "((1n << 1000000n) - 1n).toString()"),
    ("BigInt from string", Process, "BigInt('9'.repeat(3e5))"),
    ("BigInt division", Process, "((1n << 1000000n) - 1n) / ((1n << 500000n) - 3n)"),
    ("BigInt past its limit", Language(Threw), "1n << (1n << 40n)"),
    ("typed array fill", Itself, "new Uint8Array(4e6).fill(1)"),
    ("typed array sort", Itself, "new Float64Array(4e4).map(Math.random).sort()"),
    ("typed array indexOf", Itself, "new Uint8Array(4e6).indexOf(1)"),
    ("typed array too large", Memory, "new Uint8Array(2 ** 30)"),
    ("Map", Memory, "for (let m = new Map(), i = 0; ; i++) m.set(i, i)"),
    ("Set union", Memory, "for (let s = new Set(), i = 0; ; i++) s.add(i)"),
    ("Object.keys of a long string", Memory, "Object.keys('x'.repeat(4e6))"),
    ("JSON.stringify of a long list", Memory, "JSON.stringify(Array(1e7))"),
    ("JSON.parse of deep lists", Language(Threw), "JSON.parse('['.repeat(1e6))"),
    ("escape", Itself, "escape('\\u1234'.repeat(1e6))"),
    ("a returned list of holes", Process, "return Array(1e6)"),
    // The report's own inputs, where they are not above.
    ("array of 1e9 to string", Process, "Array(1e9) + ''"),
    (
        "JSON.stringify of shared lists",
        Process,
        "let a = []; for (let i = 0; i < 40; i++) a = [a, a]; JSON.stringify(a)",
    ),
    (
        "a returned list of shared lists",
        Process,
        "let a = []; for (let i = 0; i < 25; i++) a = [a, a]; return a",
    ),
    ("square of a long BigInt", Language(Threw), "(1n << 10000000n) ** 2n"),
    (
        "JSON.stringify of deep lists",
        Language(Threw),
        "let v = []; for (let i = 0; i < 1e5; i++) v = [v]; JSON.stringify(v)",
    ),
    ("sort of 1e7 numbers", Memory, "Array(1e7).fill(1).sort()"),
    // One that fits: it turns every number into a text, and looks at the budget nowhere.
    (
        "sort of numbers that fit",
        Process,
        "const a = [].slice.call(new Float64Array(3e4).map(Math.random)); for (;;) a.slice().sort()",
    ),
];

fn policy(by: &By, source: &str) -> playerthree_sandbox::Setup {
    let mut policy = js(&format!("function think() {{ {source}; return []; }}"));
    policy.limits.ms_per_call = match by {
        // Everything else is over soon or endless, and an engine that looks does so within some ten milliseconds, well
        // inside the quarter that its process waits longer.
        Process => 30,
        Poll => 300,
        Memory | Itself | Language(_) => 1000,
    };
    policy.limits.memory_bytes = 16 << 20;
    policy
}

// Issue "Policies": the right code each time, and another policy thinks on meanwhile.
#[test]
fn every_native_loop_ends_with_its_code_and_leaves_nothing() {
    // Nobody's tick waits for these: what ends a loop is its CPU time, however busy the machine.
    let workers = workers().in_background();
    let (neighbour, _) =
        Instance::load_blocking(&workers, js("let n = 0; function think() { return [++n]; }"));
    let mut wrong = Vec::new();
    for (thoughts, (name, by, source)) in (1..).zip(LOOPS) {
        let expected = match by {
            Poll | Process => Err(Timeout),
            Memory => Err(MemoryLimit),
            Language(code) => Err(*code),
            Itself => Ok(()),
        };
        let (policy, _) = Instance::load_blocking(&workers, policy(by, source));
        let answer = think(&policy);
        let by_itself = answer.by == AnsweredBy::Engine;
        let code = answer.result.map(|_| ()).map_err(|error| error.code);
        if code != expected || by_itself != !matches!(by, Process) {
            wrong.push(format!("{name}: {code:?}, answered by itself: {by_itself}"));
        }
        assert_eq!(think(&neighbour).result.expect("the neighbour thinks").intents, [thoughts]);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    drop(neighbour);
    while children().len() > SPARE_WORKERS {
        std::thread::yield_now();
    }
}
