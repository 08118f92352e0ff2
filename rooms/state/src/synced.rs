//! A state together with what its clients hold of it.

use crate::object::{self, Node, State};
use crate::reflection::{self, Dialect, MAX_TYPES};
use crate::shared;
use crate::view::{Id, View};
use crate::writer::{Fault, Joining, Segment, SegmentKind, Writer};
use std::collections::HashSet;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A game's state, and the encoder that tells clients of it. It dereferences to the state; whoever borrows it to
/// change it makes the next patch look for changes.
pub struct Synced<S: State> {
    state: S,
    node: Node<S::Shadow>,
    writer: Writer,
    touched: bool,
    /// The full states since the last change, one for each way of joining.
    full: [Option<Arc<Full>>; 3],
}

/// What changed since the patch before.
#[derive(Default)]
pub struct Patch {
    shared: Vec<u8>,
    segments: Vec<Segment>,
}

/// All of a state.
pub struct Full {
    shared: Vec<u8>,
    segments: Vec<Segment>,
    alive: HashSet<Id>,
    joining: Joining,
}

impl<S: State> Synced<S> {
    /// Takes a game's state. Nobody has been told of it yet.
    #[must_use]
    pub fn new(state: S) -> Self {
        Self {
            state,
            node: Node { fresh: true, ..Node::default() },
            writer: Writer::new(),
            touched: true,
            full: [None, None, None],
        }
    }

    fn take_segments(&mut self) -> (Vec<u8>, Vec<Segment>) {
        let room = Vec::with_capacity(self.writer.bytes.len());
        (std::mem::replace(&mut self.writer.bytes, room), std::mem::take(&mut self.writer.segments))
    }
}

/// A state whose type a room does not need to know. [`Synced`] is the one there is.
pub trait Synchronized: Send {
    /// The types of the state, for clients of one generation.
    ///
    /// # Errors
    /// [`TooManyTypes`], where there are more than [`MAX_TYPES`].
    fn reflection(&self, dialect: Dialect) -> Result<Vec<u8>, TooManyTypes>;

    /// Whether somebody borrowed the state to change it since the last patch.
    fn is_touched(&self) -> bool;

    /// What changed since the call before; the clients must be sent it. It costs nothing where nobody borrowed the
    /// state to change it.
    ///
    /// # Errors
    /// A [`Fault`]: the clients can no longer be told of the state.
    fn patch(&mut self) -> Result<Patch, Fault>;

    /// All of the state, after a patch that the clients of before must be sent.
    ///
    /// # Errors
    /// As [`Synchronized::patch`].
    fn full(&mut self, joining: Joining) -> Result<(Patch, Arc<Full>), Fault>;
}

/// A state has more than [`MAX_TYPES`] types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a state has at most {MAX_TYPES} types")]
pub struct TooManyTypes;

impl<S: State> Synchronized for Synced<S> {
    fn reflection(&self, dialect: Dialect) -> Result<Vec<u8>, TooManyTypes> {
        let (bytes, types) = reflection::reflection::<S>(dialect);
        if types > MAX_TYPES { Err(TooManyTypes) } else { Ok(bytes) }
    }

    fn is_touched(&self) -> bool {
        self.touched || !self.writer.queue.is_empty()
    }

    fn patch(&mut self) -> Result<Patch, Fault> {
        if let Some(fault) = self.writer.fault {
            return Err(fault);
        }
        if !self.is_touched() {
            return Ok(Patch::default());
        }
        if std::mem::take(&mut self.touched) {
            object::patch(&mut self.state, &mut self.node, &mut self.writer);
        }
        shared::patch(&self.state, &mut self.writer);
        if let Some(fault) = self.writer.fault {
            return Err(fault);
        }
        let (shared, segments) = self.take_segments();
        let patch = Patch { shared, segments };
        // Even where nothing is told, an item may have been given its name in views.
        self.full = [None, None, None];
        Ok(patch)
    }

    fn full(&mut self, joining: Joining) -> Result<(Patch, Arc<Full>), Fault> {
        let patch = self.patch()?;
        let known = &self.full[joining as usize];
        if let Some(full) = known {
            return Ok((patch, full.clone()));
        }
        self.writer.joining = joining;
        self.writer.meet(Id::ROOT);
        object::repeat(&self.state, &self.node, &mut self.writer);
        shared::repeat(&mut self.writer);
        if let Some(fault) = self.writer.fault {
            return Err(fault);
        }
        let alive = std::mem::take(&mut self.writer.alive);
        let (shared, segments) = self.take_segments();
        let full = Arc::new(Full { shared, segments, alive, joining });
        self.full[joining as usize] = Some(full.clone());
        Ok((patch, full))
    }
}

impl<S: State> Deref for Synced<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.state
    }
}

impl<S: State> DerefMut for Synced<S> {
    fn deref_mut(&mut self) -> &mut S {
        self.touched = true;
        &mut self.state
    }
}

impl Patch {
    /// What every client is sent. Empty where nothing changed for all.
    #[must_use]
    pub fn shared(&self) -> &[u8] {
        &self.shared
    }

    /// Whether nothing changed for anybody.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shared.is_empty() && self.segments.is_empty()
    }

    /// What a client with a view is sent after the shared bytes. `full` is the state after this patch, for a view
    /// that [changed](View::is_changed); the view is told that the client was sent it.
    #[must_use]
    pub fn restricted(&self, view: &mut View, full: Option<&Full>) -> Vec<u8> {
        let mut out = Vec::new();
        for segment in &self.segments {
            let due = match segment.kind {
                SegmentKind::Content => view.follows(&segment.audience),
                SegmentKind::Entry | SegmentKind::Fields => view.loses(&segment.audience),
            };
            if due {
                out.extend_from_slice(&segment.bytes);
            }
        }
        if let Some(full) = full {
            for segment in &full.segments {
                let due = match segment.kind {
                    SegmentKind::Content => view.gains(&segment.audience),
                    SegmentKind::Entry | SegmentKind::Fields => view.must_lose(&segment.audience),
                };
                if due {
                    out.extend_from_slice(&segment.bytes);
                }
            }
            view.settle(&full.alive);
        }
        out
    }
}

impl Full {
    /// What every client is sent.
    #[must_use]
    pub fn shared(&self) -> &[u8] {
        &self.shared
    }

    /// What a client with a view is sent after the shared bytes. The view is told that the client was sent it.
    #[must_use]
    pub fn restricted(&self, view: &mut View) -> Vec<u8> {
        let mut out = Vec::new();
        for segment in &self.segments {
            let due = match segment.kind {
                SegmentKind::Content => view.sees(&segment.audience),
                SegmentKind::Fields => self.joining != Joining::New && view.lacks(&segment.audience),
                SegmentKind::Entry => false,
            };
            if due {
                out.extend_from_slice(&segment.bytes);
            }
        }
        view.settle(&self.alive);
        out
    }
}
