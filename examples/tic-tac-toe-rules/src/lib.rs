//! The board of m,n,k tic-tac-toe: marks, lines and the full board, for every host that plays it.
//!
//! It knows whose line it is and never whose turn: order, resignation and bounds are each host's own. Each mark costs
//! constant time, however long its line and however large the board. No I/O, no clock, no JSON.

mod board;
mod cells;

pub use board::{Board, Dimensions, Line, Placed, Refused};
pub use cells::{Cell, Cells, Dense, Sparse};

use std::fmt;

/// A player's mark. X opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mark {
    /// Moves first.
    X,
    /// Moves second.
    O,
}

impl Mark {
    /// The opponent's mark.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::X => Self::O,
            Self::O => Self::X,
        }
    }

    /// The capital letter, `X` or `O`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::X => "X",
            Self::O => "O",
        }
    }

    /// The mark's lower-case name, `x` or `o`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::X => "x",
            Self::O => "o",
        }
    }

    /// The mark of a lower-case name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "x" => Some(Self::X),
            "o" => Some(Self::O),
            _ => None,
        }
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
