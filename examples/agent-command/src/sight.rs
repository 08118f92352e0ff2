//! What a party can see: a bit per tile, recomputed every tick from where its units and buildings stand.

use crate::map::{MAX_SIZE, Point, Tile};

/// The largest sight of any unit or building, in tiles.
const MAX_SIGHT: usize = 9;

/// The tiles in sight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sight {
    rows: [u64; MAX_SIZE as usize],
}

impl Default for Sight {
    fn default() -> Self {
        Self { rows: [0; MAX_SIZE as usize] }
    }
}

/// Half the width of a disc of each radius at each distance from its middle row.
#[expect(clippy::cast_possible_truncation, reason = "the root of a number below a hundred fits")]
const HALF_WIDTHS: [[u32; MAX_SIGHT + 1]; MAX_SIGHT + 1] = {
    let mut table = [[0; MAX_SIGHT + 1]; MAX_SIGHT + 1];
    let mut radius = 0;
    while radius <= MAX_SIGHT {
        let mut row = 0;
        while row <= radius {
            // Half a tile more than the radius makes the disc round rather than pointed.
            let square = (2 * radius + 1) * (2 * radius + 1) / 4 - row * row;
            table[radius][row] = square.isqrt() as u32;
            row += 1;
        }
        radius += 1;
    }
    table
};

impl Sight {
    /// Adds the disc of `radius` tiles around a place. Rocks do not block sight.
    pub(crate) fn add(&mut self, from: Point, radius: u8) {
        let radius = usize::from(radius).min(MAX_SIGHT);
        let Tile { x, y } = from.tile();
        let middle = usize::try_from(y).unwrap_or(0);
        let rows = self.rows.iter_mut().enumerate();
        for (row, bits) in rows.take(middle + radius + 1).skip(middle.saturating_sub(radius)) {
            let half = HALF_WIDTHS[radius][row.abs_diff(middle)].cast_signed();
            let (left, right) = ((x - half).max(0), (x + half).min(63));
            *bits |= (u64::MAX >> (63 - (right - left))) << left;
        }
    }

    pub(crate) fn sees(&self, point: Point) -> bool {
        self.sees_tile(point.tile())
    }

    pub(crate) fn sees_tile(&self, tile: Tile) -> bool {
        let row = usize::try_from(tile.y).ok().and_then(|y| self.rows.get(y)).copied().unwrap_or(0);
        (0..64).contains(&tile.x) && row >> tile.x & 1 == 1
    }
}
