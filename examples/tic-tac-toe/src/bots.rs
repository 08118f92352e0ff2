//! The built-in opponents. A bot sees what its seat sees and nothing else, and thinks for a bounded time.

use crate::rules::{MAX_SIDE, Mark, Position, Ruleset, Square, Verdict};
use playerthree_game::{Bot, Seat};
use serde_json::{Value, json};

/// Boards of at most this many squares are searched to the end.
const SOLVED_SQUARES: usize = 9;

/// The bot of a tier: `random` or `perfect`.
pub(crate) fn create(seat: &Seat, opponent: &str) -> Option<Box<dyn Bot>> {
    let mark = Mark::from_name(&seat.team)?;
    let choose = match opponent {
        "random" => choose_random,
        "perfect" => choose_best,
        _ => return None,
    };
    Some(Box::new(TicTacToeBot { mark, salt: 0, choose }))
}

type Choose = fn(&Position, Mark, u64) -> Option<Square>;

struct TicTacToeBot {
    mark: Mark,
    salt: u64,
    choose: Choose,
}

impl Bot for TicTacToeBot {
    fn init(&mut self, match_data: &Value) {
        self.salt = match_data.get("salt").and_then(Value::as_u64).unwrap_or(0);
    }

    fn think(&mut self, observation: &Value) -> Vec<Value> {
        let position = position(observation).filter(|position| position.turn() == Some(self.mark));
        let square = position.and_then(|position| {
            let noise = mix(self.salt ^ mix(position.placed() as u64));
            (self.choose)(&position, self.mark, noise)
        });
        square.map(|at| json!({ "kind": "move", "row": at.row, "col": at.col })).into_iter().collect()
    }
}

/// Rebuilds the position from what the seat sees. The order of the moves does not matter to any choice.
fn position(observation: &Value) -> Option<Position> {
    let number = |name: &str| observation.get(name)?.as_u64().and_then(|n| u8::try_from(n).ok());
    if observation.get("result")?.as_str()? != "running" {
        return None;
    }
    let ruleset = Ruleset::new(number("rows")?, number("cols")?, number("winLength")?)?;
    let rows: Vec<&[u8]> = observation
        .get("board")?
        .as_array()?
        .iter()
        .filter_map(|row| Some(row.as_str()?.as_bytes()))
        .collect();
    let squares = |letter: u8| {
        let rows = &rows;
        ruleset.all_squares().filter(move |at| {
            rows.get(usize::from(at.row)).and_then(|row| row.get(usize::from(at.col))) == Some(&letter)
        })
    };
    let mut position = Position::new(ruleset);
    let mut noughts = squares(b'o');
    for cross in squares(b'x') {
        position.play(Mark::X, cross).ok()?;
        if let Some(nought) = noughts.next() {
            position.play(Mark::O, nought).ok()?;
        }
    }
    Some(position)
}

fn choose_random(position: &Position, _mark: Mark, noise: u64) -> Option<Square> {
    pick(position.free().collect(), noise)
}

/// Exact on small boards; on larger ones it weighs every line through every free square.
fn choose_best(position: &Position, mark: Mark, noise: u64) -> Option<Square> {
    let exact = position.ruleset().squares() <= SOLVED_SQUARES;
    let mut best = i64::MIN;
    let mut choices = Vec::new();
    for square in position.free() {
        let value = if exact { -solve_after(position, mark, square) } else { weigh(position, mark, square) };
        if value > best {
            best = value;
            choices.clear();
        }
        if value == best {
            choices.push(square);
        }
    }
    pick(choices, noise)
}

fn solve_after(position: &Position, mark: Mark, square: Square) -> i64 {
    let mut next = position.clone();
    match next.play(mark, square) {
        Ok(Verdict::Won(_)) => -(1 + SOLVED_SQUARES as i64 - next.placed() as i64),
        Ok(Verdict::Running) => solve(&next, mark.other(), i64::MIN + 1, i64::MAX),
        Ok(Verdict::Drawn) | Err(_) => 0,
    }
}

/// The value of the position for the side to move: positive wins, sooner is larger.
fn solve(position: &Position, mark: Mark, mut floor: i64, ceiling: i64) -> i64 {
    let mut best = i64::MIN + 1;
    for square in position.free() {
        let mut next = position.clone();
        let value = match next.play(mark, square) {
            Ok(Verdict::Won(_)) => 1 + SOLVED_SQUARES as i64 - next.placed() as i64,
            Ok(Verdict::Running) => -solve(&next, mark.other(), -ceiling, -floor),
            Ok(Verdict::Drawn) | Err(_) => 0,
        };
        best = best.max(value);
        floor = floor.max(value);
        if floor >= ceiling {
            break;
        }
    }
    best
}

/// What the square is worth to a side: every window of the winning length through it that the other side has not
/// touched counts, steeply more the fuller it is. Own windows weigh a little more than the opponent's.
fn weigh(position: &Position, mark: Mark, square: Square) -> i64 {
    let win_length = u32::from(position.ruleset().win_length());
    let mut total = 0;
    for direction in [(0, 1), (1, 0), (1, 1), (1, -1)] {
        for start in 0..i64::from(position.ruleset().win_length()) {
            if let Some((own, theirs)) = count_window(position, mark, square, direction, start) {
                total += match (own, theirs) {
                    (own, 0) if own + 1 == win_length => COMPLETES,
                    (own, 0) => 5 * worth(win_length - own),
                    (0, theirs) => 4 * worth(win_length - theirs),
                    _ => 0,
                };
            }
        }
    }
    let ruleset = position.ruleset();
    let off_centre = (2 * i64::from(square.row) - i64::from(ruleset.rows())).abs()
        + (2 * i64::from(square.col) - i64::from(ruleset.cols())).abs();
    total * 128 - off_centre
}

/// Completing a line outweighs every block: at most 80 windows pass through a square.
const COMPLETES: i64 = 1 << 46;

/// The weight of a window that lacks this many marks.
fn worth(missing: u32) -> i64 {
    match missing {
        0 | 1 => 1 << 36,
        2 => 1 << 24,
        3 => 1 << 14,
        missing => i64::from(MAX_SIDE) + 1 - i64::from(missing),
    }
}

/// Marks of both sides in the window that has the square at offset `start`, or nothing when it leaves the board.
fn count_window(
    position: &Position,
    mark: Mark,
    square: Square,
    (down, right): (i64, i64),
    start: i64,
) -> Option<(u32, u32)> {
    let ruleset = position.ruleset();
    let (mut own, mut theirs) = (0, 0);
    for n in 0..i64::from(ruleset.win_length().min(MAX_SIDE)) {
        let step = n - start;
        let at = ruleset.square(i64::from(square.row) + step * down, i64::from(square.col) + step * right)?;
        match position.at(at) {
            Some(found) if found == mark => own += 1,
            Some(_) => theirs += 1,
            None => {}
        }
    }
    Some((own, theirs))
}

fn pick(mut choices: Vec<Square>, noise: u64) -> Option<Square> {
    let count = u64::try_from(choices.len()).ok().filter(|count| *count > 0)?;
    let index = usize::try_from(noise % count).ok()?;
    Some(choices.swap_remove(index))
}

/// One round of splitmix64: spreads a small number over all bits.
fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
