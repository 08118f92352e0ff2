//! Seeded numbers, so that a failing random test fails again, and matches drawn with them.

use super::setup_allied;
use playerthree_game::Setup;
use serde_json::json;

pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number of `0..bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// A match of some sides, half of those of four in alliances, with options within their bounds.
pub(crate) fn random_match(random: &mut Random) -> Setup {
    let seats: &[&[&str]] = &[&["red", "blue"], &["red", "green", "gold"], &["red", "blue", "green", "gold"]];
    let teams = seats[random.below(3) as usize];
    let stock = random.below(1500);
    let options = json!({
        "size": 24 + random.below(17), "maxTicks": 36_000,
        "start": { "alloy": 300 + stock, "energy": stock / 2, "workers": 1 + random.below(6) },
    });
    let allied = teams.len() == 4 && random.below(2) == 0;
    setup_allied(random.below(1 << 31) as u32, teams, Some(options), allied.then_some(2))
}
