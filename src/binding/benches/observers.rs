//! What observers cost: a tick whose frames are kept, and a frame on its way to its readers.
//!
//! `cargo bench -p playerthree-binding`. The readers are clients in memory that read what they are sent, so what they do
//! is in the figures of the group `a tick with readers`.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, reason = "a benchmark fails by panicking")]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use playerthree_agent_command::AgentCommand;
use playerthree_binding::{GameRooms, Matches};
use playerthree_host::{Accounts, Agents, POLICY_PLACES, PolicyPlaces};
use playerthree_rooms::testing::{TestClient, TestServer, guest};
use playerthree_rooms::{AuthRequest, Config as RoomsConfig, Method, Server};
use playerthree_sandbox::Workers;
use playerthree_session::{Config, FrameKey, Match, ObserverPerspective, ObserverPolicy, Surface};
use serde_json::{Value, json};
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

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

/// A room with so many observers who are not late.
struct Stage {
    runtime: Runtime,
    _server: TestServer,
    _player: TestClient,
    observers: Vec<TestClient>,
}

impl Stage {
    fn new(readers: usize) -> Self {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        let (server, player, observers) = runtime.block_on(Self::fill(readers));
        Self { runtime, _server: server, _player: player, observers }
    }

    async fn fill(readers: usize) -> (TestServer, TestClient, Vec<TestClient>) {
        let accounts = Arc::new(Accounts::default());
        let places = PolicyPlaces::new(POLICY_PLACES, Workers::of_this_program());
        let agents = Arc::new(Agents::new(places.clone()));
        let surface = Arc::new(Surface::new(Arc::new(AgentCommand)).unwrap());
        let rooms = GameRooms::new(surface, Arc::clone(&accounts), agents, Matches::default(), places);
        let server = Server::builder(RoomsConfig::default()).define("duel", rooms).build().unwrap();
        let server = TestServer::new(server);
        let person = |options: Value| {
            let (token, _) = accounts.login("Ann").unwrap();
            AuthRequest { token: Some(token.reveal().to_owned()), ..guest(options) }
        };
        let duel = json!({ "teams": ["red", "blue"], "bots": "commander", "private": true,
            "observerDelayMs": 0, "seed": 7 });
        let mut player = server.join_as(Method::Create, "duel", person(duel)).await.unwrap();
        let room = player.room_id().to_string();
        let mut observers = Vec::new();
        for seq in 0..readers {
            let invite = json!({ "op": "inviteObserver", "seq": seq });
            player.send("playerthree:inviteObserver", &invite).await;
            let ticket = loop {
                if let playerthree_rooms::testing::Received::Message(kind, body) = player.next().await
                    && kind == "playerthree:result"
                {
                    break body["data"]["ticket"].clone();
                }
            };
            let seat = person(json!({ "as": "observer", "ticket": ticket }));
            observers.push(server.join_as(Method::JoinById, &room, seat).await.unwrap());
            // Invitations have a rate.
            tokio::time::sleep(Duration::from_millis(60)).await;
        }
        for observer in &mut observers {
            observer.send("playerthree:observer", &json!({ "perspective": "all" })).await;
        }
        (server, player, observers)
    }

    /// The time that so many ticks take with everything that they lead to.
    fn ticks(&mut self, ticks: u64) -> Duration {
        let began = Instant::now();
        let while_they_pass = {
            let _timers = self.runtime.enter();
            tokio::time::sleep(Duration::from_millis(TICK * ticks))
        };
        self.runtime.block_on(while_they_pass);
        let spent = began.elapsed();
        for observer in &mut self.observers {
            black_box(self.runtime.block_on(observer.rest()));
        }
        spent
    }
}

fn fanning_out(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("a tick with readers");
    group.sample_size(10);
    for readers in [0, 1, 100, 900] {
        let mut stage = Stage::new(readers);
        group.bench_with_input(BenchmarkId::from_parameter(readers), &readers, |bencher, _| {
            bencher.iter_custom(|ticks| stage.ticks(ticks));
        });
    }
    group.finish();
}

criterion_group!(benches, recording, reading, fanning_out);
criterion_main!(benches);
