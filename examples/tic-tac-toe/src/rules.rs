//! The rules of a match of tic-tac-toe, pure and alone: no match, no JSON, no clock.
//!
//! Lines and the full board are those of `playerthree_tic_tac_toe_rules`, which every host of the game shares; here are
//! whose turn it is, resignation, and the sizes that this game offers. It must never learn about seats, rooms or manifests.

use playerthree_tic_tac_toe_rules::{Board, Dense, Dimensions, Line, Placed};

pub use playerthree_tic_tac_toe_rules::Mark;

/// The largest number of rows, columns or marks in a line.
pub const MAX_SIDE: u8 = 20;

/// Board size and the length of a winning line, each 1 to [`MAX_SIDE`].
///
/// A line longer than both sides of the board is legal; nobody can complete it, so every such game is a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ruleset {
    rows: u8,
    cols: u8,
    win_length: u8,
}

impl Default for Ruleset {
    /// The classic game: three by three, three in a line.
    fn default() -> Self {
        Self { rows: 3, cols: 3, win_length: 3 }
    }
}

impl Ruleset {
    /// A ruleset, or nothing when a number is outside 1 to [`MAX_SIDE`].
    pub fn new(rows: u8, cols: u8, win_length: u8) -> Option<Self> {
        let in_range = |n: u8| (1..=MAX_SIDE).contains(&n);
        (in_range(rows) && in_range(cols) && in_range(win_length)).then_some(Self { rows, cols, win_length })
    }

    /// Number of rows.
    pub fn rows(self) -> u8 {
        self.rows
    }

    /// Number of columns.
    pub fn cols(self) -> u8 {
        self.cols
    }

    /// Marks in a line that win.
    pub fn win_length(self) -> u8 {
        self.win_length
    }

    /// Number of squares, at most 400.
    pub fn squares(self) -> usize {
        usize::from(self.rows) * usize::from(self.cols)
    }

    /// The square of these coordinates, or nothing when it is off the board.
    pub fn square(self, row: i64, col: i64) -> Option<Square> {
        let row = u8::try_from(row).ok().filter(|row| *row < self.rows)?;
        let col = u8::try_from(col).ok().filter(|col| *col < self.cols)?;
        Some(Square { row, col })
    }

    fn dimensions(self) -> Dimensions {
        Dimensions { rows: self.rows.into(), cols: self.cols.into(), win_length: self.win_length.into() }
    }

    /// Every square in row order.
    pub fn all_squares(self) -> impl Iterator<Item = Square> {
        (0..self.rows).flat_map(move |row| (0..self.cols).map(move |col| Square { row, col }))
    }
}

/// One square, counted from zero at the top left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Square {
    /// Row from the top.
    pub row: u8,
    /// Column from the left.
    pub col: u8,
}

/// Why a move or a resignation was refused. A refused one changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The game has ended.
    Over,
    /// It is the other player's turn.
    NotYourTurn,
    /// The square already holds a mark, or is none of this board.
    Occupied,
}

/// How the game stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Somebody has a move to make.
    Running,
    /// This player completed a line, or the other one resigned.
    Won(Mark),
    /// The board is full without a line.
    Drawn,
}

/// A game in progress or ended.
#[derive(Clone, Debug)]
pub struct Position {
    ruleset: Ruleset,
    board: Board<Dense>,
    last: Option<Square>,
    line: Vec<Square>,
    verdict: Verdict,
}

impl Position {
    /// The empty board, `X` to move.
    pub fn new(ruleset: Ruleset) -> Self {
        let board = Board::new(ruleset.dimensions());
        Self { ruleset, board, last: None, line: Vec::new(), verdict: Verdict::Running }
    }

    /// The rules it is played by.
    pub fn ruleset(&self) -> Ruleset {
        self.ruleset
    }

    /// Whose move it is, or nothing once the game has ended.
    pub fn turn(&self) -> Option<Mark> {
        let next = if self.board.placed().is_multiple_of(2) { Mark::X } else { Mark::O };
        (self.verdict == Verdict::Running).then_some(next)
    }

    /// How the game stands.
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// The mark on a square of this board.
    pub fn at(&self, square: Square) -> Option<Mark> {
        self.board.at(square.row.into(), square.col.into())
    }

    /// Marks on the board, at most 400.
    pub fn placed(&self) -> usize {
        usize::try_from(self.board.placed()).unwrap_or(usize::MAX)
    }

    /// The square of the last move.
    pub fn last(&self) -> Option<Square> {
        self.last
    }

    /// The squares of the winning line from one end to the other; empty while nobody has completed one.
    pub fn line(&self) -> &[Square] {
        &self.line
    }

    /// The free squares in row order.
    pub fn free(&self) -> impl Iterator<Item = Square> {
        self.ruleset.all_squares().filter(|square| self.at(*square).is_none())
    }

    /// Places a mark and judges the position. The cost does not depend on the board.
    pub fn play(&mut self, mark: Mark, square: Square) -> Result<Verdict, Refused> {
        match self.turn() {
            None => return Err(Refused::Over),
            Some(turn) if turn != mark => return Err(Refused::NotYourTurn),
            Some(_) => {}
        }
        let (row, col) = (i64::from(square.row), i64::from(square.col));
        self.board.check(row, col).map_err(|_| Refused::Occupied)?;
        let line = self.board.line_by(row, col, mark);
        self.verdict = match self.board.place(row, col, mark) {
            Placed::Open => Verdict::Running,
            Placed::Line => Verdict::Won(mark),
            Placed::Full => Verdict::Drawn,
        };
        self.last = Some(square);
        self.line = line.into_iter().flat_map(Line::cells).filter_map(|at| self.square(at)).collect();
        Ok(self.verdict)
    }

    /// Concedes the game to the other player. Needs no turn.
    pub fn resign(&mut self, mark: Mark) -> Result<Verdict, Refused> {
        if self.verdict != Verdict::Running {
            return Err(Refused::Over);
        }
        self.verdict = Verdict::Won(mark.other());
        Ok(self.verdict)
    }

    fn square(&self, (row, col): (i64, i64)) -> Option<Square> {
        self.ruleset.square(row, col)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays squares given as `row col` digit pairs, alternating marks.
    fn played(rows: u8, cols: u8, win: u8, moves: &[(i64, i64)]) -> Position {
        let ruleset = Ruleset::new(rows, cols, win).unwrap();
        let mut position = Position::new(ruleset);
        for (row, col) in moves {
            let mark = position.turn().unwrap();
            position.play(mark, ruleset.square(*row, *col).unwrap()).unwrap();
        }
        position
    }

    #[test]
    fn each_direction_wins() {
        let cases: [&[(i64, i64)]; 4] = [
            &[(0, 0), (1, 0), (0, 1), (1, 1), (0, 2)],
            &[(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)],
            &[(0, 0), (0, 1), (1, 1), (0, 2), (2, 2)],
            &[(0, 2), (0, 1), (1, 1), (0, 0), (2, 0)],
        ];
        for moves in cases {
            let position = played(3, 3, 3, moves);
            assert_eq!(position.verdict(), Verdict::Won(Mark::X), "{moves:?}");
            assert_eq!(position.line().len(), 3);
            assert_eq!(position.turn(), None);
        }
    }

    #[test]
    fn a_full_board_without_a_line_is_drawn() {
        let moves = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 0), (1, 2), (2, 1), (2, 0), (2, 2)];
        assert_eq!(played(3, 3, 3, &moves).verdict(), Verdict::Drawn);
    }

    #[test]
    fn a_line_completed_in_the_middle_counts_whole() {
        let moves = [(0, 0), (1, 0), (0, 1), (1, 1), (0, 3), (1, 3), (0, 4), (2, 0), (0, 2)];
        let position = played(5, 5, 4, &moves);
        assert_eq!(position.verdict(), Verdict::Won(Mark::X));
        assert_eq!(position.line().len(), 5);
    }

    #[test]
    fn a_line_does_not_wrap_around_the_edge() {
        let moves = [(0, 1), (2, 2), (0, 2), (2, 1), (1, 0)];
        assert_eq!(played(3, 3, 3, &moves).verdict(), Verdict::Running);
    }

    #[test]
    fn one_in_a_line_wins_with_the_first_move() {
        assert_eq!(played(1, 1, 1, &[(0, 0)]).verdict(), Verdict::Won(Mark::X));
    }

    #[test]
    fn a_line_longer_than_the_board_can_only_be_drawn() {
        assert_eq!(played(1, 2, 20, &[(0, 0), (0, 1)]).verdict(), Verdict::Drawn);
    }

    #[test]
    fn refusals_change_nothing() {
        let mut position = played(3, 3, 3, &[(1, 1)]);
        let ruleset = position.ruleset();
        let centre = ruleset.square(1, 1).unwrap();
        let seen = |position: &Position| format!("{position:?}");
        let before = seen(&position);
        assert_eq!(position.play(Mark::X, ruleset.square(0, 0).unwrap()), Err(Refused::NotYourTurn));
        assert_eq!(position.play(Mark::O, centre), Err(Refused::Occupied));
        assert_eq!(seen(&position), before);
        position.resign(Mark::X).unwrap();
        assert_eq!(position.verdict(), Verdict::Won(Mark::O));
        assert_eq!(position.play(Mark::O, ruleset.square(0, 0).unwrap()), Err(Refused::Over));
        assert_eq!(position.resign(Mark::O), Err(Refused::Over));
    }

    #[test]
    fn sizes_past_the_bounds_are_no_ruleset() {
        for (rows, cols, win) in [(0, 3, 3), (3, 0, 3), (3, 3, 0), (21, 3, 3), (3, 21, 3), (3, 3, 21)] {
            assert_eq!(Ruleset::new(rows, cols, win), None);
        }
        let ruleset = Ruleset::new(20, 20, 5).unwrap();
        for (row, col) in [(-1, 0), (0, -1), (20, 0), (0, 20), (i64::MAX, 0)] {
            assert_eq!(ruleset.square(row, col), None);
        }
    }
}
