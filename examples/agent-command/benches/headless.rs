//! How fast matches run without a host: ticks of matches between bots, an observation and a view.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a benchmark that cannot run has to stop")]

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Headless, SIDES, all_sections, setup};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use playerthree_game::{Seat, ViewKind};
use std::hint::black_box;

/// Enough for both sides to have armies that meet.
const TICKS: u64 = 2_000;

fn play(teams: &[&str], ticks: u64) -> Headless {
    let mut game = Headless::new(&setup(7, teams, None), |_| "veteran");
    while game.game.tick() < ticks && !game.is_over() {
        game.step();
    }
    game
}

fn ticks(c: &mut Criterion) {
    let mut group = c.benchmark_group("ticks");
    group.sample_size(20);
    for teams in [&SIDES[..2], &SIDES[..]] {
        let played = play(teams, TICKS).game.tick();
        group.throughput(Throughput::Elements(played));
        group.bench_function(format!("{} sides", teams.len()), |b| b.iter(|| play(teams, TICKS)));
    }
    group.finish();
}

fn showing(c: &mut Criterion) {
    let game = play(&SIDES[..2], 1_500).game;
    let seat = Seat::new("red", "ground");
    let mut group = c.benchmark_group("showing");
    group.bench_function("observe in own detail", |b| {
        b.iter(|| black_box(game.observe(&seat, 1_490, &["ground".into()])));
    });
    group.bench_function("observe in full", |b| {
        let all = all_sections();
        b.iter(|| black_box(game.observe(&seat, 1_490, &all)));
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
