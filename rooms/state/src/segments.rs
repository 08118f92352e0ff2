//! What was said of a state: bytes for everybody, and segments of bytes that only some clients are sent.
//!
//! Segments stand in the order in which they introduce structures. Nothing here decides who sees what.

use crate::bytes::Buffer;
use crate::view::Pair;

/// What a patch or a full state says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    pub(crate) shared: Buffer,
    pub(crate) segments: Segments,
}

/// Bytes that are for some clients only, one behind the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Segments {
    pub(crate) bytes: Buffer,
    /// The audiences, one behind the other.
    pairs: Vec<Pair>,
    cuts: Vec<Cut>,
}

/// Where a segment ends. It begins where the one before it ends.
#[derive(Clone, Copy, Debug)]
struct Cut {
    kind: Kind,
    pairs: usize,
    bytes: usize,
}

/// What a segment does to the clients it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// For clients that see its audience.
    Content,
    /// Takes an entry of a collection away from clients that saw it.
    Entry,
    /// Takes fields of a structure away from clients that saw them.
    Fields,
}

/// A segment.
#[derive(Clone, Copy)]
pub(crate) struct Segment<'a> {
    pub(crate) kind: Kind,
    /// Who sees it: everybody whose view holds all of these.
    pub(crate) audience: &'a [Pair],
    pub(crate) bytes: &'a [u8],
}

impl Said {
    pub(crate) fn is_empty(&self) -> bool {
        self.shared.len() == 0 && self.segments.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.shared.clear();
        self.segments.clear();
    }
}

impl Segments {
    pub(crate) fn is_empty(&self) -> bool {
        self.cuts.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.pairs.clear();
        self.cuts.clear();
    }

    /// What was written since the last cut, up to `end`, is a segment of its own.
    pub(crate) fn cut(&mut self, end: usize, kind: Kind, audience: &[Pair]) {
        if end > self.cuts.last().map_or(0, |cut| cut.bytes) {
            self.pairs.extend_from_slice(audience);
            self.cuts.push(Cut { kind, pairs: self.pairs.len(), bytes: end });
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Segment<'_>> {
        (0..self.cuts.len()).filter_map(|place| self.get(place))
    }

    pub(crate) fn get(&self, place: usize) -> Option<Segment<'_>> {
        let cut = self.cuts.get(place)?;
        let (pairs, bytes) = match place.checked_sub(1).and_then(|before| self.cuts.get(before)) {
            Some(before) => (before.pairs, before.bytes),
            None => (0, 0),
        };
        Some(Segment {
            kind: cut.kind,
            audience: self.pairs.get(pairs..cut.pairs)?,
            bytes: self.bytes.as_slice().get(bytes..cut.bytes)?,
        })
    }
}
