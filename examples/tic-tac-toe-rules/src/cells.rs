//! Where marks are kept: by place on a small board, by coordinates on one of any size.

use crate::{Dimensions, Mark};
use std::collections::HashMap;

/// A mark and, per axis, the length of the run that it ends. Inside a run the lengths are stale and never read.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    pub(crate) mark: Mark,
    pub(crate) runs: [u32; 4],
}

/// A store of marks. Coordinates off the board hold nothing.
pub trait Cells {
    /// No marks.
    fn empty(dimensions: Dimensions) -> Self;
    /// The mark of a cell.
    fn get(&self, row: i64, col: i64) -> Option<&Cell>;
    /// The mark of a cell, to change it.
    fn get_mut(&mut self, row: i64, col: i64) -> Option<&mut Cell>;
    /// Marks a free cell of the board.
    fn put(&mut self, row: i64, col: i64, cell: Cell);
    /// How many marks there are.
    fn count(&self) -> u64;
}

/// A place for every cell, taken at once: for boards whose size the host bounds.
#[derive(Clone, Debug)]
pub struct Dense {
    cols: u64,
    count: u64,
    cells: Vec<Option<Cell>>,
}

impl Dense {
    fn index(&self, row: i64, col: i64) -> Option<usize> {
        let (row, col) = (u64::try_from(row).ok()?, u64::try_from(col).ok()?);
        let index = (col < self.cols).then(|| row.checked_mul(self.cols)?.checked_add(col))??;
        usize::try_from(index).ok().filter(|index| *index < self.cells.len())
    }
}

impl Cells for Dense {
    fn empty(dimensions: Dimensions) -> Self {
        let size = usize::try_from(dimensions.size()).unwrap_or(usize::MAX);
        Self { cols: dimensions.cols, count: 0, cells: vec![None; size] }
    }

    fn get(&self, row: i64, col: i64) -> Option<&Cell> {
        self.cells.get(self.index(row, col)?)?.as_ref()
    }

    fn get_mut(&mut self, row: i64, col: i64) -> Option<&mut Cell> {
        let index = self.index(row, col)?;
        self.cells.get_mut(index)?.as_mut()
    }

    fn put(&mut self, row: i64, col: i64, cell: Cell) {
        let place = self.index(row, col).and_then(|index| self.cells.get_mut(index));
        if let Some(place) = place {
            *place = Some(cell);
            self.count += 1;
        }
    }

    fn count(&self) -> u64 {
        self.count
    }
}

/// A place for every mark alone: for boards of up to 2^53-1 cells a side, which may come from anybody.
#[derive(Clone, Debug)]
pub struct Sparse(HashMap<(i64, i64), Cell>);

impl Cells for Sparse {
    fn empty(_: Dimensions) -> Self {
        Self(HashMap::new())
    }

    fn get(&self, row: i64, col: i64) -> Option<&Cell> {
        self.0.get(&(row, col))
    }

    fn get_mut(&mut self, row: i64, col: i64) -> Option<&mut Cell> {
        self.0.get_mut(&(row, col))
    }

    fn put(&mut self, row: i64, col: i64, cell: Cell) {
        self.0.insert((row, col), cell);
    }

    fn count(&self) -> u64 {
        self.0.len() as u64
    }
}
