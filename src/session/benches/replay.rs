//! What it costs to play a replay of agent-command again, and to move about in one (goal: 2,000 times real time on one
//! core, which at ten ticks a second is 20,000 ticks a second).
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, reason = "a benchmark fails by panicking")]

#[path = "../tests/common/mod.rs"]
mod common;

use common::{config, surface, tick};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use playerthree_agent_command::AgentCommand;
use playerthree_session::{Config, Match, Replay, Surface, Timeline, replay_match};
use std::hint::black_box;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Ticks of the recorded match: five minutes of it.
const TICKS: u64 = 3_000;

/// A duel between the game's best bots, up to its end or to `TICKS`.
fn recorded() -> (Arc<Surface>, Replay) {
    let surface = surface(AgentCommand);
    let teams = Some(vec!["red".into(), "blue".into()]);
    let bots = surface.manifest.opponents.last().cloned();
    let mut game = Match::new(Arc::clone(&surface), Config { teams, bots, ..config() }, 0).unwrap();
    while game.tick() < TICKS && !game.is_over() {
        let now = game.tick() * 100;
        tick(&mut game, now);
    }
    let replay = game.replay().unwrap();
    (surface, Replay::read(&game.surface().clone(), &replay.to_text()).unwrap())
}

fn replaying(criterion: &mut Criterion) {
    let (surface, replay) = recorded();
    let text = replay.to_text();
    let mut go_on = |_| ControlFlow::Continue(());
    let mut group = criterion.benchmark_group("replay");
    group.sample_size(10);
    group.throughput(Throughput::Elements(replay.ticks()));
    group.bench_function("ticks played again", |bench| {
        bench.iter(|| {
            black_box(replay_match(&surface, &replay, replay.ticks(), None, &mut go_on).unwrap().tick())
        });
    });
    group.throughput(Throughput::Elements(replay.entries().len() as u64));
    group.bench_function("entries read and judged", |bench| {
        bench.iter(|| black_box(Replay::read(&surface, &text).unwrap().ticks()));
    });
    group.finish();
}

fn seeking(criterion: &mut Criterion) {
    let (surface, replay) = recorded();
    let mut go_on = |_| ControlFlow::Continue(());
    let (early, late) = (replay.ticks() / 2 - 1, replay.ticks() - 1);
    let mut group = criterion.benchmark_group("seek back to the middle");
    group.sample_size(10);
    let mut timeline = Timeline::default();
    timeline.seek(&surface, &replay, late, &mut go_on).unwrap();
    group.bench_function("with checkpoints", |bench| {
        bench.iter(|| {
            // One tick forwards, and one back: the cursor is past the target then, and the nearest checkpoint 498 ticks before.
            timeline.seek(&surface, &replay, early, &mut go_on).unwrap();
            black_box(timeline.seek(&surface, &replay, early - 1, &mut go_on).unwrap().tick())
        });
    });
    group.bench_function("without", |bench| {
        bench.iter(|| black_box(replay_match(&surface, &replay, early, None, &mut go_on).unwrap().tick()));
    });
    group.finish();
}

criterion_group!(benches, replaying, seeking);
criterion_main!(benches);
