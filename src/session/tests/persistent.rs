//! §18: a persistent session has no outcome and no end, and a window of its past that can be scrubbed everywhere.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use common::meadow::{Meadow, gardener, sow};
use common::*;
use playerthree_game::{Clock, Outcome};
use playerthree_session::{
    CannotStart, Code, Config, Ending, Match, Persistent, Perspective, Position, ReplayError, Right, Wait,
    Waiting, Window, replay_match,
};
use serde_json::{Value, json};
use std::ops::ControlFlow;

/// Checkpoints each 10 ticks, the newest 3 of them.
fn meadow(clock: Clock) -> Match {
    let persistent = Some(Persistent::new(10, 3).unwrap());
    let mut game =
        Match::new(surface(Meadow { clock, grafts: true }), Config { persistent, ..config() }, 0).unwrap();
    game.assign(&gardener(), human("ann")).unwrap();
    game
}

/// Plays up to a tick, with some seeds sown on the way, and returns the state at the inputs of each tick played.
fn grow(game: &mut Match, until: u64) -> Vec<Value> {
    let mut states = Vec::new();
    while game.tick() < until {
        if game.tick() % 4 == 1 {
            act(game, &gardener(), Right::Owner, sow(game.tick() % 7));
        }
        states.push(game.debug_view().unwrap());
        tick(game, game.tick() * 100);
    }
    states
}

fn scrub(game: &Match, target: u64, from: Option<Position>) -> Result<Value, ReplayError> {
    let replay = game.replay().unwrap();
    let position = replay_match(game.surface(), &replay, target, from, &mut |_| ControlFlow::Continue(()))?;
    position.show(game.surface(), &Perspective::God)
}

fn window(game: &Match) -> Option<Window> {
    game.replay().unwrap().window()
}

/// §18: 1 to 2147483647 ticks, 2 to 100 checkpoints, and a game that can be copied; anything else is `invalid`.
#[test]
fn a_persistent_session_is_made_within_its_bounds_or_not_at_all() {
    for (ticks, checkpoints) in [(0, 2), (2_147_483_648, 2), (1, 1), (1, 101), (1, 0)] {
        assert_eq!(Persistent::new(ticks, checkpoints).unwrap_err().code, Code::Invalid);
    }
    for (ticks, checkpoints) in [(1, 2), (2_147_483_647, 100)] {
        Persistent::new(ticks, checkpoints).unwrap();
    }
    let persistent = Some(Persistent::new(1, 2).unwrap());
    let rigid = surface(Meadow { clock: Clock::Realtime, grafts: false });
    let refused = Match::new(rigid, Config { persistent, ..config() }, 0);
    assert_eq!(refused.err(), Some(CannotStart::Refused(Code::Invalid.into())));
    assert!(meadow(Clock::Realtime).is_persistent() && !tic_tac_toe(config()).is_persistent());
}

/// §18: whatever its game reports, its sides are running; nobody ends it and nobody concedes.
#[test]
fn a_persistent_session_has_no_outcome_and_no_end() {
    for clock in [Clock::Realtime, Clock::Turns] {
        let mut game = meadow(clock);
        grow_a_tick(&mut game);
        assert_eq!((game.outcome("garden"), game.is_over()), (Outcome::Running, false));
        assert_eq!(
            (game.status()["outcomes"].clone(), game.rank("garden")),
            (json!({ "garden": "running" }), None)
        );
        assert_eq!(game.end(&Ending::Draw, 0).unwrap_err().code, Code::Invalid);
        assert_eq!(game.forfeit("garden", 0).unwrap_err().code, Code::Invalid);
        grow_a_tick(&mut game);
        assert_eq!((game.tick(), game.is_over()), (2, false));
        let changes = game.take_changes();
        assert!(changes.fared.is_empty() && changes.policies_ended.is_empty());
        let told = game.wait(&gardener(), Right::Owner, Wait { millis: 0, until: Vec::new() }, 0).unwrap();
        let Waiting::Done(told) = told else { panic!("it waits") };
        assert_eq!((&told["outcome"], told.get("wake")), (&json!("running"), None));
    }
    let mut ends = Match::new(surface(Meadow { clock: Clock::Realtime, grafts: true }), config(), 0).unwrap();
    tick(&mut ends, 0);
    assert!(ends.is_over(), "the same game, in a match that ends");
}

/// One tick of either clock.
fn grow_a_tick(game: &mut Match) {
    act(game, &gardener(), Right::Owner, sow(1));
    if game.surface().game.clock() == Clock::Realtime {
        tick(game, 0);
    }
}

/// §18: while the session is younger than its window it is kept whole, and replays from its beginning.
#[test]
fn a_young_session_is_kept_whole() {
    let mut game = meadow(Clock::Realtime);
    assert!(game.checkpoint(None).is_none());
    let states = grow(&mut game, 29);
    assert_eq!((window(&game), game.checkpoint(None).unwrap().tick()), (None, 10));
    for (target, state) in (0..).zip(&states) {
        assert_eq!(scrub(&game, target, None).as_ref(), Ok(state));
    }
}

/// §18: past that it is kept from its oldest checkpoint on, with absolute positions, and scrubs to every tick since.
#[test]
fn an_old_session_scrubs_everywhere_in_its_window() {
    let mut game = meadow(Clock::Realtime);
    let mut states = grow(&mut game, 30);
    assert_eq!(window(&game).unwrap().from, 10, "with the third checkpoint the oldest is where it begins");
    states.extend(grow(&mut game, 57));
    let replay = game.replay().unwrap();
    let Window { from, dropped } = replay.window().unwrap();
    assert_eq!(from, 30);
    let before = states[..30].iter().filter(|state| state["tick"].as_u64().unwrap() % 4 == 1).count();
    // The seat of the fresh match, its assignment, and the seeds before the window.
    assert_eq!((dropped, replay.entries()[0].tick), (2 + before as u64, 33));
    for target in 30..57_u64 {
        let position = game.checkpoint(Some(target)).unwrap();
        assert!(position.tick() <= target && target - position.tick() < 10, "the newest at or before it");
        assert_eq!(
            scrub(&game, target, Some(position)),
            Ok(states[usize::try_from(target).unwrap()].clone())
        );
        let oldest = game.checkpoint(None);
        assert_eq!(oldest.as_ref().map(Position::next_entry), Some(dropped));
        assert_eq!(scrub(&game, target, oldest), Ok(states[usize::try_from(target).unwrap()].clone()));
    }
    assert_eq!(scrub(&game, 57, game.checkpoint(None)), Ok(game.debug_view().unwrap()));
}

/// §18: a windowed replay needs a position, and reaches nothing before its window.
#[test]
fn nothing_before_the_window_is_reached() {
    let mut game = meadow(Clock::Realtime);
    grow(&mut game, 45);
    assert_eq!(scrub(&game, 40, None), Err(ReplayError::StartsAtCheckpoint));
    assert_eq!(scrub(&game, 19, game.checkpoint(None)), Err(ReplayError::BeforeWindow));
    assert!(game.checkpoint(Some(19)).is_none());
    assert_eq!(game.checkpoint(Some(1_000)).unwrap().tick(), 40);
    let early = game.checkpoint(Some(29)).unwrap();
    grow(&mut game, 65);
    assert_eq!(scrub(&game, 50, Some(early)), Err(ReplayError::Position), "its entries were dropped since");
}

/// §18: a checkpoint is a copy; what is played from it reaches neither the session nor the next copy.
#[test]
fn a_checkpoint_is_isolated() {
    let mut game = meadow(Clock::Realtime);
    grow(&mut game, 45);
    let before = (game.debug_view(), game.replay().unwrap());
    let state = scrub(&game, 44, game.checkpoint(None)).unwrap();
    assert_eq!(scrub(&game, 44, game.checkpoint(None)), Ok(state));
    assert_eq!((game.debug_view(), game.replay().unwrap()), before);
}

/// §18: a game of turns keeps its window by its moves.
#[test]
fn a_game_of_turns_keeps_its_window_too() {
    let mut game = meadow(Clock::Turns);
    let mut states = Vec::new();
    for n in 0..47 {
        act(&mut game, &gardener(), Right::Owner, sow(n % 5));
        states.push(game.debug_view().unwrap());
    }
    assert_eq!(window(&game).unwrap().from, 20);
    // At a tick before the last the next move is in already, so the end is what both have seen.
    assert_eq!(scrub(&game, 47, game.checkpoint(None)).as_ref(), Ok(&states[46]));
}
