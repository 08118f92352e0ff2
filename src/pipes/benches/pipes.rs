//! Verified events a second, and appended events a second with a sync before each acknowledgement, beside the rate at
//! which the same disk syncs a write of the same size by itself.
//!
//! Both are measured in turns of a fraction of a second, since a disk that others use changes its pace from one second to
//! the next. They compare only on an idle machine: on busy cores a thread that wakes after its sync waits for a core, for
//! up to a time slice, which can be ten times the sync. That wait falls on a lone thread rather than on a pool, and then
//! one writer seems faster than the raw rate. The fastest tenth of the raw syncs shows what the disk itself takes.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot set up has nothing else to do")]
#![allow(missing_docs, reason = "criterion's macros make undocumented items")]
#![allow(clippy::print_stdout, reason = "the table is what the benchmark is for")]

use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group};
use playerthree_pipes::canonical::event_hash;
use playerthree_pipes::verify::{Request, verify};
use playerthree_pipes::{Config, InboxKind, Incoming, Pipes, Rate, Writer};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

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

/// Turns of each measurement.
const TURNS: usize = 60;
/// Syncs, or posts of each writer, in one turn.
const IN_A_TURN: usize = 20;

/// An inbox without bounds, and how many bytes one of its rows takes.
struct Target {
    pipes: Arc<Pipes>,
    writer: Writer,
    body: Bytes,
    row_bytes: usize,
}

impl Target {
    fn open(runtime: &Runtime, dir: &Path) -> Self {
        let mut config = Config::new(dir);
        config.limits.anonymous_captures = u64::MAX;
        config.limits.post_rate = Rate { per_second: u32::MAX, burst: u32::MAX };
        let pipes = Pipes::open(config).unwrap();
        let opened = runtime.block_on(pipes.open_inbox(InboxKind::Anonymous)).unwrap();
        let writer = runtime.block_on(pipes.writer(opened.capture_token.reveal())).unwrap();
        let target = Self { pipes, writer, body: Bytes::from("x".repeat(300)), row_bytes: 0 };
        target.append(runtime, 1, 1);
        let rows = dir.join(format!("{}.jsonl", opened.inbox.id()));
        Self { row_bytes: std::fs::metadata(rows).unwrap().len().try_into().unwrap(), ..target }
    }

    /// How long so many writers take for so many posts each.
    fn append(&self, runtime: &Runtime, writers: usize, posts: usize) -> Duration {
        let begun = Instant::now();
        runtime.block_on(async {
            let tasks = (0..writers).map(|_| {
                let (pipes, writer, body) = (self.pipes.clone(), self.writer.clone(), self.body.clone());
                tokio::spawn(async move {
                    for _ in 0..posts {
                        let post = Incoming { body: body.clone(), ..Incoming::default() };
                        pipes.post(&writer, post).await.unwrap();
                    }
                })
            });
            for task in tasks.collect::<Vec<_>>() {
                task.await.unwrap();
            }
        });
        begun.elapsed()
    }
}

/// How long each of some writes took, synced before the next.
fn sync(file: &mut File, row: &[u8]) -> Vec<Duration> {
    let each = (0..IN_A_TURN).map(|_| {
        let begun = Instant::now();
        file.write_all(row).unwrap();
        file.sync_data().unwrap();
        begun.elapsed()
    });
    each.collect()
}

/// Prints, for each number of writers, both rates over the same turns, and the rate of the fastest tenth of the syncs.
fn appended() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    println!("{:>8} {:>12} {:>12} {:>14}", "writers", "appends/s", "raw syncs/s", "fastest tenth");
    for writers in [1_usize, 16, 128] {
        let _guard = runtime.enter();
        let target = Target::open(&runtime, &dir.path().join(writers.to_string()));
        let mut raw = File::create(dir.path().join(format!("raw-{writers}"))).unwrap();
        let row = vec![b'x'; target.row_bytes];
        let (mut appending, mut syncs) = (Duration::ZERO, Vec::new());
        for _ in 0..TURNS {
            syncs.extend(sync(&mut raw, &row));
            appending += target.append(&runtime, writers, IN_A_TURN);
        }
        syncs.sort_unstable();
        let appends = (TURNS * IN_A_TURN * writers) as f64 / appending.as_secs_f64();
        let raw = syncs.len() as f64 / syncs.iter().sum::<Duration>().as_secs_f64();
        let fastest = 1.0 / syncs[syncs.len() / 10].as_secs_f64();
        println!("{writers:>8} {appends:>12.0} {raw:>12.0} {fastest:>14.0}");
    }
}

criterion_group!(benches, verified);

fn main() {
    benches();
    Criterion::default().configure_from_args().final_summary();
    // Without this flag the program is only tried out, as tests do.
    if std::env::args().any(|argument| argument == "--bench") {
        appended();
    }
}
