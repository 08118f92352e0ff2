//! Where encoded bytes go: the shared stream, or a segment that only some views contain.
//!
//! The writer hands out reference ids and counts nesting; it never looks into a value.

use crate::bytes;
use crate::shared::{Queue, Told};
use crate::view::{Audience, Id, Tag};
use std::collections::HashSet;
use std::sync::Arc;

/// How deep structures may nest in each other. Deeper ones are a [`Fault`].
pub const MAX_DEPTH: u8 = 64;

/// References one room may hand out in its life; the format's ids do not go further.
pub const MAX_REFS: u32 = u32::MAX;

pub(crate) const ADD: u8 = 0x80;
pub(crate) const REPLACE: u8 = 0x00;
pub(crate) const DELETE: u8 = 0x40;
pub(crate) const DELETE_AND_ADD: u8 = 0xc0;
pub(crate) const CLEAR: u8 = 0x0a;
const SWITCH: u8 = 0xff;

/// A state that the format cannot carry any more. Its room cannot go on: what clients hold is no longer known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// Structures are nested deeper than [`MAX_DEPTH`].
    #[error("the state is nested too deep")]
    TooDeep,
    /// [`MAX_REFS`] references have been handed out.
    #[error("the state ran out of references")]
    NoReferences,
    /// A collection has handed out 2^32 indexes.
    #[error("a collection ran out of indexes")]
    NoIndexes,
    /// A [`Shared`](crate::Shared) instance stands where only some clients see it.
    #[error("a shared instance stands where only some clients see it")]
    SharedInView,
    /// A [`Shared`](crate::Shared) instance stands in two states.
    #[error("a shared instance belongs to another state")]
    SharedElsewhere,
}

/// For whom a full state is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Joining {
    /// A client that holds nothing.
    New,
    /// A client of generation 0.18 that kept what it held: its decoder drops entries that are not repeated.
    Reconciling,
    /// A client of an older generation that kept what it held: its decoder only adds, so that collections are cleared
    /// before they are filled.
    Additive,
}

/// Bytes that are for some clients only.
pub(crate) struct Segment {
    pub(crate) audience: Audience,
    pub(crate) kind: SegmentKind,
    pub(crate) bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SegmentKind {
    /// For clients that see its audience.
    Content,
    /// Takes an entry of a collection away from clients that saw it.
    Entry,
    /// Takes fields of a structure away from clients that saw them.
    Fields,
}

/// Where a structure began in the stream.
#[derive(Clone, Copy)]
#[doc(hidden)]
pub struct Mark {
    start: usize,
    body: usize,
}

/// Collects what one patch or full state says.
#[doc(hidden)]
pub struct Writer {
    pub(crate) bytes: Vec<u8>,
    pub(crate) segments: Vec<Segment>,
    pub(crate) joining: Joining,
    pub(crate) fault: Option<Fault>,
    /// The collection item that is being written, or the root: what views name.
    pub(crate) item: Id,
    /// The named items that a full state came across.
    pub(crate) alive: HashSet<Id>,
    /// Shared instances with something to tell.
    pub(crate) queue: Arc<Queue>,
    /// Shared instances that clients know.
    pub(crate) known: Vec<Arc<dyn Told>>,
    /// Shared instances that a full state came across, and those of them that are yet to be written.
    pub(crate) met: HashSet<Id>,
    pub(crate) waiting: Vec<Arc<dyn Told>>,
    /// Something was taken from the clients since the last search for shared instances.
    pub(crate) removed: bool,
    pub(crate) searches: u64,
    audience: Audience,
    next_ref: u32,
    depth: u8,
}

impl Writer {
    pub(crate) fn new() -> Self {
        Self {
            bytes: Vec::new(),
            segments: Vec::new(),
            joining: Joining::New,
            fault: None,
            item: Id::ROOT,
            alive: HashSet::new(),
            queue: Arc::default(),
            known: Vec::new(),
            met: HashSet::new(),
            waiting: Vec::new(),
            removed: false,
            searches: 0,
            audience: Audience::default(),
            next_ref: 1,
            depth: 0,
        }
    }

    /// A reference id that was never used in this room.
    pub(crate) fn fresh_ref(&mut self) -> u32 {
        let fresh = self.next_ref;
        match fresh.checked_add(1) {
            Some(next) => self.next_ref = next,
            None => self.fault = Some(Fault::NoReferences),
        }
        fresh
    }

    /// Switches to a structure. Decoding starts at the root, whose first switch is left out.
    #[inline(always)]
    pub fn begin(&mut self, reference: u32) -> Mark {
        let start = self.bytes.len();
        if reference != 0 || start != 0 || !self.audience.is_everyone() {
            self.switch(reference);
        }
        Mark { start, body: self.bytes.len() }
    }

    #[inline(always)]
    fn switch(&mut self, reference: u32) {
        let [a, b, ..] = reference.to_le_bytes();
        match reference {
            0..=0x7f => self.bytes.extend_from_slice(&[SWITCH, a]),
            0x100..=0xffff => self.bytes.extend_from_slice(&[SWITCH, 0xcd, a, b]),
            _ => self.switch_rarely(reference),
        }
    }

    /// Kept out of line, so that the common forms are not.
    #[inline(never)]
    fn switch_rarely(&mut self, reference: u32) {
        self.bytes.push(SWITCH);
        bytes::count(reference, &mut self.bytes);
    }

    /// Takes the switch back where nothing was said about the structure.
    #[inline]
    pub fn end(&mut self, mark: Mark) {
        if self.bytes.len() == mark.body {
            self.bytes.truncate(mark.start);
        }
    }

    #[inline]
    pub(crate) fn op(&mut self, op: u8) {
        self.removed |= op & DELETE != 0 || op == CLEAR;
        self.bytes.push(op);
    }

    #[inline]
    pub(crate) fn count(&mut self, value: u32) {
        bytes::count(value, &mut self.bytes);
    }

    /// Goes into a structure, unless it is nested too deep.
    #[inline]
    pub fn descend(&mut self) -> bool {
        if self.depth == MAX_DEPTH {
            self.fault = Some(Fault::TooDeep);
            return false;
        }
        self.depth += 1;
        true
    }

    /// Comes back from a structure.
    #[inline]
    pub fn ascend(&mut self) {
        self.depth -= 1;
    }

    /// Whether what is being written is sent to every client.
    pub(crate) fn is_for_everyone(&self) -> bool {
        self.audience.is_everyone()
    }

    /// A full state came across a named item.
    pub(crate) fn meet(&mut self, id: Id) {
        if id != Id::NONE {
            self.alive.insert(id);
        }
    }

    /// Writes what only views that hold the present item under `tag` contain.
    pub(crate) fn restricted(&mut self, tag: Tag, content: impl FnOnce(&mut Self)) {
        self.segment(self.item, tag, SegmentKind::Content, content);
    }

    /// Writes what takes the present item's fields under `tag` away.
    pub(crate) fn removal(&mut self, tag: Tag, content: impl FnOnce(&mut Self)) {
        self.segment(self.item, tag, SegmentKind::Fields, content);
    }

    /// Writes what is for the clients that see `id` under `tag`, and what they see it in.
    pub(crate) fn segment(&mut self, id: Id, tag: Tag, kind: SegmentKind, content: impl FnOnce(&mut Self)) {
        self.audience.push(id, tag);
        let outer = std::mem::take(&mut self.bytes);
        let place = self.segments.len();
        // The place is taken first, so that segments stand in the order in which they introduce structures.
        self.segments.push(Segment { audience: Audience::default(), kind, bytes: Vec::new() });
        content(self);
        let bytes = std::mem::replace(&mut self.bytes, outer);
        if bytes.is_empty() && self.segments.len() == place + 1 {
            self.segments.pop();
        } else if let Some(segment) = self.segments.get_mut(place) {
            segment.audience.clone_from(&self.audience);
            segment.bytes = bytes;
        }
        self.audience.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_that_hands_out_its_last_reference_is_at_an_end() {
        let mut writer = Writer { next_ref: MAX_REFS - 1, ..Writer::new() };
        assert_eq!((writer.fresh_ref(), writer.fault), (MAX_REFS - 1, None));
        writer.fresh_ref();
        assert_eq!(writer.fault, Some(Fault::NoReferences));
    }
}
