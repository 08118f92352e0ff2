//! Verified events a second, and appended events a second with a sync before each acknowledgement, beside the rate at
//! which the same disk syncs a small write by itself.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot set up has nothing else to do")]
#![allow(missing_docs, reason = "criterion's macros make undocumented items")]

use std::hint::black_box;
use std::io::Write;
use std::time::{Duration, Instant};

use bytes::Bytes;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use playerthree_pipes::canonical::event_hash;
use playerthree_pipes::verify::{Request, verify};
use playerthree_pipes::{Config, InboxKind, Incoming, Pipes, Rate};
use serde_json::{Value, json};

const GAMES: usize = 5_000;

/// Games of the center-out opening that X wins in seven moves.
fn log() -> (String, u64) {
    let moves = [(1, 1), (0, 1), (0, 0), (2, 2), (1, 0), (2, 0), (1, 2)];
    let mut log = String::new();
    let mut seq = 0_u64;
    for game in 0..GAMES {
        let mut tip = String::new();
        for at in 0..=moves.len() {
            let player = if at > 0 && at % 2 == 0 { "O" } else { "X" };
            let mut event = json!({"game": format!("g{game}"), "seq": at, "prevHash": tip, "player": player});
            if at == 0 {
                event["action"] = json!("start");
                event["protocol"] = json!("flurryport:tic-tac-toe");
                event["rules"] = json!({"rows": 3, "cols": 3, "winLength": 3});
            } else {
                event["action"] = json!("move");
                event["move"] = json!({"row": moves[at - 1].0, "col": moves[at - 1].1});
            }
            event["status"] = json!(if at == moves.len() { "win" } else { "in_progress" });
            let body = event.to_string();
            tip = event_hash(body.as_bytes()).unwrap();
            seq += 1;
            let row: Value =
                json!({"Seq": seq, "Id": format!("c{seq}"), "MatchedSigningRef": null, "Body": body});
            log.push_str(&format!("{row}\n"));
        }
    }
    (log, seq)
}

fn verified(c: &mut Criterion) {
    let (log, events) = log();
    assert!(verify(log.as_bytes(), Request::default()).unwrap().is_valid());
    let mut group = c.benchmark_group("verify");
    group.throughput(Throughput::Elements(events)).sample_size(20);
    group.bench_function("events", |b| {
        b.iter(|| verify(black_box(log.as_bytes()), Request::default()).unwrap());
    });
    group.finish();
}

fn appended(c: &mut Criterion) {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let body = Bytes::from("x".repeat(300));
    let mut group = c.benchmark_group("append");
    group.throughput(Throughput::Elements(1)).sample_size(10).measurement_time(Duration::from_secs(5));
    let mut file = std::fs::File::create(dir.path().join("raw")).unwrap();
    group.bench_function("raw-fsync", |b| {
        b.iter(|| {
            file.write_all(&body).unwrap();
            file.sync_data().unwrap();
        });
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    for writers in [1_usize, 16, 128] {
        let mut config = Config::new(dir.path().join(writers.to_string()));
        config.limits.anonymous_captures = u64::MAX;
        config.limits.post_rate = Rate { per_second: u32::MAX, burst: u32::MAX };
        let _guard = runtime.enter();
        let pipes = Pipes::open(config).unwrap();
        let opened = runtime.block_on(pipes.open_inbox(InboxKind::Anonymous)).unwrap();
        let writer = runtime.block_on(pipes.writer(opened.capture_token.reveal())).unwrap();
        group.bench_function(BenchmarkId::new("writers", writers), |b| {
            b.iter_custom(|posts| {
                let share = posts.div_ceil(writers as u64);
                let begun = Instant::now();
                runtime.block_on(async {
                    let tasks: Vec<_> = (0..writers)
                        .map(|_| {
                            let (pipes, writer, body) = (pipes.clone(), writer.clone(), body.clone());
                            tokio::spawn(async move {
                                for _ in 0..share {
                                    let post = Incoming { body: body.clone(), ..Incoming::default() };
                                    pipes.post(&writer, post).await.unwrap();
                                }
                            })
                        })
                        .collect();
                    for task in tasks {
                        task.await.unwrap();
                    }
                });
                // Writers share the posts in whole numbers; the time is scaled to what was asked for.
                begun.elapsed().mul_f64(posts as f64 / (share * writers as u64) as f64)
            });
        });
    }
    group.finish();
}

criterion_group!(benches, verified, appended);
criterion_main!(benches);
