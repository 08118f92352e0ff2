//! An agent in a real match behind the real endpoint, for benchmarks: the match's rules run and every guard and check
//! does, over a game that only shows the same 4 KB and accepts what it is told. The endpoint's rate is lifted, and the
//! match's clock runs as fast as it is asked, so that no bucket is ever empty.
#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "helpers of which each benchmark uses its own part, and which fail by panicking"
)]

use axum::Router;
use playerthree_game::{
    Bot, CannotCreate, Clock, Context, Fields, Game, GameMatch, IntentKind, Manifest, Name, Outcome, Schema,
    Seat, SeatInfo, Setup, ViewKind, t,
};
use playerthree_host::{
    AgentCall, Agents, Answer, Live, MatchDoor, POLICY_PLACES, PolicyPlaces, SaidInLobby, StatusBoard,
};
use playerthree_mcp::{Legacy, Limits, McpConfig};
use playerthree_sandbox::Workers;
use playerthree_session::{
    CallError, Code, CommanderId, CommanderKind, Config, Draft, Isolation, Match, Message, Metadata,
    Occupant, OwnerId, Right, Settings, Surface,
};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// What the agent observes: 4 KB of JSON.
pub fn view() -> Value {
    let kinds = ["unit", "tower", "mine"];
    let entity = |id: usize| {
        let (x, y, hp) = (id * 88 % 1000, id * 784 % 1000, id * 36 % 100);
        json!({ "id": format!("e{id}"), "kind": kinds[id % 3], "x": x, "y": y, "hp": hp, "own": id.is_multiple_of(2) })
    };
    let entry =
        |tick: usize| json!({ "tick": 1200 + tick, "text": format!("unit e{tick} moved to its post") });
    json!({
        "tick": 0,
        "score": { "me": 12, "other": 9 },
        "entities": (0..50).map(entity).collect::<Vec<_>>(),
        "log": (0..14).map(entry).collect::<Vec<_>>(),
    })
}

fn observation() -> Schema {
    let entity = t::obj([
        ("id", t::str(8)),
        ("kind", t::str(8)),
        ("x", t::int(0, 1000)),
        ("y", t::int(0, 1000)),
        ("hp", t::int(0, 100)),
        ("own", t::bool()),
    ]);
    let entry = t::obj([("tick", t::int(0, 10_000)), ("text", t::str(100))]);
    t::obj([
        ("tick", t::int(0, 2_147_483_647)),
        ("score", t::obj([("me", t::int(0, 100)), ("other", t::int(0, 100))])),
        ("entities", t::list(entity, 100)),
        ("log", t::list(entry, 100)),
    ])
}

/// The manifest of a real game over a match that does nothing, so that what is measured is not the game.
struct Idle;

struct IdleMatch(Value);

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
        let intent = |name: &str, params: Vec<(&str, Schema)>| IntentKind {
            name: name.into(),
            roles: manifest.roles.clone(),
            params: params.into_iter().map(|(name, schema)| (name.into(), schema)).collect::<Fields>(),
            doc: "What a unit does.".into(),
        };
        manifest.intents = vec![
            intent("move", vec![("id", t::str(8)), ("x", t::num(0.0, 1000.0)), ("y", t::num(0.0, 1000.0))]),
            intent("fire", vec![("id", t::str(8))]),
        ];
        manifest.observation = observation();
        let tick = t::obj([("tick", t::int(0, 2_147_483_647))]);
        (manifest.view, manifest.report) = (tick.clone(), tick);
        manifest
    }

    fn clock(&self) -> Clock {
        Clock::Realtime
    }

    fn create(&self, _: &Setup) -> Result<Box<dyn GameMatch>, CannotCreate> {
        Ok(Box::new(IdleMatch(view())))
    }

    fn create_bot(&self, _: &Seat, _: &str) -> Option<Box<dyn Bot>> {
        None
    }
}

impl GameMatch for IdleMatch {
    fn tick(&self) -> u64 {
        0
    }

    fn step(&mut self) {}

    fn outcome(&self, _: &str) -> Outcome {
        Outcome::Running
    }

    fn view(&self, _: &str, _: ViewKind) -> Value {
        json!({ "tick": 0 })
    }

    fn observe(&self, _: &Seat, _: i64, _: &[Name]) -> Value {
        self.0.clone()
    }

    fn apply(&mut self, _: &Seat, _: &Value, _: &Context) -> Result<(), &'static str> {
        Ok(())
    }

    fn report(&self, _: &str) -> Value {
        json!({ "tick": 0 })
    }

    fn events(&self, _: &Seat, _: i64) -> Vec<Value> {
        Vec::new()
    }

    fn set_seat_info(&mut self, _: &Seat, _: &SeatInfo) {}
}

/// The way into the match.
struct Door(mpsc::Sender<AgentCall>);

impl MatchDoor for Door {
    fn call(&self, call: AgentCall) -> Result<(), CallError> {
        self.0.try_send(call).map_err(|_| Code::Busy.into())
    }

    fn follow(&self, _: CommanderId, _: Settings) -> Result<(), CallError> {
        Ok(())
    }

    fn tell(&self, _: CommanderId, _: Seat, _: Message) -> Result<(), CallError> {
        Ok(())
    }

    fn said(&self, _: SaidInLobby) -> Result<(), CallError> {
        Ok(())
    }

    fn board(&self) -> Arc<StatusBoard> {
        Arc::default()
    }
}

/// The endpoint, and a token of the agent in the match. Needs a runtime.
pub fn start(host: &str) -> (Router, String) {
    let surface = Arc::new(Surface::new(Arc::new(Idle)).unwrap());
    let (ann, role) = (OwnerId("ann".into()), Arc::clone(&surface.manifest.roles[0]));
    let seat = Seat::new(&surface.manifest.teams[0], &role);
    let config = Config::of(1);
    let mut game = Match::new(Arc::clone(&surface), config, 0).unwrap();
    game.assign(&seat, Occupant::Agent { owner: ann.clone(), display: "Ann".into() }).unwrap();
    let (calls, inbox) = mpsc::channel(64);
    let places = PolicyPlaces::new(POLICY_PLACES, Workers::of_this_program());
    tokio::spawn(play(Live::new(game, places.clone(), Arc::new(|| {})), inbox));

    let agents = Arc::new(Agents::new(places));
    let draft = Draft {
        name: "Falcon".into(),
        roles: vec![role],
        isolation: Isolation::Independent,
        kind: CommanderKind::Agent,
        metadata: Metadata::default(),
    };
    let (id, token) = agents.commanders().add(&surface, &ann, draft).unwrap();
    let door = Arc::new(Door(calls));
    agents.commanders().seat(&surface, (&ann, "Ann"), &id, &seat, &"match".into(), door).unwrap();
    let limits =
        Limits { calls_per_second: 1e9, calls_burst: u32::MAX, calls_in_flight: 1024, ..Limits::default() };
    let config = McpConfig {
        origins: Vec::new(),
        hosts: vec![host.to_owned()],
        sign_in: Vec::new(),
        legacy: Legacy::Off,
        limits,
        shutdown: CancellationToken::new(),
    };
    (playerthree_mcp::router(config, agents), token.reveal().to_owned())
}

/// Terminates when nobody can call any more.
async fn play(mut live: Live<oneshot::Sender<Answer>>, mut inbox: mpsc::Receiver<AgentCall>) {
    let mut now = 0;
    while let Some(call) = inbox.recv().await {
        now += 1000;
        live.call(&call.seat, Right::Agent, &call.method, &call.args, call.reply, now);
        live.take_changes(now);
        for (caller, answer) in live.take_answers() {
            _ = caller.send(answer);
        }
    }
}
