//! §10: side subsets and alliances, the first final outcome of a side, ranks, `end(spec)` in all its shapes, and forfeits.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::needless_pass_by_value,
    reason = "a test fails by panicking"
)]

mod common;

use common::drill::{Drill, SIDES, Told};
use common::*;
use playerthree_game::{Clock, Name, Outcome};
use playerthree_session::{Barred, CannotStart, Code, Config, Ending, Match, Right, Wait, Waiting};
use serde_json::json;
use std::collections::BTreeMap;

fn names(list: &[&str]) -> Vec<Name> {
    list.iter().map(|name| (*name).into()).collect()
}

type Alliances = BTreeMap<String, Vec<Name>>;

fn alliances(list: &[(&str, &[&str])]) -> Alliances {
    list.iter().map(|(name, members)| ((*name).to_owned(), names(members))).collect()
}

fn try_new(teams: Option<&[&str]>, allied: Option<Alliances>) -> Result<Match, CannotStart> {
    let config = Config { teams: teams.map(names), alliances: allied, ..config() };
    Match::new(surface(Drill::new(Clock::Realtime)), config, 0)
}

/// Two against two, each side with a person.
fn two_pairs() -> (Match, Drill) {
    let allied = alliances(&[("north", &["a", "b"]), ("south", &["c", "d"])]);
    let (mut game, told) = drill(Drill::new(Clock::Realtime), Config { alliances: Some(allied), ..config() });
    for (side, name) in SIDES.into_iter().zip(["ann", "bob", "cid", "dot"]) {
        game.assign(&lead(side), human(name)).unwrap();
    }
    (game, told)
}

fn free_for_all() -> (Match, Drill) {
    let (mut game, told) = drill(Drill::new(Clock::Realtime), config());
    game.assign(&lead("a"), human("ann")).unwrap();
    (game, told)
}

fn settle(game: &mut Match, side: &str, outcome: &str) {
    act(game, &lead("a"), Right::Owner, json!({ "kind": "settle", "side": side, "as": outcome }));
    tick(game, 0);
}

fn outcomes<T: Copy>(list: &[(&str, T)]) -> BTreeMap<String, T> {
    list.iter().map(|(key, value)| ((*key).to_owned(), *value)).collect()
}

fn ranks(game: &Match) -> Vec<Option<u32>> {
    SIDES.iter().map(|side| game.rank(side)).collect()
}

fn all_outcomes(game: &Match) -> Vec<Outcome> {
    SIDES.iter().map(|side| game.outcome(side)).collect()
}

use Outcome::{Draw, Loss, Running, Win};

/// §10 `create`: a nonempty subset in manifest order, and a partition of it that the game is told.
#[test]
fn a_match_seats_a_subset_of_the_sides_in_alliances() {
    let game = Drill::new(Clock::Realtime);
    let allied = alliances(&[("pair", &["d", "b"]), ("lone", &["c"])]);
    let config = Config { teams: Some(names(&["d", "b", "c"])), alliances: Some(allied), ..config() };
    let game = drill(game, config).1;
    let Told::Created(setup) = &game.told()[0] else { panic!("created first") };
    assert_eq!(setup.teams, names(&["b", "c", "d"]));
    assert_eq!(setup.alliances, Some(alliances(&[("pair", &["b", "d"]), ("lone", &["c"])])));
}

/// §10, §20.1: a side that is not declared, repeated or missing from the partition makes no match.
#[test]
fn sides_and_alliances_out_of_the_manifest_are_refused() {
    assert!(try_new(Some(&["a"]), None).is_ok());
    for teams in [&[][..], &["z"], &["a", "a"], &["a", "z"]] {
        assert!(try_new(Some(teams), None).is_err(), "{teams:?}");
    }
    let all: &[(&str, &[&str])] = &[("n", &["a", "b"]), ("s", &["c", "d"])];
    assert!(try_new(None, Some(alliances(all))).is_ok());
    assert!(try_new(None, Some(alliances(&[("a", &["a"]), ("s", &["b", "c", "d"])]))).is_ok());
    let bad: [&[(&str, &[&str])]; 8] = [
        &[],
        &[("n", &["a", "b"])],
        &[("n", &["a", "b"]), ("s", &["b", "c", "d"])],
        &[("n", &["a", "b", "b"]), ("s", &["c", "d"])],
        &[("n", &["a", "b", "z"]), ("s", &["c", "d"])],
        &[("n", &["a", "b", "c", "d"]), ("s", &[])],
        &[("", &["a", "b"]), ("s", &["c", "d"])],
        // A name that would also mean a side of the other alliance.
        &[("c", &["a", "b"]), ("s", &["c", "d"])],
    ];
    for list in bad {
        assert!(try_new(None, Some(alliances(list))).is_err(), "{list:?}");
    }
}

/// §10 "Per-team terminal rule": the first final outcome stays, a final side is out, the others play on.
#[test]
fn the_first_final_outcome_of_a_side_is_kept_while_the_others_play_on() {
    let (mut game, _) = free_for_all();
    settle(&mut game, "b", "loss");
    settle(&mut game, "b", "win");
    assert_eq!(all_outcomes(&game), [Running, Loss, Running, Running]);
    assert!(!game.is_over());
    assert_eq!(ranks(&game), [None; 4]);
    game.assign(&lead("c"), human("cid")).unwrap();
    assert_eq!(act(&mut game, &lead("c"), Right::Owner, mark(1)).code(), "ok");
    settle(&mut game, "a", "loss");
    let out = act(&mut game, &lead("a"), Right::Owner, mark(2));
    assert_eq!(out, playerthree_session::Ack::Barred(Barred::GameOver));
}

/// §10 `rank`: the game's own placement if it is a competition ranking over parties, else by outcome.
#[test]
fn ranks_are_the_games_where_they_are_a_ranking_and_else_follow_the_outcomes() {
    let cases = [
        ([1, 2, 2, 4], [1, 2, 2, 4]),
        ([2, 1, 4, 3], [2, 1, 4, 3]),
        // Not a ranking, so by outcome: one win, one draw, two losses.
        ([1, 2, 2, 3], [1, 2, 3, 3]),
        ([0, 1, 2, 3], [1, 2, 3, 3]),
    ];
    for (said, kept) in cases {
        let mut drilled = Drill::new(Clock::Realtime);
        drilled.ranks = SIDES.into_iter().zip(said).collect();
        let (mut game, _) = drill(drilled, config());
        game.assign(&lead("a"), human("ann")).unwrap();
        for (side, outcome) in [("d", "loss"), ("c", "loss"), ("b", "draw"), ("a", "win")] {
            settle(&mut game, side, outcome);
        }
        assert_eq!(ranks(&game), kept.map(Some), "{said:?}");
    }
}

/// §10 `rank`: counted over alliances and lone sides; allies share a rank.
#[test]
fn allies_share_a_rank() {
    for (said, kept) in [([2, 2, 1, 1], [2, 2, 1, 1]), ([1, 2, 3, 3], [1, 1, 2, 2])] {
        let mut drilled = Drill::new(Clock::Realtime);
        drilled.ranks = SIDES.into_iter().zip(said).collect();
        let allied = alliances(&[("north", &["a", "b"]), ("south", &["c", "d"])]);
        let (mut game, _) = drill(drilled, Config { alliances: Some(allied), ..config() });
        game.assign(&lead("a"), human("ann")).unwrap();
        for (side, outcome) in [("d", "loss"), ("c", "loss"), ("b", "win"), ("a", "win")] {
            settle(&mut game, side, outcome);
        }
        assert_eq!(ranks(&game), kept.map(Some), "{said:?}");
    }
}

/// §10 `end`: a draw spares sides that are out already; the game is told, waits return and the clock stops.
#[test]
fn a_declared_draw_ends_whoever_still_plays() {
    let (mut game, told) = free_for_all();
    game.assign(&lead("c"), human("cid")).unwrap();
    settle(&mut game, "b", "loss");
    let wait =
        |game: &mut Match| game.wait(&lead("c"), Right::Owner, Wait { millis: 60_000, until: Vec::new() }, 0);
    assert!(matches!(wait(&mut game).unwrap(), Waiting::Pending(_)));
    game.end(&Ending::Draw, 0).unwrap();
    assert_eq!(all_outcomes(&game), [Draw, Loss, Draw, Draw]);
    assert_eq!(ranks(&game), [1, 4, 1, 1].map(Some));
    assert!(game.is_over() && !game.wants_round());
    let changes = game.take_changes();
    assert!(changes.status);
    let answer = changes.waits.into_iter().next().unwrap().1.unwrap();
    assert_eq!((&answer["wake"], &answer["outcome"]), (&json!("ended"), &json!("draw")));
    let Some(Told::Ended(outcomes, ranks)) = told.told().pop() else { panic!("told last") };
    assert_eq!((outcomes["b"], outcomes["a"], ranks["b"]), (Loss, Draw, 4));
}

/// §10 `end`: outcomes and placements, by side and by alliance.
#[test]
fn outcomes_and_placements_are_declared_by_side_or_alliance() {
    let cases = [
        (
            Ending::Outcomes(outcomes(&[("north", Win), ("south", Loss)])),
            [Win, Win, Loss, Loss],
            [1, 1, 2, 2],
        ),
        (
            Ending::Outcomes(outcomes(&[("a", Loss), ("b", Loss), ("south", Win)])),
            [Loss, Loss, Win, Win],
            [2, 2, 1, 1],
        ),
        (Ending::Placements(outcomes(&[("north", 2), ("south", 1)])), [Loss, Loss, Win, Win], [2, 2, 1, 1]),
        (Ending::Placements(outcomes(&[("north", 1), ("south", 1)])), [Draw; 4], [1; 4]),
    ];
    for (ending, expected, placed) in cases {
        let (mut game, _) = two_pairs();
        game.end(&ending, 0).unwrap();
        assert_eq!(all_outcomes(&game), expected, "{ending:?}");
        assert_eq!(ranks(&game), placed.map(Some), "{ending:?}");
    }
    let (mut game, _) = free_for_all();
    game.end(&Ending::Placements(outcomes(&[("a", 2), ("b", 1), ("c", 4), ("d", 2)])), 0).unwrap();
    assert_eq!(all_outcomes(&game), [Loss, Win, Loss, Loss]);
    assert_eq!(ranks(&game), [2, 1, 4, 2].map(Some));
}

/// §10 `end`: every side is covered, allies agree, placements are a ranking and no kept outcome is contradicted.
#[test]
fn an_ending_out_of_shape_is_invalid_and_changes_nothing() {
    let bad = [
        Ending::Outcomes(outcomes(&[("north", Win)])),
        Ending::Outcomes(outcomes(&[("north", Win), ("south", Loss), ("z", Loss)])),
        Ending::Outcomes(outcomes(&[("a", Win), ("b", Loss), ("south", Loss)])),
        Ending::Outcomes(outcomes(&[("north", Win), ("a", Loss), ("south", Loss)])),
        Ending::Outcomes(outcomes(&[("north", Win), ("south", Running)])),
        Ending::Outcomes(BTreeMap::new()),
        Ending::Placements(outcomes(&[("north", 1), ("south", 3)])),
        Ending::Placements(outcomes(&[("north", 0), ("south", 1)])),
        Ending::Placements(outcomes(&[("north", 2), ("south", 2)])),
        Ending::Placements(outcomes(&[("a", 1), ("b", 2), ("south", 3)])),
        // Side d has lost already.
        Ending::Outcomes(outcomes(&[("north", Loss), ("south", Win)])),
        Ending::Placements(outcomes(&[("north", 1), ("south", 1)])),
    ];
    let (mut game, told) = two_pairs();
    settle(&mut game, "d", "loss");
    for ending in bad {
        assert_eq!(game.end(&ending, 0).unwrap_err().code, Code::Invalid, "{ending:?}");
        assert_eq!(all_outcomes(&game), [Running, Running, Running, Loss]);
    }
    assert!(!told.told().iter().any(|told| matches!(told, Told::Ended(..))));
    game.end(&Ending::Placements(outcomes(&[("north", 1), ("south", 2)])), 0).unwrap();
    game.end(&Ending::Draw, 0).unwrap();
    assert_eq!(all_outcomes(&game), [Win, Win, Loss, Loss], "nothing happens once the match is over");
}

/// §10 `forfeit`: told once, before the step of the tick; final when the game says so, while the others play on.
#[test]
fn a_side_concedes_once_and_is_out_when_the_game_says_so() {
    let (mut game, told) = free_for_all();
    game.forfeit("b", 0).unwrap();
    game.forfeit("b", 0).unwrap();
    assert_eq!(game.outcome("b"), Running, "the game decides with its next step");
    tick(&mut game, 0);
    assert_eq!(all_outcomes(&game), [Running, Loss, Running, Running]);
    game.forfeit("b", 0).unwrap();
    let forfeits: Vec<Told> =
        told.told().into_iter().filter(|told| matches!(told, Told::Forfeited(..))).collect();
    assert_eq!(forfeits, [Told::Forfeited(0, "b".into())]);
}

/// §10 `forfeit`: `invalid` for a side outside the match and in a game without the hook, nothing once the match is over.
#[test]
fn a_forfeit_that_cannot_be_is_invalid() {
    let mut game = try_new(Some(&["a", "b"]), None).unwrap();
    assert_eq!(game.forfeit("c", 0).unwrap_err().code, Code::Invalid);
    assert_eq!(game.forfeit("z", 0).unwrap_err().code, Code::Invalid);
    game.end(&Ending::Draw, 0).unwrap();
    game.forfeit("a", 0).unwrap();
    let mut hookless = Drill::new(Clock::Realtime);
    hookless.forfeits = false;
    let (mut game, _) = drill(hookless, config());
    assert_eq!(game.forfeit("a", 0).unwrap_err().code, Code::Invalid);
}

/// §10, §20: ending a match that is held before its start ends the preparation: whoever waits for it is told, nothing
/// starts it any more, and acting finds it over.
#[test]
fn ending_a_held_match_tells_whoever_waits_for_it() {
    let (mut game, _) = drill(Drill::new(Clock::Realtime), config());
    game.check_ready(60, 0).unwrap();
    game.assign(&lead("a"), agent("ann")).unwrap();
    game.assign(&wing("a"), agent("ann")).unwrap();
    done(wait_for(&mut game, &lead("a"), Right::Agent, 0, &[], 0));
    let waiting = pending(wait_for(&mut game, &lead("a"), Right::Agent, 60_000, &[], 0));
    game.take_changes();
    game.end(&Ending::Draw, 10).unwrap();
    let (id, answer) = game.take_changes().waits.remove(0);
    assert_eq!((id, &answer.unwrap()["wake"]), (waiting, &json!("ended")));
    let later = done(wait_for(&mut game, &wing("a"), Right::Agent, 60_000, &[], 20));
    assert_eq!((&later["phase"], &later["wake"]), (&json!("match"), &json!("ended")));
    assert_eq!(
        act(&mut game, &lead("a"), Right::Agent, mark(1)),
        playerthree_session::Ack::Barred(Barred::GameOver)
    );
    game.heartbeat(1_000_000);
    assert_eq!((game.tick(), game.wants_round(), &game.status()["phase"]), (0, false, &json!("match")));
}
