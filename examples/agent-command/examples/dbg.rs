#![allow(warnings)]
#[path = "../tests/common/mod.rs"]
mod common;
use common::*;
use playerthree_game::Outcome;
fn main() {
    let mut w = [0; 3];
    let mut loss = vec![];
    for seed in 0..20 {
      for flip in [false, true] {
        let mut g = Headless::new(&setup(seed, &["red", "blue"], None), |t| if (t == "red") != flip { "commander" } else { "veteran" });
        let me = if flip { "blue" } else { "red" };
        let mut log = String::new();
        while !g.is_over() { g.step();
            if g.game.tick() % 600 == 0 { for t in ["red","blue"] { let r = g.game.report(t); log += &format!("[{}{} g{} p{} l{} u{} b{} a{}] ", g.game.tick(), if t==me {"*"} else {""}, r["gathered"], r["produced"], r["lost"], r["units"], r["buildings"], r["alloy"]); } }
        }
        match g.game.outcome(me) { Outcome::Win => w[0] += 1, Outcome::Loss => { w[1] += 1; loss.push(log); }, _ => w[2] += 1 }
      }
    }
    for l in loss.iter().take(5) { println!("{l}"); }
    println!("{w:?}");
}
