//! The match's only randomness: a small generator that is part of the state and copied with it.

/// SplitMix64, seeded from the match seed and a stream number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rng(u64);

impl Rng {
    /// An independent stream of a seed.
    pub(crate) fn new(seed: u32, stream: u64) -> Self {
        let mut rng = Self(u64::from(seed) ^ stream.wrapping_mul(0xd134_2543_de82_ef95));
        rng.next();
        rng
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number of `0..bound`; `bound` is positive. The bias is below one in four thousand million.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        let product = (self.next() >> 32) * u64::from(bound);
        (product >> 32) as u32
    }

    /// The generator's whole state, for debug views.
    pub(crate) fn state(&self) -> u64 {
        self.0
    }
}
