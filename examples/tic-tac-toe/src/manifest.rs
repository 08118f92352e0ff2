//! What tic-tac-toe tells the world about itself (§3). Data only; no rule is decided here.

use crate::intent::Intent;
use crate::rules::MAX_SIDE;
use playerthree_game::{Control, IntentKind, IntentLimits, Manifest, Schema, Skill, Topic, t};
use std::sync::Arc;

/// Most events a match keeps, and so the most that one observation can carry.
pub(crate) const MAX_EVENTS: usize = 64;

/// Most squares of a board.
const MAX_SQUARES: u64 = 400;

const DOC: &str = "\
Tic-tac-toe on a board of rows x cols squares. x moves first, then the sides take turns. Each turn places one mark on \
a free square. The first side with winLength of its marks in an unbroken straight line (across, down or diagonal) wins. \
A full board without such a line is a draw.\n\
Coordinates count from 0: row 0 is the top, col 0 the left. The board is a list of rows; in each row `x` and `o` are \
marks and `.` is a free square, so board[row][col] is the square {row,col}.\n\
Send {\"kind\":\"move\",\"row\":R,\"col\":C} when yourTurn is true. Send {\"kind\":\"resign\"} at any time to concede. \
Everything on the board is visible to everybody. Time stands still between moves: one tick is one move.";

const ROLE_DOC: &str = "\
You place your side's marks. Look at yourTurn; when it is true, choose a free square and move. First complete your own \
line if you can, else block a line that the opponent would complete next. When it is not your turn, wait.\n\
READ BEFORE PLAYING: tactics.";

const TACTICS: &str = "\
In order of preference: 1. Win: complete your line. 2. Block: take the square that completes the opponent's line. \
3. Fork: make two open threats at once, so that one block is not enough. 4. Take the square that stops the opponent's \
fork. 5. Centre. 6. The corner opposite an opponent's corner. 7. Any corner. 8. Any edge.\n\
On the 3x3 board correct play by both sides is a draw. On large boards with five in a line, an open four (both ends \
free) cannot be stopped, so answer an open three at once.";

const SKILL: &str = "\
---
name: tic-tac-toe-tactics
description: How to choose a square in tic-tac-toe, on the small board and on large ones.
---
# Tic-tac-toe tactics

1. `game_observe`; if `yourTurn` is false, `game_wait` for a `move` event and observe again.
2. List every line of `winLength` squares through each free square.
3. If one of yours lacks one mark, move there. Else, if one of theirs lacks one mark, move there.
4. Else prefer the free square with the most lines that hold your marks and none of theirs; count two open lines of
   length winLength-1 as nearly won.
5. `game_act` with one move. An `occupied` answer means you read the board wrong: observe again.
";

fn sides() -> Schema {
    t::literals(["x", "o"])
}

fn coordinate() -> Schema {
    t::int(0, i64::from(MAX_SIDE) - 1)
}

fn size() -> Schema {
    t::int(1, i64::from(MAX_SIDE))
}

/// The board's size and what wins on it.
fn ruleset() -> [(&'static str, Schema); 3] {
    [
        ("rows", size().doc("Rows of the board.")),
        ("cols", size().doc("Columns of the board.")),
        ("winLength", size().doc("Marks in a line that win.")),
    ]
}

fn result() -> Schema {
    t::literals(["running", "x", "o", "draw"]).doc("The winning side, draw, or running.")
}

/// The members that the view, the observation and the observer view share.
fn board_fields() -> Vec<(&'static str, Schema)> {
    let row = t::pattern(u32::from(MAX_SIDE), "^[xo.]{1,20}$");
    let [rows, cols, win_length] = ruleset();
    vec![
        ("tick", t::int(0, MAX_SQUARES as i64 + 2).doc("Moves made so far.")),
        rows,
        cols,
        win_length,
        ("board", t::list(row, u64::from(MAX_SIDE)).doc("Rows from the top; x, o, or . for a free square.")),
        ("turn", t::literals(["x", "o", "none"]).doc("Whose move it is; none once the game has ended.")),
        ("result", result()),
        (
            "last",
            t::opt(t::obj([("side", sides()), ("row", coordinate()), ("col", coordinate())]))
                .doc("The last mark placed."),
        ),
        (
            "line",
            t::list(t::obj([("row", coordinate()), ("col", coordinate())]), 2 * u64::from(MAX_SIDE))
                .doc("The winning line from end to end; empty without one."),
        ),
        ("controllers", t::obj([("x", controller()), ("o", controller())]).doc("Who plays each side.")),
    ]
}

fn controller() -> Schema {
    t::literals(["human", "agent", "policy", "bot", "none"])
}

fn view() -> Schema {
    t::obj(board_fields())
}

fn observation() -> Schema {
    let mut fields = board_fields();
    fields.push(("you", sides().doc("Your side.")));
    fields.push(("yourTurn", t::bool().doc("Whether you may move now.")));
    fields.push(("events", t::list(event(), MAX_EVENTS as u64).doc("What happened, oldest first.")));
    t::obj(fields)
}

fn event() -> Schema {
    t::obj([
        ("tick", t::int(0, MAX_SQUARES as i64 + 2)),
        ("kind", t::literals(["move", "win", "draw", "resign"])),
        ("side", t::opt(sides()).doc("Who moved, won or resigned.")),
        ("row", t::opt(coordinate()).doc("Row of the mark placed.")),
        ("col", t::opt(coordinate()).doc("Column of the mark placed.")),
    ])
}

fn report() -> Schema {
    t::obj([
        ("side", sides()),
        ("result", result()),
        ("moves", t::int(0, MAX_SQUARES as i64).doc("Marks placed by both sides.")),
        ("resigned", t::bool().doc("The game ended by a resignation.")),
    ])
}

fn text_map<const N: usize>(entries: [(&str, &str); N]) -> std::collections::BTreeMap<Arc<str>, Arc<str>> {
    entries.into_iter().map(|(name, text)| (name.into(), text.into())).collect()
}

fn control() -> Control {
    Control {
        intents: IntentLimits { per_second: 10.0, burst: 20 },
        sequence: None,
        policy: None,
        stream: None,
        practice: None,
        pool: None,
        chat: None,
        pausable: None,
        signals: None,
    }
}

pub(crate) fn manifest() -> Manifest {
    let [rows, cols, win_length] = ruleset();
    Manifest {
        id: "tic-tac-toe".into(),
        version: "1".into(),
        title: "Tic-tac-toe".into(),
        doc: DOC.into(),
        tick_rate: 1,
        teams: vec!["x".into(), "o".into()],
        roles: vec!["player".into()],
        role_docs: text_map([("player", ROLE_DOC)]),
        topics: vec![Topic {
            name: "tactics".into(),
            summary: "What to look for before each move.".into(),
            text: TACTICS.into(),
        }],
        intents: IntentKind::all_of::<Intent>(&["player".into()]),
        observation: observation(),
        view: view(),
        observation_scope: None,
        match_data: Some(t::obj([
            rows,
            cols,
            win_length,
            (
                "salt",
                t::int(0, i64::from(u32::MAX))
                    .doc("A number of this match, for players that vary their play."),
            ),
        ])),
        lobby: Some(t::obj(ruleset())),
        observer: Some(view()),
        directive: t::obj([(
            "style",
            t::literals(["balanced", "attack", "defend"])
                .doc("What to prefer among moves that are equally good."),
        )]),
        limits: None,
        errors: ["not_your_turn", "occupied", "out_of_bounds", "over"].map(Into::into).to_vec(),
        event: event(),
        opponents: vec!["random".into(), "perfect".into()],
        report: report(),
        match_options: Some(t::obj([
            ("rows", t::opt(size()).doc("Default 3.")),
            ("cols", t::opt(size()).doc("Default 3.")),
            ("winLength", t::opt(size()).doc("Default 3.")),
        ])),
        skills: vec![Skill {
            name: "tic-tac-toe-tactics".into(),
            description: "How to choose a square in tic-tac-toe, on the small board and on large ones."
                .into(),
            files: text_map([("SKILL.md", SKILL)]),
        }],
        control: control(),
        signals: None,
    }
}
