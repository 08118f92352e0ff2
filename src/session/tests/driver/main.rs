//! Thousands of seeded operations on one match, against a model of what must hold whatever anybody does (§§4 to 10, 12,
//! 22): authority, one final outcome a side, messages once and in their own lane, bounded boards, waits that end once.
//!
//! A failure prints its seed and the plan up to the operation that broke the rule, one operation a line. Written to a
//! file and named by `PLAN`, it is replayed.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::cast_possible_truncation,
    reason = "a test fails by panicking, and the numbers of a plan are small"
)]

#[path = "../common/mod.rs"]
mod common;
mod driver;
mod model;
mod plan;

use driver::Driver;
use plan::{Op, Plan};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Operations of one plan.
const OPS: usize = 1_600;

/// Carries a plan out. On a broken rule: the operations up to it, so that they can be tried again.
fn run(ops: &[Op]) -> Result<Driver, String> {
    let mut driver = Driver::new();
    for (done, op) in ops.iter().enumerate() {
        if catch_unwind(AssertUnwindSafe(|| driver.apply(op))).is_err() {
            let lines: Vec<String> =
                ops[..=done].iter().map(|op| serde_json::to_string(op).unwrap()).collect();
            return Err(lines.join("\n"));
        }
    }
    Ok(driver)
}

fn check(seed: u64, ops: &[Op]) -> Driver {
    run(ops).unwrap_or_else(|plan| panic!("a rule broke, seed {seed}; the plan:\n{plan}"))
}

/// §§4 to 10, 12, 22: the rules hold under whatever order of operations.
#[test]
fn the_rules_hold_for_every_order_of_operations() {
    if let Ok(file) = std::env::var("PLAN") {
        let text = std::fs::read_to_string(file).unwrap();
        let ops: Vec<Op> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        check(0, &ops);
        return;
    }
    let mut seen = driver::Seen::default();
    for seed in 1..=4 {
        let ops: Vec<Op> = Plan::new(seed).take(OPS).collect();
        seen += check(seed, &ops).seen;
    }
    // A driver that never gets anywhere proves nothing.
    seen.assert_broad();
}

/// The driver is the judge here: it must see a rule that is broken.
#[test]
fn a_broken_rule_is_seen_and_its_plan_is_printed() {
    let mut ops: Vec<Op> = Plan::new(1).take(400).collect();
    ops.push(Op::BreakARule);
    let plan = run(&ops).err().expect("seen");
    assert_eq!(plan.lines().count(), ops.len());
    assert!(plan.ends_with("\"BreakARule\""));
}
