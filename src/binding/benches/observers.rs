//! What observers cost: a tick whose frames are kept, and a frame on its way to its readers.
//!
//! `cargo bench -p playerthree-binding`. What readers cost over real sockets is measured by `tests/match/fanout.mjs`.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, reason = "a benchmark fails by panicking")]

use criterion::{Criterion, criterion_group, criterion_main};
use playerthree_agent_command::AgentCommand;
use playerthree_session::{Config, FrameKey, Match, ObserverPerspective, ObserverPolicy, Surface};
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

const TICK: u64 = 100;

/// A minute into a duel of bots.
fn battle(observers: ObserverPolicy) -> (Match, u64) {
    let surface = Arc::new(Surface::new(Arc::new(AgentCommand)).unwrap());
    let config = Config {
        teams: Some(vec!["red".into(), "blue".into()]),
        bots: Some("commander".into()),
        observers,
        ..Config::of(7)
    };
    let (mut game, mut now) = (Match::new(surface, config, 0).unwrap(), 0);
    for _ in 0..600 {
        step(&mut game, &mut now);
    }
    (game, now)
}

fn step(game: &mut Match, now: &mut u64) {
    *now += TICK;
    game.begin_round(*now, &|_| None);
    game.end_round(*now);
    game.take_changes();
}

/// A tick that nobody may observe, and one that is kept from every perspective.
fn recording(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("a tick of Agent Command");
    for (name, policy) in
        [("not observed", ObserverPolicy::Closed), ("observed three minutes late", ObserverPolicy::public(0))]
    {
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|ticks| {
                let mut spent = Duration::ZERO;
                let mut left = ticks;
                while left > 0 {
                    // A match of bots ends some time, so each is measured for a minute at most.
                    let (mut game, mut now) = battle(policy);
                    let some = left.min(600);
                    let began = Instant::now();
                    (0..some).for_each(|_| step(&mut game, &mut now));
                    spent += began.elapsed();
                    left -= some;
                }
                spent
            });
        });
    }
    group.finish();
}

/// What is made of a frame once, whoever reads it.
fn reading(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("a frame of Agent Command");
    let (mut game, mut now) = battle(ObserverPolicy::Private(0));
    for _ in 0..100 {
        game.observers_read(now);
        step(&mut game, &mut now);
    }
    let all = ObserverPerspective::All;
    let newest = game.observer_watermark(&all).unwrap();
    for (name, key) in [("delta", FrameKey::Next(newest)), ("keyframe", FrameKey::Keyframe(newest))] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| black_box(game.observer_frame(&all, key).unwrap().into_json()));
        });
    }
    group.finish();
}

criterion_group!(benches, recording, reading);
criterion_main!(benches);
