//! §10, §18, §22.4: a replay played again leads its game through the states of the match, from its beginning and from any
//! position, and hands every input over as it was.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use common::drill::{Drill, Told};
use common::*;
use playerthree_game::{Clock, PauseLimits, Seat};
use playerthree_session::{
    Ending, Match, Perspective, Position, Replay, ReplayError, Right, Surface, replay_match,
};
use serde_json::{Value, json};
use std::ops::ControlFlow;

/// What was recorded, read as somebody else would read it.
fn reread(game: &Match) -> Replay {
    Replay::read(game.surface(), &game.replay().unwrap().to_text()).unwrap()
}

fn play(
    surface: &Surface,
    replay: &Replay,
    target: u64,
    from: Option<Position>,
) -> Result<Position, ReplayError> {
    replay_match(surface, replay, target, from, &mut |_| ControlFlow::Continue(()))
}

/// The match's state now, and the one that its replay leads to.
fn assert_replays(game: &Match) {
    let replay = reread(game);
    let end = play(game.surface(), &replay, replay.ticks(), None).unwrap();
    assert_eq!(end.state_hash(game.surface()).unwrap(), game.state_hash().unwrap());
}

fn look() -> Value {
    json!({ "kind": "signal", "signal": { "kind": "look", "x": 1600, "y": 1500, "to": "air" } })
}

/// A duel in which people, absent agents, bots and signals all do something.
fn duel() -> Match {
    let mut game = agent_command(config());
    game.assign(&Seat::new("red", "ground"), human("ann")).unwrap();
    game.assign(&Seat::new("red", "air"), human("ann")).unwrap();
    game.assign(&Seat::new("blue", "ground"), agent("bob")).unwrap();
    game.set_controller(&Seat::new("blue", "air"), playerthree_game::Controller::Bot).unwrap();
    for round in 0..60 {
        if round % 20 == 3 {
            assert_eq!(act(&mut game, &Seat::new("red", "ground"), Right::Owner, look()).code(), "ok");
        }
        if round == 30 {
            let update = json!({ "kind": "signal_update", "id": "sg_1", "update": "ack" });
            assert_eq!(act(&mut game, &Seat::new("red", "air"), Right::Owner, update).code(), "ok");
        }
        tick(&mut game, round * 100);
    }
    game
}

/// §10: the same game version, seed, options and ordered inputs make the same simulation, signal boards included.
#[test]
fn a_match_of_agent_command_replays_to_its_state() {
    let mut game = duel();
    assert_replays(&game);
    game.forfeit("red", 6_000).unwrap();
    assert_replays(&game);
    tick(&mut game, 6_000);
    assert!(game.is_over());
    assert_replays(&game);
    let replay = reread(&game);
    assert_eq!(replay, game.replay().unwrap(), "what is written reads back as it was");
    let end = play(game.surface(), &replay, replay.ticks(), None).unwrap();
    assert_eq!(end.ranks(), replay.ranks());
    assert_eq!(end.signal_board("red").unwrap().to_json(), game.signal_board("red").unwrap().to_json());
}

/// §10: a game of turns steps with its accepted moves; a refused one stays an input of its tick.
#[test]
fn a_match_of_turns_replays_to_its_state() {
    let mut game = tic_tac_toe(config());
    game.assign(&x(), human("ann")).unwrap();
    game.assign(&o(), human("bob")).unwrap();
    let moves = [(0, 0), (1, 1), (0, 0), (0, 1), (1, 1), (2, 2), (0, 2)];
    let mut turn = [x(), o()].into_iter().cycle();
    let mut seat = turn.next().unwrap();
    for (row, col) in moves {
        assert_replays(&game);
        if act(&mut game, &seat, Right::Owner, place(row, col)).code() == "ok" {
            seat = turn.next().unwrap();
        }
    }
    assert!(game.is_over());
    assert_replays(&game);
}

/// §10: the game of the replay is told exactly what the game of the match was told, contexts and order included.
#[test]
fn a_replay_tells_its_game_what_the_match_told_its_own() {
    let (mut game, live) = drill(Drill::new(Clock::Realtime), config());
    game.assign(&lead("a"), human("ann")).unwrap();
    game.assign(&wing("a"), human("ann")).unwrap();
    game.assign(&lead("b"), agent("bob")).unwrap();
    for n in 0..4 {
        act(&mut game, &lead("a"), Right::Owner, mark(n));
        act(&mut game, &wing("a"), Right::Owner, json!({ "kind": "refuse" }));
        tick(&mut game, 0);
        if n == 1 {
            game.forfeit("d", 0).unwrap();
        }
    }
    let outcomes = [("a", "win"), ("b", "loss"), ("c", "loss"), ("d", "loss")];
    let outcomes = outcomes.map(|(side, as_)| (side.to_owned(), serde_json::from_value(json!(as_)).unwrap()));
    game.end(&Ending::Outcomes(outcomes.into()), 0).unwrap();
    let replayed = Drill::new(Clock::Realtime);
    let surface = surface(replayed.clone());
    let replay = Replay::read(&surface, &game.replay().unwrap().to_text()).unwrap();
    play(&surface, &replay, replay.ticks(), None).unwrap();
    assert_eq!(replayed.told(), live.told());
    assert!(matches!(live.told().last(), Some(Told::Ended(..))));
}

/// §17: inputs recorded at the target are in, and nothing of its step; a position goes on from where it is.
#[test]
fn a_position_holds_the_inputs_of_its_tick_and_goes_on_from_there() {
    let game = duel();
    let (surface, replay) = (game.surface().clone(), reread(&game));
    let mut position = Position::start(&surface, &replay).unwrap();
    for target in [0, 1, 7, 7, 23, 59, 60] {
        position = play(&surface, &replay, target, Some(position)).unwrap();
        let fresh = play(&surface, &replay, target, None).unwrap();
        assert_eq!(position.tick(), target);
        assert_eq!(position.next_entry(), fresh.next_entry());
        let here = |entry: &&playerthree_session::Entry| entry.tick <= target;
        assert_eq!(position.next_entry(), replay.entries().iter().filter(here).count() as u64);
        assert_eq!(position.state_hash(&surface).unwrap(), fresh.state_hash(&surface).unwrap());
    }
    let copy = position.copy().unwrap();
    assert_eq!(copy.state_hash(&surface).unwrap(), position.state_hash(&surface).unwrap());
}

/// A position of a match that still runs goes on in a later replay of it.
#[test]
fn a_position_goes_on_in_a_longer_replay_of_the_same_match() {
    let mut game = duel();
    let mut position = None;
    for round in 60..70 {
        act(&mut game, &Seat::new("red", "ground"), Right::Owner, json!({ "kind": "stop", "units": [] }));
        let replay = game.replay().unwrap();
        let at = play(game.surface(), &replay, replay.ticks(), position).unwrap();
        assert_eq!(at.state_hash(game.surface()).unwrap(), game.state_hash().unwrap());
        position = Some(at);
        tick(&mut game, round * 100);
    }
}

/// §17: a position is shown as god, as a side and as a seat, and what a side does not see is not in its view.
#[test]
fn a_position_is_seen_from_every_perspective() {
    let game = duel();
    let (surface, replay) = (game.surface(), reread(&game));
    let end = play(surface, &replay, replay.ticks(), None).unwrap();
    let show = |text: &str| end.show(surface, &text.parse().unwrap());
    assert_eq!(show("god").unwrap(), game.debug_view().unwrap());
    assert_eq!(&show("side:red").unwrap(), game.view("red").unwrap().value());
    let seen = show("seat:red/air").unwrap();
    assert_eq!(seen["tick"], 60);
    assert_eq!(seen["signals"]["inbox"][0]["id"], "sg_1");
    for absent in ["side:green", "side:purple", "seat:green/air", "seat:red/sea"] {
        assert_eq!(show(absent), Err(ReplayError::NothingToShow), "{absent}");
    }
    for text in ["", "God", "side", "side:", "seat:red", "seat:/air", "seat:red/", "red"] {
        assert!(text.parse::<Perspective>().is_err(), "{text}");
    }
}

/// §17: 200 inputs within one tick accompany what is shown; where there are more, the tick's own come first.
#[test]
fn the_inputs_of_the_tick_itself_are_shown_first() {
    let shown = |counts: [u64; 3]| {
        let (mut game, _) = drill(Drill::new(Clock::Realtime), config());
        game.assign(&lead("a"), human("ann")).unwrap();
        tick(&mut game, 0);
        for (now, count) in (1..).zip(counts) {
            for _ in 0..count {
                assert_eq!(act(&mut game, &lead("a"), Right::Owner, mark(1)).code(), "ok");
            }
            tick(&mut game, now * 100);
        }
        let inputs = reread(&game).inputs_around(2);
        assert!(inputs.is_sorted_by_key(|entry| entry[0].as_u64()));
        [1, 2, 3].map(|tick| inputs.iter().filter(|entry| entry[0] == tick).count())
    };
    assert_eq!(shown([3, 4, 5]), [3, 4, 5]);
    assert_eq!(shown([250, 4, 5]), [196, 4, 0]);
    assert_eq!(shown([20, 100, 250]), [20, 100, 80]);
    assert_eq!(shown([9, 250, 9]), [0, 200, 0]);
}

/// A reading ends when its reader says so, between two ticks.
#[test]
fn a_reading_can_be_given_up_at_every_tick() {
    let game = duel();
    let replay = reread(&game);
    let mut asked = Vec::new();
    let given_up = replay_match(game.surface(), &replay, 60, None, &mut |tick| {
        asked.push(tick);
        if tick == 12 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!(given_up.unwrap_err(), ReplayError::Cancelled);
    assert_eq!(asked, (0..=12).collect::<Vec<u64>>());
}

/// §18: a windowed replay needs a position, reaches every tick from its first one on, and counts entries from the first
/// that was ever recorded.
#[test]
fn a_window_is_played_from_a_position_and_from_nowhere_else() {
    let game = duel();
    let surface = game.surface();
    let whole = reread(&game);
    let from = |tick: u64| {
        // The position of a checkpoint: right after the step to the tick, before any input of it.
        let before = play(surface, &whole, tick - 1, None).unwrap();
        let mut stepped = serde_json::from_str::<Value>(&whole.to_text()).unwrap();
        stepped["entries"].as_array_mut().unwrap().retain(|entry| entry[0].as_u64().unwrap() < tick);
        let stepped = Replay::read(surface, &stepped.to_string()).unwrap();
        play(surface, &stepped, tick, Some(before)).unwrap()
    };
    let mut cut = serde_json::from_str::<Value>(&whole.to_text()).unwrap();
    let entries = cut["entries"].as_array_mut().unwrap();
    let recorded = entries.len();
    entries.retain(|entry| entry[0].as_u64().unwrap() >= 40);
    let dropped = recorded - entries.len();
    cut["window"] = json!({ "from": 40, "dropped": dropped });
    let window = Replay::read(surface, &cut.to_string()).unwrap();
    for target in [40, 41, 55, 60] {
        let at = play(surface, &window, target, Some(from(40))).unwrap();
        let fresh = play(surface, &whole, target, None).unwrap();
        assert_eq!(at.next_entry(), fresh.next_entry(), "indices are absolute");
        assert_eq!(at.state_hash(surface).unwrap(), fresh.state_hash(surface).unwrap());
    }
    let refused = |target, position| play(surface, &window, target, position).unwrap_err();
    assert_eq!(refused(50, None).to_string(), "playerthree/replay: this replay starts at a checkpoint");
    assert_eq!(refused(39, Some(from(20))), ReplayError::BeforeWindow);
    assert_eq!(refused(50, Some(from(20))), ReplayError::Position, "its entries were dropped");
    assert_eq!(refused(50, Some(from(55))), ReplayError::Position, "it lies past the target");
    assert_eq!(refused(61, Some(from(50))), ReplayError::PastTheEnd);
}

/// §18: a replay of a session that paused leads its game where the match led its own, and says who holds it at a tick.
#[test]
fn a_match_that_was_paused_replays_and_says_who_held_it() {
    for clock in [Clock::Realtime, Clock::Turns] {
        let pausable = || {
            let mut game = Drill::new(clock);
            game.control.pausable = Some(PauseLimits { max_pause_seconds: Some(60) });
            game
        };
        let (mut game, live) = drill(pausable(), config());
        game.assign(&lead("a"), agent("ann")).unwrap();
        game.assign(&lead("b"), human("bob")).unwrap();
        game.agent_call_started(&lead("a"), 0);
        game.agent_call_ended(&lead("a"), 0);
        let (_, mut mandate) = game.terms(&lead("a")).unwrap();
        mandate["whenAbsent"] = json!("pause");
        game.set_mandate(&lead("a"), &mandate).unwrap();
        let acts = |game: &mut Match, now: u64| {
            if clock == Clock::Realtime {
                tick(game, now);
            }
            _ = game.act(&lead("b"), Right::Owner, &[mark(1)], now);
        };
        acts(&mut game, 0);
        game.settle_pause(40_000);
        assert!(game.is_paused());
        let at_pause = game.tick();
        acts(&mut game, 41_000);
        assert_eq!(game.tick(), at_pause);
        // A game of its own, because this one's keeps what it is told.
        let other = surface(pausable());
        let held = Replay::read(&other, &game.replay().unwrap().to_text()).unwrap();
        let paused = play(&other, &held, at_pause, None).unwrap();
        assert_eq!(paused.paused().iter().collect::<Vec<_>>(), [&lead("a")]);
        // Past the longest pause the session runs, and it is paused anew only after the agent was here.
        game.settle_pause(100_000);
        assert!(!game.is_paused());
        acts(&mut game, 100_000);
        game.forfeit("c", 100_000).unwrap();
        acts(&mut game, 100_100);
        let told = live.told();
        let replayed = pausable();
        let surface = surface(replayed.clone());
        let replay = Replay::read(&surface, &game.replay().unwrap().to_text()).unwrap();
        let end = play(&surface, &replay, replay.ticks(), None).unwrap();
        assert_eq!(replayed.told(), told);
        assert!(end.paused().is_empty());
    }
}
