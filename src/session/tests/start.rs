//! §4 "Lobby phase", §20 "Start readiness", §20.5: what holds a match, who is ready, what agents are told meanwhile.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::needless_pass_by_value,
    reason = "a test fails by panicking"
)]

mod common;

use common::drill::Drill;
use common::*;
use playerthree_game::{
    Bot, CannotCreate, Clock, Controller, Game, GameMatch, Manifest, Outcome, Seat, Setup,
};
use playerthree_schema::t;
use playerthree_session::{
    Artifact, Code, Config, Deploy, Match, Observe, Occupant, PRESENCE_MS, Plan, PlanStep, READY_SECONDS_MAX,
    Right, StartKind, StartsWhen, Thought, Wait, Waiting,
};
use playerthree_tic_tac_toe::TicTacToe;
use serde_json::{Value, json};

/// Tic-tac-toe that tells its lobby which board is played.
struct WithLobby;

impl Game for WithLobby {
    fn manifest(&self) -> Manifest {
        let lobby = t::obj([("board", t::int(3, 9))]);
        Manifest { lobby: Some(lobby), ..TicTacToe.manifest() }
    }

    fn clock(&self) -> Clock {
        TicTacToe.clock()
    }

    fn create(&self, setup: &Setup) -> Result<Box<dyn GameMatch>, CannotCreate> {
        TicTacToe.create(setup)
    }

    fn create_bot(&self, seat: &Seat, level: &str) -> Option<Box<dyn Bot>> {
        TicTacToe.create_bot(seat, level)
    }
}

fn present(game: &mut Match, seat: &Seat, now: u64) {
    game.agent_call_started(seat, now);
    game.agent_call_ended(seat, now);
}

fn state_of(game: &Match, seat: &Seat, now: u64) -> String {
    let readiness = game.readiness(now);
    let seats = readiness["seats"].as_array().unwrap();
    let found = seats.iter().find(|info| info["team"] == *seat.team && info["role"] == *seat.role).unwrap();
    found["state"].as_str().unwrap().to_owned()
}

/// A person on x, an agent on o, and a ready check of a minute.
fn checked() -> Match {
    let mut game = tic_tac_toe(config());
    game.check_ready(60, 0).unwrap();
    game.assign(&x(), human("ann")).unwrap();
    game.assign(&o(), agent("bob")).unwrap();
    game
}

fn person_is_ready(game: &mut Match, now: u64) {
    game.set_joined(&x(), true, now).unwrap();
    game.person_ready(&x(), true, now).unwrap();
}

fn agent_is_ready(game: &mut Match, now: u64) -> Value {
    game.agent_call_started(&o(), now);
    let answer = game.agent_ready(&o(), Right::Agent, now).unwrap();
    game.agent_call_ended(&o(), now);
    answer
}

/// §20: a match that nothing holds runs at once; one that has ticked is not held any more.
#[test]
fn a_match_without_a_lobby_starts_at_once() {
    let mut game = tic_tac_toe(config());
    game.assign(&x(), human("ann")).unwrap();
    assert!(!game.is_held());
    assert_eq!(game.readiness(0)["mode"], "none");
    assert_eq!(act(&mut game, &x(), Right::Owner, place(0, 0)).code(), "ok");
    for refused in
        [game.hold_start(), game.check_ready(10, 0), game.set_lobby_start(None), game.count_down(1)]
    {
        assert_eq!(refused.unwrap_err().code, Code::Invalid);
    }
}

/// §20: while held, act of owner and agent is `paused`, no tick passes, nobody concedes.
#[test]
fn a_held_match_takes_no_step_from_anybody() {
    let mut game = agent_command(config());
    let red = Seat::new("red", "ground");
    game.hold_start().unwrap();
    game.assign(&red, human("ann")).unwrap();
    for right in [Right::Owner, Right::Agent] {
        assert_eq!(game.act(&red, right, &[json!({})], 0).unwrap_err().code, Code::Paused);
    }
    let plan = Plan { steps: Vec::new(), cancel_on: Vec::new() };
    assert_eq!(game.sequence(&red, Right::Agent, plan, 0).unwrap_err().code, Code::Paused);
    assert!(!game.wants_round());
    assert_eq!(game.forfeit("red", 0).unwrap_err().code, Code::Paused);
    game.heartbeat(1_000_000);
    assert_eq!((game.tick(), game.outcome("red"), game.is_held()), (0, Outcome::Running, true));
    assert_eq!(game.status()["phase"], "lobby");
    game.start(1_000_000);
    assert!(game.wants_round());
    tick(&mut game, 1_000_000);
    assert_eq!((game.tick(), &game.status()["phase"]), (1, &json!("match")));
}

/// §8, §20: a plan of an agent that is gone makes nobody present, so a match starts without nobody who said ready once.
#[test]
fn no_plan_keeps_an_absent_agent_ready_before_the_start() {
    let mut game = drill(Drill::new(Clock::Realtime), config()).0;
    game.check_ready(60, 0).unwrap();
    game.assign(&lead("a"), agent("ann")).unwrap();
    present(&mut game, &lead("a"), 0);
    let steps = vec![PlanStep { after: 1, intents: vec![mark(1)] }];
    let planned = game.sequence(&lead("a"), Right::Agent, Plan { steps, cancel_on: Vec::new() }, 0);
    assert_eq!(planned.unwrap_err().code, Code::Paused);
    assert_eq!(state_of(&game, &lead("a"), PRESENCE_MS), "absent");
}

/// §20: deploys and their trials stay possible while the match is held.
#[test]
fn a_policy_can_be_deployed_before_the_start() {
    let mut game = agent_command(config());
    let red = Seat::new("red", "ground");
    game.hold_start().unwrap();
    game.assign(&red, agent("ann")).unwrap();
    let js =
        Artifact { runtime: playerthree_game::Runtime::Js, code: b"function think() {}".as_slice().into() };
    let Deploy::Probe(activation) = game.deploy(&red, js).unwrap() else { panic!() };
    assert!(game.probe_observation(&red, &[]).is_ok());
    game.activated(&red, &activation, &Ok(Thought::default()));
    assert_eq!(game.policy_status(&red).unwrap()["version"], 1);
}

/// §20.5: absent without presence, online while present, ready once marked; the match starts when all are.
#[test]
fn a_ready_check_starts_once_every_seat_is_ready() {
    let mut game = checked();
    assert_eq!((state_of(&game, &x(), 0), state_of(&game, &o(), 0)), ("absent".into(), "absent".into()));
    present(&mut game, &o(), 0);
    game.set_joined(&x(), true, 0).unwrap();
    assert_eq!((state_of(&game, &x(), 0), state_of(&game, &o(), 0)), ("online".into(), "online".into()));
    let told = agent_is_ready(&mut game, 0);
    assert_eq!((&told["phase"], &told["you"]["ready"]), (&json!("lobby"), &json!(true)));
    assert_eq!(told["startsWhen"], json!({ "kind": "ready", "inSeconds": 60 }));
    assert!(game.is_held(), "the person is not ready");
    game.person_ready(&x(), true, 1).unwrap();
    assert!(!game.is_held());
    assert_eq!(agent_is_ready(&mut game, 1), json!({ "phase": "match", "you": { "ready": true } }));
}

/// §8, §20: at the deadline absent agents are waited for no longer, but a person still is.
#[test]
fn the_deadline_waits_for_people_alone() {
    let mut game = checked();
    game.heartbeat(60_000);
    assert!(game.is_held(), "the person has not joined");
    game.set_joined(&x(), true, 60_001).unwrap();
    game.heartbeat(60_002);
    assert!(game.is_held(), "the person has not said ready");
    game.person_ready(&x(), true, 60_003).unwrap();
    assert!(!game.is_held());

    let mut game = checked();
    person_is_ready(&mut game, 0);
    game.heartbeat(59_999);
    assert!(game.is_held());
    game.heartbeat(60_000);
    assert!(!game.is_held(), "nobody but an agent was missing");
}

/// §20: a person is ready by both the room's authenticated join and the game's ready rule.
#[test]
fn neither_a_join_nor_a_ready_alone_makes_a_person_ready() {
    let mut game = checked();
    agent_is_ready(&mut game, 0);
    game.person_ready(&x(), true, 0).unwrap();
    assert_eq!(state_of(&game, &x(), 0), "absent");
    assert!(game.is_held());
    game.set_joined(&x(), true, 0).unwrap();
    assert!(!game.is_held());
    assert_eq!(
        game.person_ready(&o(), true, 0).unwrap_err().code,
        Code::Forbidden,
        "no person holds that seat"
    );
}

/// §20.5: a ready mark needs presence; an agent that went silent is absent again.
#[test]
fn a_ready_agent_that_went_silent_is_absent() {
    let mut game = checked();
    agent_is_ready(&mut game, 0);
    assert_eq!(state_of(&game, &o(), PRESENCE_MS - 1), "ready");
    assert_eq!(state_of(&game, &o(), PRESENCE_MS), "absent");
}

/// §20: agent presence is newer than the assignment, and a ready mark ends with it.
#[test]
fn a_new_assignment_starts_without_presence_or_mark() {
    let mut game = checked();
    agent_is_ready(&mut game, 0);
    game.assign(&o(), agent("cleo")).unwrap();
    assert_eq!(state_of(&game, &o(), 1), "absent");
    assert!(!game.is_agent_ready(&o()));
    agent_is_ready(&mut game, 1);
    game.assign(&o(), agent("cleo")).unwrap();
    assert!(game.is_agent_ready(&o()), "the same occupant again is nothing new");
}

/// §20 `holdStart`: no readiness and no deadline opens the host's gate; `start` does, whoever is ready.
#[test]
fn only_the_host_opens_the_hosts_gate() {
    let mut game = checked();
    game.hold_start().unwrap();
    person_is_ready(&mut game, 0);
    agent_is_ready(&mut game, 0);
    game.heartbeat(1_000_000);
    assert!(game.is_held());
    game.start(1_000_000);
    assert!(!game.is_held());
    assert_eq!(game.hold_start().unwrap_err().code, Code::Invalid, "a match that began is not held again");
}

/// §4 `startsWhen`: by default what holds the match; the trusted description takes its place.
#[test]
fn agents_are_told_what_the_start_waits_for() {
    let mut game = checked();
    let told =
        |game: &mut Match, now| done(wait_for(game, &o(), Right::Agent, 0, &[], now))["startsWhen"].clone();
    assert_eq!(told(&mut game, 59_001), json!({ "kind": "ready", "inSeconds": 1 }));
    assert_eq!(told(&mut game, 70_000), json!({ "kind": "ready", "inSeconds": 0 }));
    game.hold_start().unwrap();
    assert_eq!(told(&mut game, 0), json!({ "kind": "host" }));
    game.set_lobby_start(Some(StartsWhen { kind: StartKind::Countdown, at: Some(3_000) })).unwrap();
    assert_eq!(told(&mut game, 1_000), json!({ "kind": "countdown", "inSeconds": 2 }));
    game.heartbeat(4_000);
    assert!(game.is_held(), "a description starts nothing");
    game.set_lobby_start(None).unwrap();
    game.count_down(10_000).unwrap();
    assert_eq!(told(&mut game, 4_000), json!({ "kind": "countdown", "inSeconds": 6 }));
    game.heartbeat(9_999);
    assert!(game.is_held());
    game.heartbeat(10_000);
    assert!(!game.is_held());
}

/// §4 `match`: the game's summary passes its schema and is told with the lobby state.
#[test]
fn the_games_summary_is_guarded_and_told() {
    let mut game = Match::new(surface(WithLobby), config(), 0).unwrap();
    assert_eq!(
        game.set_lobby(json!({ "board": 3 })).unwrap_err().code,
        Code::Invalid,
        "nothing holds the match"
    );
    game.hold_start().unwrap();
    game.assign(&o(), agent("bob")).unwrap();
    for wrong in [json!({ "board": 99 }), json!({}), json!({ "board": 3, "who": "ann" })] {
        assert_eq!(game.set_lobby(wrong).unwrap_err().code, Code::Invalid);
    }
    game.set_lobby(json!({ "board": 3 })).unwrap();
    let told = done(wait_for(&mut game, &o(), Right::Agent, 0, &[], 0));
    let instruction = told["instruction"].as_str().unwrap();
    assert!(instruction.contains("game_ready"));
    assert_eq!(
        told,
        json!({
            "phase": "lobby", "seat": { "team": "o", "role": "player" }, "match": { "board": 3 },
            "you": { "ready": false }, "startsWhen": { "kind": "host" }, "instruction": instruction,
        })
    );
    let mut bare = tic_tac_toe(config());
    bare.hold_start().unwrap();
    assert_eq!(bare.set_lobby(json!({})).unwrap_err().code, Code::Invalid, "the game declares no summary");
}

/// §4: a game says itself what its match will be, with the options of this one.
#[test]
fn a_held_match_is_summarized_by_its_game() {
    let config = Config { options: Some(json!({ "size": 40 })), ..config() };
    let mut game = agent_command(config);
    let seat = Seat::new("red", "air");
    game.hold_start().unwrap();
    game.assign(&seat, agent("bob")).unwrap();
    let told = done(wait_for(&mut game, &seat, Right::Agent, 0, &[], 0));
    assert_eq!(told["match"], json!({ "size": 40, "maxTicks": 9000, "sides": ["red", "blue"] }));
}

/// §4: an agent seated into a held match learns its seat at once, then waits, and the start returns the match entry.
#[test]
fn the_start_wakes_a_wait_with_the_match_entry() {
    let mut game = checked();
    let seat = done(wait_for(&mut game, &o(), Right::Agent, 60_000, &[], 0));
    assert_eq!((&seat["phase"], &seat["seat"]["team"]), (&json!("lobby"), &json!("o")));
    let id = pending(wait_for(&mut game, &o(), Right::Agent, 60_000, &["move"], 0));
    game.take_changes();
    game.start(5);
    let waits = game.take_changes().waits;
    let (woken, entry) = waits.into_iter().next().unwrap();
    let entry = entry.unwrap();
    assert_eq!((woken, &entry["phase"], &entry["events"]), (id, &json!("match"), &json!([])));
    assert_eq!(entry["observation"]["you"], "o");
    assert!(entry["instruction"].is_string());
    pending(wait_for(&mut game, &o(), Right::Agent, 60_000, &[], 6));
}

/// §4: a start between two calls is kept for the next wait, once.
#[test]
fn a_start_between_two_calls_is_not_lost() {
    let mut game = checked();
    done(wait_for(&mut game, &o(), Right::Agent, 0, &[], 0));
    game.start(5);
    let entry = done(wait_for(&mut game, &o(), Right::Agent, 60_000, &[], 6));
    assert!(entry["observation"].is_object());
    pending(wait_for(&mut game, &o(), Right::Agent, 60_000, &[], 7));
}

/// §4: a lobby wait lasts its seconds of wall time and then returns the lobby state; named events cannot wake it.
#[test]
fn a_lobby_wait_runs_out_by_wall_time() {
    let mut game = checked();
    done(wait_for(&mut game, &o(), Right::Agent, 0, &[], 0));
    let id = pending(wait_for(&mut game, &o(), Right::Agent, 2_000, &["move"], 100));
    game.heartbeat(2_099);
    assert!(game.take_changes().waits.is_empty());
    game.heartbeat(2_100);
    let (ended, state) = game.take_changes().waits.remove(0);
    assert_eq!((ended, &state.unwrap()["phase"]), (id, &json!("lobby")));
    let waits: Vec<_> =
        (0..3).map(|_| game.wait(&o(), Right::Agent, Wait { millis: 9, until: Vec::new() }, 3_000)).collect();
    assert!(waits.into_iter().any(|wait| wait.is_err_and(|error| error.code == Code::Busy)));
}

/// §4 "Lobby phase": an approval wakes a wait in the lobby, once.
#[test]
fn an_approval_wakes_a_wait_in_the_lobby() {
    let mut game = agent_command(config());
    let red = Seat::new("red", "ground");
    game.hold_start().unwrap();
    game.assign(&red, agent("ann")).unwrap();
    done(wait_for(&mut game, &red, Right::Agent, 0, &[], 0));
    let (_, mut mandate) = game.terms(&red).unwrap();
    mandate["autonomy"] = json!("supervised");
    game.set_mandate(&red, &mandate).unwrap();
    let js = Artifact { runtime: playerthree_game::Runtime::Js, code: b"x".as_slice().into() };
    let Deploy::Approval(request) = game.deploy(&red, js).unwrap() else { panic!() };
    pending(wait_for(&mut game, &red, Right::Agent, 60_000, &[], 0));
    game.resolve_approval(&red, request["approval"]["id"].as_str().unwrap(), false).unwrap();
    game.heartbeat(1);
    let (_, answer) = game.take_changes().waits.remove(0);
    let answer = answer.unwrap();
    assert_eq!((&answer["phase"], &answer["wake"]), (&json!("lobby"), &json!("approval")));
    pending(wait_for(&mut game, &red, Right::Agent, 60_000, &[], 2));
}

/// §4: in the lobby an agent's observe is the lobby state; the owner's ready is the game's, never the agent's tool.
#[test]
fn observe_and_ready_in_the_lobby() {
    let mut game = checked();
    let request = playerthree_session::Observe::default();
    assert_eq!(game.observed(&o(), Right::Agent, &request, 0).unwrap()["phase"], "lobby");
    assert!(game.observed(&x(), Right::Owner, &request, 0).unwrap()["observation"].is_object());
    assert_eq!(game.agent_ready(&x(), Right::Owner, 0).unwrap_err().code, Code::Forbidden);
    game.start(0);
    assert!(game.observed(&o(), Right::Agent, &request, 0).unwrap()["observation"].is_object());
}

/// §4: a ready mark given to a reservation of the seat carries over, and an agent that knows its seat waits on.
#[test]
fn a_reservations_ready_mark_carries_into_the_held_match() {
    let mut game = tic_tac_toe(config());
    game.hold_start().unwrap();
    let mut seated = commander(&game, "bob", "cmd_1");
    if let Occupant::Commander(commander) = &mut seated {
        commander.ready = true;
    }
    game.assign(&o(), seated).unwrap();
    assert!(game.is_agent_ready(&o()));
    pending(wait_for(&mut game, &o(), Right::Agent, 60_000, &[], 0));
}

/// A match that nobody has a seat in does not start by itself, however ready its bots are.
#[test]
fn a_match_of_nobody_waits_for_its_people() {
    let mut game = tic_tac_toe(config());
    game.check_ready(60, 0).unwrap();
    game.heartbeat(70_000);
    assert!(game.is_held());
}

/// §20 `readySeconds`: at most 600 seconds, and never none.
#[test]
fn a_ready_check_is_bounded() {
    for seconds in [0, READY_SECONDS_MAX + 1, u64::MAX] {
        assert_eq!(tic_tac_toe(config()).check_ready(seconds, 0).unwrap_err().code, Code::Invalid);
    }
    let mut game = checked();
    game.check_ready(READY_SECONDS_MAX, 0).unwrap();
    let readiness = game.readiness(0);
    assert_eq!((&readiness["mode"], &readiness["pending"]), (&json!("start"), &json!(true)));
    assert_eq!(readiness["deadline"], 1_000_000 + 600_000, "milliseconds since 1970");
}

/// §4 "Lobby phase": a wait returns at once for a new seat, unless the agent was told of it: a `ready` or an observation
/// tells it too.
#[test]
fn a_seat_that_was_told_is_not_told_again() {
    let told_by = |tell: &dyn Fn(&mut Match)| {
        let mut game = checked();
        tell(&mut game);
        game.wait(&o(), Right::Agent, Wait { millis: 1_000, until: Vec::new() }, 0).unwrap()
    };
    assert!(matches!(told_by(&|_| {}), Waiting::Done(_)), "nothing has told it");
    assert!(matches!(told_by(&|game| _ = agent_is_ready(game, 0)), Waiting::Pending(_)));
    let observes = |game: &mut Match| {
        let state = game.observed(&o(), Right::Agent, &Observe::default(), 0).unwrap();
        assert_eq!(state["seat"]["team"], "o");
    };
    assert!(matches!(told_by(&observes), Waiting::Pending(_)));
}

/// §20.5: a seat of a policy is ready with an active one and waits without, until the deadline.
#[test]
fn a_seat_of_a_policy_is_ready_when_its_policy_is() {
    let mut game = checked();
    person_is_ready(&mut game, 0);
    let js =
        Artifact { runtime: playerthree_game::Runtime::Js, code: b"function think() {}".as_slice().into() };
    let Deploy::Probe(activation) = game.deploy(&o(), js).unwrap() else { panic!() };
    game.activated(&o(), &activation, &Ok(Thought::default()));
    game.set_controller(&o(), Controller::Policy).unwrap();
    assert_eq!(state_of(&game, &o(), 0), "ready");
    game.heartbeat(1);
    assert!(!game.is_held(), "everybody is ready");
}
