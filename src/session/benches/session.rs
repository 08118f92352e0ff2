//! What the rules of a match cost beside the game itself (goals: an accepted intent under 5 microseconds beyond `apply`,
//! an idle seat under 1 microsecond a tick).
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, reason = "a benchmark fails by panicking")]

#[path = "../tests/common/mod.rs"]
mod common;

use common::{agent_command, config};
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use playerthree_game::{
    Bot, CannotCreate, Clock, Context, Game, GameMatch, Manifest, Name, Outcome, Seat, SeatInfo, Setup,
    Source, ViewKind,
};
use playerthree_session::{Ack, Config, Match, Observe, Occupant, OwnerId, Right, Surface};
use serde_json::{Value, json};
use std::hint::black_box;
use std::sync::Arc;

/// The manifest of a real game over a match that does nothing, so that what is measured is the session's.
struct Idle(u16);

struct IdleMatch {
    tick: u64,
}

impl Game for Idle {
    fn manifest(&self) -> Manifest {
        let mut manifest = playerthree_agent_command::AgentCommand.manifest();
        manifest.observation_scope = None;
        manifest.match_data = None;
        manifest.observer = None;
        manifest.signals = None;
        manifest.control.signals = None;
        manifest.control.intents.per_second = 1000.0;
        manifest.control.intents.burst = 10_000;
        manifest.intents.retain(|intent| !intent.name.starts_with("signal"));
        manifest.teams = (0..self.0).map(|team| format!("team{team}").into()).collect();
        manifest.observation =
            playerthree_game::t::obj([("tick", playerthree_game::t::int(0, 2_147_483_647))]);
        manifest.view = manifest.observation.clone();
        manifest.report = manifest.observation.clone();
        manifest
    }

    fn clock(&self) -> Clock {
        Clock::Realtime
    }

    fn create(&self, _: &Setup) -> Result<Box<dyn GameMatch>, CannotCreate> {
        Ok(Box::new(IdleMatch { tick: 0 }))
    }

    fn create_bot(&self, _: &Seat, _: &str) -> Option<Box<dyn Bot>> {
        None
    }
}

impl GameMatch for IdleMatch {
    fn tick(&self) -> u64 {
        self.tick
    }

    fn step(&mut self) {
        self.tick += 1;
    }

    fn outcome(&self, _: &str) -> Outcome {
        Outcome::Running
    }

    fn view(&self, _: &str, _: ViewKind) -> Value {
        json!({ "tick": self.tick })
    }

    fn observe(&self, _: &Seat, _: i64, _: &[Name]) -> Value {
        json!({ "tick": self.tick })
    }

    fn apply(&mut self, _: &Seat, _: &Value, _: &Context) -> Result<(), &'static str> {
        Ok(())
    }

    fn report(&self, _: &str) -> Value {
        json!({ "tick": self.tick })
    }

    fn events(&self, _: &Seat, _: i64) -> Vec<Value> {
        Vec::new()
    }

    fn set_seat_info(&mut self, _: &Seat, _: &SeatInfo) {}
}

fn agent() -> Occupant {
    Occupant::Agent { owner: OwnerId("ann".into()), display: "Ann".into() }
}

/// A match that does nothing, with a present agent in every seat of so many sides.
fn idle(teams: u16) -> Match {
    let surface = Arc::new(Surface::new(Arc::new(Idle(teams))).unwrap());
    let mut game = Match::new(surface, config(), 0).unwrap();
    for seat in seats(&game) {
        let owner = OwnerId(seat.to_string().into());
        game.assign(&seat, Occupant::Agent { owner, display: String::new() }).unwrap();
        game.agent_call_started(&seat, 0);
    }
    game.take_changes();
    game
}

fn seats(game: &Match) -> Vec<Seat> {
    let manifest = &game.surface().manifest;
    let roles = &manifest.roles;
    game.teams().iter().flat_map(|team| roles.iter().map(move |role| Seat::new(team, role))).collect()
}

fn intents(criterion: &mut Criterion) {
    let seat = Seat::new("team0", "ground");
    let move_ = json!({ "kind": "move", "units": ["e_1", "e_2"], "x": 5, "y": 6 });
    let cases = [
        ("accepted", move_.clone()),
        ("refused by its schema", json!({ "kind": "move", "units": ["e_1"], "x": -5, "y": 6 })),
        ("refused as unknown", json!({ "kind": "fly" })),
    ];
    let mut group = criterion.benchmark_group("intent");
    for (name, intent) in &cases {
        let mut game = idle(2);
        let first = game.act(&seat, Right::Agent, std::slice::from_ref(intent), 0).unwrap();
        assert_eq!(first == [Ack::Ok], *name == "accepted", "{name}");
        let mut now = 0;
        group.bench_function(*name, |bencher| {
            bencher.iter(|| {
                now += 10;
                black_box(game.act(&seat, Right::Agent, std::slice::from_ref(intent), now).unwrap())
            });
        });
    }
    let mut game = idle(2);
    game.set_scopes(&seat, &json!([])).unwrap();
    group.bench_function("refused out of scope", |bencher| {
        bencher.iter(|| black_box(game.act(&seat, Right::Agent, std::slice::from_ref(&move_), 0).unwrap()));
    });
    let mut bare = IdleMatch { tick: 0 };
    let context = Context { source: Source::Agent, owner_roles: None };
    group.bench_function("apply alone", |bencher| {
        bencher.iter(|| black_box(bare.apply(&seat, &move_, &context)));
    });
    group.finish();
}

/// A tick of a match in which nobody does anything; divide by the seats.
fn ticks(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("idle tick");
    for teams in [1, 8, 64] {
        let mut game = idle(teams);
        let mut now = 0;
        group.bench_function(format!("{} seats", 2 * teams), |bencher| {
            bencher.iter(|| {
                now += 100;
                black_box(game.begin_round(now, &|_| None));
                game.end_round(now);
                black_box(game.take_changes());
            });
        });
    }
    group.finish();
}

fn observing(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("observe");
    let seat = Seat::new("red", "ground");
    let fresh = || {
        let mut game = agent_command(Config { bots: Some("veteran".into()), ..config() });
        game.assign(&seat, agent()).unwrap();
        for tick in 0..600 {
            game.begin_round(tick * 100, &|_| None);
            game.end_round(tick * 100);
        }
        game
    };
    let mut game = fresh();
    group.bench_function("a minute into Agent Command", |bencher| {
        bencher.iter(|| black_box(game.observe(&seat, Right::Agent, &Observe::default()).unwrap()));
    });
    let (mut game, own) = (idle(2), Seat::new("team0", "ground"));
    group.bench_function("a game that shows its tick alone", |bencher| {
        bencher.iter(|| black_box(game.observe(&own, Right::Agent, &Observe::default()).unwrap()));
    });
    let ask = json!({ "kind": "signal", "signal": { "kind": "look", "x": 5, "y": 6, "to": "air" } });
    group.bench_function("a signal and its cancel", |bencher| {
        bencher.iter_batched(
            || {
                let mut game = agent_command(config());
                game.assign(&seat, agent()).unwrap();
                game
            },
            |mut game| {
                let cancel = json!({ "kind": "signal_update", "id": "sg_1", "update": "cancel" });
                black_box(game.act(&seat, Right::Agent, &[ask.clone(), cancel], 0).unwrap());
                game
            },
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

criterion_group!(benches, intents, ticks, observing);
criterion_main!(benches);
