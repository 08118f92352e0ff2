//! Lines and the full board.

use crate::{Cell, Cells, Mark};

/// Size of the board and length of a winning line, each at least 1 and at most 2^53-1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimensions {
    /// Rows of the board.
    pub rows: u64,
    /// Columns of the board.
    pub cols: u64,
    /// Marks in a line that win; it may be longer than the board, and then nobody wins.
    pub win_length: u64,
}

impl Dimensions {
    /// How many cells the board has.
    #[must_use]
    pub fn size(self) -> u128 {
        u128::from(self.rows) * u128::from(self.cols)
    }
}

/// What a placed mark brought about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    /// The game goes on.
    Open,
    /// The mark completed a line.
    Line,
    /// The mark filled the board without a line.
    Full,
}

/// Why a mark cannot be placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The cell is not on the board.
    OutOfRange,
    /// The cell holds a mark.
    Occupied,
}

/// The four axes of a line: along the row, the column and both diagonals.
const AXES: [(i64, i64); 4] = [(0, 1), (1, 0), (1, 1), (1, -1)];

/// A winning line, whole: it may be longer than it had to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    start: (i64, i64),
    step: (i64, i64),
    length: u32,
}

impl Line {
    /// The cells from one end to the other, as row and column.
    pub fn cells(self) -> impl Iterator<Item = (i64, i64)> {
        let Self { start: (row, col), step: (down, right), length } = self;
        (0..i64::from(length)).map(move |n| (row + down * n, col + right * n))
    }
}

/// The marks of one game.
#[derive(Clone, Debug)]
pub struct Board<C> {
    dimensions: Dimensions,
    cells: C,
}

impl<C: Cells> Board<C> {
    /// An empty board.
    #[must_use]
    pub fn new(dimensions: Dimensions) -> Self {
        Self { dimensions, cells: C::empty(dimensions) }
    }

    /// Its size and the length of a winning line.
    #[must_use]
    pub fn dimensions(&self) -> Dimensions {
        self.dimensions
    }

    /// The mark on a cell.
    #[must_use]
    pub fn at(&self, row: i64, col: i64) -> Option<Mark> {
        self.cells.get(row, col).map(|cell| cell.mark)
    }

    /// How many marks there are.
    #[must_use]
    pub fn placed(&self) -> u64 {
        self.cells.count()
    }

    /// Checks a cell without placing anything.
    ///
    /// # Errors
    /// [`Refused`].
    pub fn check(&self, row: i64, col: i64) -> Result<(), Refused> {
        let inside = |at: i64, side: u64| u64::try_from(at).is_ok_and(|at| at < side);
        if !inside(row, self.dimensions.rows) || !inside(col, self.dimensions.cols) {
            return Err(Refused::OutOfRange);
        }
        if self.cells.get(row, col).is_some() { Err(Refused::Occupied) } else { Ok(()) }
    }

    /// Places a mark on a cell that [`Board::check`] allows. A line counts before a full board.
    pub fn place(&mut self, row: i64, col: i64, mark: Mark) -> Placed {
        let placed = self.foresee(row, col, mark);
        let runs = self.runs_through(row, col, mark);
        self.cells.put(row, col, Cell { mark, runs: runs.map(Run::total) });
        for (axis, ((down, right), run)) in AXES.into_iter().zip(runs).enumerate() {
            for steps in [-i64::from(run.before), i64::from(run.after)] {
                if let Some(end) = self.cells.get_mut(row + down * steps, col + right * steps) {
                    end.runs[axis] = run.total();
                }
            }
        }
        placed
    }

    /// What [`Board::place`] would answer, leaving the board as it is.
    #[must_use]
    pub fn foresee(&self, row: i64, col: i64, mark: Mark) -> Placed {
        if self.line_by(row, col, mark).is_some() {
            Placed::Line
        } else if u128::from(self.placed()) + 1 == self.dimensions.size() {
            Placed::Full
        } else {
            Placed::Open
        }
    }

    /// The line that a mark on this free cell would complete; the first in the order of the axes when there are several.
    #[must_use]
    pub fn line_by(&self, row: i64, col: i64, mark: Mark) -> Option<Line> {
        let wins = |run: &Run| u64::from(run.total()) >= self.dimensions.win_length;
        let mut runs = AXES.into_iter().zip(self.runs_through(row, col, mark));
        runs.find(|(_, run)| wins(run)).map(|((down, right), run)| {
            let before = i64::from(run.before);
            Line {
                start: (row - down * before, col - right * before),
                step: (down, right),
                length: run.total(),
            }
        })
    }

    /// Per axis, the runs of this mark that a new one at the cell would join.
    fn runs_through(&self, row: i64, col: i64, mark: Mark) -> [Run; 4] {
        AXES.into_iter().enumerate().fold(
            [Run { before: 0, after: 0 }; 4],
            |mut runs, (axis, (down, right))| {
                let beside = |row, col| {
                    self.cells
                        .get(row, col)
                        .filter(|cell| cell.mark == mark)
                        .map_or(0, |cell| cell.runs[axis])
                };
                runs[axis] =
                    Run { before: beside(row - down, col - right), after: beside(row + down, col + right) };
                runs
            },
        )
    }
}

/// A run through one cell: the marks on both sides of it.
#[derive(Clone, Copy, Debug)]
struct Run {
    before: u32,
    after: u32,
}

impl Run {
    fn total(self) -> u32 {
        self.before.saturating_add(self.after).saturating_add(1)
    }
}
