//! What a writer takes per version, in processor time: other work on the machine does not count.
//!
//! A version is diffed right after a game has made it, so the versions are made anew, a few at a time, in front of each
//! measured stretch; only the stretch counts.

use crate::writers::Writer;
use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;
use std::hint::black_box;

/// Versions made anew in front of a measured stretch: few enough to be in a core's cache, as a new version is.
const FRESH: usize = 4;
/// The processor time to spend on a figure, after half as much to warm up, in microseconds.
const BUDGET_US: f64 = 300_000.0;

/// The processor time of diff and of apply, each in microseconds per version.
pub(crate) fn measure<W: Writer>(versions: &[Value]) -> (f64, f64) {
    let texts: Vec<String> = versions.iter().map(Value::to_string).collect();
    let wires: Vec<Value> = versions.windows(2).map(|pair| W::wire(&W::diff(&pair[0], &pair[1]))).collect();
    (
        per_version(wires.len(), || diff_all::<W>(&texts)),
        per_version(wires.len(), || apply_all::<W>(versions, &wires)),
    )
}

/// The mean of sweeps over all versions until the budget is spent.
fn per_version(versions: usize, mut sweep: impl FnMut() -> f64) -> f64 {
    let mut spend = |budget: f64| {
        let (mut spent, mut sweeps) = (0.0, 0);
        while spent < budget {
            spent += sweep();
            sweeps += 1;
        }
        spent / f64::from(sweeps)
    };
    spend(BUDGET_US / 2.0);
    spend(BUDGET_US) / versions as f64
}

fn diff_all<W: Writer>(texts: &[String]) -> f64 {
    let starts = (0..texts.len() - 1).step_by(FRESH);
    starts
        .map(|start| {
            let fresh: Vec<Value> = texts[start..]
                .iter()
                .take(FRESH + 1)
                .map(|text| serde_json::from_str(text).unwrap())
                .collect();
            timed(|| fresh.windows(2).for_each(|pair| drop(black_box(W::diff(&pair[0], &pair[1])))))
        })
        .sum()
}

fn apply_all<W: Writer>(versions: &[Value], wires: &[Value]) -> f64 {
    let messages: Vec<W::Message> = wires.iter().map(W::arrived).collect();
    let mut document = versions[0].clone();
    let spent = timed(|| {
        let start = std::mem::take(&mut document);
        document = messages.into_iter().fold(start, W::apply);
    });
    assert_eq!(Some(&document), versions.last(), "{} rebuilds the last version", W::NAME);
    spent
}

fn timed(work: impl FnOnce()) -> f64 {
    let now = || {
        let now = clock_gettime(ClockId::ProcessCPUTime);
        now.tv_sec as f64 * 1e6 + now.tv_nsec as f64 / 1e3
    };
    let before = now();
    work();
    now() - before
}
