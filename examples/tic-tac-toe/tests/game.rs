//! Tic-tac-toe as a host sees it: the manifest, every output of random games, bots, and refusals (§3, §10, §15).

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a test fails by panicking")]

use playerthree_game::{Checked, Context, Game, GameMatch, Outcome, Seat, Setup, Source, ViewKind};
use playerthree_tic_tac_toe::TicTacToe;
use serde_json::{Value, json};

const SIDES: [&str; 2] = ["x", "o"];

fn setup(seed: u32, options: Option<Value>) -> Setup {
    Setup { seed, options, teams: SIDES.map(Into::into).to_vec(), alliances: None }
}

fn start(options: Value) -> Box<dyn GameMatch> {
    TicTacToe.create(&setup(1, Some(options))).unwrap()
}

fn seat(side: &str) -> Seat {
    Seat::new(side, "player")
}

/// Applies an intent and, as the host does on a turn clock, steps after an accepted one.
fn act(game: &mut dyn GameMatch, side: &str, intent: &Value) -> Result<(), &'static str> {
    game.apply(&seat(side), intent, &Context { source: Source::Agent, owner_roles: None })?;
    game.step();
    Ok(())
}

fn place(row: u8, col: u8) -> Value {
    json!({ "kind": "move", "row": row, "col": col })
}

fn assert_conforms(manifest: &Checked, game: &dyn GameMatch) {
    for side in SIDES {
        manifest.view.validate(&game.view(side, ViewKind::Snapshot)).unwrap();
        manifest.observation.validate(&game.observe(&seat(side), -1, &[])).unwrap();
        manifest.report.validate(&game.report(side)).unwrap();
        manifest.match_data.as_ref().unwrap().validate(&game.match_data(&seat(side)).unwrap()).unwrap();
        for event in game.events(&seat(side), -1) {
            manifest.event.validate(&event).unwrap();
        }
    }
    manifest.observer.as_ref().unwrap().validate(&game.observer_view().unwrap()).unwrap();
}

/// Plays bots of two tiers to the end and checks every output on the way.
fn bot_game(seed: u32, options: Value, tiers: [&str; 2]) -> Outcome {
    let manifest = TicTacToe.manifest().check().unwrap();
    let mut game = TicTacToe.create(&setup(seed, Some(options))).unwrap();
    let mut bots = [0, 1].map(|side| {
        let seat = seat(SIDES[side]);
        let mut bot = TicTacToe.create_bot(&seat, tiers[side]).unwrap();
        bot.init(&game.match_data(&seat).unwrap());
        bot
    });
    while game.outcome("x") == Outcome::Running {
        let mut moved = false;
        for (side, bot) in SIDES.into_iter().zip(&mut bots) {
            for intent in bot.think(&game.observe(&seat(side), -1, &[])) {
                act(&mut *game, side, &intent).unwrap();
                moved = true;
            }
        }
        assert!(moved, "one of the two has to move");
        assert_conforms(&manifest, &*game);
    }
    game.outcome("x")
}

/// §3: the manifest passes every check.
#[test]
fn the_manifest_is_accepted() {
    assert_eq!(TicTacToe.manifest().faults(), []);
}

/// §15: every output validates, on the smallest, the classic and the largest board.
#[test]
fn outputs_of_random_games_validate() {
    for (seed, options) in [
        (1, json!({})),
        (2, json!({ "rows": 1, "cols": 1, "winLength": 1 })),
        (3, json!({ "rows": 4, "cols": 6, "winLength": 4 })),
    ] {
        bot_game(seed, options, ["random", "random"]);
    }
    bot_game(4, json!({ "rows": 20, "cols": 20, "winLength": 20 }), ["random", "random"]);
}

/// Perfect play on the classic board is a draw, and never loses to chance.
#[test]
fn the_perfect_bot_never_loses_on_the_classic_board() {
    assert_eq!(bot_game(1, json!({}), ["perfect", "perfect"]), Outcome::Draw);
    for seed in 0..10 {
        assert_ne!(bot_game(seed, json!({}), ["perfect", "random"]), Outcome::Loss);
        assert_ne!(bot_game(seed, json!({}), ["random", "perfect"]), Outcome::Win);
    }
}

#[test]
fn the_perfect_bot_beats_chance_on_a_large_board() {
    let options = json!({ "rows": 12, "cols": 12, "winLength": 5 });
    assert_eq!(bot_game(1, options.clone(), ["perfect", "random"]), Outcome::Win);
    assert_eq!(bot_game(2, options, ["random", "perfect"]), Outcome::Loss);
}

/// §10: refused intents change nothing and name a declared error.
#[test]
fn refused_intents_change_nothing() {
    let mut game = start(json!({}));
    act(&mut *game, "x", &place(1, 1)).unwrap();
    let before = game.debug_view();
    let cases = [
        ("x", place(0, 0), "not_your_turn"),
        ("o", place(1, 1), "occupied"),
        ("o", place(3, 0), "out_of_bounds"),
        ("o", json!({ "kind": "move", "row": -1, "col": 0 }), "out_of_bounds"),
        ("o", json!({ "kind": "move", "row": i64::MAX, "col": 0 }), "out_of_bounds"),
        ("o", json!({ "kind": "move" }), "out_of_bounds"),
    ];
    for (side, intent, code) in cases {
        assert_eq!(act(&mut *game, side, &intent), Err(code), "{intent}");
        assert_eq!(game.debug_view(), before);
        assert!(TicTacToe.manifest().errors.iter().any(|error| &**error == code));
    }
}

/// §10: a win is final for both sides at once, is told as an event, and ends the game.
#[test]
fn a_line_ends_the_game() {
    let mut game = start(json!({}));
    for (side, row, col) in [("x", 0, 0), ("o", 1, 0), ("x", 0, 1), ("o", 1, 1), ("x", 0, 2)] {
        act(&mut *game, side, &place(row, col)).unwrap();
    }
    assert_eq!((game.outcome("x"), game.outcome("o")), (Outcome::Win, Outcome::Loss));
    assert_eq!((game.rank("x"), game.rank("o")), (Some(1), Some(2)));
    let view = game.view("o", ViewKind::Periodic);
    assert_eq!(view["line"], json!([{ "row": 0, "col": 0 }, { "row": 0, "col": 1 }, { "row": 0, "col": 2 }]));
    assert_eq!(
        game.events(&seat("o"), 4),
        [
            json!({ "tick": 5, "kind": "move", "side": "x", "row": 0, "col": 2 }),
            json!({ "tick": 5, "kind": "win", "side": "x" }),
        ]
    );
    assert_eq!(act(&mut *game, "o", &place(2, 2)), Err("over"));
    assert_eq!(act(&mut *game, "o", &json!({ "kind": "resign" })), Err("over"));
}

/// §10: a resignation and a forfeit give the game to the other side.
#[test]
fn conceding_gives_the_game_away() {
    let mut game = start(json!({}));
    act(&mut *game, "o", &json!({ "kind": "resign" })).unwrap();
    assert_eq!(game.outcome("x"), Outcome::Win);
    let mut game = start(json!({}));
    game.forfeit("x").unwrap();
    assert_eq!(game.outcome("o"), Outcome::Win);
    assert_eq!(game.report("o"), json!({ "side": "o", "result": "o", "moves": 0, "resigned": true }));
}

/// §10: outcomes that the host declared stand before the board's own.
#[test]
fn declared_outcomes_are_adopted() {
    let mut game = start(json!({}));
    let outcomes = SIDES.map(|side| (side.into(), Outcome::Draw)).into();
    game.end(&outcomes, &SIDES.map(|side| (side.into(), 1)).into());
    assert_eq!(game.outcome("x"), Outcome::Draw);
    assert_eq!(game.view("x", ViewKind::Periodic)["result"], "draw");
    assert_eq!(act(&mut *game, "x", &place(0, 0)), Err("over"));
}

/// §10: a clone is independent and goes on alike.
#[test]
fn a_clone_is_independent() {
    let mut game = start(json!({}));
    act(&mut *game, "x", &place(0, 0)).unwrap();
    let mut copy = game.clone_match().unwrap();
    act(&mut *copy, "o", &place(1, 1)).unwrap();
    assert_ne!(copy.debug_view(), game.debug_view());
    act(&mut *game, "o", &place(1, 1)).unwrap();
    assert_eq!(copy.debug_view(), game.debug_view());
}

/// §10: options past their bounds and side sets without an opponent fail creation.
#[test]
fn unplayable_setups_are_refused() {
    for options in
        [json!({ "rows": 0 }), json!({ "cols": 21 }), json!({ "winLength": 256 }), json!({ "rows": "3" })]
    {
        assert!(TicTacToe.create(&setup(1, Some(options.clone()))).is_err(), "{options}");
    }
    let alone = Setup { teams: vec!["x".into()], ..setup(1, None) };
    assert!(TicTacToe.create(&alone).is_err());
    let allied = Setup {
        alliances: Some([("all".to_owned(), SIDES.map(Into::into).to_vec())].into()),
        ..setup(1, None)
    };
    assert!(TicTacToe.create(&allied).is_err());
}

/// §1: an agent's or policy's control is disclosed to everybody.
#[test]
fn controllers_are_disclosed() {
    use playerthree_game::{Controller, SeatInfo};
    let mut game = start(json!({}));
    game.set_seat_info(&seat("o"), &SeatInfo { controller: Controller::Agent, mandate: json!({}) });
    assert_eq!(game.view("x", ViewKind::Periodic)["controllers"], json!({ "x": "none", "o": "agent" }));
}
