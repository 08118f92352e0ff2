//! WebAssembly policies that mean harm or are broken, each with its exact code (§11).

mod support;

use playerthree_sandbox::{PolicyErrorCode, Runtime, Setup};
use support::{limits, load, run, setup, think, wasm};

/// The parts of an honest module.
const MEMORY: &str = r#"(memory (export "memory") 1 4)"#;
const ALLOC: &str = r#"(func (export "alloc") (param i32) (result i32) (i32.const 1024))"#;
const THINK: &str =
    r#"(data (i32.const 0) "[]") (func (export "think") (param i32 i32) (result i64) (i64.const 2))"#;

fn module(parts: &[&str]) -> Setup {
    wasm(&format!("(module {})", parts.join("\n")))
}

fn code(parts: &[&str]) -> Result<String, PolicyErrorCode> {
    run(module(parts))
}

/// Checks modules that are honest but for `parts`.
fn check(expected: PolicyErrorCode, cases: &[&[&str]]) {
    for parts in cases {
        let mut policy = module(parts);
        if expected == PolicyErrorCode::Timeout {
            policy.limits.ms_per_call = 20;
        }
        assert_eq!(run(policy), Err(expected), "{parts:?}");
    }
}

fn thinking(body: &str) -> String {
    format!(r#"(func $think (export "think") (param i32 i32) (result i64) {body})"#)
}

#[test]
fn the_honest_parts_make_a_policy() {
    assert_eq!(code(&[MEMORY, ALLOC, THINK]).as_deref(), Ok("[]"));
    assert_eq!(code(&[MEMORY, ALLOC, THINK, "(table 1 65536 funcref)"]).as_deref(), Ok("[]"));
    let import = r#"(import "env" "log" (func (param i32 i32)))"#;
    assert_eq!(code(&[import, import, MEMORY, ALLOC, THINK]).as_deref(), Ok("[]"));
}

// §11: work past the CPU budget fails timeout: in think, in init, in alloc, in start.
#[test]
fn endless_work_times_out() {
    let forever = thinking("(loop $l (br $l)) unreachable");
    let recursive = thinking("(loop $l (drop (call $f)) (br $l)) unreachable");
    let fill =
        thinking("(loop $l (memory.fill (i32.const 0) (i32.const 1) (i32.const 65536)) (br $l)) unreachable");
    let grow = thinking("(loop $l (drop (memory.grow (i32.const 0))) (br $l)) unreachable");
    check(
        PolicyErrorCode::Timeout,
        &[
            &[MEMORY, ALLOC, &forever],
            &[MEMORY, ALLOC, "(func $f (result i32) (i32.const 1))", &recursive],
            &[MEMORY, ALLOC, &fill],
            &[MEMORY, ALLOC, &grow],
            &[MEMORY, ALLOC, THINK, r#"(func (export "init") (param i32 i32) (loop $l (br $l)))"#],
            &[
                MEMORY,
                THINK,
                r#"(func (export "alloc") (param i32) (result i32) (loop $l (br $l)) unreachable)"#,
            ],
            &[MEMORY, ALLOC, THINK, "(func $s (loop $l (br $l))) (start $s)"],
            &[
                r#"(import "env" "log" (func $log (param i32 i32)))"#,
                MEMORY,
                ALLOC,
                &thinking("(loop $l (call $log (i32.const 0) (i32.const 9)) (br $l)) unreachable"),
            ],
        ],
    );
}

// §11: traps are the policy's own failure.
#[test]
fn traps_are_reported() {
    check(
        PolicyErrorCode::Threw,
        &[
            &[MEMORY, ALLOC, &thinking("unreachable")],
            &[MEMORY, ALLOC, &thinking("(i64.div_s (i64.const 1) (i64.const 0))")],
            &[MEMORY, ALLOC, &thinking("(i64.load (i32.const -1))")],
            &[
                MEMORY,
                ALLOC,
                &thinking(
                    "(call $think (local.get 0) (local.get 1)) (drop) (call $think (local.get 0) (local.get 1))",
                ),
            ],
            &[MEMORY, ALLOC, THINK, "(func $s unreachable) (start $s)"],
            &[MEMORY, ALLOC, THINK, r#"(func (export "init") (param i32 i32) unreachable)"#],
            &[MEMORY, THINK, r#"(func (export "alloc") (param i32) (result i32) unreachable)"#],
            &[MEMORY, ALLOC, THINK, r#"(data (i32.const 65535) "ab")"#],
            &[
                r#"(import "env" "log" (func $log (param i32 i32)))"#,
                MEMORY,
                ALLOC,
                &thinking("(call $log (i32.const -1) (i32.const -1)) (i64.const 2)"),
            ],
        ],
    );
}

// Field report U91: growth past the limit is refused, and the failure that follows is memory_limit, not a crash.
#[test]
fn too_much_memory_is_refused() {
    let big = r#"(memory (export "memory") 1 65536)"#;
    let insist = thinking(
        "(if (i32.eq (memory.grow (i32.const 1000)) (i32.const -1)) (then unreachable)) (i64.const 2)",
    );
    let initial = r#"(memory (export "memory") 1000 1000)"#;
    check(PolicyErrorCode::MemoryLimit, &[&[big, ALLOC, &insist], &[initial, ALLOC, THINK]]);
    let accept = format!(
        "{} {}",
        r#"(data (i32.const 0) "[]")"#,
        thinking("(drop (memory.grow (i32.const 1000))) (i64.const 2)")
    );
    assert_eq!(code(&[big, ALLOC, &accept]).as_deref(), Ok("[]"));
}

// §11: tables have 65536 entries together, and growth stops at a table's maximum.
#[test]
fn tables_are_bounded() {
    check(
        PolicyErrorCode::BadModule,
        &[
            &[MEMORY, ALLOC, THINK, "(table 1 funcref)"],
            &[MEMORY, ALLOC, THINK, "(table 1 65537 funcref)"],
            &[MEMORY, ALLOC, THINK, "(table 65537 65537 funcref)"],
            &[MEMORY, ALLOC, THINK, "(table 1 65536 funcref) (table 1 1 funcref)"],
            &[MEMORY, ALLOC, THINK, "(table i64 1 1 funcref)"],
        ],
    );
    let grow = thinking(
        "(if (i32.ne (table.grow (ref.null func) (i32.const 65535)) (i32.const 1)) (then unreachable))
         (if (i32.ne (table.grow (ref.null func) (i32.const 1)) (i32.const -1)) (then unreachable)) (i64.const 2)",
    );
    let parts = [MEMORY, ALLOC, r#"(data (i32.const 0) "[]")"#, "(table 1 65536 funcref)", &grow];
    assert_eq!(code(&parts).as_deref(), Ok("[]"));
}

// §11: regions and outputs are checked.
#[test]
fn unreadable_outputs_are_refused() {
    let returning = |pointer: u64, length: u64| {
        thinking(&format!("(i64.const {})", ((pointer << 32) | length).cast_signed()))
    };
    let saying = |json: &str| format!(r#"(data (i32.const 0) "{json}") {}"#, returning(0, 8));
    let cases = [
        returning(0, 0),
        returning(65_536, 1),
        returning(0xffff_ffff, 0xffff_ffff),
        returning(0, 65_537),
        returning(0, 8),
        saying("{}      "),
        saying("[1] [2] "),
        saying("[NaN]   "),
        saying("[1e999] "),
        saying("[\\22\\ff\\22]    "),
        saying("[\\22\\5cud800\\22]"),
    ];
    for think in &cases {
        check(PolicyErrorCode::BadOutput, &[&[MEMORY, ALLOC, think]]);
    }
    for pointer in ["-1", "65536", "65530"] {
        let alloc = format!(r#"(func (export "alloc") (param i32) (result i32) (i32.const {pointer}))"#);
        check(PolicyErrorCode::BadOutput, &[&[MEMORY, &alloc, THINK]]);
    }
}

// §11: an absent entry point is missing_export; one of another signature is bad_module.
#[test]
fn entry_points_are_checked() {
    check(
        PolicyErrorCode::MissingExport,
        &[
            &[],
            &[ALLOC, THINK, r#"(memory 1 1)"#],
            &[MEMORY, ALLOC],
            &[MEMORY, THINK],
            &[MEMORY, ALLOC, r#"(global (export "think") i32 (i32.const 0))"#],
            &[ALLOC, THINK, MEMORY.replace("\"memory\"", "\"mem\"").as_str()],
        ],
    );
    check(
        PolicyErrorCode::BadModule,
        &[
            &[MEMORY, ALLOC, r#"(func (export "think") (param i32) (result i64) (i64.const 2))"#],
            &[MEMORY, ALLOC, r#"(func (export "think") (param i32 i32) (result i32) (i32.const 2))"#],
            &[MEMORY, ALLOC, r#"(func (export "think") (param i32 i64) (result i64) (i64.const 2))"#],
            &[MEMORY, THINK, r#"(func (export "alloc") (param i32))"#],
            &[MEMORY, ALLOC, THINK, r#"(func (export "init"))"#],
            &[MEMORY, ALLOC, THINK, r#"(func (export "init") (param i32 i32) (result i32) (i32.const 0))"#],
        ],
    );
}

// §11: the only import is env.log(i32, i32) -> ().
#[test]
fn other_imports_are_refused() {
    for import in [
        r#"(import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32)))"#,
        r#"(import "env" "now" (func (result i64)))"#,
        r#"(import "env" "log" (func (param i32)))"#,
        r#"(import "env" "log" (func (param i32 i32) (result i32)))"#,
        r#"(import "env" "log" (global i32))"#,
        r#"(import "ENV" "log" (func (param i32 i32)))"#,
        r#"(import "env" "table" (table 1 1 funcref))"#,
    ] {
        check(PolicyErrorCode::ImportsNotAllowed, &[&[import, MEMORY, ALLOC, THINK]]);
    }
    let memory = r#"(import "env" "memory" (memory 1 1)) (export "memory" (memory 0))"#;
    check(PolicyErrorCode::ImportsNotAllowed, &[&[memory, ALLOC, THINK]]);
}

// §11: shared, 64-bit and unbounded memories and GC heap types are forbidden.
#[test]
fn forbidden_features_are_bad_modules() {
    for memory in [
        r#"(memory (export "memory") 1)"#,
        r#"(memory (export "memory") 1 1 shared)"#,
        r#"(memory (export "memory") i64 1 1)"#,
        r#"(memory (export "memory") 1 1) (memory 1 1)"#,
        r#"(memory (export "memory") 1 1 (pagesize 1))"#,
    ] {
        check(PolicyErrorCode::BadModule, &[&[memory, ALLOC, THINK]]);
    }
    for feature in [
        "(type (struct (field i32)))",
        "(type (array i8))",
        "(func (param externref))",
        "(func (param anyref))",
        "(tag)",
        "(func (drop (i32x4.relaxed_trunc_f32x4_s (v128.const i64x2 0 0))))",
        "(func (drop (i32.atomic.load (i32.const 0))))",
    ] {
        check(PolicyErrorCode::BadModule, &[&[MEMORY, ALLOC, THINK, feature]]);
    }
    let component = wat::parse_str("(component)").unwrap();
    assert_eq!(run(setup(Runtime::Wasm, &component, limits())), Err(PolicyErrorCode::BadModule));
}

// §11: bytes that are no module do not compile; a module cut anywhere is refused and never crashes.
#[test]
fn truncated_modules_are_refused() {
    for bytes in [
        &b""[..],
        b"\0asm",
        b"\0asm\x01\0\0",
        b"\0asm\x02\0\0\0",
        b"function think() {}",
        b"\0asm\x01\0\0\0\x01\xff\xff\xff\xff\x0f",
    ] {
        assert_eq!(run(setup(Runtime::Wasm, bytes, limits())), Err(PolicyErrorCode::Compile), "{bytes:?}");
    }
    let whole = wat::parse_str(format!("(module {MEMORY} {ALLOC} {THINK})")).unwrap();
    for length in 0..whole.len() {
        // Cut between two sections, a module is whole but lacks an export or the data that holds its output.
        use PolicyErrorCode::{BadOutput, Compile, MissingExport};
        let refused = run(setup(Runtime::Wasm, &whole[..length], limits())).unwrap_err();
        assert!(matches!(refused, Compile | MissingExport | BadOutput), "{length}: {refused}");
    }
}

// §11: WASM size is measured in decoded bytes, custom sections included.
#[test]
fn an_oversized_module_is_too_large() {
    let padded = |bytes: usize| {
        let mut policy =
            wasm(&format!(r#"(module {MEMORY} {ALLOC} {THINK} (@custom "x" "{}"))"#, "x".repeat(bytes)));
        policy.limits.ms_per_call = 1000;
        run(policy)
    };
    assert!(padded(100_000).is_ok());
    assert_eq!(padded(200_000), Err(PolicyErrorCode::TooLarge));
}

// Field report U91: a trap leaves the instance alive; a memory refusal that fails a call ends it.
#[test]
fn only_timeouts_and_memory_refusals_end_an_instance() {
    let (policy, _) = load(wasm(&format!("(module {MEMORY} {ALLOC} {})", thinking("unreachable"))));
    for _ in 0..2 {
        assert_eq!(think(&policy).result.unwrap_err().code, PolicyErrorCode::Threw);
        assert!(!policy.is_dead());
    }
    let greedy = thinking("(drop (memory.grow (i32.const 1000))) unreachable");
    let (policy, _) = load(wasm(&format!(r#"(module (memory (export "memory") 1 65536) {ALLOC} {greedy})"#)));
    for _ in 0..2 {
        assert_eq!(think(&policy).result.unwrap_err().code, PolicyErrorCode::MemoryLimit);
        assert!(policy.is_dead());
    }
}

// §11: the same artifact and inputs give the same bits, NaN included.
#[test]
fn nan_bits_are_the_same_everywhere() {
    let bits = thinking(
        "(if (i64.ne (i64.reinterpret_f64 (f64.div (f64.const 0) (f64.const 0))) (i64.const 0x7ff8000000000000))
             (then unreachable)) (i64.const 2)",
    );
    assert_eq!(code(&[MEMORY, ALLOC, r#"(data (i32.const 0) "[]")"#, &bits]).as_deref(), Ok("[]"));
}
