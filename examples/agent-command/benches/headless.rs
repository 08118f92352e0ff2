//! How fast matches run without a host: ticks of matches between bots, an observation and a view.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a benchmark that cannot run has to stop")]

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Headless, SIDES, all_sections, setup};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use playerthree_game::{Seat, ViewKind};
use std::hint::black_box;

/// Whole matches, short ones and long ones.
const SEEDS: std::ops::Range<u32> = 0..8;

fn play(seed: u32, teams: &[&str], ticks: u64) -> Headless {
    let mut game = Headless::new(&setup(seed, teams, None), |_| "veteran");
    while game.game.tick() < ticks && !game.is_over() {
        game.step();
    }
    game
}

fn ticks(c: &mut Criterion) {
    let mut group = c.benchmark_group("ticks of whole matches");
    group.sample_size(10);
    for teams in [&SIDES[..2], &SIDES[..]] {
        let all = || SEEDS.map(|seed| play(seed, teams, u64::MAX).game.tick()).sum::<u64>();
        group.throughput(Throughput::Elements(all()));
        group.bench_function(format!("{} sides", teams.len()), |b| b.iter(all));
    }
    group.finish();
}

fn showing(c: &mut Criterion) {
    let game = play(7, &SIDES[..2], 1_000).game;
    assert_eq!(game.tick(), 1_000, "the match is in its middle");
    let seat = Seat::new("red", "ground");
    let mut group = c.benchmark_group("showing");
    group.bench_function("observe in own detail", |b| {
        b.iter(|| black_box(game.observe(&seat, 990, &["ground".into()])));
    });
    group.bench_function("observe in full", |b| {
        let all = all_sections();
        b.iter(|| black_box(game.observe(&seat, 990, &all)));
    });
    group.bench_function("view", |b| b.iter(|| black_box(game.view("red", ViewKind::Periodic))));
    group.bench_function("step", |b| {
        b.iter_batched(
            || game.clone_match().unwrap(),
            |mut copy| copy.step(),
            criterion::BatchSize::SmallInput,
        );
    });
    group.finish();
}

criterion_group!(benches, ticks, showing);
criterion_main!(benches);
