//! Matches of the shipped games, and the few moves that tests make in them.
#![allow(dead_code, unreachable_pub, reason = "each test file uses the part it needs")]
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value, reason = "a test fails by panicking")]

pub mod drill;
pub mod meadow;

use drill::Drill;
use playerthree_agent_command::AgentCommand;
use playerthree_game::{Game, Name, Runtime, Seat};
use playerthree_session::{
    Ack, Activation, Artifact, CommanderId, Config, Deploy, Isolation, Library, Match, Metadata, Occupant,
    OwnerId, PolicyError, Right, Seated, Settings, Surface, Thought, Wait, WaitId, Waiting,
};
use playerthree_tic_tac_toe::TicTacToe;
use serde_json::{Value, json};
use std::sync::Arc;

pub fn surface(game: impl Game) -> Arc<Surface> {
    Arc::new(Surface::new(Arc::new(game)).unwrap())
}

pub fn config() -> Config {
    Config { epoch: 1_000_000, ..Config::of(7) }
}

pub fn tic_tac_toe(config: Config) -> Match {
    Match::new(surface(TicTacToe), config, 0).unwrap()
}

/// A duel without bots, so that nothing happens that a test did not ask for.
pub fn agent_command(config: Config) -> Match {
    let teams: Vec<Name> = vec!["red".into(), "blue".into()];
    Match::new(surface(AgentCommand), Config { teams: Some(teams), ..config }, 0).unwrap()
}

/// A match of the drill on all its sides, and the game that keeps what it was told.
pub fn drill(game: Drill, config: Config) -> (Match, Drill) {
    (Match::new(surface(game.clone()), config, 0).unwrap(), game)
}

pub fn mark(n: i64) -> Value {
    json!({ "kind": "mark", "n": n })
}

pub fn lead(team: &str) -> Seat {
    Seat::new(team, "lead")
}

pub fn wing(team: &str) -> Seat {
    Seat::new(team, "wing")
}

pub fn owner(name: &str) -> OwnerId {
    OwnerId(name.into())
}

pub fn human(name: &str) -> Occupant {
    Occupant::Human { owner: owner(name), display: format!("{name} in person") }
}

pub fn agent(name: &str) -> Occupant {
    Occupant::Agent { owner: owner(name), display: format!("{name} in person") }
}

pub fn x() -> Seat {
    Seat::new("x", "player")
}

pub fn o() -> Seat {
    Seat::new("o", "player")
}

pub fn place(row: i64, col: i64) -> Value {
    json!({ "kind": "move", "row": row, "col": col })
}

/// Sends one intent and returns its ack.
pub fn act(game: &mut Match, seat: &Seat, right: Right, intent: Value) -> Ack {
    game.act(seat, right, &[intent], 0).unwrap().remove(0)
}

/// One tick of a match whose policies nobody runs.
pub fn tick(game: &mut Match, now: u64) {
    assert!(game.begin_round(now, &|_| None).is_empty());
    game.end_round(now);
}

/// A commander of the owner's with the usual settings, not yet ready.
pub fn commander(game: &Match, name: &str, id: &str) -> Occupant {
    Occupant::Commander(Box::new(Seated {
        owner: owner(name),
        display: format!("{name} in person"),
        commander: CommanderId(id.into()),
        isolation: Isolation::Independent,
        settings: Settings::usual(game.surface()),
        library: Library::default(),
        metadata: Metadata::default(),
        ready: false,
    }))
}

pub fn wait_for(
    game: &mut Match,
    seat: &Seat,
    right: Right,
    millis: u64,
    until: &[&str],
    now: u64,
) -> Waiting {
    let until = until.iter().map(|kind| (*kind).into()).collect();
    game.wait(seat, right, Wait { millis, until }, now).unwrap()
}

pub fn pending(waiting: Waiting) -> WaitId {
    match waiting {
        Waiting::Pending(id) => id,
        Waiting::Done(answer) => panic!("answered at once: {answer}"),
    }
}

pub fn done(waiting: Waiting) -> Value {
    match waiting {
        Waiting::Done(answer) => answer,
        Waiting::Pending(_) => panic!("still waiting"),
    }
}

pub fn js(code: &str) -> Artifact {
    Artifact { runtime: Runtime::Js, code: code.as_bytes().into() }
}

/// What a policy that works thinks: these intents, and a line in its log.
pub fn thought(intents: &[Value]) -> Result<Thought, PolicyError> {
    let logs = vec!["its own log".into()];
    Ok(Thought { intents: intents.to_vec(), cpu_micros: 10, logs, ..Thought::default() })
}

/// How a policy fails whose engine has something to say.
pub fn failure() -> Result<Thought, PolicyError> {
    Err(PolicyError { message: Some("the engine's own words".into()), ..PolicyError::of("threw") })
}

pub fn to_probe(deploy: Deploy) -> Activation {
    match deploy {
        Deploy::Probe(activation) => activation,
        Deploy::Approval(request) => panic!("waits for its owner: {request}"),
    }
}

/// Deploys code that works.
pub fn deploy(game: &mut Match, seat: &Seat, code: &str) {
    let activation = to_probe(game.deploy(seat, js(code)).unwrap());
    game.activated(seat, &activation, &thought(&[]));
}
