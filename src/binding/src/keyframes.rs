//! The keyframes of the sides' view streams as they travel (§4). Each is encoded once, whoever joins or comes back at its
//! version, and holds nothing of a reader.

use playerthree_game::Name;
use playerthree_rooms::Frame;
use std::collections::BTreeMap;

/// The keyframe of each side that was asked for last, with its version. A side has one view at a version, so there is
/// nothing to invalidate.
#[derive(Default)]
pub(crate) struct Keyframes(BTreeMap<Name, (u64, Frame)>);

impl Keyframes {
    /// A side's keyframe at a version, encoded unless it is at hand.
    pub(crate) fn get_or(&mut self, team: &Name, version: u64, encode: impl FnOnce() -> Frame) -> Frame {
        if let Some((at, frame)) = self.0.get(team)
            && *at == version
        {
            return frame.clone();
        }
        let frame = encode();
        self.0.insert(team.clone(), (version, frame.clone()));
        frame
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// §4: every message is built once and shared, byte for byte, by every reader of that team.
    #[test]
    fn a_thousand_readers_that_join_cost_one_encoding_of_each_version() {
        let (mut keyframes, mut encodings) = (Keyframes::default(), 0);
        for version in 1..=3 {
            for _reader in 0..1_000 {
                for team in ["red", "blue"] {
                    keyframes.get_or(&team.into(), version, || {
                        encodings += 1;
                        Frame::signal("playerthree:view")
                    });
                }
            }
        }
        assert_eq!((encodings, keyframes.0.len()), (6, 2));
    }
}
