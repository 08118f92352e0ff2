//! Where encoded bytes go: the bytes for everybody, or a segment that only some views contain.
//!
//! The writer hands out reference ids and counts nesting; it never looks into a value.

use crate::bytes::{self, Buffer};
use crate::segments::{Kind, Said, Segments};
use crate::shared::{Queue, Told};
use crate::view::{Id, Pair, Tag};
use hashbrown::HashSet;
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

/// Where a structure began.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    start: usize,
    body: usize,
}

/// Collects what one patch or full state says.
#[doc(hidden)]
pub struct Writer {
    /// What is written now: the bytes for everybody, or within a segment those of the segments.
    pub(crate) out: Buffer,
    segments: Segments,
    pub(crate) joining: Joining,
    pub(crate) fault: Option<Fault>,
    /// The collection item that is being written, or the root: what views name.
    pub(crate) item: Id,
    /// The named items that a full state came across.
    pub(crate) alive: Vec<Id>,
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
    /// Who sees what is written now, and what it does to them.
    audience: Vec<Pair>,
    kind: Option<Kind>,
    next_ref: u32,
    depth: u8,
}

impl Writer {
    pub(crate) fn new() -> Self {
        Self {
            out: Buffer::default(),
            segments: Segments::default(),
            joining: Joining::New,
            fault: None,
            item: Id::ROOT,
            alive: Vec::new(),
            queue: Arc::default(),
            known: Vec::new(),
            met: HashSet::new(),
            waiting: Vec::new(),
            removed: false,
            searches: 0,
            audience: Vec::new(),
            kind: None,
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

    /// Exchanges what was written for `said`.
    pub(crate) fn swap(&mut self, said: &mut Said) {
        std::mem::swap(&mut self.out, &mut said.shared);
        std::mem::swap(&mut self.segments, &mut said.segments);
    }

    /// Switches to a structure. Decoding starts at the root, whose first switch is left out.
    #[inline(always)]
    fn mark(&mut self, reference: u32) -> Mark {
        let start = self.out.len();
        if reference == 0 {
            return self.mark_root(start);
        }
        Mark { start, body: self.switch_at(start, reference) }
    }

    /// Kept out of line, because there is one root.
    #[inline(never)]
    fn mark_root(&mut self, start: usize) -> Mark {
        let switches = start != 0 || !self.is_for_everyone();
        Mark { start, body: if switches { self.switch_at(start, 0) } else { start } }
    }

    #[inline(always)]
    fn switch_at(&mut self, at: usize, reference: u32) -> usize {
        // Numbers, so that each form is one write.
        match reference {
            0..=0x7f => {
                let [a, ..] = reference.to_le_bytes();
                self.out.put_at(at, (u16::from(a) << 8 | u16::from(SWITCH)).to_le_bytes())
            }
            0x100..=0xffff => {
                self.out.put_at(at, (reference << 16 | 0xcd00 | u32::from(SWITCH)).to_le_bytes())
            }
            _ => self.switch_rarely(at, reference),
        }
    }

    /// Kept out of line, so that the common forms are not.
    #[inline(never)]
    fn switch_rarely(&mut self, at: usize, reference: u32) -> usize {
        let end = self.out.put_at(at, [SWITCH]);
        self.out.end_at(end);
        bytes::count(reference, &mut self.out);
        self.out.len()
    }

    /// Switches to a structure, whose fields come next.
    #[inline(always)]
    pub(crate) fn open(&mut self, reference: u32) -> Fields<'_> {
        let mark = self.mark(reference);
        Fields { end: mark.body, mark, w: self }
    }

    /// Switches to a structure.
    #[inline]
    pub(crate) fn begin(&mut self, reference: u32) -> Mark {
        let mark = self.mark(reference);
        self.out.end_at(mark.body);
        mark
    }

    /// Takes the switch back where nothing was said about the structure.
    #[inline]
    pub(crate) fn end(&mut self, mark: Mark) {
        if self.out.len() == mark.body {
            self.out.end_at(mark.start);
        }
    }

    #[inline]
    pub(crate) fn op(&mut self, op: u8) {
        self.removed |= op & DELETE != 0 || op == CLEAR;
        self.out.push(op);
    }

    #[inline]
    pub(crate) fn count(&mut self, value: u32) {
        bytes::count(value, &mut self.out);
    }

    /// Whether a structure may stand here; otherwise the state is nested too deep.
    #[inline]
    pub(crate) fn has_room(&mut self) -> bool {
        let has_room = self.depth < MAX_DEPTH;
        if !has_room {
            self.fault = Some(Fault::TooDeep);
        }
        has_room
    }

    /// Writes what is inside a structure.
    #[inline(always)]
    pub(crate) fn inside(&mut self, content: impl FnOnce(&mut Self)) {
        self.depth += 1;
        content(self);
        self.depth -= 1;
    }

    /// Whether what is being written is sent to every client.
    pub(crate) fn is_for_everyone(&self) -> bool {
        self.audience.is_empty()
    }

    /// A full state came across a named item.
    pub(crate) fn meet(&mut self, id: Id) {
        if id != Id::NONE {
            self.alive.push(id);
        }
    }

    /// Writes what only views that hold the present item under `tag` contain.
    pub(crate) fn restricted(&mut self, tag: Tag, content: impl FnOnce(&mut Self)) {
        self.segment(self.item, tag, Kind::Content, content);
    }

    /// Writes what takes the present item's fields under `tag` away.
    pub(crate) fn removal(&mut self, tag: Tag, content: impl FnOnce(&mut Self)) {
        self.segment(self.item, tag, Kind::Fields, content);
    }

    /// Writes what is for the clients that see `id` under `tag`, and what they see it in.
    pub(crate) fn segment(&mut self, id: Id, tag: Tag, kind: Kind, content: impl FnOnce(&mut Self)) {
        let outer = self.kind;
        match outer {
            Some(outer) => self.segments.cut(self.out.len(), outer, &self.audience),
            None => std::mem::swap(&mut self.out, &mut self.segments.bytes),
        }
        self.kind = Some(kind);
        self.audience.push(Pair::new(id, tag));
        content(self);
        self.segments.cut(self.out.len(), kind, &self.audience);
        self.audience.pop();
        self.kind = outer;
        if outer.is_none() {
            std::mem::swap(&mut self.out, &mut self.segments.bytes);
        }
    }
}

/// A structure whose fields are being written. Most patches are many small writes in a row: where they end is counted
/// here, where it can stay in a register.
#[doc(hidden)]
pub struct Fields<'a> {
    w: &'a mut Writer,
    mark: Mark,
    end: usize,
}

impl Fields<'_> {
    /// Writes the operation of a field and its value.
    #[inline(always)]
    pub(crate) fn put_op<const N: usize>(&mut self, op: u8, value: [u8; N]) {
        self.end = self.w.out.put_op_at(self.end, op, value);
    }

    /// Writes something that needs the writer itself.
    #[inline(always)]
    pub(crate) fn with(&mut self, write: impl FnOnce(&mut Writer)) {
        self.w.out.end_at(self.end);
        write(self.w);
        self.end = self.w.out.len();
    }

    /// Takes the switch back where nothing was said about the structure.
    #[inline(always)]
    pub(crate) fn close(self) {
        self.w.out.end_at(if self.end == self.mark.body { self.mark.start } else { self.end });
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
