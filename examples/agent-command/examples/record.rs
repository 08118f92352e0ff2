//! Records one side's view of every tick of a game between bots, a JSON value a line, for the delta benchmark:
//! `cargo run --release --example record -- --ticks 600`.

#![allow(clippy::print_stdout, reason = "the lines are this program's whole purpose")]

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Headless, setup};
use playerthree_game::ViewKind;

/// Ticks recorded when nobody says how many.
const DEFAULT_TICKS: u32 = 600;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let ticks = match words.as_slice() {
        [] => Some(DEFAULT_TICKS),
        [flag, count] if flag == "--ticks" => count.parse().ok(),
        _ => None,
    };
    let Some(ticks) = ticks else {
        println!("usage: record [--ticks N]");
        return;
    };
    let mut game = Headless::new(&setup(7, &["red", "blue"], None), |_| "veteran");
    println!("{}", game.game.view("red", ViewKind::Snapshot));
    for _ in 0..ticks {
        game.step();
        println!("{}", game.game.view("red", ViewKind::Periodic));
    }
}
