//! What a player can do. This one definition is the schema, the documents for agents and the reader (§3).

use crate::rules::MAX_SIDE;
use playerthree_schema::Described;
use serde::{Deserialize, Serialize};

/// One intent. Its doc comments are what agents read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Described)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Intent {
    /// Places your mark on a free square. Refused with not_your_turn, occupied, out_of_bounds or over.
    Move {
        #[schema(min = 0, max = MAX_SIDE as i64 - 1)]
        row: u8,
        #[schema(min = 0, max = MAX_SIDE as i64 - 1)]
        col: u8,
    },
    /// Concedes the game, on anybody's turn. Refused with over once the game has ended.
    Resign,
}
