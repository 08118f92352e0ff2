#![allow(warnings)]
#[path = "../tests/common/mod.rs"]
mod common;
use common::*;
fn main() {
    let mut sums = std::collections::BTreeMap::<String, [i64; 2]>::new();
    for seed in 0..30 {
        let mut g = Headless::new(&setup(seed, &["red", "blue"], None), |_| "veteran");
        for t in 1..=1600 {
            g.step();
            if t % 400 == 0 {
                for (i, s) in ["red", "blue"].iter().enumerate() {
                    let r = g.game.report(s);
                    for k in ["gathered", "produced", "built", "lost", "units", "destroyed"] {
                        sums.entry(format!("{t:05} {k}")).or_default()[i] += r[k].as_i64().unwrap();
                    }
                }
            }
        }
    }
    for (k, v) in sums { println!("{k} {v:?}"); }
}
