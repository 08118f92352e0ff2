//! What an observation takes: bytes of JSON, and an estimate of tokens.

use super::{Headless, all_sections, seats, setup_allied};
use playerthree_game::{GameMatch, Name, Seat};

/// JSON of this game has about this many bytes to a token of today's models.
const BYTES_PER_TOKEN: usize = 3;

/// The largest observation of every seat at a moment of a match.
pub(crate) struct Size {
    pub(crate) role: Name,
    /// In the role's own detail.
    pub(crate) own: usize,
    /// With every section in full.
    pub(crate) full: usize,
}

pub(crate) fn tokens(bytes: usize) -> usize {
    bytes.div_ceil(BYTES_PER_TOKEN)
}

/// A match with a bot of the strongest tier in every seat, two sides or two alliances of two.
pub(crate) fn strong_match(seed: u32, teams: &[&str]) -> Headless {
    let each = (teams.len() == 4).then_some(2);
    Headless::new(&setup_allied(seed, teams, None, each), |_| "commander")
}

/// The sizes of this moment, for each role the largest of all sides.
pub(crate) fn sizes(game: &dyn GameMatch, teams: &[Name]) -> Vec<Size> {
    let size = |seat: &Seat, detail: &[Name]| game.observe(seat, -1, detail).to_string().len();
    let mut sizes: Vec<Size> = Vec::new();
    for seat in seats(teams) {
        let (own, full) = (size(&seat, std::slice::from_ref(&seat.role)), size(&seat, &all_sections()));
        match sizes.iter_mut().find(|size| size.role == seat.role) {
            Some(largest) => (largest.own, largest.full) = (largest.own.max(own), largest.full.max(full)),
            None => sizes.push(Size { role: seat.role, own, full }),
        }
    }
    sizes
}
