//! The board: marks, lines and the full board, on boards of up to 2^53-1 cells a side.
//!
//! It never allocates rows x cols and never scans a row: each mark costs constant time, however long its line.

use std::collections::HashMap;

/// A player's mark. X opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mark {
    /// The host; odd events and the opening.
    X,
    /// The guest; even events from 2 up.
    O,
}

impl Mark {
    /// The other player.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::X => Self::O,
            Self::O => Self::X,
        }
    }

    /// The wire name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::X => "X",
            Self::O => "O",
        }
    }
}

/// Install-time parameters of a game, each at least 1 and at most 2^53-1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dimensions {
    /// Rows of the board.
    pub rows: u64,
    /// Columns of the board.
    pub cols: u64,
    /// Marks in a row that win; it may be longer than the board.
    pub win_length: u64,
}

/// What a placed mark brought about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placed {
    /// The game goes on.
    Open,
    /// The mark completed a line.
    Line,
    /// The mark filled the board without a line.
    Full,
}

/// Why a mark cannot be placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    OutOfRange,
    Occupied,
}

/// The four axes of a line: along the row, the column and both diagonals.
const AXES: [(i64, i64); 4] = [(0, 1), (1, 0), (1, 1), (1, -1)];

/// A mark and, per axis, the length of the run that it ends. Inside a run the lengths are stale and never read.
#[derive(Debug, Clone, Copy)]
struct Cell {
    mark: Mark,
    runs: [u32; 4],
}

/// The marks of one game.
#[derive(Debug, Clone)]
pub(crate) struct Board {
    dimensions: Dimensions,
    cells: HashMap<(i64, i64), Cell>,
}

impl Board {
    pub(crate) fn new(dimensions: Dimensions) -> Self {
        Self { dimensions, cells: HashMap::new() }
    }

    /// Checks a cell without placing anything.
    pub(crate) fn check(&self, row: i64, col: i64) -> Result<(), Refused> {
        let inside = |at: i64, side: u64| u64::try_from(at).is_ok_and(|at| at < side);
        if !inside(row, self.dimensions.rows) || !inside(col, self.dimensions.cols) {
            return Err(Refused::OutOfRange);
        }
        if self.cells.contains_key(&(row, col)) { Err(Refused::Occupied) } else { Ok(()) }
    }

    /// Places a mark on a cell that [`Board::check`] allows. A line counts before a full board.
    pub(crate) fn place(&mut self, row: i64, col: i64, mark: Mark) -> Placed {
        let placed = self.foresee(row, col, mark);
        let runs = self.runs_through(row, col, mark);
        self.cells.insert((row, col), Cell { mark, runs: runs.map(Run::total) });
        for (axis, ((dr, dc), run)) in AXES.into_iter().zip(runs).enumerate() {
            for steps in [-i64::from(run.before), i64::from(run.after)] {
                if let Some(end) = self.cells.get_mut(&(row + dr * steps, col + dc * steps)) {
                    end.runs[axis] = run.total();
                }
            }
        }
        placed
    }

    /// What [`Board::place`] would answer, leaving the board as it is.
    pub(crate) fn foresee(&self, row: i64, col: i64, mark: Mark) -> Placed {
        let reaches = |run: &Run| u64::from(run.total()) >= self.dimensions.win_length;
        if self.runs_through(row, col, mark).iter().any(reaches) {
            Placed::Line
        } else if self.cells.len() as u128 + 1 == self.size() {
            Placed::Full
        } else {
            Placed::Open
        }
    }

    /// One string a row, `.` for a free cell; `None` above `max_cells`.
    pub(crate) fn draw(&self, max_cells: u64) -> Option<Vec<String>> {
        if self.size() > u128::from(max_cells) {
            return None;
        }
        let side = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        let at = |row, col| self.cells.get(&(row, col)).map_or(".", |cell| cell.mark.as_str());
        let (rows, cols) = (side(self.dimensions.rows), side(self.dimensions.cols));
        Some((0..rows).map(|row| (0..cols).map(|col| at(row, col)).collect()).collect())
    }

    fn size(&self) -> u128 {
        u128::from(self.dimensions.rows) * u128::from(self.dimensions.cols)
    }

    /// Per axis, the runs of this mark that a new one at the cell would join.
    fn runs_through(&self, row: i64, col: i64, mark: Mark) -> [Run; 4] {
        std::array::from_fn(|axis| {
            let (dr, dc) = AXES[axis];
            let beside = |at| self.cells.get(&at).filter(|c| c.mark == mark).map_or(0, |c| c.runs[axis]);
            Run { before: beside((row - dr, col - dc)), after: beside((row + dr, col + dc)) }
        })
    }
}

/// A run through one cell: the marks on both sides of it.
#[derive(Debug, Clone, Copy)]
struct Run {
    before: u32,
    after: u32,
}

impl Run {
    fn total(self) -> u32 {
        self.before.saturating_add(self.after).saturating_add(1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn slow_line(cells: &HashMap<(i64, i64), Mark>, row: i64, col: i64, mark: Mark, need: u64) -> bool {
        let count = |dr: i64, dc: i64| {
            (1..).take_while(|n| cells.get(&(row + dr * n, col + dc * n)) == Some(&mark)).count()
        };
        AXES.iter().any(|(dr, dc)| (1 + count(*dr, *dc) + count(-dr, -dc)) as u64 >= need)
    }

    proptest! {
        // The run lengths kept at the ends of runs must agree with walking the line.
        #[test]
        fn lines_agree_with_a_walk_over_the_cells(
            rows in 1u64..7, cols in 1u64..7, need in 1u64..6, order in Just((0..36u64).collect::<Vec<_>>()).prop_shuffle(),
            marks in proptest::collection::vec(any::<bool>(), 36),
        ) {
            let mut board = Board::new(Dimensions { rows, cols, win_length: need });
            let mut cells = HashMap::new();
            for (at, is_x) in order.into_iter().filter(|at| *at < rows * cols).zip(marks) {
                let (row, col) = ((at / cols) as i64, (at % cols) as i64);
                let mark = if is_x { Mark::X } else { Mark::O };
                prop_assert_eq!(board.check(row, col), Ok(()));
                let foreseen = board.foresee(row, col, mark);
                let placed = board.place(row, col, mark);
                cells.insert((row, col), mark);
                prop_assert_eq!(foreseen, placed);
                prop_assert_eq!(placed == Placed::Line, slow_line(&cells, row, col, mark, need));
                prop_assert_eq!(board.check(row, col), Err(Refused::Occupied));
            }
        }
    }

    #[test]
    fn the_largest_board_overflows_nothing() {
        let side = (1 << 53) - 1;
        let mut board = Board::new(Dimensions { rows: side, cols: side, win_length: side });
        let last = i64::try_from(side).unwrap() - 1;
        assert_eq!(board.place(last, last, Mark::X), Placed::Open);
        assert_eq!(board.check(last + 1, 0), Err(Refused::OutOfRange));
        assert_eq!(board.check(-1, 0), Err(Refused::OutOfRange));
        assert_eq!(board.draw(1024), None);
    }
}
