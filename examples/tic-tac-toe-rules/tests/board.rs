//! Both kinds of boards against a walk over the cells, and the largest board there is.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use playerthree_tic_tac_toe_rules::{Board, Cells, Dense, Dimensions, Line, Mark, Placed, Refused, Sparse};
use proptest::prelude::*;
use std::collections::HashMap;

type Marks = HashMap<(i64, i64), Mark>;

/// The longest line through a cell along each axis, by walking.
fn walked(marks: &Marks, row: i64, col: i64, mark: Mark) -> u64 {
    let count = |down: i64, right: i64| {
        (1..).take_while(|n| marks.get(&(row + down * n, col + right * n)) == Some(&mark)).count() as u64
    };
    let axes = [(0, 1), (1, 0), (1, 1), (1, -1)];
    axes.into_iter().map(|(down, right)| 1 + count(down, right) + count(-down, -right)).max().unwrap()
}

/// Places a mark, checking everything that the board says about it against the marks so far.
fn place(board: &mut Board<impl Cells>, marks: &Marks, row: i64, col: i64, mark: Mark) -> Placed {
    assert_eq!(board.check(row, col), Ok(()));
    let line = board.line_by(row, col, mark).map(Line::cells).map(Vec::from_iter);
    let foreseen = board.foresee(row, col, mark);
    let placed = board.place(row, col, mark);
    assert_eq!(foreseen, placed);
    assert_eq!(board.check(row, col), Err(Refused::Occupied));
    assert_eq!((board.at(row, col), board.placed()), (Some(mark), marks.len() as u64 + 1));
    let wins = walked(marks, row, col, mark) >= board.dimensions().win_length;
    assert_eq!((placed == Placed::Line, line.is_some()), (wins, wins));
    if let Some(line) = line {
        assert!(line.len() as u64 >= board.dimensions().win_length && line.contains(&(row, col)));
        assert!(line.iter().all(|(row, col)| board.at(*row, *col) == Some(mark)));
    }
    placed
}

proptest! {
    // The run lengths that are kept at the ends of runs agree with walking the line, whatever keeps them.
    #[test]
    fn both_boards_agree_with_a_walk_over_the_cells(
        rows in 1u64..7, cols in 1u64..7, win_length in 1u64..6,
        order in Just((0..36u64).collect::<Vec<_>>()).prop_shuffle(),
        is_x in proptest::collection::vec(any::<bool>(), 36),
    ) {
        let dimensions = Dimensions { rows, cols, win_length };
        let (mut dense, mut sparse) = (Board::<Dense>::new(dimensions), Board::<Sparse>::new(dimensions));
        let mut marks = Marks::new();
        for (at, is_x) in order.into_iter().filter(|at| *at < rows * cols).zip(is_x) {
            let (row, col) = ((at / cols) as i64, (at % cols) as i64);
            let mark = if is_x { Mark::X } else { Mark::O };
            let placed = place(&mut dense, &marks, row, col, mark);
            prop_assert_eq!(placed, place(&mut sparse, &marks, row, col, mark));
            marks.insert((row, col), mark);
            prop_assert_eq!(placed == Placed::Full, placed != Placed::Line && marks.len() as u64 == rows * cols);
        }
        for (row, col) in [(-1, 0), (0, -1), (rows as i64, 0), (0, cols as i64), (i64::MAX, i64::MIN)] {
            prop_assert_eq!(dense.check(row, col), Err(Refused::OutOfRange));
            prop_assert_eq!(sparse.check(row, col), Err(Refused::OutOfRange));
            prop_assert_eq!((dense.at(row, col), sparse.at(row, col)), (None, None));
        }
    }
}

#[test]
fn the_largest_board_overflows_nothing() {
    let side = (1 << 53) - 1;
    let mut board = Board::<Sparse>::new(Dimensions { rows: side, cols: side, win_length: side });
    let last = i64::try_from(side).unwrap() - 1;
    assert_eq!(board.place(last, last, Mark::X), Placed::Open);
    assert_eq!(board.check(last + 1, 0), Err(Refused::OutOfRange));
    assert_eq!(board.check(-1, 0), Err(Refused::OutOfRange));
}
